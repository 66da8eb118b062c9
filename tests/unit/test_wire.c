/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/limits.h"
#include "message_fixture.h"

#define V3  "xdspub.test.v3.Everything"
#define V2  "xdspub.test.v2.Everything"
#define EXT "xdspub.test.v2.Extendable"
#define WKT "xdspub.test.v3.WellKnown"

static int open_test(void **state)
{
	return fixture_open(state, "XDSPUB_TEST_SCHEMA");
}

/* Bytes as they come, what they mean, and how they are written again (NULL: the same). */
static void reads_and_writes(void **state)
{
	static const struct {
		const char *type, *in, *text, *out;
	} cases[] = {
		{V3, "", "", NULL},
		{V3, "18 96 01", "f_int32: 150\n", NULL},
		{V3, "18 ff ff ff ff ff ff ff ff ff 01", "f_int32: -1\n", NULL},
		/* 32 bits of a longer number; zero without presence goes. */
		{V3, "18 81 80 80 80 10", "f_int32: 1\n", "18 01"},
		{V3, "18 00", "", ""},
		{V3, "18 80 00", "", ""},
		{V3, "b8 01 00", "o_int32: 0\n", NULL},
		{V3, "38 01 40 02", "f_sint32: -1\nf_sint64: 1\n", NULL},
		{V3, "4d 01 00 00 00 51 02 00 00 00 00 00 00 00", "f_fixed32: 1\nf_fixed64: 2\n",
			NULL},
		{V3, "68 05", "f_bool: true\n", "68 01"},
		/* The last value counts, in the order of numbers. */
		{V3, "72 01 61 18 01 72 01 62", "f_int32: 1\nf_string: \"b\"\n", "18 01 72 01 62"},
		/* Sub-messages merge. */
		{V3, "8a 01 02 08 01 8a 01 03 12 01 61",
			"f_message {\n  number: 1\n  text: \"a\"\n}\n", "8a 01 05 08 01 12 01 61"},
		/* Packed and not, both ways; mixed. */
		{V3, "da 02 02 01 02", "r_int32: 1\nr_int32: 2\n", NULL},
		{V3, "d8 02 01 d8 02 02", "r_int32: 1\nr_int32: 2\n", "da 02 02 01 02"},
		{V3, "fa 03 02 01 02", "u_int32: 1\nu_int32: 2\n", "f8 03 01 f8 03 02"},
		{V3, "da 02 00", "", ""},
		/* Oneof: the last, and a message starts afresh after another member. */
		{V3, "98 05 01 f2 05 01 78", "c_string: \"x\"\n", "f2 05 01 78"},
		{V3, "8a 06 02 08 01 98 05 01 8a 06 02 12 00", "c_message {\n}\n", "8a 06 00"},
		/* Open enums hold any number. */
		{V3, "80 01 63", "f_enum: 99\n", NULL},
		{V3, "80 01 ff ff ff ff ff ff ff ff ff 01", "f_enum: COLOR_NEGATIVE\n", NULL},
		/* Unknown fields of every kind survive, last, in their order. */
		{V3, "e8 3e 01 18 01 e5 3e 01 00 00 00", "f_int32: 1\n1005: 1\n1004: 0x00000001\n",
			"18 01 e8 3e 01 e5 3e 01 00 00 00"},
		{V3, "e3 3e 08 01 0b 0c e4 3e", "1004 {\n  1: 1\n  1 {\n  }\n}\n", NULL},
		{V3, "1a 01 61", "3: \"a\"\n", NULL}, /* known number, other wire type */
		/* Closed enums: what they do not have is unknown. */
		{V2, "80 01 03 80 01 63", "o_enum: SHADE_DARK\n16: 99\n", NULL},
		{V2, "a0 02 03 a0 02 63 a0 02 07",
			"r_enum: SHADE_DARK\nr_enum: SHADE_LIGHT\n36: 99\n",
			"a0 02 03 a0 02 07 a0 02 63"},
		{V2, "c2 03 03 03 63 07", "p_enum: SHADE_DARK\np_enum: SHADE_LIGHT\n56: 99\n",
			"c2 03 02 03 07 c0 03 63"},
		{V2, "aa 06 05 0a 01 61 10 63", "101: \"\\n\\001a\\020c\"\n", NULL},
		/* proto2: zero is written, groups. */
		{V2, "18 00", "o_int32: 0\n", NULL},
		{V2, "8b 05 08 01 8c 05", "OptionalGroup {\n  number: 1\n}\n", NULL},
		{V2, "8b 05 13 0a 01 61 14 8c 05",
			"OptionalGroup {\n  Deeper {\n    text: \"a\"\n  }\n}\n", NULL},
		{V2, "93 05 10 01 94 05 93 05 10 02 94 05",
			"RepeatedGroup {\n  number: 1\n}\nRepeatedGroup {\n  number: 2\n}\n", NULL},
		/* Extensions, in between the fields. */
		{EXT, "e0 12 03 80 07 02 08 01",
			"before: 1\n[xdspub.test.v2.e_int32]: 2\nafter: 3\n",
			"08 01 80 07 02 e0 12 03"},
		{EXT, "82 08 02 01 02 fa 07 01 07",
			"[xdspub.test.v2.e_repeated]: 7\n[xdspub.test.v2.e_packed]: 1\n"
			"[xdspub.test.v2.e_packed]: 2\n",
			"f8 07 07 82 08 02 01 02"},
		/* Maps: by key, the last of equal keys, key and value always there. */
		{"xdspub.test.v3.Maps", "0a 04 08 02 12 00 0a 02 08 01 0a 05 08 02 12 01 61",
			"k_int32 {\n  key: 1\n  value: \"\"\n}\nk_int32 {\n  key: 2\n  value: "
			"\"a\"\n}\n",
			"0a 04 08 01 12 00 0a 05 08 02 12 01 61"},
		{"xdspub.test.v3.Maps", "0a 00", "k_int32 {\n  key: 0\n  value: \"\"\n}\n",
			"0a 04 08 00 12 00"},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct message *message;
		struct wire_read_error error = {0};
		const char *out = cases[i].out ? cases[i].out : cases[i].in;
		char text[1024], bytes[1024];
		int rc = fixture_read(fixture, cases[i].type, fixture_hex(fixture, cases[i].in),
			&message, &error);

		if (rc)
			fail_msg("%s: %d %s", cases[i].in, rc, error.text);
		snprintf(text, sizeof(text), "%s", fixture_text(fixture, message));
		snprintf(bytes, sizeof(bytes), "%s", fixture_bytes(fixture, message));
		/* Text format prints unknown fields, so both sides show them. */
		if (strcmp(text, cases[i].text) != 0)
			fail_msg("%s means:\n%s", cases[i].in, text);
		if (strcmp(bytes, out) != 0)
			fail_msg("%s is written as %s", cases[i].in, bytes);
		assert_int_equal(wire_size(message), (strlen(bytes) + 1) / 3);
		/* What was written is read and written the same. */
		struct message *again;
		assert_int_equal(fixture_read(fixture, cases[i].type, fixture_hex(fixture, bytes),
					 &again, &error),
			0);
		assert_true(message_equal(message, again));
		assert_string_equal(fixture_bytes(fixture, again), bytes);
	}
}

static void refuses(void **state)
{
	static const struct {
		const char *type, *in, *text;
		size_t offset;
	} cases[] = {
		{V3, "18", "ends inside a number", 1},
		{V3, "18 80", "ends inside a number", 1},
		{V3, "18 ff ff ff ff ff ff ff ff ff ff 01", "longer than 10 bytes", 1},
		{V3, "72 05 61", "beyond the end", 1},
		{V3, "72 ff ff ff ff ff ff ff ff ff 01 61", "beyond the end", 1},
		{V3, "4d 01 00", "ends inside a value", 1},
		{V3, "00 01", "field number that does not exist", 0},
		{V3, "80 80 80 80 10 01", "field number that does not exist", 0},
		{V3, "1e", "wire type that does not exist", 1},
		{V3, "1f", "wire type that does not exist", 1},
		{V3, "1c", "end of a group that was not begun", 0},
		{V3, "e3 3e 08 01", "ends inside", 4},
		{V3, "e3 3e 08 01 ec 3e", "end of a group that was not begun", 6},
		{V2, "8b 05 08 01", "ends inside a group", 4},
		{V2, "8b 05 08 01 94 05", "end of a group that was not begun", 4},
		{V3, "72 02 c3 28", "not valid UTF-8", 2},
		{V3, "72 03 61 00 62", "NUL", 2},
		{V2, "72 03 61 00 62", "NUL", 2},
		{V3, "72 03 ed a0 80", "not valid UTF-8", 2},
		{V3, "da 02 02 01 80", "ends inside a number", 4},
		{V3, "8a 01 02 08", "beyond the end", 2},
		{"xdspub.test.v2.RequiredInner", "", "required field is missing", 0},
		{V2, "93 05 0a 01 61 94 05", "required field is missing", 0},
		{"xdspub.test.v3.Maps", "62 04 0a 02 c3 28", "not valid UTF-8", 4},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct message *message = NULL;
		struct wire_read_error error = {0};
		int rc = fixture_read(fixture, cases[i].type, fixture_hex(fixture, cases[i].in),
			&message, &error);

		if (rc != -EBADMSG || !strstr(error.text, cases[i].text) ||
			error.offset != cases[i].offset)
			fail_msg("%s: %d at %zu: %s", cases[i].in, rc, error.offset,
				error.text ? error.text : "-");
		assert_null(message);
	}
}

/* proto2 strings are bytes; only NUL is refused. */
static void lets_proto2_strings_be(void **state)
{
	struct fixture *fixture = *state;
	struct wire_read_error error;
	struct message *message;

	assert_int_equal(
		fixture_read(fixture, V2, fixture_hex(fixture, "72 02 c3 28"), &message, &error),
		0);
	assert_string_equal(fixture_bytes(fixture, message), "72 02 c3 28");
}

/* `levels` sub-messages below the root, by field `number`. */
static struct slice nest(struct fixture *fixture, uint32_t number, unsigned levels)
{
	struct buf inner = BUF_INIT, outer = BUF_INIT;
	struct slice copy;

	for (unsigned i = 0; i < levels; i++) {
		struct buf swap = inner;

		buf_reset(&outer);
		wire_put_bytes(&outer, number, buf_slice(&inner));
		inner = outer;
		outer = swap;
	}
	copy = arena_copy(fixture->arena, inner.data, inner.length);
	buf_fini(&inner);
	buf_fini(&outer);
	return copy;
}

static void limits_depth(void **state)
{
	struct fixture *fixture = *state;
	struct message *message;
	struct wire_read_error error;
	struct slice groups = {NULL, 0};

	assert_int_equal(
		fixture_read(fixture, V3, nest(fixture, 106, LIMIT_DEPTH), &message, &error), 0);
	assert_int_equal(
		fixture_read(fixture, V3, nest(fixture, 106, LIMIT_DEPTH + 1), &message, &error),
		-EBADMSG);
	assert_non_null(strstr(error.text, "nested deeper"));
	assert_int_equal(
		fixture_read(fixture, V3, nest(fixture, 106, 20000), &message, &error), -EBADMSG);
	/* Unknown groups too: 0x0b begins group 1, which Everything does not have. */
	char *open = arena_alloc(fixture->arena, 100000);
	memset(open, 0x0b, 100000);
	groups = (struct slice){open, 100000};
	assert_int_equal(fixture_read(fixture, V3, groups, &message, &error), -EBADMSG);
	assert_non_null(strstr(error.text, "nested deeper"));
	/* A message built by hand beyond the limit is not written, and nothing overflows. */
	const struct schema_message *type = fixture_type(fixture, V3);
	const struct schema_field *self = schema_field_by_name(type, SLICE("self"));
	for (unsigned levels = LIMIT_DEPTH; levels <= LIMIT_DEPTH + 1; levels++) {
		struct message *outer = message_new(fixture->arena, type);
		struct buf out = BUF_INIT;

		for (unsigned i = 0; i < levels; i++) {
			struct message *next = message_new(fixture->arena, type);

			message_set(fixture->arena, next, self)->one.message = outer;
			outer = next;
		}
		wire_write(outer, &out);
		assert_int_equal(buf_error(&out), levels == LIMIT_DEPTH ? 0 : -E2BIG);
		buf_fini(&out);
	}
}

static void expands_any(void **state)
{
	const char *text = "w_any {\n  [type.googleapis.com/google.protobuf.Any] {\n"
			   "    [type.googleapis.com/xdspub.test.v3.Everything] {\n      f_int32: "
			   "1\n    }\n  }\n}\n";
	struct fixture *fixture = *state;
	struct message *message = fixture_message(fixture, WKT, text), *again;
	struct wire_read_error error;
	struct slice bytes;

	assert_string_equal(fixture_text(fixture, message), text);
	bytes = fixture_hex(fixture, fixture_bytes(fixture, message));
	assert_int_equal(fixture_read(fixture, WKT, bytes, &again, &error), 0);
	assert_true(message_equal(message, again));
	const struct message *any = message_get_message(again, 1);
	assert_non_null(any->any_content);
	assert_null(message_find(any, 2));
	/* Without expansion the bytes stay, and mean the same. */
	const struct wire_read_options closed = {.schema = fixture->schema};
	assert_int_equal(wire_read(&closed, fixture_type(fixture, WKT), bytes, fixture->arena,
				 &again, &error),
		0);
	assert_null(message_get_message(again, 1)->any_content);
	assert_true(message_equal(message, again));
	assert_string_equal(fixture_text(fixture, again), text);
	/* Contents of a type that nobody knows stay as they are. */
	again = fixture_message(
		fixture, "google.protobuf.Any", "type_url: 'x/no.Such' value: '\\377'");
	bytes = fixture_hex(fixture, fixture_bytes(fixture, again));
	assert_int_equal(fixture_read(fixture, "google.protobuf.Any", bytes, &again, &error), 0);
	assert_null(again->any_content);
	assert_string_equal(
		fixture_text(fixture, again), "type_url: \"x/no.Such\"\nvalue: \"\\377\"\n");
	/* Known ones are brought into canonical order: here f_string came before f_int32. */
	struct message *mixed = fixture_message(fixture, "google.protobuf.Any",
		"type_url: 'x/xdspub.test.v3.Everything' value: 'r\\001a\\030\\001'");
	bytes = fixture_hex(fixture, fixture_bytes(fixture, mixed));
	assert_int_equal(fixture_read(fixture, "google.protobuf.Any", bytes, &again, &error), 0);
	assert_non_null(strstr(fixture_bytes(fixture, again), "18 01 72 01 61"));
	/* A content that cannot be read is an error, counted from its own start. */
	mixed = fixture_message(fixture, "google.protobuf.Any",
		"type_url: 'x/xdspub.test.v3.Everything' value: '\\030\\001\\030'");
	bytes = fixture_hex(fixture, fixture_bytes(fixture, mixed));
	assert_int_equal(
		fixture_read(fixture, "google.protobuf.Any", bytes, &again, &error), -EBADMSG);
	assert_int_equal(error.offset, 3);
}

/* Any messages that occur twice are merged before their content is looked at. */
static void merges_any(void **state)
{
	struct fixture *fixture = *state;
	struct message *first = fixture_message(fixture, WKT,
		"w_any { type_url: 'type.googleapis.com/google.protobuf.Duration' value: "
		"'\\010\\005' }");
	struct message *second = fixture_message(fixture, WKT, "w_any { value: '\\010\\007' }");
	struct buf both = BUF_INIT;
	struct message *message;
	struct wire_read_error error;

	wire_write(first, &both);
	wire_write(second, &both);
	assert_int_equal(fixture_read(fixture, WKT, buf_slice(&both), &message, &error), 0);
	assert_string_equal(fixture_text(fixture, message),
		"w_any {\n  [type.googleapis.com/google.protobuf.Duration] {\n    seconds: 7\n  "
		"}\n}\n");
	buf_fini(&both);
}

/* Unknown and known fields in turn: the time must not grow with the square. */
static void gathers_unknown_fields(void **state)
{
	struct fixture *fixture = *state;
	const unsigned count = 200000;
	struct buf in = BUF_INIT;
	struct message *message;
	struct wire_read_error error;

	for (unsigned i = 0; i < count; i++) {
		wire_put_tag(&in, 3, WIRE_VARINT);
		wire_put_varint(&in, 1);
		wire_put_tag(&in, 1000, WIRE_VARINT);
		wire_put_varint(&in, i & 127);
	}
	assert_int_equal(fixture_read(fixture, V3, buf_slice(&in), &message, &error), 0);
	assert_int_equal(message->unknown.length, count * 3);
	for (unsigned i = 0; i < count; i++)
		if (message->unknown.data[i * 3 + 2] != (char)(i & 127))
			fail_msg("unknown field %u is lost", i);
	buf_fini(&in);
}

static void stops_at_the_limit_of_the_arena(void **state)
{
	struct fixture *fixture = *state;
	const struct wire_read_options options = {.schema = fixture->schema, .expand_any = true};
	struct message *message = fixture_message(fixture, V3,
		"r_int32: [1, 2, 3] r_string: ['a', 'b'] f_message { child { child { } } } "
		"c_any { [x/google.protobuf.Struct] { fields { key: 'a' value { number_value: 1 } "
		"} } }");
	struct buf bytes = BUF_INIT;
	struct wire_read_error error;
	size_t limit = 0;
	int rc;

	wire_write(message, &bytes);
	do {
		struct arena *arena = arena_new(++limit);

		rc = wire_read(&options, message->type, buf_slice(&bytes), arena, &message, &error);
		assert_true(rc == 0 || rc == -ENOMEM);
		arena_free(arena);
	} while (rc && limit < 100000);
	assert_int_equal(rc, 0);
	assert_true(limit > 500);
	buf_fini(&bytes);
}

/* proto2's oldest form: each extension is an item of a group, its parts in any order. */
static void handles_message_sets(void **state)
{
	static const struct {
		const char *in, *text, *out;
	} cases[] = {
		{"0b 10 64 1a 02 08 05 0c", "[q.in_set] {\n  a: 5\n}\n", "0b 10 64 1a 02 08 05 0c"},
		{"0b 1a 02 08 05 10 64 0c", "[q.in_set] {\n  a: 5\n}\n", "0b 10 64 1a 02 08 05 0c"},
		{"0b 10 64 1a 02 08 05 0c 0b 10 64 1a 02 10 07 0c",
			"[q.in_set] {\n  a: 5\n  b: 7\n}\n", "0b 10 64 1a 04 08 05 10 07 0c"},
		{"0b 10 65 1a 02 08 05 0c", "1 {\n  2: 101\n  3: \"\\010\\005\"\n}\n",
			"0b 10 65 1a 02 08 05 0c"},
	};
	struct fixture *fixture = *state, inner = *fixture;
	const char *name = "set.pb";
	struct buf bytes = BUF_INIT;
	struct slice set;

	wire_write(
		fixture_message(fixture, "google.protobuf.FileDescriptorSet",
			"file { name: 'a.proto' package: 'q' message_type { name: 'M' "
			"field { name: 'a' number: 1 label: LABEL_OPTIONAL type: TYPE_INT32 } "
			"field { name: 'b' number: 2 label: LABEL_OPTIONAL type: TYPE_INT32 } } "
			"message_type { name: 'Set' options { message_set_wire_format: true } "
			"extension_range { start: 4 end: 2147483647 } } extension { name: 'in_set' "
			"number: 100 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: '.q.M' "
			"extendee: '.q.Set' } }"),
		&bytes);
	set = buf_slice(&bytes);
	assert_int_equal(schema_load_bytes(&set, &name, 1, fixture->diags, &inner.schema), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct message *message;
		struct wire_read_error error;

		assert_int_equal(fixture_read(&inner, "q.Set", fixture_hex(&inner, cases[i].in),
					 &message, &error),
			0);
		assert_string_equal(fixture_text(&inner, message), cases[i].text);
		assert_string_equal(fixture_bytes(&inner, message), cases[i].out);
	}
	fixture->out = inner.out;
	schema_free(inner.schema);
	buf_fini(&bytes);
}

static int open_envoy(void **state)
{
	return fixture_open(state, "XDSPUB_SCHEMA");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_and_writes, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(refuses, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(lets_proto2_strings_be, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(limits_depth, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(expands_any, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(merges_any, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(gathers_unknown_fields, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(handles_message_sets, open_envoy, fixture_close),
		cmocka_unit_test_setup_teardown(
			stops_at_the_limit_of_the_arena, open_test, fixture_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
