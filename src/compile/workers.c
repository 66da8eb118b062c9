/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

struct work {
	atomic_size_t next;
	size_t items;
	workers_cb callback;
	void *ctx;
};

struct worker {
	struct work *work;
	unsigned index;
	bool is_started;
	pthread_t thread;
};

static void *work_on(void *argument)
{
	struct worker *worker = argument;
	struct work *work = worker->work;

	for (;;) {
		size_t item = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);

		if (item >= work->items)
			return NULL;
		work->callback(work->ctx, worker->index, item);
	}
}

void workers_run(unsigned threads, size_t items, workers_cb callback, void *ctx)
{
	struct work work = {.items = items, .callback = callback, .ctx = ctx};
	struct worker workers[WORKERS_MAX];
	sigset_t all, former;

	if (threads > WORKERS_MAX)
		threads = WORKERS_MAX;
	if (threads > items)
		threads = (unsigned)items;
	if (threads < 1)
		threads = 1;
	for (unsigned i = 0; i < threads; i++)
		workers[i] = (struct worker){.work = &work, .index = i};

	/* Signals are for the threads that wait for them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &former);
	for (unsigned i = 1; i < threads; i++)
		workers[i].is_started =
			pthread_create(&workers[i].thread, NULL, work_on, &workers[i]) == 0;
	pthread_sigmask(SIG_SETMASK, &former, NULL);
	work_on(&workers[0]);
	for (unsigned i = 1; i < threads; i++) {
		if (workers[i].is_started)
			pthread_join(workers[i].thread, NULL);
	}
}
