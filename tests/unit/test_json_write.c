/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/json_write.h"

#include <errno.h>

#include "message/yaml_write.h"
#include "message_fixture.h"

#define V3   "xdspub.test.v3.Everything"
#define MAPS "xdspub.test.v3.Maps"
#define EXT  "xdspub.test.v2.Extendable"
#define WKT  "xdspub.test.v3.WellKnown"

static int open_test(void **state)
{
	return fixture_open(state, "XDSPUB_TEST_SCHEMA");
}

static const char *to_json(struct fixture *fixture, const struct message *message, bool is_pretty)
{
	const struct json_write_options options = {
		.schema = fixture->schema, .original_names = is_pretty, .pretty = is_pretty};
	const char *problem;

	buf_reset(&fixture->out);
	if (json_write(&options, message, &fixture->out, &problem))
		fail_msg("cannot write: %s", problem);
	return buf_cstr(&fixture->out);
}

static const char *to_yaml(struct fixture *fixture, const struct message *message)
{
	const struct yaml_write_options options = {.schema = fixture->schema};
	const char *problem;

	buf_reset(&fixture->out);
	if (yaml_write(&options, message, &fixture->out, &problem))
		fail_msg("cannot write: %s", problem);
	return buf_cstr(&fixture->out);
}

/* Text format in, JSON and YAML out. */
static const struct {
	const char *type, *in, *json, *yaml;
} written[] = {
	{V3, "", "{}", "{}\n"},
	{V3, "f_int32: -1 f_int64: -1 f_uint32: 4294967295 f_uint64: 18446744073709551615",
		"{\"fInt32\":-1,\"fInt64\":\"-1\",\"fUint32\":4294967295,"
		"\"fUint64\":\"18446744073709551615\"}",
		"f_int32: -1\nf_int64: \"-1\"\nf_uint32: 4294967295\n"
		"f_uint64: \"18446744073709551615\"\n"},
	{V3,
		"f_double: 1.5 f_float: 0.1 r_double: [inf, -inf, nan, -0.0, 1e20, "
		"1.5e300, 5e9, 3]",
		"{\"fDouble\":1.5,\"fFloat\":0.1,\"rDouble\":[\"Infinity\",\"-Infinity\","
		"\"NaN\",-0.0,"
		"1e+20,1.5e+300,5000000000,3]}",
		"f_double: 1.5\nf_float: 0.1\nr_double:\n- \"Infinity\"\n- "
		"\"-Infinity\"\n- \"NaN\"\n"
		"- -0.0\n- 1.0e+20\n- 1.5e+300\n- 5000000000.0\n- 3\n"},
	{V3, "f_bool: true f_enum: COLOR_RED r_enum: [0, 77]",
		"{\"fBool\":true,\"fEnum\":\"COLOR_RED\",\"rEnum\":[\"COLOR_UNSPECIFIED\","
		"77]}",
		"f_bool: true\nf_enum: COLOR_RED\nr_enum:\n- COLOR_UNSPECIFIED\n- 77\n"},
	{V3, "f_bytes: '\\377\\376' f_string: 'a\"\\\\\\n\\t\\001\\177<'",
		"{\"fString\":\"a\\\"\\\\\\n\\t\\u0001\\u007f<\",\"fBytes\":\"//4=\"}",
		"f_string: \"a\\\"\\\\\\n\\t\\x01\\x7f<\"\nf_bytes: \"//4=\"\n"},
	{V3, "o_int32: 0 o_string: ''", "{\"oInt32\":0,\"oString\":\"\"}",
		"o_int32: 0\no_string: \"\"\n"},
	{V3, "f_message { } r_message { } r_message { children { number: 1 } }",
		"{\"fMessage\":{},\"rMessage\":[{},{\"children\":[{\"number\":1}]}]}",
		"f_message: {}\nr_message:\n- {}\n- children:\n  - number: 1\n"},
	{MAPS,
		"k_int32 { key: -1 value: 'a' } k_bool { value: 'b' } v_double { key: '' } "
		"v_message { key: 'm' } v_message { key: 'a: b' value { number: 1 } } "
		"v_value { key: 'yes' value { null_value: NULL_VALUE } } v_null { key: '1' "
		"}",
		"{\"kInt32\":{\"-1\":\"a\"},\"kBool\":{\"false\":\"b\"},\"vDouble\":{\"\":"
		"0},"
		"\"vMessage\":{\"a: b\":{\"number\":1},\"m\":{}},\"vValue\":{\"yes\":null},"
		"\"vNull\":{\"1\":null}}",
		"k_int32:\n  \"-1\": a\nk_bool:\n  \"false\": b\nv_double:\n  \"\": 0\n"
		"v_message:\n  \"a: b\":\n    number: 1\n  m: {}\nv_value:\n  \"yes\": "
		"null\n"
		"v_null:\n  \"1\": null\n"},
	{WKT,
		"w_duration { seconds: 1 nanos: 500000000 } r_duration { nanos: -1 } "
		"r_duration { } "
		"r_duration { seconds: -3 nanos: -1000 } r_duration { nanos: 100 }",
		"{\"wDuration\":\"1.500s\",\"rDuration\":[\"-0.000000001s\",\"0s\",\"-3."
		"000001s\",\"0.000000100s\"]}",
		"w_duration: \"1.500s\"\nr_duration:\n- \"-0.000000001s\"\n- \"0s\"\n- "
		"\"-3.000001s\"\n- \"0.000000100s\"\n"},
	{WKT,
		"w_timestamp { seconds: 951782400 nanos: 10 } r_timestamp { seconds: "
		"-62135596800 } "
		"r_timestamp { seconds: 253402300799 nanos: 999000000 } r_timestamp { "
		"seconds: -1 }",
		"{\"wTimestamp\":\"2000-02-29T00:00:00.000000010Z\",\"rTimestamp\":["
		"\"0001-01-01T00:00:00Z\",\"9999-12-31T23:59:59.999Z\",\"1969-12-31T23:59:"
		"59Z\"]}",
		"w_timestamp: \"2000-02-29T00:00:00.000000010Z\"\nr_timestamp:\n"
		"- \"0001-01-01T00:00:00Z\"\n- \"9999-12-31T23:59:59.999Z\"\n"
		"- \"1969-12-31T23:59:59Z\"\n"},
	{WKT, "w_field_mask { paths: ['foo_bar', 'a.b_c'] } w_empty { }",
		"{\"wFieldMask\":\"fooBar,a.bC\",\"wEmpty\":{}}",
		"w_field_mask: \"fooBar,a.bC\"\nw_empty: {}\n"},
	{WKT,
		"w_struct { fields { key: 'b' value { list_value { values { number_value: "
		"1 } "
		"values { list_value { } } } } } fields { key: 'a' value { struct_value { "
		"} } } } "
		"w_value { } w_list_value { }",
		"{\"wStruct\":{\"a\":{},\"b\":[1,[]]},\"wValue\":null,\"wListValue\":[]}",
		"w_struct:\n  a: {}\n  b:\n  - 1\n  - []\nw_value: null\nw_list_value: "
		"[]\n"},
	{WKT,
		"w_int64_value { } w_uint32_value { value: 1 } w_bytes_value { value: 'a' "
		"} "
		"w_string_value { } w_bool_value { value: true } w_null: NULL_VALUE",
		"{\"wInt64Value\":\"0\",\"wUint32Value\":1,\"wBoolValue\":true,"
		"\"wStringValue\":\"\","
		"\"wBytesValue\":\"YQ==\"}",
		"w_int64_value: \"0\"\nw_uint32_value: 1\nw_bool_value: "
		"true\nw_string_value: \"\"\n"
		"w_bytes_value: \"YQ==\"\n"},
	/* S.12: "@type" at every depth; types with a form of their own under "value". */
	{WKT,
		"w_any { [x.y/google.protobuf.Any] { [x.y/google.protobuf.Duration] { "
		"seconds: 1 } } } "
		"r_any { [x.y/xdspub.test.v3.Everything] { f_int32: 1 } } r_any { } "
		"r_any { type_url: 'x.y/no.Such' value: 'a' } r_any { "
		"[x.y/google.protobuf.Empty] { } }",
		"{\"wAny\":{\"@type\":\"x.y/"
		"google.protobuf.Any\",\"value\":{\"@type\":\"x.y/"
		"google.protobuf.Duration\",\"value\":\"1s\"}},\"rAny\":[{\"@type\":\"x.y/"
		"xdspub.test.v3.Everything\",\"fInt32\":1},{},{\"@type\":\"x.y/"
		"no.Such\",\"value\":"
		"\"YQ==\"},{\"@type\":\"x.y/google.protobuf.Empty\"}]}",
		"w_any:\n  \"@type\": x.y/google.protobuf.Any\n  value:\n"
		"    \"@type\": x.y/google.protobuf.Duration\n    value: \"1s\"\n"
		"r_any:\n- \"@type\": x.y/xdspub.test.v3.Everything\n  f_int32: 1\n- {}\n"
		"- \"@type\": x.y/no.Such\n  value: \"YQ==\"\n"
		"- \"@type\": x.y/google.protobuf.Empty\n"},
	{EXT,
		"before: 1 [xdspub.test.v2.e_strings]: ['a'] "
		"[xdspub.test.v2.extensiongroup] { number: 1 }",
		"{\"before\":1,\"[xdspub.test.v2.e_strings]\":[\"a\"],"
		"\"[xdspub.test.v2.extensiongroup]\":{\"number\":1}}",
		"before: 1\n\"[xdspub.test.v2.e_strings]\":\n- a\n"
		"\"[xdspub.test.v2.extensiongroup]\":\n  number: 1\n"},
	{"xdspub.test.v3.Names", "true: true yes: true null: 1 n: 1 renamed: 'x' at_type: 'y'",
		"{\"otherName\":\"x\",\"@kind\":\"y\",\"true\":true,\"yes\":true,\"null\":"
		"1,\"n\":1}",
		"renamed: x\nat_type: \"y\"\n\"true\": true\n\"yes\": true\n\"null\": "
		"1\n\"n\": 1\n"},
	/* Messages whose JSON form is no object, as documents of their own. */
	{"google.protobuf.Duration", "seconds: 1", "\"1s\"", "\"1s\"\n"},
	{"google.protobuf.ListValue", "values { } values { bool_value: true }", "[null,true]",
		"- null\n- true\n"},
};

static void writes(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
		struct message *message = fixture_message(fixture, written[i].type, written[i].in);

		assert_string_equal(to_json(fixture, message, false), written[i].json);
		assert_string_equal(to_yaml(fixture, message), written[i].yaml);
	}
}

static void writes_pretty(void **state)
{
	struct fixture *fixture = *state;
	struct message *message = fixture_message(fixture, V3,
		"f_int32: 1 f_message { child { } } r_int32: [1, 2] selves { } selves { f_int32: 2 "
		"}");

	assert_string_equal(to_json(fixture, message, true),
		"{\n  \"f_int32\": 1,\n  \"f_message\": {\n    \"child\": {}\n  },\n"
		"  \"r_int32\": [\n    1,\n    2\n  ],\n  \"selves\": [\n    {},\n    {\n"
		"      \"f_int32\": 2\n    }\n  ]\n}");
}

/* S.11: nothing that a reader could take for a number, bool, null or syntax stays unquoted. */
static void quotes_yaml(void **state)
{
	static const struct {
		const char *text, *yaml;
	} cases[] = {{"", "\"\""}, {"a", "a"}, {"abc_d-e.f/g", "abc_d-e.f/g"}, {"/a", "/a"},
		{"_", "_"}, {"y", "\"y\""}, {"Yes", "\"Yes\""}, {"NO", "\"NO\""},
		{"off", "\"off\""}, {"True", "\"True\""}, {"null", "\"null\""}, {"NaN", "\"NaN\""},
		{"Inf", "\"Inf\""}, {"nulls", "nulls"}, {"yesterday", "yesterday"},
		{"v1", "\"v1\""}, {"x1234567890abcdef", "\"x1234567890abcdef\""}, {"v1.2", "v1.2"},
		{"1", "\"1\""}, {"1.10", "\"1.10\""}, {"-", "\"-\""}, {".5", "\".5\""},
		{"~", "\"~\""}, {"a b", "\"a b\""}, {"a:", "\"a:\""}, {"#a", "\"#a\""},
		{"a\nb", "\"a\\nb\""}, {"\xc3\xa9", "\"\xc3\xa9\""}, {"\xc2\x85", "\"\\x85\""},
		{"\xc2\xa0", "\"\xc2\xa0\""}, {"\xe2\x80\xa8", "\"\\u2028\""},
		{"\xe2\x80\xa7", "\"\xe2\x80\xa7\""}, {"\xef\xbb\xbf", "\"\\ufeff\""},
		{"\xef\xbf\xbe", "\"\\ufffe\""}, {"\xef\xbf\xbd", "\"\xef\xbf\xbd\""},
		{"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""}, {"\x1b\x7f", "\"\\x1b\\x7f\""},
		{"<<", "\"<<\""}, {"=", "\"=\""}};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_reset(&fixture->out);
		yaml_write_string(&fixture->out, slice_of(cases[i].text));
		assert_string_equal(buf_cstr(&fixture->out), cases[i].yaml);
	}
}

/* Part of a larger document: after "- ", indented. */
static void continues_yaml(void **state)
{
	struct fixture *fixture = *state;
	struct message *message = fixture_message(
		fixture, V3, "f_int32: 1 f_message { number: 2 } r_int32: 3 f_string: 'a'");
	const struct yaml_write_options options = {
		.schema = fixture->schema, .indent = 2, .camel_case = true, .continue_line = true};
	const struct yaml_write_options indented = {.schema = fixture->schema, .indent = 4};
	const char *problem;

	buf_reset(&fixture->out);
	assert_int_equal(yaml_write(&options, message, &fixture->out, &problem), 0);
	assert_string_equal(buf_cstr(&fixture->out),
		"fInt32: 1\n  fString: a\n  fMessage:\n    number: 2\n  rInt32:\n  - 3\n");
	buf_reset(&fixture->out);
	assert_int_equal(yaml_write(&indented, message, &fixture->out, &problem), 0);
	assert_string_equal(buf_cstr(&fixture->out),
		"    f_int32: 1\n    f_string: a\n    f_message:\n      "
		"number: 2\n    r_int32:\n    - 3\n");
}

/* Keys beyond what YAML allows without "? ". */
static void writes_long_keys(void **state)
{
	struct fixture *fixture = *state;
	char text[2200];
	struct message *message;

	snprintf(text, sizeof(text),
		"fields { key: '%0300d' value { list_value { values { } } } } "
		"fields { key: 'z%0300d' value { bool_value: true } }",
		0, 0);
	message = fixture_message(fixture, "google.protobuf.Struct", text);
	const char *yaml = to_yaml(fixture, message);
	assert_memory_equal(yaml, "? \"000", 6);
	assert_non_null(strstr(yaml, "0\"\n:\n  - null\n? \"z000"));
	assert_non_null(strstr(yaml, "0\"\n: true\n"));
}

static void refuses(void **state)
{
	static const struct {
		const char *type, *in, *problem;
	} cases[] = {
		{WKT, "w_duration { seconds: 315576000001 }", "Duration"},
		{WKT, "w_duration { seconds: 1 nanos: -1 }", "Duration"},
		{WKT, "w_duration { nanos: 1000000000 }", "Duration"},
		{WKT, "w_timestamp { seconds: 253402300800 }", "Timestamp"},
		{WKT, "w_timestamp { nanos: -1 }", "Timestamp"},
		{WKT, "w_field_mask { paths: 'aB' }", "FieldMask"},
		{WKT, "w_field_mask { paths: 'a_' }", "FieldMask"},
		{WKT, "w_field_mask { paths: 'a_1' }", "FieldMask"},
		{WKT, "w_value { number_value: nan }", "NaN"},
		{WKT, "w_struct { fields { key: 'a' value { number_value: inf } } }", "NaN"},
		{WKT, "w_any { value: 'a' }", "no type URL"},
		{"xdspub.test.v2.Everything", "o_string: '\\377'", "not valid UTF-8"},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct message *message = fixture_message(fixture, cases[i].type, cases[i].in);
		const struct json_write_options json = {.schema = fixture->schema};
		const struct yaml_write_options yaml = {.schema = fixture->schema};
		const char *problem = "";

		buf_reset(&fixture->out);
		if (json_write(&json, message, &fixture->out, &problem) != -EBADMSG ||
			!strstr(problem, cases[i].problem))
			fail_msg("%s: %s", cases[i].in, problem);
		problem = "";
		assert_int_equal(yaml_write(&yaml, message, &fixture->out, &problem), -EBADMSG);
		assert_non_null(strstr(problem, cases[i].problem));
	}
}

/* An Any that was read without a look inside prints the same. */
static void expands_any_on_the_way(void **state)
{
	struct fixture *fixture = *state;
	const struct wire_read_options closed = {.schema = fixture->schema};
	struct message *message = fixture_message(fixture, WKT,
		"w_any { [x/xdspub.test.v3.Everything] { c_any { [x/google.protobuf.Duration] { } "
		"} } }");
	struct buf bytes = BUF_INIT;
	struct wire_read_error error;
	const char *problem = NULL;
	const struct json_write_options options = {.schema = fixture->schema};

	wire_write(message, &bytes);
	assert_int_equal(wire_read(&closed, message->type, buf_slice(&bytes), fixture->arena,
				 &message, &error),
		0);
	assert_string_equal(to_json(fixture, message, false),
		"{\"wAny\":{\"@type\":\"x/xdspub.test.v3.Everything\",\"cAny\":{\"@type\":"
		"\"x/google.protobuf.Duration\",\"value\":\"0s\"}}}");
	message = fixture_message(
		fixture, WKT, "w_any { type_url: 'x/xdspub.test.v3.Everything' value: '\\030' }");
	buf_reset(&fixture->out);
	assert_int_equal(json_write(&options, message, &fixture->out, &problem), -EBADMSG);
	assert_non_null(strstr(problem, "ends inside a number"));
	buf_fini(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(writes, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(writes_pretty, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(quotes_yaml, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(continues_yaml, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(writes_long_keys, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(refuses, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(expands_any_on_the_way, open_test, fixture_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
