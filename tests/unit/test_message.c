/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/message.h"

#include "message_fixture.h"

#define V3 "xdspub.test.v3.Everything"

static int open_test(void **state)
{
	return fixture_open(state, "XDSPUB_TEST_SCHEMA");
}

static void keeps_fields_in_order(void **state)
{
	struct fixture *fixture = *state;
	const struct schema_message *type = fixture_type(fixture, V3);
	struct message *message = message_new(fixture->arena, type);

	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = type->fields_count; i-- > 0;) {
			const struct schema_field *field =
				&type->fields[i * 7 % type->fields_count];
			struct message_field *entry = message_set(fixture->arena, message, field);

			assert_ptr_equal(entry->field, field);
			assert_int_equal(entry->count, field->is_repeated ? 0 : 1);
			assert_ptr_equal(message_find(message, field->number), entry);
		}
	}
	assert_int_equal(message->fields_count, type->fields_count);
	for (uint32_t i = 0; i < type->fields_count; i++)
		assert_ptr_equal(message->fields[i].field, &type->fields[i]);
	message_clear(message, &type->fields[3]);
	message_clear(message, &type->fields[3]);
	assert_int_equal(message->fields_count, type->fields_count - 1);
	assert_null(message_find(message, type->fields[3].number));
	assert_null(message_find(message, 0));
	assert_null(message_find(message, 1000000));
}

static void adds_items(void **state)
{
	struct fixture *fixture = *state;
	const struct schema_message *type = fixture_type(fixture, V3);
	struct message *message = message_new(fixture->arena, type);
	struct message_field *entry =
		message_set(fixture->arena, message, schema_field_by_name(type, SLICE("r_int32")));

	for (int32_t i = 0; i < 1000; i++)
		message_add(fixture->arena, entry)->int32 = i;
	assert_int_equal(entry->count, 1000);
	for (int32_t i = 0; i < 1000; i++)
		assert_int_equal(entry->items[i].int32, i);
}

static void fails_when_the_arena_is_full(void **state)
{
	struct fixture *fixture = *state;
	const struct schema_message *type = fixture_type(fixture, V3);
	struct arena *small = arena_new(4096);
	struct message *message = message_new(small, type);
	struct message_field *entry =
		message_set(small, message, schema_field_by_name(type, SLICE("r_int32")));
	unsigned count = 0;

	while (message_add(small, entry))
		count++;
	assert_true(count > 10 && count < 4096);
	assert_int_equal(entry->count, count);
	while (message_new(small, type))
		;
	arena_free(small);
}

static void sorts_maps(void **state)
{
	struct fixture *fixture = *state;
	/* The last of equal keys wins; order is by value or by bytes. */
	struct message *message = fixture_message(fixture, "xdspub.test.v3.Maps",
		"k_int32 { key: 5 value: 'a' } k_int32 { key: -1 value: 'b' } "
		"k_int32 { key: 5 value: 'c' } k_int32 { value: 'zero' } "
		"k_string { key: 'b' } k_string { key: 'a' } k_string { key: 'B' } k_string { } "
		"k_bool { key: true } k_bool { } "
		"k_uint64 { key: 18446744073709551615 } k_uint64 { key: 1 } "
		"k_sfixed64 { key: 1 } k_sfixed64 { key: -9223372036854775808 }");

	assert_string_equal(fixture_text(fixture, message),
		"k_int32 {\n  key: -1\n  value: \"b\"\n}\n"
		"k_int32 {\n  key: 0\n  value: \"zero\"\n}\n"
		"k_int32 {\n  key: 5\n  value: \"c\"\n}\n"
		"k_uint64 {\n  key: 1\n  value: \"\"\n}\n"
		"k_uint64 {\n  key: 18446744073709551615\n  value: \"\"\n}\n"
		"k_sfixed64 {\n  key: -9223372036854775808\n  value: \"\"\n}\n"
		"k_sfixed64 {\n  key: 1\n  value: \"\"\n}\n"
		"k_bool {\n  key: false\n  value: \"\"\n}\n"
		"k_bool {\n  key: true\n  value: \"\"\n}\n"
		"k_string {\n  key: \"\"\n  value: \"\"\n}\n"
		"k_string {\n  key: \"B\"\n  value: \"\"\n}\n"
		"k_string {\n  key: \"a\"\n  value: \"\"\n}\n"
		"k_string {\n  key: \"b\"\n  value: \"\"\n}\n");
}

/* Built by hand, not sorted: writers put it in order without touching it. */
static void writes_unsorted_maps_in_order(void **state)
{
	struct fixture *fixture = *state;
	const struct schema_message *type = fixture_type(fixture, "xdspub.test.v3.Maps");
	const struct schema_field *map = schema_field_by_name(type, SLICE("k_uint32"));
	struct message *message = message_new(fixture->arena, type);
	struct message_field *entry = message_set(fixture->arena, message, map);

	for (uint32_t key = 3; key > 0; key--) {
		struct message *pair = message_new(fixture->arena, map->message);

		message_set(fixture->arena, pair, &map->message->fields[0])->one.uint32 = key;
		message_add(fixture->arena, entry)->message = pair;
	}
	assert_string_equal(fixture_bytes(fixture, message),
		"1a 04 08 01 12 00 1a 04 08 02 12 00 1a 04 08 03 12 00");
	assert_int_equal(message_find(entry->items[0].message, 1)->one.uint32, 3);
}

static void compares(void **state)
{
	static const struct {
		const char *type, *a, *b;
		bool is_equal;
	} cases[] = {
		{V3, "", "", true},
		{V3, "f_int32: 0", "", true}, /* no presence */
		{V3, "o_int32: 0", "", false},
		{V3, "f_double: -0.0", "", false},
		{V3, "f_double: nan", "f_double: nan", true},
		{V3, "f_float: nan", "f_float: 1", false},
		{V3, "r_int32: 1 r_int32: 2", "r_int32: [1, 2]", true},
		{V3, "r_int32: 1", "r_int32: [1, 2]", false},
		{V3, "r_int32: []", "", true},
		{V3, "f_message { number: 1 }", "f_message { number: 2 }", false},
		{V3, "f_message { }", "", false},
		{V3, "f_string: 'a'", "f_bytes: 'a'", false},
		{"xdspub.test.v3.Maps", "k_int32 { key: 1 } k_int32 { key: 2 }",
			"k_int32 { key: 2 value: '' } k_int32 { key: 1 }", true},
		{"xdspub.test.v3.WellKnown",
			"w_any { [type.googleapis.com/google.protobuf.Duration] { seconds: 1 } }",
			"w_any { type_url: 'type.googleapis.com/google.protobuf.Duration' value: "
			"'\\010\\001' }",
			true},
		{"xdspub.test.v3.WellKnown",
			"w_any { [type.googleapis.com/google.protobuf.Duration] { seconds: 1 } }",
			"w_any { [type.googleapis.com/google.protobuf.Duration] { seconds: 2 } }",
			false},
		{"xdspub.test.v3.WellKnown",
			"w_any { [type.googleapis.com/google.protobuf.Duration] { } }",
			"w_any { [type.googleapis.com/google.protobuf.Empty] { } }", false},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct message *a = fixture_message(fixture, cases[i].type, cases[i].a);
		struct message *b = fixture_message(fixture, cases[i].type, cases[i].b);

		if (message_equal(a, b) != cases[i].is_equal ||
			message_equal(b, a) != cases[i].is_equal || !message_equal(a, a))
			fail_msg("%s against %s", cases[i].a, cases[i].b);
	}
}

static void sees_unknown_fields(void **state)
{
	struct fixture *fixture = *state;
	struct message *message;
	struct wire_read_error error;

	/* f_message { 15: 1 } */
	assert_int_equal(
		fixture_read(fixture, V3, fixture_hex(fixture, "8a 01 02 78 01"), &message, &error),
		0);
	assert_true(message_has_unknown(message));
	message = fixture_message(fixture, V3, "f_message { number: 1 } selves { }");
	assert_false(message_has_unknown(message));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(keeps_fields_in_order, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(adds_items, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(
			fails_when_the_arena_is_full, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(sorts_maps, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(
			writes_unsorted_maps_in_order, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(compares, open_test, fixture_close),
		cmocka_unit_test_setup_teardown(sees_unknown_fields, open_test, fixture_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
