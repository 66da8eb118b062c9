/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/number.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

#include "base/text.h"

#define EXACT_DIGITS 19 /* always fit into 64 bits */

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t skip_digits(struct slice text, size_t i)
{
	while (i < text.length && is_digit(text.data[i]))
		i++;
	return i;
}

static enum number_form prefixed_form(struct slice text)
{
	bool is_hex = text.data[1] == 'x';

	if (text.length < 3)
		return NUMBER_NONE;
	for (size_t i = 2; i < text.length; i++) {
		char c = text.data[i];

		if (is_hex ? !is_digit(c) && !((c | 32) >= 'a' && (c | 32) <= 'f')
			   : c < '0' || c > '7')
			return NUMBER_NONE;
	}
	return is_hex ? NUMBER_HEX : NUMBER_OCTAL;
}

static enum number_form special_form(struct slice text)
{
	static const char *const infinities[] = {".inf", ".Inf", ".INF"};
	static const char *const nans[] = {".nan", ".NaN", ".NAN"};
	bool has_sign = text.length && (text.data[0] == '-' || text.data[0] == '+');
	struct slice word = {text.data + has_sign, text.length - has_sign};

	for (size_t i = 0; word.length == 4 && i < 3; i++) {
		if (memcmp(word.data, infinities[i], 4) == 0)
			return NUMBER_INFINITY;
		if (!has_sign && memcmp(word.data, nans[i], 4) == 0)
			return NUMBER_NAN;
	}
	return NUMBER_NONE;
}

enum number_form number_form(struct slice text)
{
	size_t i = 0, whole, fraction = 0;
	bool is_loose = false, is_decimal = false, is_positive = false, has_zero;

	if (text.length && (text.data[0] == '-' || text.data[0] == '+')) {
		is_positive = text.data[0] == '+';
		i = 1;
	} else if (text.length > 1 && text.data[0] == '0' &&
		   (text.data[1] == 'x' || text.data[1] == 'o')) {
		return prefixed_form(text);
	}
	whole = i;
	i = skip_digits(text, i);
	has_zero = i - whole > 1 && text.data[whole] == '0';
	whole = i - whole;
	if (whole && i == text.length)
		return has_zero ? NUMBER_LEADING_ZERO : is_positive ? NUMBER_SIGNED : NUMBER_DIGITS;
	if (i < text.length && text.data[i] == '.') {
		size_t start = ++i;

		i = skip_digits(text, i);
		fraction = i - start;
		is_decimal = true;
		is_loose = whole == 0 || fraction == 0;
	}
	if (whole + fraction == 0)
		return special_form(text);
	if (i < text.length && (text.data[i] | 32) == 'e') {
		size_t start;

		i++;
		if (i < text.length && (text.data[i] == '-' || text.data[i] == '+'))
			i++;
		start = i;
		i = skip_digits(text, i);
		if (i == start)
			return NUMBER_NONE;
		is_decimal = true;
	}
	if (i != text.length || !is_decimal)
		return NUMBER_NONE;
	return is_loose || is_positive || has_zero ? NUMBER_LOOSE : NUMBER_DECIMAL;
}

/* [sign] digits * 10^exponent; `is_cut`: more digits followed, none of them counted. */
struct decimal {
	bool is_negative, is_cut;
	uint64_t digits;
	int64_t exponent;
};

static struct decimal parse_decimal(struct slice text)
{
	struct decimal decimal = {0};
	unsigned count = 0;
	int64_t exponent = 0;
	bool is_after_point = false, is_small = false;
	size_t i = 0;

	if (text.data[0] == '-' || text.data[0] == '+') {
		decimal.is_negative = text.data[0] == '-';
		i = 1;
	}
	for (; i < text.length && (text.data[i] | 32) != 'e'; i++) {
		if (text.data[i] == '.') {
			is_after_point = true;
			continue;
		}
		if (count < EXACT_DIGITS) {
			decimal.digits = decimal.digits * 10 + (uint64_t)(text.data[i] - '0');
			count += decimal.digits != 0;
			decimal.exponent -= is_after_point;
		} else {
			decimal.is_cut |= text.data[i] != '0';
			decimal.exponent += !is_after_point;
		}
	}
	if (i < text.length) {
		i++;
		if (text.data[i] == '-' || text.data[i] == '+')
			is_small = text.data[i++] == '-';
		for (; i < text.length && exponent < INT32_MAX; i++)
			exponent = exponent * 10 + (text.data[i] - '0');
	}
	decimal.exponent += is_small ? -exponent : exponent;
	return decimal;
}

static int parse_based(struct slice text, unsigned bits, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (size_t i = 2; i < text.length; i++) {
		char c = text.data[i];

		if (value >> (64 - bits))
			return -ERANGE;
		value = value << bits | (unsigned)(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
	}
	*ret_value = value;
	return 0;
}

/* Digits only, so that 20-digit numbers up to 2^64-1 come out as well. */
static int parse_digits(struct slice text, bool *ret_is_negative, uint64_t *ret_magnitude)
{
	size_t i = text.data[0] == '-' || text.data[0] == '+';
	uint64_t value = 0;

	*ret_is_negative = text.data[0] == '-';
	for (; i < text.length; i++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(text.data[i] - '0'), &value))
			return -ERANGE;
	}
	*ret_magnitude = value;
	return 0;
}

int number_to_integer(
	enum number_form form, struct slice text, bool *ret_is_negative, uint64_t *ret_magnitude)
{
	struct decimal decimal;

	assert(form != NUMBER_NONE && form <= NUMBER_LOOSE);
	*ret_is_negative = false;
	if (form == NUMBER_HEX || form == NUMBER_OCTAL)
		return parse_based(text, form == NUMBER_HEX ? 4 : 3, ret_magnitude);
	if (form != NUMBER_DECIMAL && form != NUMBER_LOOSE)
		return parse_digits(text, ret_is_negative, ret_magnitude);
	decimal = parse_decimal(text);
	*ret_is_negative = decimal.is_negative;
	while (decimal.digits && decimal.exponent < 0) {
		if (decimal.digits % 10)
			return -EDOM;
		decimal.digits /= 10;
		decimal.exponent++;
	}
	if (decimal.is_cut) /* 20 significant digits and more: a fraction, or too large but for
			     * a sliver that nobody writes with a point */
		return decimal.exponent <= 0 ? -EDOM : -ERANGE;
	while (decimal.digits && decimal.exponent > 0) {
		if (__builtin_mul_overflow(decimal.digits, 10, &decimal.digits))
			return -ERANGE;
		decimal.exponent--;
	}
	*ret_magnitude = decimal.digits;
	return 0;
}

int number_to_double(enum number_form form, struct slice text, double *ret_value)
{
	uint64_t magnitude = 0;
	double value;
	int rc;

	assert(form != NUMBER_NONE);
	if (form == NUMBER_INFINITY || form == NUMBER_NAN) {
		value = form == NUMBER_NAN ? NAN : INFINITY;
		*ret_value = text.data[0] == '-' ? -value : value;
		return 0;
	}
	if (form == NUMBER_HEX || form == NUMBER_OCTAL) {
		rc = parse_based(text, form == NUMBER_HEX ? 4 : 3, &magnitude);
		*ret_value = (double)magnitude;
		return rc;
	}
	return text_parse_double(text, ret_value);
}

const char *number_type_words(enum schema_type type)
{
	switch (type) {
	case SCHEMA_INT32:
	case SCHEMA_SINT32:
	case SCHEMA_SFIXED32:
		return "a whole number (int32)";
	case SCHEMA_UINT32:
	case SCHEMA_FIXED32:
		return "a whole number (uint32)";
	case SCHEMA_INT64:
	case SCHEMA_SINT64:
	case SCHEMA_SFIXED64:
		return "a whole number (int64)";
	case SCHEMA_UINT64:
	case SCHEMA_FIXED64:
		return "a whole number (uint64)";
	case SCHEMA_FLOAT:
	case SCHEMA_DOUBLE:
		return "a number";
	case SCHEMA_BOOL:
		return "true or false";
	case SCHEMA_ENUM:
		return "the name of an enum value";
	case SCHEMA_BYTES:
		return "base64 text";
	case SCHEMA_STRING:
	case SCHEMA_MESSAGE:
	case SCHEMA_GROUP:
		break;
	}
	return "text";
}
