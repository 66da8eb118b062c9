/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void reads_what_was_put(void **state)
{
	struct buf out = BUF_INIT;
	struct record_reader reader;

	(void)state;
	record_put_number(&out, 0x0102, 2);
	record_put_text(&out, SLICE("edge"));
	record_put_number(&out, UINT64_MAX, 8);
	record_put_text(&out, SLICE(""));
	assert_int_equal(out.length, 2 + 4 + 4 + 8 + 4);
	assert_memory_equal(out.data, "\x02\x01\x04\0\0\0edge", 10);
	reader = (struct record_reader){buf_slice(&out), false};
	assert_int_equal(record_number(&reader, 2), 0x0102);
	assert_true(slice_is(record_text(&reader), "edge"));
	assert_true(record_number(&reader, 8) == UINT64_MAX);
	assert_int_equal(record_text(&reader).length, 0);
	assert_false(reader.failed);
	assert_int_equal(reader.rest.length, 0);
	buf_fini(&out);
}

static void fails_once_and_for_all_at_every_cut(void **state)
{
	struct buf out = BUF_INIT;

	(void)state;
	record_put_text(&out, SLICE("edge"));
	record_put_number(&out, 7, 4);
	for (size_t length = 0; length < out.length; length++) {
		struct record_reader reader = {{out.data, length}, false};

		(void)record_text(&reader);
		assert_int_equal(record_number(&reader, 4), 0);
		assert_true(reader.failed);
		assert_int_equal(record_text(&reader).length, 0);
	}
	buf_fini(&out);
}

static void refuses_a_length_beyond_the_record(void **state)
{
	struct record_reader reader = {SLICE("\xff\xff\xff\xff"
					     "abc"),
		false};

	(void)state;
	assert_int_equal(record_text(&reader).length, 0);
	assert_true(reader.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_was_put),
		cmocka_unit_test(fails_once_and_for_all_at_every_cut),
		cmocka_unit_test(refuses_a_length_beyond_the_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
