/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/rest/json_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void members(void **state)
{
	static const struct {
		const char *text, *want; /* NULL: not found */
	} rows[] = {
		{"{\"node\":1}", "1"},
		{"{ \"node\" :\n {\"a\":[1,2]} , \"b\":2}", "{\"a\":[1,2]}"},
		{"{\"b\":2,\"node\":\"x}\\\",{\"}", "\"x}\\\",{\""},
		{"{\"b\":{\"node\":1}}", NULL},
		{"{\"b\":[\"node\",1]}", NULL},
		{"{\"b\":\"node\",\"c\":3}", NULL},
		{"{\"node\":1,\"node\":2}", NULL},
		{"{\"nodes\":1}", NULL},
		{"{\"no\\u0064e\":1}", NULL},
		{"[\"node\",1]", NULL},
		{"{\"node\":", NULL},
		{"{\"node\":1", NULL},
		{"{\"node", NULL},
		{"\"node\":1", NULL},
		{"", NULL},
		{"]]]}}}", NULL},
		{"{\"a\":\"\\", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct json_scan scan = json_scan_text(slice_of(rows[i].text), "node", 100, 1000);

		if (!rows[i].want)
			assert_null(scan.member.data);
		else
			assert_true(slice_is(scan.member, rows[i].want));
	}
}

static void depth_and_values(void **state)
{
	static const struct {
		const char *text;
		size_t depth, values_at_least;
	} rows[] = {
		{"", 0, 0},
		{"1", 0, 1},
		{"[]", 1, 1},
		{"[[],[{}]]", 3, 4},
		{"[1,2,3,4]", 1, 4},
		{"\"[[[[\"", 0, 1},
		{"\"\\\"[[[[\"", 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct json_scan scan = json_scan_text(slice_of(rows[i].text), "x", 100, 1000);

		assert_int_equal(scan.depth, rows[i].depth);
		assert_true(scan.values >= rows[i].values_at_least);
	}
	assert_int_equal(json_scan_text(SLICE("[[[[[["), "x", 2, 1000).depth, 3);
	assert_int_equal(json_scan_text(SLICE("[1,1,1,1,1,1"), "x", 2, 3).values, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members),
		cmocka_unit_test(depth_and_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
