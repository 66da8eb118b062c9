/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/hints.h"

static void test_each_once_in_order(void **state)
{
	struct hints hints, taken;
	const char **list;
	size_t count;

	(void)state;
	hints_init(&hints);
	hints_add(&hints, "b");
	hints_add(&hints, "a/x");
	hints_add(&hints, "b");
	hints_move(&taken, &hints);
	list = hints_list(&taken, &count);
	assert_int_equal(count, 2);
	assert_string_equal(list[0], "a/x");
	assert_string_equal(list[1], "b");
	free(list);
	hints_fini(&taken);
	list = hints_list(&hints, &count); /* empty again: nothing, not everything */
	assert_non_null(list);
	assert_int_equal(count, 0);
	free(list);
	hints_fini(&hints);
}

static void test_everything_wins(void **state)
{
	struct hints hints;
	size_t count;

	(void)state;
	hints_init(&hints);
	hints_add(&hints, "a");
	hints_add(&hints, NULL);
	hints_add(&hints, "b");
	assert_null(hints_list(&hints, &count));
	assert_int_equal(hints.paths.count, 0);
	hints_fini(&hints);
}

static void test_too_many(void **state)
{
	struct hints hints;
	char path[32];
	size_t count;

	(void)state;
	hints_init(&hints);
	for (int i = 0; i < HINTS_LIMIT; i++) {
		snprintf(path, sizeof(path), "%d", i);
		hints_add(&hints, path);
	}
	assert_false(hints.is_everything);
	hints_add(&hints, "5"); /* known */
	assert_false(hints.is_everything);
	hints_add(&hints, "one more");
	assert_true(hints.is_everything);
	assert_null(hints_list(&hints, &count));
	hints_fini(&hints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_once_in_order),
		cmocka_unit_test(test_everything_wins),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
