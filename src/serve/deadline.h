/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many deadlines, the nearest first: a binary heap of entries that live in their owners.
 * Threads: one at a time.
 */
#ifndef XDSPUB_SERVE_DEADLINE_H
#define XDSPUB_SERVE_DEADLINE_H

#include <stddef.h>
#include <stdint.h>

struct deadline {
	int64_t at_ms;
	uint32_t place; /* in the heap, from 1; 0: not armed */
};

struct deadline_heap {
	struct deadline **entries;
	size_t count, capacity;
};

void deadline_heap_fini(struct deadline_heap *heap);
/* Arms or moves. */
void deadline_set(struct deadline_heap *heap, struct deadline *deadline, int64_t at_ms);
void deadline_clear(struct deadline_heap *heap, struct deadline *deadline); /* unarmed is fine */
/* Takes out and returns the nearest that is due, NULL when none is. */
struct deadline *deadline_pop(struct deadline_heap *heap, int64_t now_ms);
int64_t deadline_next_ms(const struct deadline_heap *heap); /* -1: none is armed */

#endif
