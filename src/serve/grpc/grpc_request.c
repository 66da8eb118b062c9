/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_request.h"

#include "base/text.h"
#include "serve/grpc/grpc_wire.h"
#include "xdspub/discovery_request.pb-c.h"

static struct slice text_of(const char *text)
{
	return text ? slice_of(text) : (struct slice){"", 0};
}

static struct slice bytes_of(ProtobufCBinaryData bytes)
{
	return (struct slice){bytes.len ? (const char *)bytes.data : "", bytes.len};
}

static struct slice *texts_of(struct arena *arena, char *const *texts, size_t count)
{
	struct slice *slices = arena_alloc(arena, count * sizeof(*slices));

	for (size_t i = 0; i < count; i++)
		slices[i] = slice_of(texts[i]);
	return slices;
}

/* Envoy cuts the text at 4,096 bytes, within a character if need be; that must not cost it the
 * stream. */
static struct slice clean_text(struct arena *arena, struct slice text)
{
	struct slice copy;
	char *bytes;

	if (text_is_utf8(text) && !(text.length && memchr(text.data, 0, text.length)))
		return text;
	copy = arena_copy(arena, text.data, text.length);
	bytes = (char *)(uintptr_t)copy.data;
	for (size_t at = 0; at < copy.length;) {
		size_t length = 1;

		while (length < 4 && at + length < copy.length &&
			((uint8_t)bytes[at + length] & 0xc0) == 0x80)
			length++;
		if (bytes[at] && text_is_utf8((struct slice){bytes + at, length})) {
			at += length;
		} else {
			bytes[at] = '?';
			at++;
		}
	}
	return copy;
}

static void read_error(struct arena *arena, const Xds__Status *error, struct xds_request *request)
{
	request->error_message = text_of(NULL);
	if (!error)
		return;
	request->has_error = true;
	request->error_code = error->code;
	request->error_message = clean_text(arena, bytes_of(error->message));
}

static void read_sotw(const Xds__DiscoveryRequest *message, struct grpc_request *request)
{
	struct xds_request *xds = &request->xds;

	request->has_node = message->has_node;
	request->node = bytes_of(message->node);
	xds->version_info = text_of(message->version_info);
	xds->type_url = text_of(message->type_url);
	xds->nonce = text_of(message->response_nonce);
	xds->names = texts_of(request->memory, message->resource_names, message->n_resource_names);
	xds->names_count = message->n_resource_names;
	read_error(request->memory, message->error_detail, xds);
}

static void read_delta(const Xds__DeltaDiscoveryRequest *message, struct grpc_request *request)
{
	struct xds_request *xds = &request->xds;
	size_t count = message->n_initial_resource_versions;
	struct xds_version_pair *versions = arena_alloc(request->memory, count * sizeof(*versions));

	request->has_node = message->has_node;
	request->node = bytes_of(message->node);
	xds->version_info = text_of(NULL);
	xds->type_url = text_of(message->type_url);
	xds->nonce = text_of(message->response_nonce);
	xds->names = texts_of(request->memory, message->resource_names_subscribe,
		message->n_resource_names_subscribe);
	xds->names_count = message->n_resource_names_subscribe;
	xds->unsubscribe = texts_of(request->memory, message->resource_names_unsubscribe,
		message->n_resource_names_unsubscribe);
	xds->unsubscribe_count = message->n_resource_names_unsubscribe;
	for (size_t i = 0; i < count; i++)
		versions[i] = (struct xds_version_pair){
			.name = text_of(message->initial_resource_versions[i]->key),
			.version = text_of(message->initial_resource_versions[i]->value)};
	xds->versions = versions;
	xds->versions_count = count;
	read_error(request->memory, message->error_detail, xds);
}

int grpc_request_read(struct slice bytes, bool is_delta, const struct limits *limits,
	struct grpc_request *ret_request, char *problem, size_t problem_size)
{
	struct grpc_request request = {.memory = arena_new(0)};
	ProtobufCMessage *message;
	int error = grpc_wire_unpack(is_delta ? &xds__delta_discovery_request__descriptor
					      : &xds__discovery_request__descriptor,
		bytes, limits, request.memory, &message, problem, problem_size);

	if (error) {
		arena_free(request.memory);
		return error;
	}
	if (is_delta)
		read_delta((const Xds__DeltaDiscoveryRequest *)message, &request);
	else
		read_sotw((const Xds__DiscoveryRequest *)message, &request);
	*ret_request = request;
	return 0;
}

void grpc_request_fini(struct grpc_request *request)
{
	arena_free(request->memory);
	*request = (struct grpc_request){0};
}
