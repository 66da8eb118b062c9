/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "source/settle.h"

struct row {
	const char *text;
	int64_t quiet_ms, limit_ms;
	int64_t hints[4]; /* ascending, -1 ends */
	int64_t now_ms;
	bool is_held, is_changing;
	int64_t want_ms;
};

static const struct row rows[] = {
	{"nothing pending", 50, 5000, {-1}, 1000, false, false, -1},
	{"nothing pending, changing", 50, 5000, {-1}, 1000, false, true, -1},
	{"just hinted", 50, 5000, {1000, -1}, 1000, false, false, 50},
	{"half quiet", 50, 5000, {1000, -1}, 1020, false, false, 30},
	{"quiet", 50, 5000, {1000, -1}, 1050, false, false, 0},
	{"long quiet", 50, 5000, {1000, -1}, 90000, false, false, 0},
	{"a second hint starts the quiet time again", 50, 5000, {1000, 1040, -1}, 1060, false,
		false, 30},
	{"limit cuts the quiet time", 50, 100, {1000, 1040, 1080, -1}, 1085, false, false, 15},
	{"limit reached", 50, 100, {1000, 1040, 1099, -1}, 1100, false, false, 0},
	{"no quiet time: at once", 0, 5000, {1000, -1}, 1000, false, false, 0},
	{"no limit: at once", 50, 0, {1000, -1}, 1000, false, false, 0},
	{"held", 50, 5000, {1000, -1}, 1050, true, false, -1},
	{"held beyond the limit", 50, 5000, {1000, -1}, 99000, true, true, -1},
	{"git is at work: look again soon", 50, 5000, {1000, -1}, 1050, false, true, 10},
	{"git is at work, not quiet yet", 50, 5000, {1000, -1}, 1010, false, true, 40},
	{"git is at work, no quiet time", 0, 5000, {1000, -1}, 1000, false, true, 10},
	{"git is at work, just before the limit", 50, 5000, {1000, -1}, 5997, false, true, 3},
	{"git's lock was forgotten: the limit", 50, 5000, {1000, -1}, 6000, false, true, 0},
};

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct settle_facts facts = {row->is_held, row->is_changing};
		struct settle settle;

		settle_init(&settle, row->quiet_ms, row->limit_ms);
		for (size_t j = 0; row->hints[j] >= 0; j++)
			settle_hint(&settle, row->hints[j]);
		if (settle_wait_ms(&settle, row->now_ms, &facts) != row->want_ms)
			fail_msg("%s: %lld", row->text,
				(long long)settle_wait_ms(&settle, row->now_ms, &facts));
	}
}

static void test_done_takes_the_burst(void **state)
{
	struct settle settle;
	const struct settle_facts none = {false, false};

	(void)state;
	settle_init(&settle, 50, 5000);
	assert_false(settle_is_pending(&settle));
	settle_hint(&settle, 0);
	assert_true(settle_is_pending(&settle));
	settle_done(&settle);
	assert_false(settle_is_pending(&settle));
	settle_hint(&settle, 10000);
	assert_int_equal(settle_wait_ms(&settle, 10000, &none), 50); /* the limit starts anew */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_done_takes_the_burst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
