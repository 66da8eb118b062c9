/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/envoy_bootstrap.h"

#include <errno.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "message/json_write.h"
#include "message/wire_read.h"

#define NAMESPACE  "envoy.config.core.v3."
#define MANAGER	   "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
#define SDS_CONFIG "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig"
/* Whoever is asked for what is not there; never, while validating. */
#define SERVER "xdspub_check_management_server"

struct maker {
	const struct envoy_bootstrap *options;
	struct arena *arena;
	unsigned depth;
	size_t written;
	const struct resource *last;
};

/* --- messages by the names of their fields ------------------------------------------------- */

static const struct schema_field *field_of(const struct message *message, const char *name)
{
	return schema_field_by_name(message->type, slice_of(name));
}

static struct message_field *get(struct message *message, const char *name)
{
	const struct schema_field *field = field_of(message, name);

	return field ? message_find_mutable(message, field->number) : NULL;
}

static struct slice get_text(const struct message *message, const char *name)
{
	const struct schema_field *field = field_of(message, name);

	return field ? message_get_bytes(message, field->number) : SLICE("");
}

static void clear(struct message *message, const char *name)
{
	const struct schema_field *field = field_of(message, name);

	if (field)
		message_clear(message, field);
}

static struct message *set_message(struct maker *maker, struct message *message, const char *name)
{
	const struct schema_field *field = field_of(message, name);
	struct message_field *entry = NULL;

	if (field && field->message && !field->is_repeated)
		entry = message_set(maker->arena, message, field);
	if (entry)
		entry->one.message = message_new(maker->arena, field->message);
	return entry ? entry->one.message : NULL;
}

/* The body of a resource of the group, decoded; NULL when there is none. */
static struct message *resource_message(struct maker *maker, enum xds_type type, struct slice name)
{
	const struct wire_read_options wire = {
		.schema = maker->options->schema, .expand_any = true};
	const struct schema_message *message =
		schema_find_message(maker->options->schema, slice_of(xds_type_row(type)->message));
	const struct resource *resource =
		resource_set_find(maker->options->snapshot->sets[type], name);
	struct message *found = NULL;
	struct wire_read_error error;

	if (!resource || !message ||
		wire_read(&wire, message, resource->body, maker->arena, &found, &error))
		return NULL;
	return found;
}

/* --- what is part of it -------------------------------------------------------------------- */

void envoy_bootstrap_key(const struct resource *resource, struct buf *out)
{
	buf_printf(out, "%d %.*s", (int)resource->type, SLICE_ARG(resource->name));
}

static bool is_left_out(const struct hash *left_out, const struct resource *resource)
{
	struct buf key = BUF_INIT;
	bool is_out;

	envoy_bootstrap_key(resource, &key);
	is_out = left_out && hash_get(left_out, buf_slice(&key));
	buf_fini(&key);
	return is_out;
}

/* A file of the Envoy host, anywhere in the message. */
static bool has_file(const struct message *message, unsigned depth)
{
	for (uint32_t i = 0; depth < LIMIT_DEPTH && i < message->fields_count; i++) {
		const struct message_field *entry = &message->fields[i];

		if (strcmp(entry->field->full_name, NAMESPACE "DataSource.filename") == 0)
			return true;
		if (!entry->field->message)
			continue;
		if (!entry->field->is_repeated && has_file(entry->one.message, depth + 1))
			return true;
		for (uint32_t k = 0; entry->field->is_repeated && k < entry->count; k++) {
			if (has_file(entry->items[k].message, depth + 1))
				return true;
		}
	}
	return false;
}

/* Whether the bootstrap has the resource, as far as it goes. */
static bool is_part(struct maker *maker, const struct resource *resource, struct message *message)
{
	if (is_left_out(maker->options->left_out, resource))
		return false;
	if (resource->type == XDS_SDS)
		return !has_file(message, 0);
	return resource->type != XDS_LDS || !get(message, "api_listener");
}

/* --- from dynamic to static ---------------------------------------------------------------- */

static void make_static(struct maker *maker, struct message *message);

/* `rds` of an HTTP connection manager: the routes themselves, where the group has them. */
static void inline_routes(struct maker *maker, struct message *message)
{
	struct message_field *rds = get(message, "rds"), *inlined;
	const struct schema_field *field = field_of(message, "route_config");
	struct message *routes;

	if (!rds || !field)
		return;
	routes = resource_message(maker, XDS_RDS, get_text(rds->one.message, "route_config_name"));
	if (!routes)
		return;
	clear(message, "rds");
	inlined = message_set(maker->arena, message, field);
	if (inlined)
		inlined->one.message = routes;
}

static void inline_endpoints(struct maker *maker, struct message *cluster)
{
	struct message_field *eds = get(cluster, "eds_cluster_config"), *inlined;
	const struct schema_field *field = field_of(cluster, "load_assignment");
	struct slice name = get_text(cluster, "name"), service;
	struct message *endpoints;

	if (!eds || !field)
		return;
	service = get_text(eds->one.message, "service_name");
	endpoints = resource_message(maker, XDS_EDS, service.length ? service : name);
	if (!endpoints)
		return;
	clear(cluster, "eds_cluster_config");
	clear(cluster, "type"); /* STATIC */
	inlined = message_set(maker->arena, cluster, field);
	if (inlined)
		inlined->one.message = endpoints;
}

/* A secret of the group is one of the bootstrap. */
static void name_secret(struct maker *maker, struct message *message)
{
	struct slice name = get_text(message, "name");
	const struct resource *secret =
		resource_set_find(maker->options->snapshot->sets[XDS_SDS], name);
	struct message *content = secret ? resource_message(maker, XDS_SDS, name) : NULL;

	if (content && is_part(maker, secret, content))
		clear(message, "sds_config");
}

/* Whatever it was: ADS. Paths of the Envoy host are not here. */
static void make_ads(struct maker *maker, struct message *source)
{
	struct message_field *version;
	const struct schema_field *field = field_of(source, "resource_api_version");

	clear(source, "path");
	clear(source, "path_config_source");
	clear(source, "api_config_source");
	clear(source, "self");
	set_message(maker, source, "ads");
	version = field ? message_set(maker->arena, source, field) : NULL;
	if (version)
		version->one.int32 = 2; /* V3 */
}

static void each_below(struct maker *maker, struct message *message)
{
	for (uint32_t i = 0; i < message->fields_count; i++) {
		struct message_field *entry = &message->fields[i];

		if (!entry->field->message)
			continue;
		if (!entry->field->is_repeated)
			make_static(maker, entry->one.message);
		for (uint32_t k = 0; entry->field->is_repeated && k < entry->count; k++)
			make_static(maker, entry->items[k].message);
	}
	if (message->any_content)
		make_static(maker, message->any_content);
}

static void make_static(struct maker *maker, struct message *message)
{
	const char *type = message->type->full_name;

	if (maker->depth == LIMIT_DEPTH)
		return;
	if (strcmp(type, MANAGER) == 0)
		inline_routes(maker, message);
	else if (strcmp(type, SDS_CONFIG) == 0)
		name_secret(maker, message);
	else if (strcmp(type, NAMESPACE "ConfigSource") == 0)
		make_ads(maker, message);
	maker->depth++;
	each_below(maker, message);
	maker->depth--;
}

/* --- the bootstrap ------------------------------------------------------------------------- */

static int write_set(struct maker *maker, enum xds_type type, struct buf *out)
{
	const struct json_write_options json = {
		.schema = maker->options->schema, .original_names = true};
	size_t count;
	struct resource **resources =
		resource_set_sorted(maker->options->snapshot->sets[type], &count);
	bool is_first = true;
	int error = 0;

	buf_printf(out, "\"%s\":[", xds_type_row(type)->folder);
	for (size_t i = 0; !error && i < count; i++) {
		struct message *message;
		const char *problem;

		arena_reset(maker->arena);
		message = resource_message(maker, type, resources[i]->name);
		if (!message)
			error = -EBADMSG;
		if (!message || !is_part(maker, resources[i], message))
			continue;
		if (maker->written == maker->options->first)
			break;
		maker->written++;
		maker->last = resources[i];
		if (type == XDS_CDS)
			inline_endpoints(maker, message);
		make_static(maker, message);
		buf_puts(out, is_first ? "" : ",");
		error = json_write(&json, message, out, &problem);
		is_first = false;
	}
	free(resources);
	if (!error && type == XDS_CDS) {
		for (size_t i = 0; i < maker->options->clusters_count; i++) {
			buf_puts(out, is_first ? "{\"name\":" : ",{\"name\":");
			json_write_string(out, slice_of(maker->options->clusters[i]));
			buf_puts(out, "}");
			is_first = false;
		}
		/* ADS wants a cluster that speaks HTTP/2. */
		buf_printf(out,
			"%s{\"name\":\"" SERVER "\",\"typed_extension_protocol_options\":{\"envoy."
			"extensions.upstreams.http.v3.HttpProtocolOptions\":{\"@type\":\"type."
			"googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions\","
			"\"explicit_http_config\":{\"http2_protocol_options\":{}}}}}",
			is_first ? "" : ",");
	}
	buf_puts(out, "]");
	return error ? error : buf_error(out);
}

int envoy_bootstrap_write(
	const struct envoy_bootstrap *options, struct buf *out, const struct resource **ret_last)
{
	struct maker maker = {.options = options, .arena = arena_new(0)};
	int error;

	buf_puts(out, "{\"node\":{\"id\":\"xdspub-check\",\"cluster\":\"xdspub-check\"},"
		      "\"dynamic_resources\":{\"ads_config\":{\"api_type\":\"GRPC\","
		      "\"transport_api_version\":\"V3\",\"grpc_services\":[{\"envoy_grpc\":"
		      "{\"cluster_name\":\"" SERVER "\"}}]}},\"static_resources\":{");
	error = write_set(&maker, XDS_SDS, out);
	buf_putc(out, ',');
	if (!error)
		error = write_set(&maker, XDS_CDS, out);
	buf_putc(out, ',');
	if (!error)
		error = write_set(&maker, XDS_LDS, out);
	buf_puts(out, "}}\n");
	arena_free(maker.arena);
	*ret_last = maker.last;
	return error ? error : buf_error(out);
}
