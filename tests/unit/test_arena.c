/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void alignment_and_contents(void **state)
{
	struct arena *arena = arena_new(0);
	unsigned char *blocks[2000];

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		blocks[i] = arena_alloc(arena, i);
		assert_non_null(blocks[i]);
		assert_int_equal((uintptr_t)blocks[i] % 8, 0);
		memset(blocks[i], (int)(i & 0xff), i);
	}
	for (size_t i = 0; i < 2000; i++)
		for (size_t j = 0; j < i; j++)
			assert_int_equal(blocks[i][j], i & 0xff);
	assert_true(arena_used(arena) >= 1999 * 1000);
	assert_false(arena_failed(arena));
	arena_free(arena);
	arena_free(NULL);
}

static void zeroed_on_request(void **state)
{
	struct arena *arena = arena_new(0);
	unsigned char *bytes;

	(void)state;
	memset(arena_alloc(arena, 500), 0xff, 500);
	arena_reset(arena);
	bytes = arena_zalloc(arena, 500);
	for (size_t i = 0; i < 500; i++)
		assert_int_equal(bytes[i], 0);
	arena_free(arena);
}

static void limit_fails_and_sticks(void **state)
{
	struct arena *arena = arena_new(10000);
	size_t count = 0;

	(void)state;
	while (arena_alloc(arena, 64))
		assert_true(++count <= 10000 / 64);
	assert_true(count >= 10000 / 64 * 3 / 4);
	assert_true(arena_used(arena) <= 10000);
	assert_true(arena_failed(arena));
	assert_null(arena_alloc(arena, 20000));
	assert_null(arena_alloc(arena, SIZE_MAX));
	assert_null(arena_alloc(arena, SIZE_MAX - 7));
	assert_null(arena_copy(arena, NULL, SIZE_MAX).data);

	arena_reset(arena);
	assert_false(arena_failed(arena));
	assert_int_equal(arena_used(arena), 0);
	assert_non_null(arena_alloc(arena, 9000));
	assert_null(arena_alloc(arena, 2000));
	assert_true(arena_used(arena) <= 10000);
	arena_free(arena);
}

/* The limit holds however large and small allocations alternate. */
static void limit_with_large_blocks(void **state)
{
	(void)state;
	for (size_t limit = 1000; limit < 200000; limit += 9973) {
		struct arena *arena = arena_new(limit);

		for (size_t i = 0; i < 3000; i++)
			if (arena_alloc(arena, i * 7919 % 3000))
				assert_true(arena_used(arena) <= limit);
		assert_true(arena_failed(arena));
		arena_free(arena);
	}
}

static void reset_reuses_one_block(void **state)
{
	struct arena *arena = arena_new(0);
	void *first;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		assert_non_null(arena_alloc(arena, 1000));
	arena_reset(arena);
	first = arena_alloc(arena, 100);
	arena_reset(arena);
	assert_ptr_equal(arena_alloc(arena, 100), first);
	arena_free(arena);
}

static void grow_in_place_or_copy(void **state)
{
	struct arena *arena = arena_new(0);
	char *text = arena_grow(arena, NULL, 0, 8);
	char *grown;

	(void)state;
	memcpy(text, "1234567", 8);
	assert_ptr_equal(arena_grow(arena, text, 8, 100), text);
	assert_non_null(arena_alloc(arena, 1));
	grown = arena_grow(arena, text, 100, 200);
	assert_ptr_not_equal(grown, text);
	assert_string_equal(grown, "1234567");
	grown = arena_grow(arena, grown, 200, 300000);
	assert_string_equal(grown, "1234567");
	grown[299999] = 'x';
	assert_null(arena_grow(arena, grown, 300000, SIZE_MAX - 20));
	arena_free(arena);
}

static void text_helpers(void **state)
{
	struct arena *arena = arena_new(0);
	struct slice copy = arena_copy(arena, "ab\0cd", 5);
	char *printed;

	(void)state;
	assert_string_equal(arena_strdup(arena, "text"), "text");
	assert_string_equal(arena_strdup(arena, ""), "");
	assert_int_equal(copy.length, 5);
	assert_memory_equal(copy.data, "ab\0cd\0", 6);
	assert_non_null(arena_copy(arena, NULL, 0).data);
	assert_string_equal(arena_printf(arena, "%d-%s", 7, "x"), "7-x");
	printed = arena_printf(arena, "%0*d", 255, 1);
	assert_int_equal(strlen(printed), 255);
	printed = arena_printf(arena, "%0*d", 256, 1);
	assert_int_equal(strlen(printed), 256);
	printed = arena_printf(arena, "%0*d", 5000, 1);
	assert_int_equal(strlen(printed), 5000);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alignment_and_contents),
		cmocka_unit_test(zeroed_on_request),
		cmocka_unit_test(limit_fails_and_sticks),
		cmocka_unit_test(limit_with_large_blocks),
		cmocka_unit_test(reset_reuses_one_block),
		cmocka_unit_test(grow_in_place_or_copy),
		cmocka_unit_test(text_helpers),
	};

	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
