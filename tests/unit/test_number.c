/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void forms(void **state)
{
	static const struct {
		const char *text;
		enum number_form form;
	} cases[] = {{"0", NUMBER_DIGITS}, {"-0", NUMBER_DIGITS}, {"12", NUMBER_DIGITS},
		{"-12", NUMBER_DIGITS}, {"1.5", NUMBER_DECIMAL}, {"-1.5e-3", NUMBER_DECIMAL},
		{"1e3", NUMBER_DECIMAL}, {"1E+3", NUMBER_DECIMAL}, {"01", NUMBER_LEADING_ZERO},
		{"-007", NUMBER_LEADING_ZERO}, {"00", NUMBER_LEADING_ZERO}, {"0x1F", NUMBER_HEX},
		{"0o17", NUMBER_OCTAL}, {"+5", NUMBER_SIGNED}, {"+0", NUMBER_SIGNED},
		{".5", NUMBER_LOOSE}, {"5.", NUMBER_LOOSE}, {"+1.5", NUMBER_LOOSE},
		{"01.5", NUMBER_LOOSE}, {"-.5e1", NUMBER_LOOSE}, {".inf", NUMBER_INFINITY},
		{"-.Inf", NUMBER_INFINITY}, {"+.INF", NUMBER_INFINITY}, {".nan", NUMBER_NAN},
		{".NaN", NUMBER_NAN}, {"", NUMBER_NONE}, {"-", NUMBER_NONE}, {"+", NUMBER_NONE},
		{".", NUMBER_NONE}, {"-.", NUMBER_NONE}, {"e3", NUMBER_NONE}, {"1e", NUMBER_NONE},
		{"1e+", NUMBER_NONE}, {"1.5.2", NUMBER_NONE}, {"0x", NUMBER_NONE},
		{"0xg", NUMBER_NONE}, {"0o8", NUMBER_NONE}, {"-0x1", NUMBER_NONE},
		{"1_0", NUMBER_NONE}, {"1:30", NUMBER_NONE}, {" 1", NUMBER_NONE},
		{"1 ", NUMBER_NONE}, {"inf", NUMBER_NONE}, {"nan", NUMBER_NONE},
		{"-.nan", NUMBER_NONE}, {"--1", NUMBER_NONE}, {"0b1", NUMBER_NONE}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		enum number_form form = number_form(slice_of(cases[i].text));

		if (form != cases[i].form)
			fail_msg("\"%s\": %d", cases[i].text, (int)form);
	}
}

static void integers(void **state)
{
	static const struct {
		const char *text;
		int rc;
		bool is_negative;
		uint64_t magnitude;
	} cases[] = {{"0", 0, false, 0}, {"-0", 0, true, 0}, {"15", 0, false, 15},
		{"1.5e1", 0, false, 15}, {"150e-1", 0, false, 15}, {"-1500.00e-2", 0, true, 15},
		{"1.0", 0, false, 1}, {"1e0", 0, false, 1}, {"0.0", 0, false, 0},
		{"0e99999999999999999999", 0, false, 0}, {"0.000e-99999999999", 0, false, 0},
		{"18446744073709551615", 0, false, UINT64_MAX},
		{"1844674407370955161.5e1", -ERANGE, false, 0}, /* 20 digits with a point */
		{"9223372036854775807.0", 0, false, INT64_MAX},
		{"-9223372036854775808", 0, true, UINT64_C(1) << 63},
		{"18446744073709551616", -ERANGE, false, 0},
		{"99999999999999999999999", -ERANGE, false, 0},
		{"1e19", 0, false, 10000000000000000000u}, {"1e20", -ERANGE, false, 0},
		{"1e400", -ERANGE, false, 0}, {"1e99999999999999999999", -ERANGE, false, 0},
		{"1.5", -EDOM, false, 0}, {"1e-1", -EDOM, false, 0},
		{"1e-99999999999999999999", -EDOM, false, 0}, {"0.1e0", -EDOM, false, 0},
		{"123456789012345678901.5", -EDOM, false, 0}, {"0x1F", 0, false, 31},
		{"0xffffffffffffffff", 0, false, UINT64_MAX},
		{"0x10000000000000000", -ERANGE, false, 0},
		{"0o1777777777777777777777", 0, false, UINT64_MAX},
		{"0o2000000000000000000000", -ERANGE, false, 0}, {"+7", 0, false, 7},
		{"5.", 0, false, 5}, {".5e1", 0, false, 5},
		{"1000000000000000000000000e-24", 0, false, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct slice text = slice_of(cases[i].text);
		uint64_t magnitude = 0;
		bool is_negative = false;
		int rc = number_to_integer(number_form(text), text, &is_negative, &magnitude);

		if (cases[i].rc ? rc == 0
				: rc || magnitude != cases[i].magnitude ||
					  is_negative != cases[i].is_negative)
			fail_msg("\"%s\": %d %" PRIu64, cases[i].text, rc, magnitude);
	}
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 11;
}

/* The own fast path must agree with strtod on every bit. */
static void doubles_as_strtod(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char text[64];
		uint64_t digits = next_random(&seed) >> (next_random(&seed) % 50);
		int exponent = (int)(next_random(&seed) % (i & 1 ? 60 : 600)) - (i & 1 ? 30 : 300);
		double got, want;

		if (i % 3 == 0)
			snprintf(text, sizeof(text), "%" PRIu64 ".%" PRIu64 "e%d", digits,
				next_random(&seed), exponent);
		else
			snprintf(text, sizeof(text), "-%" PRIu64 "e%d", digits, exponent);
		want = strtod(text, NULL);
		int rc = number_to_double(number_form(slice_of(text)), slice_of(text), &got);

		if (isinf(want) ? rc != -ERANGE : rc || memcmp(&got, &want, sizeof(got)) != 0)
			fail_msg("\"%s\": %a, not %a", text, got, want);
	}
}

static void special_doubles(void **state)
{
	double value;

	(void)state;
	assert_int_equal(number_to_double(NUMBER_INFINITY, SLICE("-.inf"), &value), 0);
	assert_true(isinf(value) && value < 0);
	assert_int_equal(number_to_double(NUMBER_NAN, SLICE(".nan"), &value), 0);
	assert_true(isnan(value));
	assert_int_equal(number_to_double(NUMBER_DIGITS, SLICE("-0"), &value), 0);
	assert_true(value == 0 && signbit(value));
	assert_int_equal(number_to_double(NUMBER_HEX, SLICE("0x10"), &value), 0);
	assert_true(value == 16);
	assert_int_equal(number_to_double(NUMBER_LEADING_ZERO, SLICE("0777"), &value), 0);
	assert_true(value == 777);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(integers),
		cmocka_unit_test(doubles_as_strtod),
		cmocka_unit_test(special_doubles),
	};

	return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
