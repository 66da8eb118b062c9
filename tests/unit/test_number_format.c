/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/number_format.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void formats_integers(void **state)
{
	char out[NUMBER_FORMAT_BYTES];

	(void)state;
	assert_int_equal(number_format_u64(out, 0), 1);
	assert_string_equal(out, "0");
	assert_int_equal(number_format_u64(out, UINT64_MAX), 20);
	assert_string_equal(out, "18446744073709551615");
	assert_int_equal(number_format_i64(out, INT64_MIN), 20);
	assert_string_equal(out, "-9223372036854775808");
	number_format_i64(out, -1);
	assert_string_equal(out, "-1");
	number_format_i64(out, INT64_MAX);
	assert_string_equal(out, "9223372036854775807");
}

static void formats_doubles(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{0, "0"}, {-0.0, "-0.0"}, {1, "1"}, {-1, "-1"}, {0.5, "0.5"}, {0.25, "0.25"},
		{0.125, "0.125"}, {-12.5, "-12.5"}, {0.1, "0.1"}, {0.001, "0.001"}, {1.1, "1.1"},
		{999999.999, "999999.999"}, {1e6, "1000000"}, {123456789, "123456789"},
		{0.1 + 0.2, "0.30000000000000004"}, {1e-4, "0.0001"}, {1e-5, "1e-05"},
		{1e15, "1e+15"}, {9007199254740993.0, "9007199254740992"},
		{5e-324, "4.94065645841247e-324"},
		{1.7976931348623157e308, "1.7976931348623157e+308"},
		{1.0 / 3, "0.3333333333333333"}};
	char out[NUMBER_FORMAT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t length = number_format_double(out, cases[i].value);

		assert_int_equal(length, strlen(out));
		assert_string_equal(out, cases[i].text);
	}
}

static void formats_floats(void **state)
{
	static const struct {
		float value;
		const char *text;
	} cases[] = {{0.1F, "0.1"}, {-0.0F, "-0.0"}, {16777216, "16777216"}, {0.3F, "0.3"},
		{3.4028235e38F, "3.4028235e+38"}, {1e-45F, "1.4013e-45"}, {1.0F / 3, "0.33333334"},
		{0.0005F, "0.0005"}, {123.456F, "123.456"}};
	char out[NUMBER_FORMAT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t length = number_format_float(out, cases[i].value);

		assert_int_equal(length, strlen(out));
		assert_string_equal(out, cases[i].text);
	}
}

/* Whatever bits: it reads back as the same number. */
static void reads_back(void **state)
{
	uint64_t bits = 88172645463325252u;
	char out[NUMBER_FORMAT_BYTES];

	(void)state;
	for (int i = 0; i < 200000; i++) {
		double number, small;
		float single;
		uint32_t half;

		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&number, &bits, sizeof(number));
		if (isfinite(number)) {
			number_format_double(out, number);
			if (strtod(out, NULL) != number)
				fail_msg("%a became %s", number, out);
		}
		small = (double)(int64_t)(bits % 2000000000) / (i % 2 ? 1000.0 : 997.0);
		number_format_double(out, small);
		if (strtod(out, NULL) != small)
			fail_msg("%a became %s", small, out);
		half = (uint32_t)(bits >> 20);
		memcpy(&single, &half, sizeof(single));
		if (isfinite(single)) {
			number_format_float(out, single);
			if (strtof(out, NULL) != single)
				fail_msg("%a became %s", (double)single, out);
		}
		single = (float)(small / 1e6);
		number_format_float(out, single);
		if (strtof(out, NULL) != single)
			fail_msg("%a became %s", (double)single, out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_integers),
		cmocka_unit_test(formats_doubles),
		cmocka_unit_test(formats_floats),
		cmocka_unit_test(reads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
