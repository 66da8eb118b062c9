/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"

#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Straight from the definition: decode, then check the range and that encoding is the shortest. */
static bool model_is_utf8(const unsigned char *text, size_t length)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};

	for (size_t i = 0; i < length;) {
		size_t size = text[i] < 0x80		 ? 1
			      : (text[i] & 0xe0) == 0xc0 ? 2
			      : (text[i] & 0xf0) == 0xe0 ? 3
			      : (text[i] & 0xf8) == 0xf0 ? 4
							 : 0;
		uint32_t code;

		if (!size || size > length - i)
			return false;
		code = size == 1 ? text[i] : text[i] & (0xffu >> (size + 1));
		for (size_t j = 1; j < size; j++) {
			if ((text[i + j] & 0xc0) != 0x80)
				return false;
			code = code * 64 + (text[i + j] & 0x3f);
		}
		if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
			return false;
		i += size;
	}
	return true;
}

/* All one- to three-byte texts and all interesting four-byte ones, at three alignments. */
static void utf8_against_the_model(void **state)
{
	unsigned char text[32];

	(void)state;
	for (uint32_t i = 0; i < 1u << 24; i += i < 1u << 16 || i >> 20 == 0xe ? 1 : 7) {
		size_t length = i < 1u << 8 ? 1 : i < 1u << 16 ? 2 : 3;

		for (size_t j = 0; j < length; j++)
			text[j] = (unsigned char)(i >> (8 * (length - 1 - j)));
		if (text_is_utf8((struct slice){(char *)text, length}) !=
			model_is_utf8(text, length))
			fail_msg("0x%x", i);
	}
	for (uint32_t i = 0; i < 1u << 16; i++) {
		text[0] = (unsigned char)(0xe8 + (i >> 12));
		text[1] = (unsigned char)(0x70 + (i >> 6 & 0x3f) * 2);
		text[2] = (unsigned char)(0x7e + (i >> 3 & 7));
		text[3] = (unsigned char)(0xbe + (i & 7));
		if (text_is_utf8((struct slice){(char *)text, 4}) != model_is_utf8(text, 4))
			fail_msg("%02x%02x%02x%02x", text[0], text[1], text[2], text[3]);
	}
	for (size_t at = 0; at < 24; at++) {
		memset(text, 'a', sizeof(text));
		assert_true(text_is_utf8((struct slice){(char *)text, 24}));
		text[at] = 0xff;
		assert_false(text_is_utf8((struct slice){(char *)text, 24}));
	}
	assert_true(text_is_utf8((struct slice){NULL, 0}));
	assert_true(text_is_utf8(SLICE("abcdefg\xe2\x82\xac"
				       "abcdefgh\xf4\x8f\xbf\xbf")));
	assert_false(text_is_utf8(SLICE("abcdefgh\xe2\x82")));
}

static void assert_quoted(struct slice text, size_t limit, const char *want)
{
	struct buf out = BUF_INIT;

	buf_puts(&out, ">");
	text_quote(&out, text, limit);
	assert_string_equal(buf_cstr(&out) + 1, want);
	assert_true(text_is_utf8(buf_slice(&out)));
	buf_fini(&out);
}

static void quoting(void **state)
{
	(void)state;
	assert_quoted(SLICE("plain \"text\" \\ \xe2\x82\xac"), 0, "plain \"text\" \\ \xe2\x82\xac");
	assert_quoted(SLICE("\t\r\n\x01\x1b\x7f\0z"), 0, "\\t\\r\\n\\x01\\x1b\\x7f\\x00z");
	assert_quoted(SLICE("\xff\xc0\x80\xe2\x82"), 0, "\\xff\\xc0\\x80\\xe2\\x82");
	/* C1 controls, line separators, bidirectional overrides, byte order mark. */
	assert_quoted(SLICE("\xc2\x9b\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6\xef\xbb\xbf"), 0,
		"\\u009b\\u2028\\u202e\\u2066\\ufeff");
	assert_quoted(SLICE("abcdefgh"), 8, "abcdefgh");
	assert_quoted(SLICE("abcdefghi"), 8, "abcde...");
	assert_quoted(SLICE("abcde\n\n"), 8, "abcde...");
	assert_quoted(SLICE("ab\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"), 8, "ab\xe2\x82\xac...");
	assert_quoted(SLICE("abcdef"), 2, "..");
	assert_quoted(SLICE("abcdef"), 3, "...");
	assert_quoted(SLICE(""), 3, "");
}

static void durations(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
		const char *shown;
	} good[] = {
		{"0", 0, "0"},
		{"0s", 0, "0"},
		{"250ms", 250, "250ms"},
		{"5s", 5000, "5s"},
		{"1m30s", 90000, "90s"},
		{"2h", 7200000, "2h"},
		{"7d", 604800000, "7d"},
		{"1d2h3m4s5ms", 93784005, "93784005ms"},
		{"24h", 86400000, "1d"},
		{"1m1ms", 60001, "60001ms"},
		{"9223372036854775807ms", INT64_MAX, "9223372036854775807ms"},
	};
	static const char *const bad[] = {"", "5", "s", "-5s", "+5s", "5 s", " 5s", "5s ", "1.5s",
		"5S", "5sec", "1s1m", "1s1s", "1ms1s", "00", "5us", "0x5s", "5s5",
		"99999999999999999999"};
	static const char *const large[] = {"9223372036854775808ms", "99999999999999999999s",
		"1d9223372036854775807ms", "106751991168d"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct buf shown = BUF_INIT;
		int64_t ms = -1;
		int64_t again = -1;

		assert_int_equal(text_parse_duration_ms(slice_of(good[i].text), &ms), 0);
		assert_true(ms == good[i].ms);
		text_format_duration_ms(&shown, ms);
		assert_string_equal(buf_cstr(&shown), good[i].shown);
		assert_int_equal(text_parse_duration_ms(buf_slice(&shown), &again), 0);
		assert_true(again == ms);
		buf_fini(&shown);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int64_t ms = -1;

		if (text_parse_duration_ms(slice_of(bad[i]), &ms) != -EINVAL)
			fail_msg("%s", bad[i]);
		assert_true(ms == -1);
	}
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
		int64_t ms = -1;

		if (text_parse_duration_ms(slice_of(large[i]), &ms) != -ERANGE)
			fail_msg("%s", large[i]);
		assert_true(ms == -1);
	}
}

static void sizes(void **state)
{
	static const struct {
		const char *text;
		int error;
		uint64_t bytes;
	} cases[] = {
		{"0", 0, 0},
		{"1000", 0, 1000},
		{"1000B", 0, 1000},
		{"4KiB", 0, 4096},
		{"64MiB", 0, 64u << 20},
		{"2GB", 0, 2000000000},
		{"3kB", 0, 3000},
		{"3KB", 0, 3000},
		{"1GiB", 0, 1u << 30},
		{"1TiB", 0, (uint64_t)1 << 40},
		{"5TB", 0, 5000000000000},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"18446744073709551615KiB", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"MiB", -EINVAL, 0},
		{"4K", -EINVAL, 0},
		{"4 KiB", -EINVAL, 0},
		{"-4KiB", -EINVAL, 0},
		{"1.5MiB", -EINVAL, 0},
		{"4KiBx", -EINVAL, 0},
		{"4kib", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t bytes = 0;

		if (text_parse_size(slice_of(cases[i].text), &bytes) != cases[i].error ||
			bytes != cases[i].bytes)
			fail_msg("%s", cases[i].text);
	}
}

static void integers(void **state)
{
	static const struct {
		const char *text;
		int signed_error;
		int unsigned_error;
		int64_t value;
	} cases[] = {
		{"0", 0, 0, 0},
		{"-0", 0, -EINVAL, 0},
		{"7", 0, 0, 7},
		{"007", 0, 0, 7},
		{"-1", 0, -EINVAL, -1},
		{"9223372036854775807", 0, 0, INT64_MAX},
		{"9223372036854775808", -ERANGE, 0, INT64_MIN},
		{"-9223372036854775808", 0, -EINVAL, INT64_MIN},
		{"-9223372036854775809", -ERANGE, -EINVAL, 0},
		{"18446744073709551615", -ERANGE, 0, -1},
		{"18446744073709551616", -ERANGE, -ERANGE, 0},
		{"99999999999999999999999", -ERANGE, -ERANGE, 0},
		{"", -EINVAL, -EINVAL, 0},
		{"-", -EINVAL, -EINVAL, 0},
		{"+1", -EINVAL, -EINVAL, 0},
		{"--1", -EINVAL, -EINVAL, 0},
		{"1.0", -EINVAL, -EINVAL, 0},
		{"0x10", -EINVAL, -EINVAL, 0},
		{" 1", -EINVAL, -EINVAL, 0},
		{"1 ", -EINVAL, -EINVAL, 0},
		{"99999999999999999999x", -EINVAL, -EINVAL, 0},
	};
	int64_t seen = 5;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct slice text = slice_of(cases[i].text);
		int64_t i64 = 77;
		uint64_t u64 = 77;

		if (text_parse_i64(text, &i64) != cases[i].signed_error ||
			i64 != (cases[i].signed_error ? 77 : cases[i].value) ||
			text_parse_u64(text, &u64) != cases[i].unsigned_error ||
			u64 != (cases[i].unsigned_error ? 77 : (uint64_t)cases[i].value))
			fail_msg("%s", cases[i].text);
	}
	/* A slice ends where it says. */
	assert_int_equal(text_parse_i64((struct slice){"123456", 2}, &seen), 0);
	assert_int_equal(seen, 12);
}

static void assert_double(const char *text, double want)
{
	double value = 12345;

	assert_int_equal(text_parse_double(slice_of(text), &value), 0);
	if (memcmp(&value, &want, sizeof(value)) != 0)
		fail_msg("%s: %a, not %a", text, value, want);
}

static void doubles(void **state)
{
	static const char *const same[] = {"0", "-0", "0.0", "1", "-1.5", "1e5", "1E+5", "1e-5",
		".5", "5.", "+3", "1e22", "1e23", "123456789012345678", "9007199254740993",
		"9007199254740992.5", "1.7976931348623157e308", "4.9e-324", "2e-324", "1e-400",
		"0.1", "0.30000000000000004", "2.2250738585072011e-308", "1e00000000000000000005",
		"0.000000000000000000000000000000000000001", "100000000000000000000000000",
		"1797693134862315700000000000000000000000e269", "0e99999999999999999999",
		"7.2057594037927933e16", "1e-9999999999999999999999"};
	static const char *const bad[] = {"", "-", ".", "e5", "1e", "1e+", "1.2.3", "0x10", "inf",
		"nan", "NaN", "1 ", " 1", "1,5", "1_000", "--1", ".e1", "1f", "infinity", "1e5.0"};
	static char longest[100001];
	double value = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		assert_double(same[i], strtod(same[i], NULL));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (text_parse_double(slice_of(bad[i]), &value) != -EINVAL)
			fail_msg("%s", bad[i]);
	assert_int_equal(text_parse_double(SLICE("1e309"), &value), -ERANGE);
	assert_int_equal(text_parse_double(SLICE("-1e309"), &value), -ERANGE);
	assert_int_equal(text_parse_double(SLICE("1e99999999999999999999"), &value), -ERANGE);
	memset(longest, '9', sizeof(longest) - 1);
	assert_int_equal(text_parse_double(slice_of(longest), &value), -ERANGE);
	memcpy(longest, "0.", 2);
	assert_double(longest, 1.0);
	assert_true(value == 7);
}

static void assert_formatted(double value, const char *want)
{
	struct buf out = BUF_INIT;

	text_format_double(&out, value);
	assert_string_equal(buf_cstr(&out), want);
	buf_fini(&out);
}

static void doubles_print_shortest(void **state)
{
	uint64_t seed = 1;
	struct buf out = BUF_INIT;

	(void)state;
	assert_formatted(0, "0");
	assert_formatted(-0.0, "-0");
	assert_formatted(1, "1");
	assert_formatted(-100, "-100");
	assert_formatted(0.1, "0.1");
	assert_formatted(0.1 + 0.2, "0.30000000000000004");
	assert_formatted(1234567.25, "1234567.25");
	assert_formatted(0.0001, "0.0001");
	assert_formatted(0.00001, "1e-05");
	assert_formatted(1e15, "1000000000000000");
	assert_formatted(1e16, "1e+16");
	assert_formatted(-1.5e300, "-1.5e+300");
	assert_formatted(DBL_MAX, "1.7976931348623157e+308");
	assert_formatted(5e-324, "5e-324");
	assert_formatted(9007199254740993, "9007199254740992");
	text_format_float(&out, 0.1f);
	assert_string_equal(buf_cstr(&out), "0.1");
	buf_reset(&out);
	text_format_float(&out, -FLT_MAX);
	assert_string_equal(buf_cstr(&out), "-3.4028235e+38");
	buf_reset(&out);
	text_format_float(&out, 16777216);
	assert_string_equal(buf_cstr(&out), "16777216");
	buf_reset(&out);
	text_format_float(&out, 1e-45f);
	assert_string_equal(buf_cstr(&out), "1e-45");
	for (int i = 0; i < 20000; i++) {
		double value;
		double again;
		float single;
		uint32_t low;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		memcpy(&value, &seed, sizeof(value));
		low = (uint32_t)(seed >> 32);
		memcpy(&single, &low, sizeof(single));
		if (isfinite(value)) {
			buf_reset(&out);
			text_format_double(&out, value);
			assert_int_equal(text_parse_double(buf_slice(&out), &again), 0);
			assert_true(memcmp(&again, &value, sizeof(value)) == 0);
		}
		if (isfinite(single)) {
			buf_reset(&out);
			text_format_float(&out, single);
			assert_true(strtof(buf_cstr(&out), NULL) == single);
			assert_int_equal(text_parse_double(buf_slice(&out), &again), 0);
			assert_true((float)again == single);
			assert_true(out.length <= 15);
		}
	}
	buf_fini(&out);
}

/* A locale with a decimal comma changes nothing; where none is installed there is nothing to see.
 */
static void locale_makes_no_difference(void **state)
{
	struct buf out = BUF_INIT;

	(void)state;
	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
		print_message("# no locale with a decimal comma here\n");
	assert_double("3.14159265358979323846", 3.14159265358979323846);
	text_format_double(&out, 0.5 + 1e-10);
	assert_string_equal(buf_cstr(&out), "0.5000000001");
	buf_fini(&out);
	setlocale(LC_ALL, "C");
}

static void base64_both_ways(void **state)
{
	static const struct {
		const char *plain;
		const char *coded;
	} cases[] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
	unsigned char bytes[256];
	struct buf coded = BUF_INIT;
	struct buf plain = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_reset(&coded);
		buf_reset(&plain);
		text_base64_encode(&coded, slice_of(cases[i].plain));
		assert_string_equal(buf_cstr(&coded), cases[i].coded);
		assert_int_equal(text_base64_decode(&plain, buf_slice(&coded)), 0);
		assert_string_equal(buf_cstr(&plain), cases[i].plain);
	}
	for (size_t length = 0; length < sizeof(bytes); length++) {
		bytes[length] = (unsigned char)(length * 251 + 13);
		buf_reset(&coded);
		buf_reset(&plain);
		text_base64_encode(&coded, (struct slice){(char *)bytes, length});
		for (int form = 0; form < 4; form++) {
			if (form == 2)
				while (coded.length && coded.data[coded.length - 1] == '=')
					coded.length--;
			for (size_t i = 0; form % 2 && i < coded.length; i++)
				coded.data[i] = coded.data[i] == '+'   ? '-'
						: coded.data[i] == '/' ? '_'
								       : coded.data[i];
			buf_reset(&plain);
			assert_int_equal(text_base64_decode(&plain, buf_slice(&coded)), 0);
			assert_int_equal(plain.length, length);
			if (length)
				assert_memory_equal(plain.data, bytes, length);
		}
	}
	buf_fini(&coded);
	buf_fini(&plain);
}

static void base64_refuses(void **state)
{
	static const char *const bad[] = {"A", "AAAAA", "A===", "====", "=",
		"==", "AA=", "AAA==", "AAAA=", "AA==AA==", "AA =", "AAA\n", "AA!A",
		"AAAA====", "A=AA", "\xff\xff\xff\xff", "Zg=x", "=AAA"};
	struct buf out = {.limit_bytes = 10};

	(void)state;
	buf_puts(&out, "ab");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (text_base64_decode(&out, slice_of(bad[i])) != -EINVAL)
			fail_msg("%s", bad[i]);
		assert_int_equal(out.length, 2);
	}
	assert_int_equal(text_base64_decode(&out, (struct slice){"AA\0A", 4}), -EINVAL);
	assert_int_equal(text_base64_decode(&out, SLICE("AAAABBBBAAA")), 0);
	assert_int_equal(out.length, 10);
	assert_int_equal(text_base64_decode(&out, SLICE("AA")), -EFBIG);
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf8_against_the_model),
		cmocka_unit_test(quoting),
		cmocka_unit_test(durations),
		cmocka_unit_test(sizes),
		cmocka_unit_test(integers),
		cmocka_unit_test(doubles),
		cmocka_unit_test(doubles_print_shortest),
		cmocka_unit_test(locale_makes_no_difference),
		cmocka_unit_test(base64_both_ways),
		cmocka_unit_test(base64_refuses),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
