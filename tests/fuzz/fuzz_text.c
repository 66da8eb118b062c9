/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text helpers on any bytes: no crash, and what is written reads back as the same. */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_fine)
{
	if (!is_fine)
		abort();
}

static void fuzz_base64(struct slice text)
{
	struct buf coded = BUF_INIT;
	struct buf plain = BUF_INIT;

	text_base64_encode(&coded, text);
	check(text_base64_decode(&plain, buf_slice(&coded)) == 0);
	check(slice_equal(buf_slice(&plain), text));
	buf_reset(&plain);
	if (text_base64_decode(&plain, text) == 0)
		check(plain.length == text.length / 4 * 3 ||
			plain.length + 2 >= text.length / 4 * 3);
	else
		check(plain.length == 0);
	buf_fini(&coded);
	buf_fini(&plain);
}

static void fuzz_quote(struct slice text, size_t limit)
{
	struct buf once = BUF_INIT;
	struct buf twice = BUF_INIT;

	text_quote(&once, text, limit);
	check(text_is_utf8(buf_slice(&once)));
	check(!limit || once.length <= limit);
	text_quote(&twice, buf_slice(&once), 0);
	check(slice_equal(buf_slice(&once), buf_slice(&twice)));
	buf_fini(&once);
	buf_fini(&twice);
}

static void fuzz_numbers(struct slice text)
{
	struct buf out = BUF_INIT;
	double value;
	double again;
	int64_t number;
	int64_t same;
	uint64_t bytes;

	if (text_parse_double(text, &value) == 0) {
		check(isfinite(value));
		text_format_double(&out, value);
		check(text_parse_double(buf_slice(&out), &again) == 0);
		check(memcmp(&value, &again, sizeof(value)) == 0);
	}
	buf_reset(&out);
	if (text_parse_duration_ms(text, &number) == 0) {
		check(number >= 0);
		text_format_duration_ms(&out, number);
		check(text_parse_duration_ms(buf_slice(&out), &same) == 0 && same == number);
	}
	if (text_parse_i64(text, &number) == 0 && text.data[0] != '-')
		check(text_parse_u64(text, &bytes) == 0 && bytes == (uint64_t)number);
	if (text_parse_u64(text, &bytes) == 0) {
		uint64_t size;

		check(text_parse_size(text, &size) == 0 && size == bytes);
	}
	buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = {(const char *)data, size};
	struct slice left = {text.data, size / 2};
	struct slice right = {text.data + size / 2, size - size / 2};
	size_t distance = suggestion_distance(left, right, 8);

	check(distance <= 9 && distance == suggestion_distance(right, left, 8));
	check(suggestion_distance(text, text, 0) == 0);
	fuzz_base64(text);
	fuzz_quote(text, 0);
	fuzz_quote(text, size ? data[0] : 1);
	fuzz_numbers(text);
	return 0;
}
