/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>

static void count_call(void *ctx)
{
	atomic_fetch_add((atomic_uint *)ctx, 1);
}

static void test_publish_acquire_remove(void **state)
{
	struct store *store = store_new();
	struct rcstr *name = rcstr_new("edge", 4);
	struct snapshot *first = snapshot_empty(name), *second = snapshot_empty(name), *got;
	atomic_uint calls = 0;
	struct store_subscription *subscription = store_subscribe(store, count_call, &calls);
	uint64_t generation = store_generation(store);
	char key[] = "edge";

	(void)state;
	assert_null(store_acquire(store, SLICE("edge")));
	store_publish(store, slice_of(key), first);
	memset(key, 'x', 4); /* the store keeps no pointer to it */
	got = store_acquire(store, SLICE("edge"));
	assert_ptr_equal(got, first);
	snapshot_unref(got);
	assert_true(store_generation(store) > generation);
	assert_int_equal(calls, 1);

	store_publish(store, SLICE("edge"), second);
	got = store_acquire(store, SLICE("edge"));
	assert_ptr_equal(got, second);
	snapshot_unref(got);
	assert_int_equal(calls, 2);

	store_publish(store, SLICE("edge"), NULL);
	assert_null(store_acquire(store, SLICE("edge")));
	assert_int_equal(calls, 3);
	store_publish(store, SLICE("edge"), NULL);
	assert_int_equal(calls, 3);

	store_unsubscribe(store, subscription);
	store_publish(store, SLICE("edge"), second);
	assert_int_equal(calls, 3);
	store_free(store);
	snapshot_unref(first);
	snapshot_unref(second);
	rcstr_unref(name);
}

static void test_selector(void **state)
{
	struct store *store = store_new();
	struct selector *selector = selector_finish(selector_begin()), *got;

	(void)state;
	assert_null(store_selector(store));
	store_set_selector(store, selector);
	got = store_selector(store);
	assert_ptr_equal(got, selector);
	selector_unref(got);
	selector_unref(selector);
	store_set_selector(store, NULL);
	assert_null(store_selector(store));
	store_free(store);
}

#define ROUNDS 2000

struct race {
	struct store *store;
	atomic_bool is_done;
};

static void *read_loop(void *ctx)
{
	struct race *race = ctx;
	size_t seen = 0;

	while (!atomic_load(&race->is_done)) {
		struct snapshot *snapshot = store_acquire(race->store, SLICE("g"));

		if (snapshot)
			seen += snapshot_count(snapshot) + 1;
		snapshot_unref(snapshot);
	}
	return (void *)seen;
}

static void *subscribe_loop(void *ctx)
{
	struct race *race = ctx;

	while (!atomic_load(&race->is_done)) {
		atomic_uint calls = 0;
		struct store_subscription *subscription =
			store_subscribe(race->store, count_call, &calls);

		/* `calls` goes out of scope: no call may come after this returns. */
		store_unsubscribe(race->store, subscription);
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct race race = {.store = store_new()};
	struct rcstr *name = rcstr_new("g", 1);
	pthread_t readers[2], subscriber;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_loop, &race), 0);
	assert_int_equal(pthread_create(&subscriber, NULL, subscribe_loop, &race), 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct snapshot *snapshot = snapshot_empty(name);

		store_publish(race.store, SLICE("g"), i % 7 ? snapshot : NULL);
		snapshot_unref(snapshot);
	}
	atomic_store(&race.is_done, true);
	for (int i = 0; i < 2; i++)
		pthread_join(readers[i], NULL);
	pthread_join(subscriber, NULL);
	store_free(race.store);
	rcstr_unref(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_publish_acquire_remove),
		cmocka_unit_test(test_selector),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
