/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our readers and writers behind the same small protocol as oracle.cc, so that a script can put
 * thousands of messages through both. Usage: transcode SET. Each request on standard input is a
 * line "TYPE FROM TO LENGTH" and LENGTH bytes; each answer "ok LENGTH" or "error LENGTH" and bytes.
 * Formats: binary, json, yaml, text; as input also opaque: binary whose Any contents are left
 * alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message/bind.h"
#include "message/json_read.h"
#include "message/json_write.h"
#include "message/text_read.h"
#include "message/text_write.h"
#include "message/wire_read.h"
#include "message/wire_write.h"
#include "message/yaml_read.h"
#include "message/yaml_write.h"

static const struct schema *schema;

static int read_nodes(const struct schema_message *type, const char *from, struct slice input,
	struct arena *arena, struct diag_list *diags, struct message **ret_message)
{
	const struct read_options read = {.path = "input"};
	const struct bind_options bind = {.schema = schema, .path = "input"};
	struct documents documents = {0};
	struct node *root = NULL;
	int rc;

	if (strcmp(from, "json") == 0) {
		rc = json_read(&read, input, arena, diags, &root);
	} else {
		rc = yaml_read(&read, input, arena, diags, &documents);
		if (!rc && documents.count == 1)
			root = documents.roots[0];
	}
	if (!rc && !root)
		diag_error(diags, "input", (struct position){0}, "empty", "no document");
	if (rc || !root)
		return rc ? rc : -1;
	return bind_message(&bind, type, root, arena, diags, ret_message);
}

static int read_message(const struct schema_message *type, const char *from, struct slice input,
	struct arena *arena, struct diag_list *diags, struct message **ret_message)
{
	const struct wire_read_options wire = {
		.schema = schema, .expand_any = strcmp(from, "opaque") != 0};
	const struct text_read_options text = {.schema = schema, .path = "input"};
	struct wire_read_error error;
	int rc;

	if (strcmp(from, "text") == 0)
		return text_read(&text, type, input, arena, diags, ret_message);
	if (wire.expand_any && strcmp(from, "binary") != 0)
		return read_nodes(type, from, input, arena, diags, ret_message);
	rc = wire_read(&wire, type, input, arena, ret_message, &error);
	if (rc)
		diag_error(diags, "input", (struct position){0}, "binary", "%zu: %s (%s)",
			error.offset, error.text, error.field ? error.field->full_name : "-");
	return rc;
}

static int write_message(
	struct message *message, const char *to, struct buf *out, const char **ret_problem)
{
	const struct json_write_options json = {.schema = schema};
	const struct yaml_write_options yaml = {.schema = schema};
	const struct text_write_options text = {.schema = schema};

	if (strcmp(to, "json") == 0)
		return json_write(&json, message, out, ret_problem);
	if (strcmp(to, "yaml") == 0)
		return yaml_write(&yaml, message, out, ret_problem);
	if (strcmp(to, "text") == 0)
		return text_write(&text, message, out, ret_problem);
	wire_write(message, out);
	*ret_problem = "cannot be written";
	return buf_error(out);
}

static void answer(const char *status, struct slice text)
{
	printf("%s %zu\n", status, text.length);
	if (text.length)
		fwrite(text.data, 1, text.length, stdout);
	fflush(stdout);
}

static void serve(const char *type_name, const char *from, const char *to, struct slice input)
{
	const struct schema_message *type = schema_find_message(schema, slice_of(type_name));
	struct diag_list *diags = diag_list_new(0);
	struct arena *arena = arena_new(0);
	struct message *message = NULL;
	struct buf out = BUF_INIT;
	const char *problem = "no such type";

	if (type && read_message(type, from, input, arena, diags, &message) == 0) {
		if (write_message(message, to, &out, &problem) == 0)
			answer("ok", buf_slice(&out));
		else
			answer("error", slice_of(problem));
	} else {
		for (size_t i = 0; i < diag_list_count(diags); i++) {
			diag_format(diag_list_get(diags, i), &out);
			buf_putc(&out, '\n');
		}
		answer("error", type ? buf_slice(&out) : slice_of(problem));
	}
	buf_fini(&out);
	arena_free(arena);
	diag_list_free(diags);
}

int main(int argc, char **argv)
{
	char line[1024], type[512], from[16], to[16];
	struct diag_list *diags = diag_list_new(0);
	struct schema *loaded;
	size_t length;

	if (argc != 2 || schema_load((const char *const *)argv + 1, 1, diags, &loaded)) {
		fprintf(stderr, "usage: transcode SET\n");
		return 2;
	}
	schema = loaded;
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%511s %15s %15s %zu", type, from, to, &length) != 4)
			return 2;
		/* The exact size, so that sanitizers see one byte too far. */
		char *input = malloc(length ? length : 1);
		if (!input || fread(input, 1, length, stdin) != length)
			return 2;
		serve(type, from, to, (struct slice){input, length});
		free(input);
	}
	schema_free(loaded);
	diag_list_free(diags);
	return 0;
}
