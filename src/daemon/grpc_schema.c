/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/grpc_schema.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/file_symbols.h"
#include "daemon/own_files.h"
#include "message/json_write.h"
#include "message/wire_read.h"

#define NODE_BYTES_MOST	 (1u << 20)
#define ARENA_BYTES_MOST (32u << 20)
#define JSON_BYTES_MOST	 (8u << 20)
#define NODE_MESSAGE	 "envoy.config.core.v3.Node"

/* Nodes */

static json_t *refuse(char *problem, size_t size, const char *text, const char *where)
{
	(void)snprintf(
		problem, size, "node: %s%s%s", text, where ? ", in " : "", where ? where : "");
	return NULL;
}

/* As REST clients write it: the selector reads one form. */
static json_t *parse(const struct buf *text, char *problem, size_t size)
{
	json_t *node = json_loadb(
		text->data, text->length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);

	return node ? node : refuse(problem, size, "has no JSON form", NULL);
}

static json_t *node_json(const struct schema *schema, const struct schema_message *type,
	struct slice bytes, struct arena *arena, char *problem, size_t size)
{
	const struct wire_read_options reading = {
		.schema = schema, .expand_any = true, .allow_partial = true};
	const struct json_write_options writing = {.schema = schema, .original_names = true};
	struct buf text = {.limit_bytes = JSON_BYTES_MOST};
	struct wire_read_error error = {0};
	struct message *message;
	const char *reason = NULL;
	json_t *node;

	if (wire_read(&reading, type, bytes, arena, &message, &error))
		return refuse(
			problem, size, error.text, error.field ? error.field->full_name : NULL);
	if (json_write(&writing, message, &text, &reason))
		node = refuse(problem, size, reason ? reason : "too long as JSON", NULL);
	else
		node = parse(&text, problem, size);
	buf_fini(&text);
	return node;
}

static json_t *node(void *ctx, struct slice bytes, char *problem, size_t problem_size)
{
	const struct schema *schema = ctx;
	const struct schema_message *type = schema_find_message(schema, SLICE(NODE_MESSAGE));
	struct arena *arena;
	json_t *result;

	if (!type)
		return refuse(problem, problem_size, "the schema has no " NODE_MESSAGE, NULL);
	if (bytes.length > NODE_BYTES_MOST)
		return refuse(problem, problem_size, "longer than 1 MiB", NULL);
	arena = arena_new(ARENA_BYTES_MOST);
	result = node_json(schema, type, bytes, arena, problem, problem_size);
	arena_free(arena);
	return result;
}

/* Reflection. The schema's files come before our own: a site may add fuller ones. */

static struct slice own_set(void)
{
	return (struct slice){(const char *)own_files, own_files_length};
}

static bool file_by_path(void *ctx, struct slice path, struct slice *ret_file)
{
	struct slice rest = own_set();

	*ret_file = schema_file(ctx, path);
	if (ret_file->data)
		return true;
	while (file_symbols_next(&rest, ret_file))
		if (slice_equal(file_symbols_name(*ret_file), path))
			return true;
	return false;
}

static bool file_by_symbol(void *ctx, struct slice symbol, struct slice *ret_file)
{
	struct slice rest = own_set();
	size_t cursor = 0;

	while (schema_next_file(ctx, &cursor, ret_file))
		if (file_symbols_declares(*ret_file, symbol))
			return true;
	while (file_symbols_next(&rest, ret_file))
		if (file_symbols_declares(*ret_file, symbol))
			return true;
	return false;
}

static bool file_by_extension(
	void *ctx, struct slice extendee, uint32_t number, struct slice *ret_file)
{
	const struct schema *schema = ctx;
	const struct schema_message *message = schema_find_message(schema, extendee);
	const struct schema_field *extension =
		message ? schema_extension_by_number(schema, message, number) : NULL;

	return extension && file_by_symbol(ctx, slice_of(extension->full_name), ret_file);
}

static bool extensions(void *ctx, struct slice extendee, uint32_t **ret_numbers, size_t *ret_count)
{
	const struct schema *schema = ctx;
	const struct schema_message *message = schema_find_message(schema, extendee);
	const struct schema_field *fields;

	if (!message) {
		struct slice file;

		/* Our own messages have none. */
		*ret_numbers = NULL;
		*ret_count = 0;
		return file_by_symbol(ctx, extendee, &file);
	}
	fields = schema_extensions(schema, message, ret_count);
	*ret_numbers = xmalloc((*ret_count + 1) * sizeof(**ret_numbers));
	for (size_t i = 0; i < *ret_count; i++)
		(*ret_numbers)[i] = fields[i].number;
	return true;
}

struct grpc_schema grpc_schema_of(const struct schema *schema)
{
	return (struct grpc_schema){.node = node,
		.file_by_path = file_by_path,
		.file_by_symbol = file_by_symbol,
		.file_by_extension = file_by_extension,
		.extensions = extensions,
		.ctx = (void *)(uintptr_t)schema};
}
