/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/encoder.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "message/json_write.h"
#include "message/message.h"
#include "message/text_write.h"
#include "message/wire_read.h"
#include "message/wire_write.h"
#include "message/yaml_write.h"

/* Fields of envoy.service.discovery.v3.DiscoveryResponse. */
#define RESPONSE_VERSION_INFO  1
#define RESPONSE_RESOURCES     2
#define RESPONSE_TYPE_URL      4
#define RESPONSE_CONTROL_PLANE 6
#define CONTROL_PLANE_ID       1
/* Fields of envoy.service.discovery.v3.Resource. */
#define WRAPPER_RESOURCE 2
#define WRAPPER_NAME	 3
#define WRAPPER_ALIASES	 4
#define WRAPPER_TTL	 6

#define WRAPPER_MESSAGE	 "envoy.service.discovery.v3.Resource"
#define TYPE_PREFIX	 "type.googleapis.com/"
#define WIRE_LENGTH	 2

struct encoder {
	const struct schema *schema;
	const struct schema_message *any;
	struct arena *arena; /* one item at a time */
	struct buf wrapper;
	struct buf item;
};

int encoder_new(const struct schema *schema, struct encoder **ret_encoder)
{
	struct encoder *encoder;
	const struct schema_message *any =
		schema_find_message(schema, SLICE("google.protobuf.Any"));

	if (!any || !schema_find_message(schema, SLICE(WRAPPER_MESSAGE)))
		return -EINVAL;
	encoder = xcalloc(1, sizeof(*encoder));
	encoder->schema = schema;
	encoder->any = any;
	encoder->arena = arena_new(0);
	*ret_encoder = encoder;
	return 0;
}

void encoder_free(struct encoder *encoder)
{
	if (!encoder)
		return;
	arena_free(encoder->arena);
	buf_fini(&encoder->wrapper);
	buf_fini(&encoder->item);
	free(encoder);
}

/* S.21: the wrapper carries what only it can say, and its name is the inner one. */
static bool is_wrapped(const struct resource *resource)
{
	return resource->ttl_ms >= 0 || resource->aliases_count;
}

/* Binary */

static void put_any_head(struct buf *out, const char *url, struct slice value)
{
	wire_put_bytes(out, 1, slice_of(url));
	if (value.length) {
		wire_put_tag(out, 2, WIRE_LENGTH);
		wire_put_varint(out, value.length);
	}
}

/* An Any as field `number`; the value is copied once. */
static void put_any(struct buf *out, uint32_t number, const char *url, struct slice value)
{
	char room[256]; /* a type URL of ours, two tags, two lengths */
	struct buf head = {.data = room, .capacity = sizeof(room), .limit_bytes = sizeof(room)};

	put_any_head(&head, url, value);
	assert(!buf_error(&head));
	wire_put_tag(out, number, WIRE_LENGTH);
	wire_put_varint(out, head.length + value.length);
	buf_append_slice(out, buf_slice(&head));
	buf_append_slice(out, value);
}

static void put_duration(struct buf *out, uint32_t number, int64_t ms)
{
	char room[32];
	struct buf value = {.data = room, .capacity = sizeof(room), .limit_bytes = sizeof(room)};

	if (ms / 1000) {
		wire_put_tag(&value, 1, 0);
		wire_put_varint(&value, (uint64_t)(ms / 1000));
	}
	if (ms % 1000) {
		wire_put_tag(&value, 2, 0);
		wire_put_varint(&value, (uint64_t)(ms % 1000) * 1000000);
	}
	wire_put_bytes(out, number, buf_slice(&value));
}

/* What the Any of a resource holds: its type URL and value. The value lives until the next call. */
static int any_of(struct encoder *encoder, const struct resource *resource, struct slice body,
	const char **ret_url, struct slice *ret_value)
{
	const char *url = xds_type_row(resource->type)->type_url;
	struct buf *wrapper = &encoder->wrapper;

	*ret_url = url;
	*ret_value = body;
	if (!is_wrapped(resource))
		return 0;
	buf_reset(wrapper);
	put_any(wrapper, WRAPPER_RESOURCE, url, body);
	wire_put_bytes(wrapper, WRAPPER_NAME, resource->name);
	for (size_t i = 0; i < resource->aliases_count; i++)
		wire_put_bytes(wrapper, WRAPPER_ALIASES, resource->aliases[i]);
	if (resource->ttl_ms >= 0)
		put_duration(wrapper, WRAPPER_TTL, resource->ttl_ms);
	*ret_url = TYPE_PREFIX WRAPPER_MESSAGE;
	*ret_value = buf_slice(wrapper);
	return buf_error(wrapper);
}

/* The same as a message in the arena, decoded at every depth. */
static int read_item(struct encoder *encoder, const struct resource *resource, struct slice body,
	const struct message **ret_any)
{
	const struct wire_read_options options = {
		.schema = encoder->schema, .expand_any = true, .allow_partial = true};
	struct wire_read_error problem;
	struct message *any;
	struct slice value;
	const char *url;
	int error = any_of(encoder, resource, body, &url, &value);

	if (error)
		return error;
	arena_reset(encoder->arena);
	buf_reset(&encoder->item);
	put_any_head(&encoder->item, url, value);
	buf_append_slice(&encoder->item, value);
	error = buf_error(&encoder->item);
	if (!error)
		error = wire_read(&options, encoder->any, buf_slice(&encoder->item), encoder->arena,
			&any, &problem);
	/* Without its type there is no text form that Envoy would read (S.12). */
	if (!error && !any->any_content)
		error = -ENOENT;
	if (!error)
		*ret_any = any;
	return error;
}

/* Text formats */

static int put_json_item(struct encoder *encoder, enum encoder_style style,
	const struct resource *resource, struct slice body, struct buf *out)
{
	const struct json_write_options options = {.schema = encoder->schema,
		.original_names = true,
		.pretty = style == ENCODER_PRETTY,
		.indent = style == ENCODER_PRETTY ? 2 : 0};
	const char *problem;
	const struct message *any;
	int error = read_item(encoder, resource, body, &any);

	if (error)
		return error;
	if (style == ENCODER_PRETTY)
		buf_fill(out, ' ', 4);
	return json_write(&options, any, out, &problem);
}

static int put_yaml_item(struct encoder *encoder, const struct resource *resource,
	struct slice body, struct buf *out)
{
	const struct yaml_write_options options = {
		.schema = encoder->schema, .indent = 2, .continue_line = true};
	const char *problem;
	const struct message *any;
	int error = read_item(encoder, resource, body, &any);

	if (error)
		return error;
	buf_puts(out, "- ");
	return yaml_write(&options, any, out, &problem);
}

static int put_text_item(struct encoder *encoder, const struct resource *resource,
	struct slice body, struct buf *out)
{
	const struct text_write_options options = {.schema = encoder->schema, .indent = 1};
	const char *problem;
	const struct message *any;
	int error = read_item(encoder, resource, body, &any);

	if (error)
		return error;
	buf_puts(out, "resources {\n");
	error = text_write(&options, any, out, &problem);
	buf_puts(out, "}\n");
	return error;
}

static void put_text_string(struct buf *out, struct slice text)
{
	buf_putc(out, '"');
	for (size_t i = 0; i < text.length; i++) {
		unsigned char byte = (unsigned char)text.data[i];

		if (byte < 0x20 || byte >= 0x7f || byte == '"' || byte == '\\')
			buf_printf(out, "\\%03o", byte);
		else
			buf_putc(out, (char)byte);
	}
	buf_putc(out, '"');
}

/* The frame around the items */

static void begin_json(
	enum encoder_style style, const struct version *version, size_t count, struct buf *out)
{
	bool is_pretty = style == ENCODER_PRETTY;

	buf_puts(out, is_pretty ? "{\n  \"version_info\": " : "{\"version_info\":");
	json_write_string(out, slice_of(version->text));
	buf_puts(out, is_pretty ? ",\n  \"resources\": [" : ",\"resources\":[");
	if (is_pretty && count)
		buf_putc(out, '\n');
}

static void end_json(enum encoder_style style, const struct xds_type_row *row, size_t count,
	struct slice source, struct buf *out)
{
	bool is_pretty = style == ENCODER_PRETTY;

	if (is_pretty && count)
		buf_puts(out, "\n  ");
	buf_puts(out, is_pretty ? "],\n  \"type_url\": " : "],\"type_url\":");
	json_write_string(out, slice_of(row->type_url));
	if (source.length) {
		buf_puts(out, is_pretty ? ",\n  \"control_plane\": {\n    \"identifier\": "
					: ",\"control_plane\":{\"identifier\":");
		json_write_string(out, source);
		buf_puts(out, is_pretty ? "\n  }" : "}");
	}
	buf_puts(out, is_pretty ? "\n}\n" : "}");
}

static int begin(void *ctx, enum file_format format, enum xds_type type,
	const struct version *version, size_t count, struct buf *out)
{
	(void)ctx;
	(void)type;
	switch (format) {
	case FILE_FORMAT_YAML:
		/* Quoted: a reader must not take it for a number (S.11). */
		buf_printf(out, "version_info: \"%s\"\nresources:%s\n", version->text,
			count ? "" : " []");
		break;
	case FILE_FORMAT_JSON:
		begin_json(ENCODER_PRETTY, version, count, out);
		break;
	case FILE_FORMAT_PB:
		wire_put_bytes(out, RESPONSE_VERSION_INFO, slice_of(version->text));
		break;
	case FILE_FORMAT_PB_TEXT:
		buf_printf(out, "version_info: \"%s\"\n", version->text);
		break;
	}
	return buf_error(out);
}

static int item(void *ctx, enum file_format format, const struct resource *resource,
	struct slice body, struct buf *out)
{
	struct encoder *encoder = ctx;
	struct slice value;
	const char *url;
	int error = 0;

	switch (format) {
	case FILE_FORMAT_YAML:
		error = put_yaml_item(encoder, resource, body, out);
		break;
	case FILE_FORMAT_JSON:
		error = put_json_item(encoder, ENCODER_PRETTY, resource, body, out);
		break;
	case FILE_FORMAT_PB:
		error = any_of(encoder, resource, body, &url, &value);
		if (!error)
			put_any(out, RESPONSE_RESOURCES, url, value);
		break;
	case FILE_FORMAT_PB_TEXT:
		error = put_text_item(encoder, resource, body, out);
		break;
	}
	return error ? error : buf_error(out);
}

static int end(void *ctx, enum file_format format, enum xds_type type, size_t count,
	struct slice source, struct buf *out)
{
	const struct xds_type_row *row = xds_type_row(type);
	struct buf identifier = BUF_INIT;

	(void)ctx;
	switch (format) {
	case FILE_FORMAT_YAML:
		buf_printf(out, "type_url: %s\n", row->type_url);
		if (source.length) {
			buf_puts(out, "control_plane:\n  identifier: ");
			yaml_write_string(out, source);
			buf_putc(out, '\n');
		}
		break;
	case FILE_FORMAT_JSON:
		end_json(ENCODER_PRETTY, row, count, source, out);
		break;
	case FILE_FORMAT_PB:
		wire_put_bytes(out, RESPONSE_TYPE_URL, slice_of(row->type_url));
		if (source.length) {
			wire_put_bytes(&identifier, CONTROL_PLANE_ID, source);
			wire_put_bytes(out, RESPONSE_CONTROL_PLANE, buf_slice(&identifier));
			buf_fini(&identifier);
		}
		break;
	case FILE_FORMAT_PB_TEXT:
		buf_printf(out, "type_url: \"%s\"\n", row->type_url);
		if (source.length) {
			buf_puts(out, "control_plane {\n  identifier: ");
			put_text_string(out, source);
			buf_puts(out, "\n}\n");
		}
		break;
	}
	return buf_error(out);
}

static struct slice separator(void *ctx, enum file_format format)
{
	(void)ctx;
	return format == FILE_FORMAT_JSON ? SLICE(",\n") : SLICE("");
}

struct publish_encoder encoder_for_files(struct encoder *encoder)
{
	return (struct publish_encoder){
		.ctx = encoder, .begin = begin, .item = item, .end = end, .separator = separator};
}

int encoder_json(struct encoder *encoder, enum encoder_style style, enum xds_type type,
	const struct version *version, struct resource *const *resources, size_t count,
	struct slice source, struct buf *out)
{
	begin_json(style, version, count, out);
	for (size_t i = 0; i < count; i++) {
		int error;

		if (i)
			buf_puts(out, style == ENCODER_PRETTY ? ",\n" : ",");
		error = put_json_item(encoder, style, resources[i],
			resource_body(resources[i], SOURCE_REST), out);
		if (error)
			return error;
	}
	end_json(style, xds_type_row(type), count, source, out);
	return buf_error(out);
}

int encoder_resource_json(struct encoder *encoder, const struct resource *resource, struct buf *out)
{
	const struct json_write_options options = {
		.schema = encoder->schema, .original_names = true, .pretty = true};
	const struct message *any;
	const char *problem;
	int error = read_item(encoder, resource, resource_body(resource, SOURCE_REST), &any);

	return error ? error : json_write(&options, any, out, &problem);
}
