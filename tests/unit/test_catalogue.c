/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>

#include "catalogue/catalogue.h"
#include "message_fixture.h"

static int open_fixture(void **state)
{
	return fixture_open(state, "XDSPUB_TEST_SCHEMA");
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < catalogue_count(); i++) {
		const struct catalogue_entry *entry = catalogue_get(i);
		size_t length = strlen(entry->page), column = 0;

		print_message("%s\n", entry->id);
		assert_ptr_equal(catalogue_find(slice_of(entry->id)), entry);
		assert_true(strspn(entry->id, "abcdefghijklmnopqrstuvwxyz0123456789-._") ==
			    strlen(entry->id));
		assert_true(entry->reason[0] && strlen(entry->reason) < 80);
		assert_int_not_equal(entry->reason[strlen(entry->reason) - 1], '.');
		assert_false(isupper((unsigned char)entry->reason[0]) &&
			     islower((unsigned char)entry->reason[1]));
		assert_true(length > 1 && entry->page[length - 1] == '\n');
		for (size_t k = 0; k < length; k++) {
			column = entry->page[k] == '\n' ? 0 : column + 1;
			assert_in_range(column, 0, 79);
		}
		assert_true(entry->is_silenceable || entry->level == DIAG_ERROR);
		assert_non_null(catalogue_area_title(entry->area));
	}
	assert_null(catalogue_find(SLICE("no-such-rule")));
	assert_null(catalogue_find(SLICE("")));
}

static bool is_rule(const struct schema_field *field)
{
	static const char *const others[] = {
		"ignore_empty", "strict", "skip", "items", "keys", "values"};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (strcmp(field->name, others[i]) == 0)
			return false;
	}
	return true;
}

/* Exactly the rules that validate.proto declares. */
static void test_validate_rules(void **state)
{
	const struct fixture *fixture = *state;
	const struct schema_message *kinds =
		schema_find_message(fixture->schema, SLICE("validate.FieldRules"));
	size_t declared = 0, listed = 0;

	assert_non_null(kinds);
	for (uint32_t i = 0; i < kinds->fields_count; i++) {
		const struct schema_field *kind = &kinds->fields[i];

		for (uint32_t k = 0; kind->message && k < kind->message->fields_count; k++) {
			const struct schema_field *rule = &kind->message->fields[k];
			const struct catalogue_entry *entry;
			char id[64];

			if (!is_rule(rule))
				continue;
			snprintf(id, sizeof(id), "%s.%s", kind->name, rule->name);
			print_message("%s\n", id);
			entry = catalogue_find(slice_of(id));
			assert_non_null(entry);
			assert_int_equal(entry->area, CATALOGUE_VALUES);
			declared++;
		}
	}
	for (size_t i = 0; i < catalogue_count(); i++)
		listed += catalogue_get(i)->area == CATALOGUE_VALUES;
	assert_int_equal(listed, declared);
	assert_in_range(declared, 100, 200);
}

static void test_silencing(void **state)
{
	(void)state;
	assert_true(catalogue_may_silence(SLICE("unused-file"), DIAG_WARNING));
	assert_true(catalogue_may_silence(SLICE("empty-file"), DIAG_WARNING));
	assert_false(catalogue_may_silence(SLICE("empty-file"), DIAG_ERROR));
	assert_true(catalogue_may_silence(SLICE("disallowed-field"), DIAG_ERROR));
	assert_false(catalogue_may_silence(SLICE("unknown-field"), DIAG_ERROR));
	assert_false(catalogue_may_silence(SLICE("unknown-field"), DIAG_WARNING));
	assert_false(catalogue_may_silence(SLICE("string.min_len"), DIAG_ERROR));
	assert_false(catalogue_may_silence(SLICE("no-such-rule"), DIAG_NOTE));
}

static void test_patterns(void **state)
{
	char phrase[256];

	(void)state;
	assert_true(catalogue_matches(SLICE("string.*"), SLICE("string.min_len")));
	assert_true(catalogue_matches(SLICE("*"), SLICE("string.min_len")));
	assert_true(catalogue_matches(SLICE("*.min_*"), SLICE("string.min_len")));
	assert_true(catalogue_matches(SLICE("a*b*c"), SLICE("aXbYbZc")));
	assert_false(catalogue_matches(SLICE("a*b*c"), SLICE("aXbYbZ")));
	assert_false(catalogue_matches(SLICE("string.*"), SLICE("strings")));
	assert_false(catalogue_matches(SLICE("string"), SLICE("string.min_len")));
	assert_false(catalogue_matches(SLICE(""), SLICE("x")));
	assert_true(catalogue_matches_any(SLICE("unused-*")));
	assert_false(catalogue_matches_any(SLICE("unsued-*")));
	assert_string_equal(catalogue_suggest(SLICE("unknown-feild"), phrase),
		", did you mean \"unknown-field\"?");
	assert_string_equal(catalogue_suggest(SLICE("zzz"), phrase), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_validate_rules),
		cmocka_unit_test(test_silencing),
		cmocka_unit_test(test_patterns),
	};

	return cmocka_run_group_tests(tests, open_fixture, fixture_close);
}
