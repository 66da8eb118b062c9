/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void monotonic_does_not_go_back(void **state)
{
	int64_t ms = clock_monotonic_ms();
	int64_t us = clock_monotonic_us();

	(void)state;
	assert_true(us / 1000 >= ms);
	for (int i = 0; i < 1000; i++) {
		int64_t now = clock_monotonic_us();

		assert_true(now >= us);
		us = now;
	}
	assert_true(clock_wall_ms() > 1700000000000);
}

static void utc_text(void **state)
{
	static const struct {
		int64_t ms;
		const char *want;
	} cases[] = {
		{0, "1970-01-01T00:00:00.000Z"},
		{-1, "1969-12-31T23:59:59.999Z"},
		{1767323045678, "2026-01-02T03:04:05.678Z"},
		{951782400000, "2000-02-29T00:00:00.000Z"},
		{-62167219200000, "0000-01-01T00:00:00.000Z"},
		{INT64_MIN, "0000-01-01T00:00:00.000Z"},
		{INT64_MAX, "9999-12-31T23:59:59.999Z"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[25];

		clock_format_utc(cases[i].ms, out);
		assert_string_equal(out, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(monotonic_does_not_go_back),
		cmocka_unit_test(utc_text),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
