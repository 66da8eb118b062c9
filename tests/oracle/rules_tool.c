/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: rules_tool SCHEMA
 * Answers each message on standard input (length and name of its type, length and bytes; lengths
 * are four bytes, little endian) with a line of JSON: [[path, rule], ...] of what breaks a rule of
 * the schema, or null when the bytes are no such message. Contents of Any are not looked at.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "message/wire_read.h"
#include "validate/validate.h"

static bool read_part(struct buf *out)
{
	unsigned char length[4];
	size_t size;
	char *room;

	buf_reset(out);
	if (fread(length, 1, sizeof(length), stdin) != sizeof(length))
		return false;
	size = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 |
	       (size_t)length[3] << 24;
	room = buf_reserve(out, size);
	if (!room || fread(room, 1, size, stdin) != size)
		return false;
	out->length += size;
	return true;
}

/* "string.min_len", but not "deprecated-field". */
static bool is_rule(const char *id)
{
	return strchr(id, '.') != NULL;
}

static json_t *findings(const struct diag_list *diags)
{
	json_t *list = json_array();

	for (size_t i = 0; i < diag_list_count(diags); i++) {
		const struct diag *diag = diag_list_get(diags, i);
		const char *end = strstr(diag->text, ": ");

		if (diag->level == DIAG_ERROR && is_rule(diag->rule))
			json_array_append_new(
				list, json_pack("[s#s]", diag->text,
					      end ? (size_t)(end - diag->text) : 0, diag->rule));
	}
	return list;
}

int main(int argc, char **argv)
{
	struct diag_list *diags = diag_list_new(0), *found = diag_list_new(100000);
	struct arena *arena = arena_new(0);
	struct buf name = BUF_INIT, bytes = BUF_INIT;
	struct schema *schema = NULL;
	struct validator *validator;

	if (argc != 2 || schema_load((const char *const *)argv + 1, 1, diags, &schema)) {
		fprintf(stderr, "no schema: %s\n",
			diag_list_count(diags) ? diag_list_get(diags, 0)->text : "usage");
		return 1;
	}
	validator = validator_new(schema);
	while (read_part(&name) && read_part(&bytes)) {
		const struct schema_message *type = schema_find_message(schema, buf_slice(&name));
		const struct wire_read_options options = {.schema = schema};
		struct wire_read_error error;
		struct message *message;
		json_t *answer;

		arena_reset(arena);
		diag_list_clear(found);
		if (type && wire_read(&options, type, bytes.data ? buf_slice(&bytes) : SLICE(""),
				    arena, &message, &error) == 0) {
			validator_check(validator, message, "", found);
			answer = findings(found);
		} else {
			answer = json_null();
		}
		json_dumpf(answer, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
		putchar('\n');
		json_decref(answer);
	}
	validator_free(validator);
	schema_free(schema);
	arena_free(arena);
	buf_fini(&name);
	buf_fini(&bytes);
	diag_list_free(diags);
	diag_list_free(found);
	return fflush(stdout) == 0 ? 0 : 1;
}
