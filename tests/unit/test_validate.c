/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every kind of validate.rules with values on both sides of each limit. */
#include "message_fixture.h"
#include "validate/validate.h"

#define TYPE(name_) "xdspub.test.rules." name_

static int open_fixture(void **state)
{
	return fixture_open(state, "XDSPUB_TEST_SCHEMA");
}

/* What is said about the message, one per line: "path: text [id]". */
static const char *said(struct fixture *fixture, const char *type, const char *text)
{
	struct validator *validator = validator_new(fixture->schema);
	struct message *message = fixture_message(fixture, type, text);
	static char lines[8192];
	size_t length = 0;

	diag_list_clear(fixture->diags);
	validator_check(validator, message, "f", fixture->diags);
	lines[0] = 0;
	for (size_t i = 0; i < diag_list_count(fixture->diags); i++) {
		const struct diag *diag = diag_list_get(fixture->diags, i);

		length += (size_t)snprintf(lines + length, sizeof(lines) - length, "%s%s%s [%s]",
			i ? "\n" : "", diag->level == DIAG_WARNING ? "warning: " : "", diag->text,
			diag->rule);
	}
	validator_free(validator);
	return lines;
}

struct example {
	const char *text;
	const char *expected; /* "": nothing is wrong; otherwise what is said ends so */
};

static void check(void **state, const char *type, const struct example *examples)
{
	for (; examples->text; examples++) {
		const char *found = said(*state, type, examples->text);
		size_t length = strlen(found), wanted = strlen(examples->expected);

		if (wanted == 0 ? length != 0
				: length < wanted ||
					  strcmp(found + length - wanted, examples->expected) != 0)
			fail_msg("%s { %s }:\n  said     %s\n  expected %s", type, examples->text,
				found, examples->expected);
	}
}

static void test_numbers(void **state)
{
	check(state, TYPE("Floats"),
		(const struct example[]){{"", ""}, {"constant: 1.5", ""},
			{"constant: 1.25", "constant: must be 1.5, is 1.25 [float.const]"},
			{"less: 9.99", ""},
			{"less: 10", "less: must be less than 10, is 10 [float.lt]"},
			{"less: nan", "[float.lt]"}, {"range: -1", ""}, {"range: 1", ""},
			{"range: 1.5", "range: must be at most 1, is 1.5 [float.lte]"},
			{"range: -1.5", "range: must be at least -1, is -1.5 [float.gte]"},
			{"outside: -0.5", ""}, {"outside: 10.5", ""},
			{"outside: 0",
				"outside: must be less than 0 or greater than 10, is 0 [float.lt]"},
			{"among: 0.5", ""}, {"among: 2", "must be one of 0.5, 1, is 2 [float.in]"},
			{"not_among: 0.25", ""}, {"not_among: 0.5", "[float.not_in]"},
			{"unless_zero: 0", ""}, {"unless_zero: 5", "[float.gt]"},
			{"more: 1e-300", ""}, {"more: 0", "[double.gt]"}, {"most: 100", ""},
			{"most: 100.5", "[double.lte]"}, {NULL, NULL}});
	check(state, TYPE("Integers"),
		(const struct example[]){{"", ""}, {"i32: -5", ""}, {"i32: 4", ""},
			{"i32: -6", "i32: must be at least -5, is -6 [int32.gte]"},
			{"i32: 5", "i32: must be less than 5, is 5 [int32.lt]"},
			{"i64: 9223372036854775806", ""},
			{"i64: 9223372036854775807", "[int64.lte]"},
			{"i64: -9223372036854775808", "is -9223372036854775808 [int64.gt]"},
			{"u32: 4294967294", ""}, {"u32: 4294967295", "[uint32.lte]"},
			{"u64: 1", ""}, {"u64: 0", "[uint64.gte]"},
			{"u64: 18446744073709551615",
				"must be at most 18446744073709551614, is 18446744073709551615 "
				"[uint64.lte]"},
			{"s32: -3", ""}, {"s32: 3", "[sint32.const]"}, {"s64: 1", ""},
			{"s64: 0", "must be one of -1, 1, is 0 [sint64.in]"}, {"f32: 6", ""},
			{"f32: 7", "[fixed32.not_in]"}, {"f64: 2", ""}, {"f64: 1", "[fixed64.gt]"},
			{"sf32: -1", ""}, {"sf32: 0", "[sfixed32.lt]"}, {"sf64: -10", ""},
			{"sf64: 10", ""},
			{"sf64: 9", "must be at most -10 or at least 10, is 9 [sfixed64.lte]"},
			{"ignored_zero: 0", ""}, {"ignored_zero: 2", "[uint32.gte]"},
			{"yes: true", ""},
			{"yes: false", "yes: must be true, is false [bool.const]"}, {NULL, NULL}});
}

static void test_defaults(void **state)
{
	check(state, TYPE("Defaults"),
		(const struct example[]){{"at_least_one: 1 name: 'x' items: ''", ""},
			{"", "at_least_one: must be at least 1, is 0 [uint32.gte]\n"
			     "name: must have at least 1 character, has 0 [string.min_len]\n"
			     "items: must have at least 1 item, has 0 [repeated.min_items]"},
			{"at_least_one: 1 name: 'x' items: '' first: ''",
				"first: must have at least 1 character, has 0 [string.min_len]"},
			{"at_least_one: 1 name: 'x' items: '' second: 0", "[uint32.gt]"},
			{"at_least_one: 1 name: 'x' items: '' second: 1", ""}, {NULL, NULL}});
}

static void test_strings(void **state)
{
	check(state, TYPE("Strings"),
		(const struct example[]){{"", ""}, {"constant: 'it'", ""},
			{"constant: 'is'", "constant: must be \"it\", is \"is\" [string.const]"},
			{"exactly: 'a\xc3\xa4z'", ""},
			{"exactly: 'ab'", "must have exactly 3 characters, has 2 [string.len]"},
			{"length: 'ab'", ""}, {"length: '\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4'", ""},
			{"length: 'a'", "[string.min_len]"},
			{"length: 'abcde'", "[string.max_len]"},
			{"exactly_bytes: '\xc3\xa4\xc3\xa4'", ""},
			{"exactly_bytes: '\xc3\xa4'",
				"must have exactly 4 bytes, has 2 [string.len_bytes]"},
			{"bytes: '\xc3\xa4'", ""}, {"bytes: 'a'", "[string.min_bytes]"},
			{"bytes: 'abcde'", "[string.max_bytes]"}, {"pattern: 'abc'", ""},
			{"pattern: 'x12'", ""}, {"pattern: ' abc'", "[string.pattern]"},
			{"prefix: 'prefix'", ""},
			{"prefix: 'pr'", "must begin with \"pre\", is \"pr\" [string.prefix]"},
			{"suffix: 'suffix'", ""}, {"suffix: 'fixe'", "[string.suffix]"},
			{"contains: 'container'", ""}, {"contains: ''", "[string.contains]"},
			{"not_contains: 'good'", ""},
			{"not_contains: 'abbad'", "[string.not_contains]"}, {"among: 'b'", ""},
			{"among: 'c'", "must be one of \"a\", \"b\", is \"c\" [string.in]"},
			{"not_among: 'b'", ""}, {"not_among: 'a'", "[string.not_in]"},
			{"email: 'a@b'", ""},
			{"email: 'a'", "must be an e-mail address, is \"a\" [string.email]"},
			{"hostname: 'a.b'", ""}, {"hostname: '-'", "[string.hostname]"},
			{"ip: '::1'", ""}, {"ip: '1.1.1.1'", ""}, {"ip: 'a'", "[string.ip]"},
			{"ipv4: '1.1.1.1'", ""}, {"ipv4: '::1'", "[string.ipv4]"},
			{"ipv6: '::1'", ""}, {"ipv6: '1.1.1.1'", "[string.ipv6]"},
			{"uri: 'a:b'", ""}, {"uri: 'b'", "[string.uri]"}, {"uri_ref: 'b'", ""},
			{"uri_ref: ' '", "[string.uri_ref]"}, {"address: 'a.b'", ""},
			{"address: '::1'", ""}, {"address: '_'", "[string.address]"},
			{"uuid: '123e4567-e89b-12d3-a456-426614174000'", ""},
			{"uuid: '1'", "[string.uuid]"}, {"header_name: ':path'", ""},
			{"header_name: 'a b'", "must be a valid HTTP header name, is \"a b\" "
					       "[string.well_known_regex]"},
			{"header_value: 'a b'", ""},
			{"header_value: '\\001'", "[string.well_known_regex]"},
			{"loose_name: 'a b'", ""},
			{"loose_name: '\\n'", "[string.well_known_regex]"},
			{"loose_value: '\\001'", ""},
			{"loose_value: '\\r'", "[string.well_known_regex]"},
			{"unless_empty: ''", ""}, {"unless_empty: 'abcd'", "[string.min_len]"},
			{NULL, NULL}});
}

static void test_bytes(void **state)
{
	check(state, TYPE("Bytes"),
		(const struct example[]){{"", ""}, {"constant: '\\001\\002'", ""},
			{"constant: '\\001'", "constant: must be 0102, is 01 [bytes.const]"},
			{"exactly: 'ab'", ""}, {"exactly: 'a'", "[bytes.len]"}, {"length: 'a'", ""},
			{"length: ''", "[bytes.min_len]"}, {"length: 'abc'", "[bytes.max_len]"},
			{"pattern: 'abc'", ""}, {"pattern: 'd'", "[bytes.pattern]"},
			{"prefix: '\\001x'", ""}, {"prefix: 'x'", "[bytes.prefix]"},
			{"suffix: 'x\\002'", ""}, {"suffix: 'x'", "[bytes.suffix]"},
			{"contains: 'a\\003b'", ""}, {"contains: 'ab'", "[bytes.contains]"},
			{"among: 'a'", ""}, {"among: 'c'", "[bytes.in]"}, {"not_among: 'b'", ""},
			{"not_among: 'a'", "[bytes.not_in]"}, {"ip: 'abcd'", ""},
			{"ip: 'abcdabcdabcdabcd'", ""}, {"ip: 'abc'", "[bytes.ip]"},
			{"ipv4: 'abcd'", ""}, {"ipv4: 'abcdabcdabcdabcd'", "[bytes.ipv4]"},
			{"ipv6: 'abcdabcdabcdabcd'", ""}, {"ipv6: 'abcd'", "[bytes.ipv6]"},
			{"unless_empty: ''", ""}, {"unless_empty: 'a'", "[bytes.min_len]"},
			{NULL, NULL}});
}

static void test_enums(void **state)
{
	check(state, TYPE("Enums"),
		(const struct example[]){{"", ""}, {"constant: HIGH", ""},
			{"constant: LOW", "constant: must be HIGH, is LOW [enum.const]"},
			{"defined: LOW", ""},
			{"defined: 17",
				"defined: must be a value that xdspub.test.rules.Level declares, "
				"is 17 [enum.defined_only]"},
			{"among: NONE", ""},
			{"among: LOW", "must be one of NONE, HIGH, is LOW [enum.in]"},
			{"not_among: HIGH", ""}, {"not_among: LOW", "[enum.not_in]"},
			{"plain: OLD",
				"warning: plain: the value OLD is deprecated [deprecated-value]"},
			{"plain: 17", ""}, {NULL, NULL}});
	check(state, TYPE("Marks"),
		(const struct example[]){{"", ""},
			{"old: 'x'", "warning: old: this field is deprecated [deprecated-field]"},
			{"levels: [LOW, OLD]", "warning: levels: the value OLD is deprecated "
					       "[deprecated-value]"},
			{NULL, NULL}});
}

static void test_messages(void **state)
{
#define NEEDED "needed { name: 'x' } needed_text { value: 'ab' } "
	check(state, TYPE("Messages"),
		(const struct example[]){{NEEDED, ""},
			{"", "needed: is required, is not set [message.required]\n"
			     "needed_text: is required, is not set [message.required]"},
			{"needed {} needed_text { value: 'ab' }",
				"needed.name: must have at least 1 character, has 0 "
				"[string.min_len]"},
			{NEEDED "skipped {}", ""},
			{NEEDED "plain {}", "plain.name: must have at least "
					    "1 character, has 0 "
					    "[string.min_len]"},
			{NEEDED "wrapped { value: 10 }", ""},
			{NEEDED "wrapped {}", "wrapped: must be at least 10, is 0 [uint32.gte]"},
			{"needed { name: 'x' } needed_text { value: 'a' }",
				"needed_text: must have at least 2 characters, has 1 "
				"[string.min_len]"},
			{NEEDED "content { [type.googleapis.com/xdspub.test.rules.Inner] { name: "
				"'x' } }",
				""},
			{NEEDED "content { [type.googleapis.com/xdspub.test.rules.Inner] {} }",
				"content.name: must have at least 1 character, has 0 "
				"[string.min_len]"},
			{NEEDED "content { [type.googleapis.com/xdspub.test.rules.Marks] {} }",
				"[any.in]"},
			{NEEDED "other { [type.googleapis.com/xdspub.test.rules.Inner] { name: 'x' "
				"} }",
				"[any.not_in]"},
			{NEEDED "disabled { inner {} }", ""}, {NULL, NULL}});
	check(state, TYPE("NeedsAll"),
		(const struct example[]){
			{"", "content: is required, is not set [any.required]\n"
			     "time: is required, is not set [duration.required]\n"
			     "when: is required, is not set [timestamp.required]\n"
			     "kind: one of inner or number must be set [oneof.required]"},
			{"content {} time {} when {} inner { name: 'x' }", ""},
			{"content {} time {} when {} number: 0", ""}, {NULL, NULL}});
}

static void test_lists(void **state)
{
	check(state, TYPE("Lists"),
		(const struct example[]){{"", ""}, {"count: [1, 2]", ""},
			{"count: [1, 2, 3]", "count: must have at most 2 items, has 3 "
					     "[repeated.max_items]"},
			{"unique: ['a', 'b']", ""},
			{"unique: ['a', 'b', 'a']",
				"unique: items 0 and 2 are equal: no two may be [repeated.unique]"},
			{"numbers: [1, 2]", ""}, {"numbers: [1, 1]", "[repeated.unique]"},
			{"each: ['ab', 'a']",
				"each[1]: must have at least 2 characters, has 1 [string.min_len]"},
			{"inner { name: 'x' } inner {}",
				"inner[1].name: must have at least 1 character, has 0 "
				"[string.min_len]"},
			{"skipped {}", ""}, {"unless_empty: ['a', 'b']", ""},
			{"unless_empty: 'a'", "[repeated.min_items]"},
			{"pairs { key: 'ab' value: 2 }", ""},
			{"pairs { key: 'a' value: 2 }",
				"pairs[\"a\"] (the key): must have at least 2 "
				"characters, has 1 [string.min_len]"},
			{"pairs { key: 'ab' }",
				"pairs[\"ab\"]: must be greater than 1, is 0 [uint32.gt]"},
			{"pairs { key: 'aa' value: 2 } pairs { key: 'ab' value: 2 } pairs { key: "
			 "'ac' "
			 "value: 2 }",
				"pairs: must have at most 2 pairs, has 3 [map.max_pairs]"},
			{"inner_map { key: 7 value {} }",
				"inner_map[7].name: must have at least 1 character, has 0 "
				"[string.min_len]"},
			{"sparse { key: 'a' value { name: 'x' } }", ""},
			{"levels: [LOW, HIGH]", ""},
			{"levels: [LOW, 9]", "is 9 [enum.defined_only]"},
			{"wrapped { value: 2 }", ""},
			{"wrapped { value: 1 }",
				"wrapped[0]: must be greater than 1, is 1 [uint32.gt]"},
			{NULL, NULL}});
}

static void test_times(void **state)
{
	check(state, TYPE("Times"),
		(const struct example[]){{"", ""}, {"constant { seconds: 1 nanos: 500000000 }", ""},
			{"constant { seconds: 1 }", "must be 1.5s, is 1s [duration.const]"},
			{"range { nanos: 1 }", ""}, {"range { seconds: 10 }", ""},
			{"range {}", "must be greater than 0s, is 0s [duration.gt]"},
			{"range { seconds: -1 nanos: -1 }", "is -1.000000001s [duration.gt]"},
			{"range { seconds: 10 nanos: 1 }", "[duration.lte]"},
			{"among { seconds: 2 }", ""}, {"among { seconds: 3 }", "[duration.in]"},
			{"not_among { seconds: 2 }", ""},
			{"not_among { seconds: 1 }", "[duration.not_in]"},
			{"before { seconds: 99 }", ""},
			{"before { seconds: 100 }", "[timestamp.lt]"}, {"past { seconds: 1 }", ""},
			{"past { seconds: 99999999999 }",
				"past: must be in the past [timestamp.lt_now]"},
			{"future { seconds: 99999999999 }", ""},
			{"future { seconds: 1 }", "must be in the future [timestamp.gt_now]"},
			{"near { seconds: 1 }", "must be within 3600s of now [timestamp.within]"},
			{NULL, NULL}});
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_strings),
		cmocka_unit_test(test_bytes), cmocka_unit_test(test_enums),
		cmocka_unit_test(test_messages), cmocka_unit_test(test_lists),
		cmocka_unit_test(test_times)};

	return cmocka_run_group_tests_name("validate", tests, open_fixture, fixture_close);
}
