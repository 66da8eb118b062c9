/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/text_read.h"

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

static void reads(void **state)
{
	static const struct {
		const char *type, *in, *out;
	} cases[] = {
		{V3, "", ""},
		{V3, " # nothing\n\t# here", ""},
		{V3,
			"f_int32:1 f_int64 : -2,f_uint32:3;f_uint64: 0x1F f_sint32: - 0x10 "
			"f_sint64: 017",
			"f_int32: 1\nf_int64: -2\nf_uint32: 3\nf_uint64: 31\nf_sint32: -16\n"
			"f_sint64: 15\n"},
		{V3,
			"f_int64: -9223372036854775808 f_uint64: 18446744073709551615 f_int32: "
			"-2147483648",
			"f_int32: -2147483648\nf_int64: -9223372036854775808\n"
			"f_uint64: 18446744073709551615\n"},
		{V3, "f_double: 1.5 f_float: 2.5f", "f_double: 1.5\nf_float: 2.5\n"},
		{V3,
			"r_double: [1, .5, 5., 1e3, 1E-3, -1.5e+2, 7f, inf, -inf, Infinity, nan, "
			"-0.0]",
			"r_double: 1\nr_double: 0.5\nr_double: 5\nr_double: 1000\nr_double: 0.001\n"
			"r_double: -150\nr_double: 7\nr_double: inf\nr_double: -inf\nr_double: "
			"inf\n"
			"r_double: nan\nr_double: -0.0\n"},
		{V3, "r_bool: [true, false, True, False, t, f, 1, 0, 0x1]",
			"r_bool: true\nr_bool: false\nr_bool: true\nr_bool: false\nr_bool: true\n"
			"r_bool: false\nr_bool: true\nr_bool: false\nr_bool: true\n"},
		{V3, "f_enum: COLOR_RED r_enum: [1, -1, 77]",
			"f_enum: COLOR_RED\nr_enum: COLOR_RED\nr_enum: COLOR_NEGATIVE\nr_enum: "
			"77\n"},
		{V3, "f_string: 'a' \"b\"\n  'c' # d\n 'e'", "f_string: \"abce\"\n"},
		{V3,
			"f_string: "
			"'\\a\\b\\f\\n\\r\\t\\v\\?\\\\\\'"
			"\\\"\\x41\\101\\u00e9\\U0001F600\\ud83d\\ude00'",
			"f_string: "
			"\"\\007\\010\\014\\n\\r\\t\\013?\\\\'"
			"\\\"AA\u00e9\U0001f600\U0001f600\"\n"},
		{V3, "f_bytes: '\\0\\377\\xff\\x1'", "f_bytes: \"\\000\\377\\377\\001\"\n"},
		{V3, "f_message { number: 1 }", "f_message {\n  number: 1\n}\n"},
		{V3, "f_message: < number: 1 child: { } >",
			"f_message {\n  number: 1\n  child {\n  }\n}\n"},
		{V3, "r_message: [{number: 1}, <number: 2>] r_message { number: 3 } r_int32: []",
			"r_message {\n  number: 1\n}\nr_message {\n  number: 2\n}\nr_message {\n  "
			"number: 3\n"
			"}\n"},
		{V3, "f_string: ''", ""},
		{V3, "o_string: ''", "o_string: \"\"\n"},
		{V2, "OptionalGroup { number: 1 Deeper { text: 'a' } } RepeatedGroup { number: 2 }",
			"OptionalGroup {\n  number: 1\n  Deeper {\n    text: \"a\"\n  }\n}\n"
			"RepeatedGroup {\n  number: 2\n}\n"},
		{V2, "o_enum: -5", "o_enum: SHADE_NEGATIVE\n"},
		{EXT,
			"[xdspub.test.v2.e_int32]: 5 [ xdspub.test.v2 . e_message ] { number: 1 } "
			"before: 1",
			"before: 1\n[xdspub.test.v2.e_int32]: 5\n[xdspub.test.v2.e_message] {\n"
			"  number: 1\n}\n"},
		{EXT, "[xdspub.test.v2.e_packed]: [1, 2]",
			"[xdspub.test.v2.e_packed]: 1\n[xdspub.test.v2.e_packed]: 2\n"},
		{WKT, "w_any { [a.b-c.d/xdspub.test.v3.Everything]: < f_int32: 1 > }",
			"w_any {\n  type_url: \"a.b-c.d/xdspub.test.v3.Everything\"\n  value: "
			"\"\\030\\001\"\n}\n"},
		{WKT, "w_any { [type.googleapis.com/xdspub.test.v3.Everything] { f_int32: 1 } }",
			"w_any {\n  [type.googleapis.com/xdspub.test.v3.Everything] {\n    "
			"f_int32: 1\n"
			"  }\n}\n"},
		{WKT, "w_any { type_url: 'x/google.protobuf.Empty' value: '' }",
			"w_any {\n  type_url: \"x/google.protobuf.Empty\"\n}\n"},
		{"xdspub.test.v3.Maps",
			"k_int32 { key: 1 value: 'a' } k_int32: [{key: 1 value: 'b'}]",
			"k_int32 {\n  key: 1\n  value: \"b\"\n}\n"},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct message *message = fixture_message(fixture, cases[i].type, cases[i].in);

		assert_string_equal(fixture_text(fixture, message), cases[i].out);
		/* What was written reads back the same. */
		assert_true(message_equal(
			message, fixture_message(fixture, cases[i].type, cases[i].out)));
	}
}

static void refuses(void **state)
{
	static const struct {
		const char *type, *in, *problem;
	} cases[] = {
		{V3, "f_int23: 1",
			"text:1:1: error: unknown field \"f_int23\" in xdspub.test.v3.Everything "
			"(schema "
			"test.pb), did you mean \"f_int32\"? [unknown-field]"},
		{V3, "f_message {\n  numbr: 1 }", "text:2:3: error: unknown field \"numbr\""},
		{V3, "fInt32: 1", "unknown field \"fInt32\""},
		{V3, "3: 1", "text:1:1: error: field 3 is given by its number"},
		{V3, "f_int32: 1 f_int32: 2", "text:1:12: error: \"f_int32\" is set twice"},
		{V3, "c_int32: 1 c_string: 'a'",
			"text:1:12: error: \"c_int32\" and \"c_string\" are both set, but only one "
			"of oneof"},
		{V3, "f_int32: 2147483648", "2147483648 is out of range for \"f_int32\""},
		{V3, "f_int32: -2147483649", "-2147483649 is out of range"},
		{V3, "f_uint32: -1", "-1 is out of range for \"f_uint32\""},
		{V3, "f_uint64: 18446744073709551616", "out of range"},
		{V3, "f_int64: -9223372036854775809", "out of range"},
		{V3, "f_bool: 2", "2 is out of range for \"f_bool\""},
		{V3, "f_float: 1e39", "out of range"},
		{V3, "f_double: 1e400", "out of range"},
		{V3, "f_int32: 1.5", "expected a whole number (int32) for \"f_int32\", found 1.5"},
		{V3, "f_int32: 08", "expected a whole number"},
		{V3, "f_int32: 0x", "expected a whole number"},
		{V3, "f_double: 0x10", "expected a number for \"f_double\", found 0x10"},
		{V3, "f_int32: 'a'", "expected a whole number (int32) for \"f_int32\", found 'a'"},
		{V3, "f_string: a", "expected a quoted string for \"f_string\", found a"},
		{V3, "f_bool: yes", "expected true or false"},
		{V3, "f_enum: COLOR_REED",
			"has no value \"COLOR_REED\", did you mean \"COLOR_RED\"?"},
		{V2, "o_enum: 4", "xdspub.test.v2.Shade has no value with number 4"},
		{V3, "f_message: 5", "expected a message in braces for \"f_message\", found 5"},
		{V3, "f_message [{}]", "expected a message in braces for \"f_message\", found ["},
		{V3, "f_int32: [1]", "expected a whole number (int32) for \"f_int32\", found ["},
		{V3, "f_int32 1", "text:1:9: error: expected \":\", found 1 [syntax]"},
		{V3, "f_message { number: 1",
			"text:1:22: error: expected the name of a field, found the end"},
		{V3, "f_message { number: 1 >", "expected the name of a field, found >"},
		{V3, "r_int32: [1 2]", "expected \",\" or \"]\", found 2"},
		{V3, "r_int32: [1,]", "expected a whole number"},
		{V3, "f_string: 'a\nb'", "text:1:11: error: a string does not end in its line"},
		{V3, "f_string: 'a", "a string does not end"},
		{V3, "f_string: '\\q'", "an escape that does not exist"},
		{V3, "f_string: '\\x'", "wants hexadecimal digits"},
		{V3, "f_string: '\\400'", "beyond \\377"},
		{V3, "f_string: '\\u12'", "wants four hexadecimal digits"},
		{V3, "f_string: '\\ud800'", "no Unicode character"},
		{V3, "f_string: '\\U00110000'", "no Unicode character"},
		{V3, "f_string: '\\377'", "not valid UTF-8"},
		{V3, "f_string: 'a\\0b'", "NUL"},
		{V2, "o_string: 'a\\0b'", "NUL"},
		{V3, "\x01", "a byte that belongs in no text format file"},
		{V3, "f_int32: 1,, f_int64: 1", "expected the name of a field, found ,"},
		{V3, "[xdspub.test.v2.e_int32]: 5", "has no extension \"xdspub.test.v2.e_int32\""},
		{EXT, "[xdspub.test.v2.only]: 5", "has no extension \"xdspub.test.v2.only\""},
		{V3, "[a.b/xdspub.test.v3.Everything] { }", "a type URL stands only in an Any"},
		{WKT, "w_any { [a.b/xdspub.test.v3.Everythink] { } }",
			"unknown type \"xdspub.test.v3.Everythink\" (schema test.pb), did you mean "
			"\"xdspub.test.v3.Everything\"?"},
		{WKT, "w_any { [a/google.protobuf.Empty] { } [a/google.protobuf.Empty] { } }",
			"set twice"},
		{WKT, "w_any { [a/google.protobuf.Empty] { } value: 'a' }", "content of the Any"},
		{V2, "optionalgroup { }", "unknown field \"optionalgroup\""},
		{V2, "RepeatedGroup { }",
			"text:1:15: error: required field \"number\" of "
			"xdspub.test.v2.Everything.RepeatedGroup "
			"is missing [missing-field]"},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct text_read_options options = {
			.schema = fixture->schema, .path = "text"};
		struct message *message = NULL;

		diag_list_clear(fixture->diags);
		if (text_read(&options, fixture_type(fixture, cases[i].type), slice_of(cases[i].in),
			    fixture->arena, fixture->diags, &message) != -EBADMSG)
			fail_msg("accepted: %s", cases[i].in);
		assert_null(message);
		fixture_expect(fixture, cases[i].problem);
	}
}

/* Errors in values do not hide those after them. */
static void reports_all(void **state)
{
	struct fixture *fixture = *state;
	const struct text_read_options options = {.schema = fixture->schema, .path = "text"};
	struct message *message;
	const char *text = "nonsense { a: 1 b: [ <c: 'd' \"e\"> ] }\n"
			   "f_int32: x\n"
			   "f_enum: NONE f_string: '\\q' 'b'\n"
			   "other: -5 third: 'a' 'b' f_bool: maybe\n";

	assert_int_equal(text_read(&options, fixture_type(fixture, V3), slice_of(text),
				 fixture->arena, fixture->diags, &message),
		-EBADMSG);
	assert_int_equal(diag_list_count(fixture->diags), 7);
	fixture_expect(fixture, "text:1:1: error: unknown field \"nonsense\"");
	fixture_expect(fixture, "text:2:10: error: expected a whole number");
	fixture_expect(fixture, "text:3:9: error: xdspub.test.v3.Color has no value \"NONE\"");
	fixture_expect(fixture, "text:3:24: error: \"f_string\": an escape");
	fixture_expect(fixture, "text:4:11: error: unknown field \"third\"");
	fixture_expect(fixture, "text:4:34: error: expected true or false");
}

static void limits_depth(void **state)
{
	static const char *const opens[] = {"self { ", "self: <", "[", "nonsense { ", "x: ["};
	struct fixture *fixture = *state;
	const struct text_read_options options = {.schema = fixture->schema, .path = "text"};
	struct message *message;
	struct buf text = BUF_INIT;

	for (unsigned levels = LIMIT_DEPTH; levels <= LIMIT_DEPTH + 1; levels++) {
		buf_reset(&text);
		for (unsigned i = 0; i < levels; i++)
			buf_puts(&text, "self { ");
		buf_fill(&text, '}', levels);
		assert_int_equal(text_read(&options, fixture_type(fixture, V3), buf_slice(&text),
					 fixture->arena, fixture->diags, &message),
			levels == LIMIT_DEPTH ? 0 : -EBADMSG);
	}
	fixture_expect(fixture, "nested more than 100 levels deep");
	for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]); i++) {
		buf_reset(&text);
		for (unsigned k = 0; k < 100000; k++)
			buf_puts(&text, opens[i]);
		assert_int_equal(text_read(&options, fixture_type(fixture, V3), buf_slice(&text),
					 fixture->arena, fixture->diags, &message),
			-EBADMSG);
	}
	buf_fini(&text);
}

static void keeps_positions(void **state)
{
	struct fixture *fixture = *state;
	struct message *message = fixture_message(fixture, V3, "\n f_int32: 1 f_message\n{ }");

	assert_int_equal(message_find(message, 3)->at.line, 2);
	assert_int_equal(message_find(message, 3)->at.column, 2);
	assert_int_equal(message_get_message(message, 17)->at.line, 3);
	assert_int_equal(message_get_message(message, 17)->at.column, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(refuses, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(reports_all, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(limits_depth, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(keeps_positions, open_test, fixture_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
