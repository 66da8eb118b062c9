/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/buf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

static void appends_of_all_kinds(void **state)
{
	struct buf buf = BUF_INIT;

	(void)state;
	assert_string_equal(buf_cstr(&buf), "");
	buf_append(&buf, NULL, 0);
	buf_puts(&buf, "ab");
	buf_putc(&buf, 'c');
	buf_append_slice(&buf, SLICE("de"));
	buf_fill(&buf, '-', 3);
	buf_printf(&buf, "%d", 42);
	assert_int_equal(buf.length, 10);
	assert_string_equal(buf_cstr(&buf), "abcde---42");
	assert_true(slice_is(buf_slice(&buf), "abcde---42"));
	buf_reset(&buf);
	assert_int_equal(buf.length, 0);
	assert_string_equal(buf_cstr(&buf), "");
	buf_fini(&buf);
	assert_null(buf.data);
}

/* Every length around the places where the memory grows. */
static void grows_at_every_length(void **state)
{
	struct buf one = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < 3000; i++) {
		struct buf printed = BUF_INIT;

		buf_putc(&one, (char)('a' + i % 26));
		assert_int_equal(strlen(buf_cstr(&one)), i + 1);
		buf_printf(&printed, "%s", buf_cstr(&one));
		buf_printf(&printed, "%s", buf_cstr(&one));
		assert_int_equal(printed.length, 2 * (i + 1));
		assert_memory_equal(printed.data + i + 1, one.data, i + 1);
		buf_fini(&printed);
	}
	for (size_t i = 0; i < 3000; i++)
		assert_int_equal(one.data[i], 'a' + i % 26);
	buf_fini(&one);
}

static void limit_is_exact(void **state)
{
	(void)state;
	for (size_t limit = 1; limit < 300; limit++) {
		struct buf bytes = {.limit_bytes = limit};
		struct buf whole = {.limit_bytes = limit};
		struct buf printed = {.limit_bytes = limit};

		for (size_t i = 0; i < limit; i++)
			buf_putc(&bytes, 'x');
		assert_int_equal(buf_error(&bytes), 0);
		assert_int_equal(strlen(buf_cstr(&bytes)), limit);
		buf_putc(&bytes, 'x');
		assert_int_equal(buf_error(&bytes), -EFBIG);
		assert_int_equal(bytes.length, limit);

		buf_fill(&whole, 'x', limit + 1);
		assert_int_equal(buf_error(&whole), -EFBIG);
		assert_int_equal(whole.length, 0);
		buf_printf(&printed, "%0*d", (int)limit, 1);
		assert_int_equal(buf_error(&printed), 0);
		buf_printf(&printed, "%d", 1);
		assert_int_equal(buf_error(&printed), -EFBIG);
		assert_int_equal(printed.length, limit);
		buf_fini(&bytes);
		buf_fini(&whole);
		buf_fini(&printed);
	}
}

static void error_sticks_until_reset(void **state)
{
	struct buf buf = {.limit_bytes = 8};

	(void)state;
	buf_puts(&buf, "1234");
	buf_puts(&buf, "too long");
	buf_puts(&buf, "5");
	buf_putc(&buf, '6');
	buf_printf(&buf, "7");
	buf_fill(&buf, '8', 1);
	assert_null(buf_reserve(&buf, 0));
	assert_int_equal(buf.length, 4);
	assert_int_equal(buf_error(&buf), -EFBIG);
	assert_string_equal(buf_cstr(&buf), "");
	buf_reset(&buf);
	buf_puts(&buf, "12345678");
	assert_int_equal(buf_error(&buf), 0);
	assert_string_equal(buf_cstr(&buf), "12345678");
	buf_reserve(&buf, SIZE_MAX);
	assert_int_equal(buf_error(&buf), -EFBIG);
	buf_fini(&buf);
}

static void huge_requests_fail(void **state)
{
	struct buf buf = BUF_INIT;

	(void)state;
	assert_null(buf_reserve(&buf, SIZE_MAX));
	assert_true(buf_error(&buf) < 0);
	buf_reset(&buf);
	buf_puts(&buf, "x");
	assert_null(buf_reserve(&buf, SIZE_MAX - 1));
	assert_int_equal(buf.length, 1);
	buf_fini(&buf);
}

static void reserve_then_write(void **state)
{
	struct buf buf = BUF_INIT;
	char *room = buf_reserve(&buf, 1000);

	(void)state;
	assert_non_null(room);
	memset(room, 'r', 1000);
	buf.length += 1000;
	room = buf_reserve(&buf, 0);
	assert_ptr_equal(room, buf.data + 1000);
	assert_int_equal(strlen(buf_cstr(&buf)), 1000);
	buf_fini(&buf);
}

static void take_hands_the_bytes_out(void **state)
{
	struct buf buf = {.limit_bytes = 5};
	size_t length = 99;
	char *text;

	(void)state;
	text = buf_take(&buf, &length);
	assert_non_null(text);
	assert_int_equal(length, 0);
	free(text);
	buf_puts(&buf, "12345");
	text = buf_take(&buf, &length);
	assert_string_equal(text, "12345");
	assert_int_equal(length, 5);
	assert_null(buf.data);
	free(text);
	buf_puts(&buf, "123456");
	assert_int_equal(buf_error(&buf), -EFBIG);
	assert_null(buf_take(&buf, NULL));
	assert_int_equal(buf_error(&buf), 0);
	buf_fini(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appends_of_all_kinds),
		cmocka_unit_test(grows_at_every_length),
		cmocka_unit_test(limit_is_exact),
		cmocka_unit_test(error_sticks_until_reset),
		cmocka_unit_test(huge_requests_fail),
		cmocka_unit_test(reserve_then_write),
		cmocka_unit_test(take_hands_the_bytes_out),
	};

	return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
