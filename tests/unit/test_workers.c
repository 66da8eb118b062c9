/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/workers.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define ITEMS 5000

struct count {
	atomic_int seen[ITEMS];
	atomic_size_t by_worker[WORKERS_MAX];
	atomic_bool on_other_thread, takes_signals;
	pthread_t caller;
};

static void take(void *ctx, unsigned worker, size_t item)
{
	struct count *count = ctx;
	sigset_t blocked;

	atomic_fetch_add(&count->seen[item], 1);
	atomic_fetch_add(&count->by_worker[worker], 1);
	if (pthread_equal(pthread_self(), count->caller))
		return;
	atomic_store(&count->on_other_thread, true);
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	if (!sigismember(&blocked, SIGHUP))
		atomic_store(&count->takes_signals, true);
}

static struct count *run(unsigned threads, size_t items)
{
	struct count *count = calloc(1, sizeof(*count));
	size_t total = 0;

	count->caller = pthread_self();
	workers_run(threads, items, take, count);
	for (size_t i = 0; i < ITEMS; i++)
		assert_int_equal(count->seen[i], i < items);
	for (unsigned i = 0; i < WORKERS_MAX; i++) {
		total += count->by_worker[i];
		assert_true(i < (threads ? threads : 1) || count->by_worker[i] == 0);
	}
	assert_int_equal(total, items);
	assert_false(count->takes_signals);
	return count;
}

static void test_each_item_once(void **state)
{
	static const unsigned threads[] = {0, 1, 2, 7, WORKERS_MAX, WORKERS_MAX + 100};

	(void)state;
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
		free(run(threads[i], ITEMS));
		free(run(threads[i], 3));
		free(run(threads[i], 0));
	}
}

static void test_one_item_stays_here(void **state)
{
	struct count *count = run(8, 1);

	(void)state;
	assert_false(count->on_other_thread);
	free(count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_item_once),
		cmocka_unit_test(test_one_item_stays_here),
	};

	return cmocka_run_group_tests_name("workers", tests, NULL, NULL);
}
