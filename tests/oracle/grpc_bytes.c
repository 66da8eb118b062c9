/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What gRPC streams read and write, behind the protocol of transcode.c. Usage: grpc_bytes SET. A
 * request is a line "COMMAND LENGTH" and LENGTH bytes, an answer "ok LENGTH" or "error LENGTH" and
 * bytes. Commands: sotw, delta: a discovery request, answered as JSON; node: its JSON;
 * respond-sotw, respond-delta: a response, taken apart, put into an answer, and written again by
 * grpc_response.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/grpc_schema.h"
#include "serve/grpc/grpc_request.h"
#include "serve/grpc/grpc_response.h"
#include "xdspub/discovery_response.pb-c.h"

#define ITEMS_MOST 64

static struct grpc_schema schema;

static json_t *text_json(struct slice text)
{
	return json_stringn(text.data, text.length);
}

static json_t *texts_json(const struct slice *texts, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, text_json(texts[i]));
	return list;
}

static void put_json(struct buf *out, json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	buf_puts(out, text);
	free(text);
	json_decref(value);
}

static bool read_request(struct slice bytes, bool is_delta, struct buf *out)
{
	const struct limits limits = LIMITS_DEFAULT;
	struct grpc_request request;
	char problem[300];
	json_t *versions = json_array(), *object;

	if (grpc_request_read(bytes, is_delta, &limits, &request, problem, sizeof(problem))) {
		buf_puts(out, problem);
		json_decref(versions);
		return false;
	}
	for (size_t i = 0; i < request.xds.versions_count; i++)
		json_array_append_new(
			versions, texts_json((const struct slice[]){request.xds.versions[i].name,
						     request.xds.versions[i].version},
					  2));
	object = json_pack("{so so so so so so so sb sb si so}", "type_url",
		text_json(request.xds.type_url), "nonce", text_json(request.xds.nonce),
		"version_info", text_json(request.xds.version_info), "names",
		texts_json(request.xds.names, request.xds.names_count), "unsubscribe",
		texts_json(request.xds.unsubscribe, request.xds.unsubscribe_count), "versions",
		versions, "error_message", text_json(request.xds.error_message), "has_error",
		request.xds.has_error, "has_node", request.has_node, "error_code",
		(int)request.xds.error_code, "node_length",
		json_integer((json_int_t)request.node.length));
	put_json(out, object);
	grpc_request_fini(&request);
	return true;
}

static bool read_node(struct slice bytes, struct buf *out)
{
	char problem[300];
	json_t *node = schema.node(schema.ctx, bytes, problem, sizeof(problem));

	if (node)
		put_json(out, node);
	else
		buf_puts(out, problem);
	return node;
}

struct parts {
	struct xds_answer answer;
	struct xds_item items[ITEMS_MOST];
	struct slice aliases[ITEMS_MOST][ITEMS_MOST];
	struct slice removed[ITEMS_MOST];
	Xds__Resource *wrappers[ITEMS_MOST]; /* items borrow from them */
	size_t wrappers_count;
};

static struct slice bytes_of(ProtobufCBinaryData bytes)
{
	return (struct slice){(const char *)bytes.data, bytes.len};
}

/* protobuf-c has NULL for what is absent. */
static struct slice text_of(const char *text)
{
	return slice_of(text ? text : "");
}

static void add_resource(struct parts *parts, enum xds_type type, const Xds__Resource *given)
{
	size_t index = parts->answer.items_count++;
	struct xds_item *item = &parts->items[index];
	const Xds__Duration *ttl = given->ttl;

	item->name = text_of(given->name);
	for (size_t i = 0; i < given->n_aliases; i++)
		parts->aliases[index][i] = text_of(given->aliases[i]);
	item->aliases = parts->aliases[index];
	item->aliases_count = given->n_aliases;
	item->is_heartbeat = !given->resource && ttl;
	if (!given->resource && !ttl)
		return;
	item->resource = resource_new(&(struct resource_spec){.type = type,
		.name = item->name,
		.body = given->resource ? bytes_of(given->resource->value) : SLICE("unseen"),
		.ttl_ms = ttl ? ttl->seconds * 1000 + ttl->nanos / 1000000 : -1});
}

static void add_any(struct parts *parts, enum xds_type type, const Xds__Any *any)
{
	struct slice value = bytes_of(any->value);
	struct xds_item *item;

	if (strcmp(any->type_url, xds_type_row(type)->type_url) != 0) {
		Xds__Resource *wrapper =
			xds__resource__unpack(NULL, value.length, (const uint8_t *)value.data);

		parts->wrappers[parts->wrappers_count++] = wrapper;
		add_resource(parts, type, wrapper);
		parts->items[parts->answer.items_count - 1].is_wrapped = true;
		return;
	}
	item = &parts->items[parts->answer.items_count++];
	item->resource = resource_new(&(struct resource_spec){
		.type = type, .name = SLICE("x"), .body = value, .ttl_ms = -1});
}

static void put_answer(struct parts *parts, const char *version, const char *nonce,
	const Xds__ControlPlane *plane, struct buf *out)
{
	struct xds_response response = {.answer = &parts->answer};
	struct grpc_body *body;

	parts->answer.items = parts->items;
	parts->answer.removed = parts->removed;
	(void)snprintf(
		parts->answer.version.text, sizeof(parts->answer.version.text), "%s", version);
	(void)snprintf(response.nonce, sizeof(response.nonce), "%s", nonce);
	response.source = plane ? rcstr_new(plane->identifier, strlen(plane->identifier)) : NULL;
	body = grpc_response_body(&parts->answer, true);
	buf_append(out, body->bytes, body->length);
	grpc_response_tail(&response, out);
	for (size_t i = 0; i < XDS_ENCODINGS; i++)
		if (parts->answer.encoded[i])
			parts->answer.encoded_free(parts->answer.encoded[i]);
	rcstr_unref(response.source);
	for (size_t i = 0; i < parts->answer.items_count; i++)
		resource_unref(parts->items[i].resource);
	for (size_t i = 0; i < parts->wrappers_count; i++)
		xds__resource__free_unpacked(parts->wrappers[i], NULL);
}

static void respond_sotw(const Xds__DiscoveryResponse *given, struct buf *out)
{
	struct parts *parts = xcalloc(1, sizeof(*parts));

	parts->answer.type = xds_type_by_url(slice_of(given->type_url))->type;
	for (size_t i = 0; i < given->n_resources; i++)
		add_any(parts, parts->answer.type, given->resources[i]);
	put_answer(parts, given->version_info, given->nonce, given->control_plane, out);
	free(parts);
}

static void respond_delta(const Xds__DeltaDiscoveryResponse *given, struct buf *out)
{
	struct parts *parts = xcalloc(1, sizeof(*parts));

	parts->answer.type = xds_type_by_url(slice_of(given->type_url))->type;
	parts->answer.is_delta = true;
	for (size_t i = 0; i < given->n_resources; i++)
		add_resource(parts, parts->answer.type, given->resources[i]);
	for (size_t i = 0; i < given->n_removed_resources; i++)
		parts->removed[parts->answer.removed_count++] =
			slice_of(given->removed_resources[i]);
	put_answer(parts, given->system_version_info, given->nonce, given->control_plane, out);
	free(parts);
}

static bool respond(struct slice bytes, bool is_delta, struct buf *out)
{
	ProtobufCMessage *given =
		protobuf_c_message_unpack(is_delta ? &xds__delta_discovery_response__descriptor
						   : &xds__discovery_response__descriptor,
			NULL, bytes.length, (const uint8_t *)bytes.data);

	if (!given)
		return false;
	if (is_delta)
		respond_delta((const Xds__DeltaDiscoveryResponse *)given, out);
	else
		respond_sotw((const Xds__DiscoveryResponse *)given, out);
	protobuf_c_message_free_unpacked(given, NULL);
	return true;
}

static bool serve(const char *command, struct slice bytes, struct buf *out)
{
	if (!strcmp(command, "node"))
		return read_node(bytes, out);
	if (!strcmp(command, "sotw") || !strcmp(command, "delta"))
		return read_request(bytes, command[0] == 'd', out);
	return respond(bytes, !strcmp(command, "respond-delta"), out);
}

int main(int argc, char **argv)
{
	struct diag_list *diags = diag_list_new(0);
	const char *paths[] = {argc > 1 ? argv[1] : ""};
	struct buf out = BUF_INIT;
	struct schema *loaded;
	char command[40];
	size_t length;

	if (schema_load(paths, 1, diags, &loaded))
		return 1;
	diag_list_free(diags);
	schema = grpc_schema_of(loaded);
	while (scanf("%39s %zu", command, &length) == 2 && getchar() == '\n') {
		char *bytes = xmalloc(length + 1);
		bool is_fine = fread(bytes, 1, length, stdin) == length &&
			       serve(command, (struct slice){bytes, length}, &out);

		printf("%s %zu\n", is_fine ? "ok" : "error", out.length);
		(void)fwrite(out.data ? out.data : "", 1, out.length, stdout);
		(void)fflush(stdout);
		buf_reset(&out);
		free(bytes);
	}
	buf_fini(&out);
	schema_free(loaded);
	return 0;
}
