/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t load_64(const char *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Bytes of the UTF-8 character at the start, 0 when it is not one. The text is not empty. */
static size_t utf8_length(const unsigned char *text, size_t length, uint32_t *ret_code)
{
	unsigned char first = text[0];
	uint32_t code;
	size_t size;

	if (first < 0x80) {
		*ret_code = first;
		return 1;
	}
	if (first < 0xc2 || first > 0xf4)
		return 0;
	size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (length < size)
		return 0;
	code = first & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3fu);
	}
	if ((size == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) ||
		(size == 4 && (code < 0x10000 || code > 0x10ffff)))
		return 0;
	*ret_code = code;
	return size;
}

bool text_is_utf8(struct slice text)
{
	const char *at = text.data;
	size_t left = text.length;
	uint32_t code;

	while (left) {
		size_t size;

		while (left >= 8 && !(load_64(at) & 0x8080808080808080u)) {
			at += 8;
			left -= 8;
		}
		while (left && !(*at & 0x80)) {
			at++;
			left--;
		}
		if (!left)
			break;
		size = utf8_length((const unsigned char *)at, left, &code);
		if (!size)
			return false;
		at += size;
		left -= size;
	}
	return true;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Characters that move the cursor, end the line or turn what follows around. */
static bool is_treacherous(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
	       (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

static size_t escape(char out[static 12], uint32_t code, bool is_byte)
{
	static const char digits[] = "0123456789abcdef";
	static const char names[][3] = {['\t'] = "\\t", ['\n'] = "\\n", ['\r'] = "\\r"};
	int nibbles = code < 0x80 || is_byte ? 2 : 4;

	out[0] = '\\';
	if (code < sizeof(names) / sizeof(names[0]) && names[code][0]) {
		out[1] = names[code][1];
		return 2;
	}
	out[1] = nibbles == 2 ? 'x' : 'u';
	for (int i = 0; i < nibbles; i++)
		out[2 + i] = digits[code >> (4 * (nibbles - 1 - i)) & 15];
	return 2 + (size_t)nibbles;
}

void text_quote(struct buf *out, struct slice text, size_t limit)
{
	size_t start = out->length;
	size_t cut = start; /* where "..." still fits */

	if (!limit)
		limit = SIZE_MAX - start;
	for (size_t i = 0; i < text.length;) {
		const char *at = text.data + i;
		char escaped[12];
		uint32_t code;
		size_t taken = utf8_length((const unsigned char *)at, text.length - i, &code);
		struct slice piece = {at, taken};

		if (!taken)
			piece = (struct slice){escaped, escape(escaped, (unsigned char)*at, true)};
		else if (is_treacherous(code))
			piece = (struct slice){escaped, escape(escaped, code, false)};
		if (out->length - start + piece.length > limit) {
			out->length = cut;
			buf_append(out, "...", least(3, limit));
			return;
		}
		buf_append_slice(out, piece);
		if (buf_error(out))
			return;
		if (out->length - start + 3 <= limit)
			cut = out->length;
		i += taken ? taken : 1;
	}
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Reads digits at *at and moves it behind them. */
static int read_digits(struct slice text, size_t *at, uint64_t *ret_value)
{
	size_t start = *at;
	uint64_t value = 0;
	bool is_huge = false;

	for (; *at < text.length && is_digit(text.data[*at]); ++*at)
		is_huge |= __builtin_mul_overflow(value, 10, &value) ||
			   __builtin_add_overflow(value, (uint64_t)(text.data[*at] - '0'), &value);
	if (*at == start)
		return -EINVAL;
	if (is_huge)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int text_parse_u64(struct slice text, uint64_t *ret_value)
{
	size_t at = 0;
	uint64_t value;
	int error = read_digits(text, &at, &value);

	if (at != text.length)
		return -EINVAL;
	if (!error)
		*ret_value = value;
	return error;
}

int text_parse_i64(struct slice text, int64_t *ret_value)
{
	bool is_negative = text.length && text.data[0] == '-';
	size_t at = is_negative;
	uint64_t value;
	int error = read_digits(text, &at, &value);

	if (at != text.length)
		return -EINVAL;
	if (error)
		return error;
	if (value > (uint64_t)INT64_MAX + is_negative)
		return -ERANGE;
	*ret_value = is_negative ? (int64_t)(0 - value) : (int64_t)value;
	return 0;
}

/* Longest first, so that "ms" is not taken for "m". */
static const struct duration_unit {
	char name[3];
	int64_t ms;
	int rank; /* falls from unit to unit of one duration */
} duration_units[] = {
	{"ms", 1, 0},
	{"d", 86400000, 4},
	{"h", 3600000, 3},
	{"m", 60000, 2},
	{"s", 1000, 1},
};

static const struct duration_unit *find_duration_unit(struct slice text)
{
	for (size_t i = 0; i < sizeof(duration_units) / sizeof(duration_units[0]); i++) {
		struct slice name = slice_of(duration_units[i].name);

		if (text.length >= name.length && memcmp(text.data, name.data, name.length) == 0)
			return &duration_units[i];
	}
	return NULL;
}

int text_parse_duration_ms(struct slice text, int64_t *ret_ms)
{
	int64_t total = 0;
	int rank = 5;
	bool is_huge = false;

	if (slice_is(text, "0")) {
		*ret_ms = 0;
		return 0;
	}
	if (!text.length)
		return -EINVAL;
	for (size_t at = 0; at < text.length;) {
		const struct duration_unit *unit;
		uint64_t value = 0;
		int64_t ms;
		int error = read_digits(text, &at, &value);

		if (error == -EINVAL)
			return error;
		unit = find_duration_unit((struct slice){text.data + at, text.length - at});
		if (!unit || unit->rank >= rank)
			return -EINVAL;
		rank = unit->rank;
		at += strlen(unit->name);
		is_huge |= error || __builtin_mul_overflow(value, unit->ms, &ms) ||
			   __builtin_add_overflow(total, ms, &total);
	}
	if (is_huge)
		return -ERANGE;
	*ret_ms = total;
	return 0;
}

void text_format_duration_ms(struct buf *out, int64_t ms)
{
	const struct duration_unit *unit = &duration_units[0];

	for (size_t i = 1; i < sizeof(duration_units) / sizeof(duration_units[0]); i++) {
		if (ms && ms % duration_units[i].ms == 0) {
			unit = &duration_units[i];
			break;
		}
	}
	if (ms)
		buf_printf(out, "%lld%s", (long long)(ms / unit->ms), unit->name);
	else
		buf_putc(out, '0');
}

int text_parse_size(struct slice text, uint64_t *ret_bytes)
{
	static const struct {
		char name[4];
		uint64_t bytes;
	} units[] = {
		{"", 1},
		{"B", 1},
		{"kB", 1000},
		{"KB", 1000},
		{"MB", 1000000},
		{"GB", 1000000000},
		{"TB", 1000000000000},
		{"KiB", 1u << 10},
		{"MiB", 1u << 20},
		{"GiB", 1u << 30},
		{"TiB", (uint64_t)1 << 40},
	};
	size_t at = 0;
	uint64_t value = 0;
	int error = read_digits(text, &at, &value);

	if (error == -EINVAL)
		return error;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!slice_is((struct slice){text.data + at, text.length - at}, units[i].name))
			continue;
		if (error || __builtin_mul_overflow(value, units[i].bytes, &value))
			return -ERANGE;
		*ret_bytes = value;
		return 0;
	}
	return -EINVAL;
}

/* glibc answers a request for plain "C" with a constant object: this costs nothing to repeat. */
static locale_t c_locale(void)
{
	return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static double read_double(const char *text)
{
	locale_t locale = c_locale();
	double value = strtod_l(text, NULL, locale);

	freelocale(locale);
	return value;
}

static float read_float(const char *text)
{
	locale_t locale = c_locale();
	float value = strtof_l(text, NULL, locale);

	freelocale(locale);
	return value;
}

/* A number taken apart: its value is digits * 10^exponent. */
struct decimal {
	uint64_t digits;
	int exponent;
	bool is_negative;
	bool is_exact; /* false: there is more than fits */
};

static void add_digit(struct decimal *decimal, char digit, bool is_fraction)
{
	if (decimal->digits > (UINT64_MAX - 9) / 10) {
		decimal->is_exact = false;
		return;
	}
	decimal->digits = decimal->digits * 10 + (uint64_t)(digit - '0');
	decimal->exponent -= is_fraction;
}

static int scan_decimal(struct slice text, struct decimal *ret_decimal)
{
	struct decimal decimal = {.is_exact = true};
	size_t i = 0;
	size_t digits = 0;

	if (i < text.length && (text.data[i] == '-' || text.data[i] == '+'))
		decimal.is_negative = text.data[i++] == '-';
	for (; i < text.length && is_digit(text.data[i]); i++, digits++)
		add_digit(&decimal, text.data[i], false);
	if (i < text.length && text.data[i] == '.')
		for (i++; i < text.length && is_digit(text.data[i]); i++, digits++)
			add_digit(&decimal, text.data[i], true);
	if (!digits)
		return -EINVAL;
	if (i < text.length && (text.data[i] == 'e' || text.data[i] == 'E')) {
		bool is_negative = false;
		uint64_t exponent = 0;
		int error;

		i++;
		if (i < text.length && (text.data[i] == '-' || text.data[i] == '+'))
			is_negative = text.data[i++] == '-';
		error = read_digits(text, &i, &exponent);
		if (error == -EINVAL)
			return error;
		if (error || exponent > 9999)
			decimal.is_exact = false;
		else
			decimal.exponent += is_negative ? -(int)exponent : (int)exponent;
	}
	*ret_decimal = decimal;
	return i == text.length ? 0 : -EINVAL;
}

int text_parse_double(struct slice text, double *ret_value)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
		1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	struct decimal decimal;
	char small[128];
	char *copy = small;
	double value;
	int error = scan_decimal(text, &decimal);

	if (error)
		return error;
	/* Both operands are exact doubles, so one operation rounds correctly. */
	if (decimal.is_exact && decimal.digits <= (uint64_t)1 << 53 && decimal.exponent >= -22 &&
		decimal.exponent <= 22) {
		value = (double)decimal.digits;
		value = decimal.exponent < 0 ? value / powers[-decimal.exponent]
					     : value * powers[decimal.exponent];
		*ret_value = decimal.is_negative ? -value : value;
		return 0;
	}
	if (text.length >= sizeof(small)) {
		copy = malloc(text.length + 1);
		if (!copy)
			return -ENOMEM;
	}
	memcpy(copy, text.data, text.length);
	copy[text.length] = '\0';
	value = read_double(copy);
	if (copy != small)
		free(copy);
	if (isinf(value))
		return -ERANGE;
	*ret_value = value;
	return 0;
}

/* "-d.ddde-xx" as printf makes it, with whatever point the locale has, into digits only. */
static int take_apart(const char *text, char digits[static 20])
{
	size_t count = 0;

	for (; *text != 'e'; text++)
		if (is_digit(*text) && count < 18)
			digits[count++] = *text;
	while (count > 1 && digits[count - 1] == '0')
		count--;
	digits[count] = '\0';
	return (int)strtol(text + 1, NULL, 10);
}

/* Positional from 0.0001 up to 10^most, else with an exponent. */
static void put_decimal(
	struct buf *out, bool is_negative, const char *digits, int exponent, int most)
{
	int count = (int)strlen(digits);

	if (is_negative)
		buf_putc(out, '-');
	if (exponent < -4 || exponent >= most) {
		buf_putc(out, digits[0]);
		if (count > 1)
			buf_putc(out, '.');
		buf_append(out, digits + 1, (size_t)count - 1);
		buf_printf(out, "e%+03d", exponent);
	} else if (exponent < 0) {
		buf_puts(out, "0.");
		buf_fill(out, '0', (size_t)(-exponent - 1));
		buf_append(out, digits, (size_t)count);
	} else if (count <= exponent + 1) {
		buf_append(out, digits, (size_t)count);
		buf_fill(out, '0', (size_t)(exponent + 1 - count));
	} else {
		buf_append(out, digits, (size_t)exponent + 1);
		buf_putc(out, '.');
		buf_append(out, digits + exponent + 1, (size_t)(count - exponent - 1));
	}
}

/* Writes the number with this many digits, the point as it is in C, for reading it back. */
static int print_digits(double value, int precision, char digits[static 20], char check[static 40])
{
	char printed[64];
	int exponent;

	snprintf(printed, sizeof(printed), "%.*e", precision - 1, fabs(value));
	exponent = take_apart(printed, digits);
	snprintf(check, 40, "%se%d", digits, exponent - (int)strlen(digits) + 1);
	return exponent;
}

void text_format_double(struct buf *out, double value)
{
	char digits[20];
	char check[40];
	int exponent = 0;

	assert(isfinite(value));
	if (value == (double)(int64_t)(fabs(value) < 1e15 ? value : 0) && value != 0) {
		buf_printf(out, "%lld", (long long)value);
		return;
	}
	/* Tiny numbers have fewer digits that mean something. */
	for (int precision = fabs(value) < DBL_MIN ? 1 : 15; precision <= 17; precision++) {
		exponent = print_digits(value, precision, digits, check);
		if (read_double(check) == fabs(value))
			break;
	}
	put_decimal(out, signbit(value), digits, exponent, 16);
}

void text_format_float(struct buf *out, float value)
{
	char digits[20];
	char check[40];
	int exponent = 0;

	assert(isfinite(value));
	for (int precision = fabsf(value) < FLT_MIN ? 1 : 6; precision <= 9; precision++) {
		exponent = print_digits((double)value, precision, digits, check);
		/* Some read through double: both ways have to end at the same value. */
		if (read_float(check) == fabsf(value) && (float)read_double(check) == fabsf(value))
			break;
	}
	put_decimal(out, signbit(value), digits, exponent, 9);
}

static const signed char *base64_values(void)
{
	/* -1 elsewhere is 0 here: values are stored plus one. */
	static const signed char values[256] = {
		['A'] = 1,
		['B'] = 2,
		['C'] = 3,
		['D'] = 4,
		['E'] = 5,
		['F'] = 6,
		['G'] = 7,
		['H'] = 8,
		['I'] = 9,
		['J'] = 10,
		['K'] = 11,
		['L'] = 12,
		['M'] = 13,
		['N'] = 14,
		['O'] = 15,
		['P'] = 16,
		['Q'] = 17,
		['R'] = 18,
		['S'] = 19,
		['T'] = 20,
		['U'] = 21,
		['V'] = 22,
		['W'] = 23,
		['X'] = 24,
		['Y'] = 25,
		['Z'] = 26,
		['a'] = 27,
		['b'] = 28,
		['c'] = 29,
		['d'] = 30,
		['e'] = 31,
		['f'] = 32,
		['g'] = 33,
		['h'] = 34,
		['i'] = 35,
		['j'] = 36,
		['k'] = 37,
		['l'] = 38,
		['m'] = 39,
		['n'] = 40,
		['o'] = 41,
		['p'] = 42,
		['q'] = 43,
		['r'] = 44,
		['s'] = 45,
		['t'] = 46,
		['u'] = 47,
		['v'] = 48,
		['w'] = 49,
		['x'] = 50,
		['y'] = 51,
		['z'] = 52,
		['0'] = 53,
		['1'] = 54,
		['2'] = 55,
		['3'] = 56,
		['4'] = 57,
		['5'] = 58,
		['6'] = 59,
		['7'] = 60,
		['8'] = 61,
		['9'] = 62,
		['+'] = 63,
		['-'] = 63,
		['/'] = 64,
		['_'] = 64,
	};

	return values;
}

void text_base64_encode(struct buf *out, struct slice bytes)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *in = (const unsigned char *)bytes.data;
	size_t groups = bytes.length / 3 + (bytes.length % 3 != 0);
	char *to = groups <= SIZE_MAX / 8 ? buf_reserve(out, groups * 4) : NULL;

	if (!to)
		return;
	for (size_t left = bytes.length; left; in += 3, to += 4) {
		uint32_t word = (uint32_t)in[0] << 16 | (left > 1 ? (uint32_t)in[1] << 8 : 0) |
				(left > 2 ? in[2] : 0);

		to[0] = alphabet[word >> 18];
		to[1] = alphabet[word >> 12 & 63];
		to[2] = left > 1 ? alphabet[word >> 6 & 63] : '=';
		to[3] = left > 2 ? alphabet[word & 63] : '=';
		left -= least(left, 3);
	}
	out->length += groups * 4;
}

int text_base64_decode(struct buf *out, struct slice text)
{
	const signed char *values = base64_values();
	size_t length = text.length;
	uint32_t word = 0;
	char *to;

	if (length && length % 4 == 0 && text.data[length - 1] == '=')
		length -= text.data[length - 2] == '=' ? 2 : 1;
	if (length % 4 == 1)
		return -EINVAL;
	to = buf_reserve(out, length / 4 * 3 + (length % 4 ? length % 4 - 1 : 0));
	if (!to)
		return buf_error(out);
	for (size_t i = 0; i < length; i++) {
		int value = values[(unsigned char)text.data[i]] - 1;

		if (value < 0)
			return -EINVAL;
		word = word << 6 | (uint32_t)value;
		if (i % 4 == 3) {
			*to++ = (char)(word >> 16);
			*to++ = (char)(word >> 8);
			*to++ = (char)word;
		}
	}
	if (length % 4 == 2) {
		*to++ = (char)(word >> 4);
	} else if (length % 4 == 3) {
		*to++ = (char)(word >> 10);
		*to++ = (char)(word >> 2);
	}
	out->length = (size_t)(to - out->data);
	return 0;
}
