/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Published FNV-1a test values; set versions depend on them. */
static void fnv_is_fixed(void **state)
{
	(void)state;
	assert_true(hash_fnv1a("", 0) == 0xcbf29ce484222325u);
	assert_true(hash_fnv1a("a", 1) == 0xaf63dc4c8601ec8cu);
	assert_true(hash_fnv1a("foobar", 6) == 0x85944171f73967e8u);
	assert_true(hash_fnv1a("\0", 1) == 0xaf63bd4c8601b7dfu);
}

/* Equal bytes hash equal wherever they lie; any changed bit changes about half of the hash. */
static void bytes_avalanche(void **state)
{
	unsigned char buffer[160] = {0};
	double total = 0;
	size_t count = 0;

	(void)state;
	for (size_t length = 1; length <= 70; length++) {
		unsigned char *bytes = buffer + length % 8;
		unsigned char copy[80];
		uint64_t before;

		for (size_t i = 0; i < length; i++)
			bytes[i] = (unsigned char)(i * 37 + length);
		memcpy(copy, bytes, length);
		before = hash_bytes(bytes, length);
		assert_true(before == hash_bytes(copy, length));
		for (size_t bit = 0; bit < 8 * length; bit++) {
			int changed;

			copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
			changed = __builtin_popcountll(before ^ hash_bytes(copy, length));
			copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
			assert_true(changed > 5);
			total += changed;
			count++;
		}
	}
	assert_true(total / (double)count > 31 && total / (double)count < 33);
	assert_true(hash_bytes("", 0) == hash_bytes("x", 0));
	assert_true(hash_bytes("\0", 1) != hash_bytes("\0\0", 2));
	assert_true(hash_bytes("\0", 1) != hash_bytes("", 0));
}

static struct slice name(char *out, size_t size, unsigned number)
{
	return (struct slice){out, (size_t)snprintf(out, size, "cluster-%u", number)};
}

/* Against a plain array as the model, with keys that come and go. */
static void behaves_like_the_model(void **state)
{
	enum {
		KEYS = 500
	};
	static char names[KEYS][24];
	struct slice keys[KEYS];
	void *model[KEYS] = {NULL};
	struct hash hash;
	size_t count = 0;
	uint32_t seed = 7;

	(void)state;
	hash_init(&hash);
	for (unsigned i = 0; i < KEYS; i++)
		keys[i] = name(names[i], sizeof(names[i]), i);
	for (int step = 0; step < 200000; step++) {
		size_t i;
		void *value;

		seed = seed * 1664525 + 1013904223;
		i = (seed >> 8) % KEYS;
		value = &names[(seed >> 16) % KEYS];
		if (seed >> 30 == 0) {
			assert_ptr_equal(hash_remove(&hash, keys[i]), model[i]);
			count -= model[i] != NULL;
			model[i] = NULL;
		} else if (seed >> 30 == 1) {
			assert_ptr_equal(hash_put(&hash, keys[i], value), model[i]);
			count += model[i] == NULL;
			model[i] = value;
		} else {
			assert_ptr_equal(hash_get(&hash, keys[i]), model[i]);
		}
		assert_int_equal(hash.count, count);
	}
	for (size_t i = 0; i < KEYS; i++)
		assert_ptr_equal(hash_get(&hash, keys[i]), model[i]);
	hash_fini(&hash);
}

static void empty_and_odd_keys(void **state)
{
	struct hash hash;
	size_t cursor = 0;
	int value;

	(void)state;
	hash_init(&hash);
	assert_null(hash_get(&hash, SLICE("x")));
	assert_null(hash_remove(&hash, SLICE("x")));
	assert_null(hash_next(&hash, &cursor));
	assert_null(hash_put(&hash, (struct slice){NULL, 0}, &value));
	assert_null(hash_put(&hash, SLICE("\0"), &hash));
	assert_ptr_equal(hash_get(&hash, SLICE("")), &value);
	assert_ptr_equal(hash_get(&hash, SLICE("\0")), &hash);
	assert_null(hash_get(&hash, SLICE("\0\0")));
	hash_fini(&hash);
	assert_int_equal(hash.count, 0);
	assert_null(hash_get(&hash, SLICE("")));
}

static void next_visits_each_once(void **state)
{
	static char names[1000][24];
	static int seen[1000];
	struct hash hash;
	struct hash_entry *entry;
	size_t cursor = 0;
	size_t visited = 0;

	(void)state;
	hash_init(&hash);
	for (unsigned i = 0; i < 1000; i++)
		hash_put(&hash, name(names[i], sizeof(names[i]), i), &seen[i]);
	while ((entry = hash_next(&hash, &cursor))) {
		++*(int *)entry->value;
		visited++;
	}
	assert_int_equal(visited, 1000);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(seen[i], 1);
	hash_fini(&hash);
}

static void reserve_avoids_growth(void **state)
{
	static char names[1000][24];
	struct hash hash;
	struct hash_entry *entries;
	size_t longest = 0;

	(void)state;
	hash_init(&hash);
	hash_reserve(&hash, 0);
	assert_null(hash.entries);
	hash_reserve(&hash, 1000);
	entries = hash.entries;
	for (unsigned i = 0; i < 1000; i++)
		hash_put(&hash, name(names[i], sizeof(names[i]), i), names[i]);
	assert_ptr_equal(hash.entries, entries);
	/* Good mixing: no long runs in spite of similar names. */
	for (size_t i = 0, run = 0; i < hash.capacity; i++) {
		run = entries[i].value ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	assert_true(longest < 100);
	hash_fini(&hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fnv_is_fixed),
		cmocka_unit_test(bytes_avalanche),
		cmocka_unit_test(behaves_like_the_model),
		cmocka_unit_test(empty_and_odd_keys),
		cmocka_unit_test(next_visits_each_once),
		cmocka_unit_test(reserve_avoids_growth),
	};

	return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
