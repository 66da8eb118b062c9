/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tests of schema and message share: a schema, an arena, messages written as text format. */
#ifndef XDSPUB_TESTS_UNIT_MESSAGE_FIXTURE_H
#define XDSPUB_TESTS_UNIT_MESSAGE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "message/text_read.h"
#include "message/text_write.h"
#include "message/wire_read.h"
#include "message/wire_write.h"

struct fixture {
	struct schema *schema;
	struct arena *arena;
	struct diag_list *diags;
	struct buf out;
};

static inline void fixture_show(const struct diag_list *diags)
{
	for (size_t i = 0; i < diag_list_count(diags); i++) {
		struct buf line = BUF_INIT;

		diag_format(diag_list_get(diags, i), &line);
		print_message("%s\n", buf_cstr(&line));
		buf_fini(&line);
	}
}

/* `variable` names the set: XDSPUB_TEST_SCHEMA or XDSPUB_SCHEMA. */
static inline int fixture_open(void **state, const char *variable)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const char *path = getenv(variable);

	if (!fixture || !path)
		return -1;
	fixture->arena = arena_new(0);
	fixture->diags = diag_list_new(0);
	*state = fixture;
	if (schema_load(&path, 1, fixture->diags, &fixture->schema) == 0)
		return 0;
	fixture_show(fixture->diags);
	return -1;
}

static inline int fixture_close(void **state)
{
	struct fixture *fixture = *state;

	schema_free(fixture->schema);
	arena_free(fixture->arena);
	diag_list_free(fixture->diags);
	buf_fini(&fixture->out);
	free(fixture);
	return 0;
}

static inline const struct schema_message *fixture_type(struct fixture *fixture, const char *name)
{
	const struct schema_message *type = schema_find_message(fixture->schema, slice_of(name));

	if (!type)
		fail_msg("no type %s", name);
	return type;
}

static inline struct message *fixture_message(
	struct fixture *fixture, const char *type, const char *text)
{
	const struct text_read_options options = {.schema = fixture->schema, .path = "text"};
	struct message *message = NULL;

	diag_list_clear(fixture->diags);
	if (text_read(&options, fixture_type(fixture, type), slice_of(text), fixture->arena,
		    fixture->diags, &message)) {
		fixture_show(fixture->diags);
		fail_msg("cannot read %s", text);
	}
	return message;
}

/* Valid until the next call. */
static inline const char *fixture_text(struct fixture *fixture, const struct message *message)
{
	const struct text_write_options options = {
		.schema = fixture->schema, .print_unknown = true};
	const char *problem;

	buf_reset(&fixture->out);
	if (text_write(&options, message, &fixture->out, &problem))
		fail_msg("cannot write: %s", problem);
	return buf_cstr(&fixture->out);
}

/* "0a 03 61" to bytes in the arena; what is no hex digit is skipped. */
static inline struct slice fixture_hex(struct fixture *fixture, const char *hex)
{
	char *bytes = arena_alloc(fixture->arena, strlen(hex) / 2 + 1);
	size_t digits = 0;

	for (; *hex; hex++) {
		const char *known = strchr("0123456789abcdef", *hex);
		unsigned value = known ? (unsigned)(known - "0123456789abcdef") : 16;

		if (value > 15)
			continue;
		bytes[digits / 2] =
			(char)(digits % 2 ? (unsigned char)bytes[digits / 2] | value : value << 4);
		digits++;
	}
	assert_int_equal(digits % 2, 0);
	return (struct slice){bytes, digits / 2};
}

static inline int fixture_read(struct fixture *fixture, const char *type, struct slice bytes,
	struct message **ret_message, struct wire_read_error *ret_error)
{
	const struct wire_read_options options = {.schema = fixture->schema, .expand_any = true};

	return wire_read(&options, fixture_type(fixture, type), bytes, fixture->arena, ret_message,
		ret_error);
}

/* Bytes as hex with blanks; valid until the next call. */
static inline const char *fixture_bytes(struct fixture *fixture, struct message *message)
{
	struct buf bytes = BUF_INIT;

	wire_write(message, &bytes);
	assert_int_equal(buf_error(&bytes), 0);
	buf_reset(&fixture->out);
	for (size_t i = 0; i < bytes.length; i++)
		buf_printf(&fixture->out, "%s%02x", i ? " " : "", (unsigned char)bytes.data[i]);
	buf_fini(&bytes);
	return buf_cstr(&fixture->out);
}

/* One diagnostic at least holds `wanted`. */
static inline void fixture_expect(struct fixture *fixture, const char *wanted)
{
	for (size_t i = 0; i < diag_list_count(fixture->diags); i++) {
		struct buf line = BUF_INIT;
		bool is_found;

		diag_format(diag_list_get(fixture->diags, i), &line);
		is_found = strstr(buf_cstr(&line), wanted) != NULL;
		buf_fini(&line);
		if (is_found)
			return;
	}
	fixture_show(fixture->diags);
	fail_msg("no diagnostic says: %s", wanted);
}

#endif
