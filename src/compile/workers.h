/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A parallel loop: several threads take items one after the other until none is left.
 * Threads are made for the call and gone after it. No errors: with fewer threads than wished for,
 * the others do more.
 */
#ifndef XDSPUB_COMPILE_WORKERS_H
#define XDSPUB_COMPILE_WORKERS_H

#include <stddef.h>

#define WORKERS_MAX 64

/* `worker` is below the number of threads and tells whose scratch memory to use. */
typedef void (*workers_cb)(void *ctx, unsigned worker, size_t item);

/* Calls back once for each item, in any order; returns when all are done. One item or one thread:
 * on the caller's thread. */
void workers_run(unsigned threads, size_t items, workers_cb callback, void *ctx);

#endif
