/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/number_format.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t number_format_u64(char out[static NUMBER_FORMAT_BYTES], uint64_t value)
{
	char digits[20];
	size_t length = 0;

	do {
		digits[sizeof(digits) - ++length] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	memcpy(out, digits + sizeof(digits) - length, length);
	out[length] = '\0';
	return length;
}

size_t number_format_i64(char out[static NUMBER_FORMAT_BYTES], int64_t value)
{
	char *at = out;

	if (value >= 0)
		return number_format_u64(out, (uint64_t)value);
	*at++ = '-';
	/* One byte less room is plenty for 20 digits. */
	char digits[NUMBER_FORMAT_BYTES];
	size_t length = number_format_u64(digits, 0 - (uint64_t)value);
	memcpy(at, digits, length + 1);
	return length + 1;
}

/* Whole numbers and up to three decimals, which is what configuration is made of. A quotient of
 * exact integers below 2^53 is rounded as reading the decimal would be. 0: not of that kind. */
static size_t format_simple(char out[static NUMBER_FORMAT_BYTES], double value, bool is_float)
{
	double size = fabs(value), scaled = size * 1000;
	char *at = out;

	if (!(size < 1e6) || scaled != floor(scaled))
		return 0;
	double back = scaled / 1000;
	if (is_float ? (float)back != (float)size : back != size)
		return 0;
	uint64_t thousandths = (uint64_t)scaled;
	char digits[NUMBER_FORMAT_BYTES];
	size_t length = number_format_u64(digits, thousandths / 1000);
	unsigned rest = (unsigned)(thousandths % 1000);
	if (value < 0)
		*at++ = '-';
	memcpy(at, digits, length);
	at += length;
	if (rest) {
		*at++ = '.';
		for (unsigned unit = 100; rest; rest %= unit, unit /= 10)
			*at++ = (char)('0' + rest / unit);
	}
	*at = '\0';
	return (size_t)(at - out);
}

/* The decimal point of the C library's locale may be anything; ours is a dot. */
static size_t fix_point(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		if (strchr("0123456789+-e", *at))
			*to++ = *at;
		else if (to == text || to[-1] != '.')
			*to++ = '.';
	}
	*to = '\0';
	return (size_t)(to - text);
}

/* Readers that know integers would lose the sign of "-0". */
static size_t format_minus_zero(char out[static NUMBER_FORMAT_BYTES])
{
	memcpy(out, "-0.0", 5);
	return 4;
}

size_t number_format_double(char out[static NUMBER_FORMAT_BYTES], double value)
{
	size_t length = value == 0 && signbit(value) ? format_minus_zero(out)
						     : format_simple(out, value, false);

	for (int digits = 15; length == 0 && digits <= 17; digits++) {
		snprintf(out, NUMBER_FORMAT_BYTES, "%.*g", digits, value);
		/* Read back before the point is fixed: by the same locale. */
		if (digits == 17 || strtod(out, NULL) == value)
			length = fix_point(out);
	}
	return length;
}

size_t number_format_float(char out[static NUMBER_FORMAT_BYTES], float value)
{
	size_t length = value == 0 && signbit(value) ? format_minus_zero(out)
						     : format_simple(out, (double)value, true);

	for (int digits = 6; length == 0 && digits <= 9; digits++) {
		snprintf(out, NUMBER_FORMAT_BYTES, "%.*g", digits, (double)value);
		if (digits == 9 || strtof(out, NULL) == value)
			length = fix_point(out);
	}
	return length;
}
