/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/time_text.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

static void durations(void **state)
{
	static const struct {
		const char *text;
		int rc;
		int64_t seconds;
		int32_t nanos;
	} cases[] = {{"0s", 0, 0, 0}, {"1s", 0, 1, 0}, {"-1s", 0, -1, 0}, {"1.5s", 0, 1, 500000000},
		{"-1.5s", 0, -1, -500000000}, {"-0.5s", 0, 0, -500000000},
		{"0.000000001s", 0, 0, 1}, {"007s", 0, 7, 0}, {"315576000000s", 0, 315576000000, 0},
		{"-315576000000s", 0, -315576000000, 0}, {"315576000000.1s", -ERANGE, 0, 0},
		{"315576000001s", -ERANGE, 0, 0}, {"99999999999999999999999999s", -ERANGE, 0, 0},
		{"", -EINVAL, 0, 0}, {"s", -EINVAL, 0, 0}, {"-", -EINVAL, 0, 0},
		{"1", -EINVAL, 0, 0}, {"1.s", -EINVAL, 0, 0}, {".5s", -EINVAL, 0, 0},
		{"1.0000000000s", -EINVAL, 0, 0}, {"+1s", -EINVAL, 0, 0}, {"1 s", -EINVAL, 0, 0},
		{"1s ", -EINVAL, 0, 0}, {"1ms", -EINVAL, 0, 0}, {"1.5", -EINVAL, 0, 0},
		{"1e3s", -EINVAL, 0, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t seconds = 0;
		int32_t nanos = 0;
		int rc = time_text_parse_duration(slice_of(cases[i].text), &seconds, &nanos);

		if (rc != cases[i].rc || seconds != cases[i].seconds || nanos != cases[i].nanos)
			fail_msg("\"%s\": %d %" PRId64 " %" PRId32, cases[i].text, rc, seconds,
				nanos);
	}
}

static void guesses(void **state)
{
	static const char *const cases[][2] = {{"250ms", "0.25s"}, {"5m", "300s"}, {"1h", "3600s"},
		{"1m30s", "90s"}, {"5", "5s"}, {"1.5", "1.5s"}, {"5 sec", "5s"}, {"soon", NULL},
		{"", NULL}, {"5x", NULL}, {"1e300", NULL}};
	char out[TIME_TEXT_MOST];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool is_guessed = time_text_guess_duration(slice_of(cases[i][0]), out);

		if (is_guessed != (cases[i][1] != NULL) ||
			(is_guessed && strcmp(out, cases[i][1]) != 0))
			fail_msg("\"%s\": %s", cases[i][0], is_guessed ? out : "nothing");
	}
}

/* Every day of ten thousand years, against timegm. */
static void days_as_timegm(void **state)
{
	(void)state;
	for (int year = 1; year <= 9999; year++) {
		for (int month = 0; month < 12; month++) {
			struct tm when = {.tm_year = year - 1900,
				.tm_mon = month,
				.tm_mday = 28,
				.tm_hour = 23,
				.tm_min = 59,
				.tm_sec = 58};
			int64_t want = timegm(&when), got;
			char text[64];
			int32_t nanos;

			snprintf(text, sizeof(text), "%04d-%02d-28T23:59:58.25Z", year, month + 1);
			assert_int_equal(
				time_text_parse_timestamp(slice_of(text), &got, &nanos), 0);
			if (got != want || nanos != 250000000)
				fail_msg("%s: %" PRId64 ", not %" PRId64, text, got, want);
		}
	}
}

static void timestamps(void **state)
{
	static const struct {
		const char *text;
		int rc;
		int64_t seconds;
	} cases[] = {{"1970-01-01T00:00:00Z", 0, 0}, {"1970-01-01T01:30:00+01:30", 0, 0},
		{"1969-12-31T22:30:00-01:30", 0, 0}, {"2024-02-29T00:00:00Z", 0, 1709164800},
		{"0001-01-01T00:00:00Z", 0, -62135596800},
		{"9999-12-31T23:59:59.999999999Z", 0, 253402300799},
		{"0001-01-01T00:00:00+00:01", -ERANGE, 0},
		{"9999-12-31T23:59:59-00:01", -ERANGE, 0}, {"2023-02-29T00:00:00Z", -EINVAL, 0},
		{"1900-02-29T00:00:00Z", -EINVAL, 0}, {"2000-02-29T00:00:00Z", 0, 951782400},
		{"2000-04-31T00:00:00Z", -EINVAL, 0}, {"2000-00-01T00:00:00Z", -EINVAL, 0},
		{"0000-01-01T00:00:00Z", -EINVAL, 0}, {"2000-01-01 00:00:00Z", -EINVAL, 0},
		{"2000-01-01T00:00Z", -EINVAL, 0}, {"2000-01-01T00:00:00+1:00", -EINVAL, 0},
		{"2000-01-01T00:00:00.1234567890Z", -EINVAL, 0},
		{"2000-01-01T00:00:00Zx", -EINVAL, 0}, {"20000-01-01T00:00:00Z", -EINVAL, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t seconds = 0;
		int32_t nanos;
		int rc = time_text_parse_timestamp(slice_of(cases[i].text), &seconds, &nanos);

		if (rc != cases[i].rc || seconds != cases[i].seconds)
			fail_msg("\"%s\": %d %" PRId64, cases[i].text, rc, seconds);
	}
}

static void field_rules(void **state)
{
	(void)state;
	assert_true(time_text_is_valid(true, 0, -5));
	assert_true(time_text_is_valid(true, -1, -999999999));
	assert_false(time_text_is_valid(true, 1, -1));
	assert_false(time_text_is_valid(true, -1, 1));
	assert_false(time_text_is_valid(true, 0, 1000000000));
	assert_false(time_text_is_valid(true, 315576000001, 0));
	assert_true(time_text_is_valid(false, -62135596800, 0));
	assert_false(time_text_is_valid(false, -62135596801, 0));
	assert_false(time_text_is_valid(false, 0, -1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations),
		cmocka_unit_test(guesses),
		cmocka_unit_test(days_as_timegm),
		cmocka_unit_test(timestamps),
		cmocka_unit_test(field_rules),
	};

	return cmocka_run_group_tests_name("time_text", tests, NULL, NULL);
}
