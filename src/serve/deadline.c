/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/deadline.h"

#include <stdlib.h>

#include "base/mem.h"

static void put(struct deadline_heap *heap, size_t index, struct deadline *deadline)
{
	heap->entries[index] = deadline;
	deadline->place = (uint32_t)index + 1;
}

static void sift_up(struct deadline_heap *heap, size_t index, struct deadline *deadline)
{
	while (index > 0) {
		size_t parent = (index - 1) / 2;

		if (heap->entries[parent]->at_ms <= deadline->at_ms)
			break;
		put(heap, index, heap->entries[parent]);
		index = parent;
	}
	put(heap, index, deadline);
}

static void sift_down(struct deadline_heap *heap, size_t index, struct deadline *deadline)
{
	for (;;) {
		size_t child = 2 * index + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
			heap->entries[child + 1]->at_ms < heap->entries[child]->at_ms)
			child++;
		if (heap->entries[child]->at_ms >= deadline->at_ms)
			break;
		put(heap, index, heap->entries[child]);
		index = child;
	}
	put(heap, index, deadline);
}

void deadline_heap_fini(struct deadline_heap *heap)
{
	free(heap->entries);
	*heap = (struct deadline_heap){0};
}

void deadline_set(struct deadline_heap *heap, struct deadline *deadline, int64_t at_ms)
{
	deadline_clear(heap, deadline);
	array_reserve(heap->entries, heap->capacity, heap->count + 1);
	deadline->at_ms = at_ms;
	sift_up(heap, heap->count++, deadline);
}

void deadline_clear(struct deadline_heap *heap, struct deadline *deadline)
{
	struct deadline *last;
	size_t index;

	if (!deadline->place)
		return;
	index = deadline->place - 1;
	deadline->place = 0;
	last = heap->entries[--heap->count];
	if (last == deadline)
		return;
	if (index > 0 && last->at_ms < heap->entries[(index - 1) / 2]->at_ms)
		sift_up(heap, index, last);
	else
		sift_down(heap, index, last);
}

struct deadline *deadline_pop(struct deadline_heap *heap, int64_t now_ms)
{
	struct deadline *first;

	if (heap->count == 0 || heap->entries[0]->at_ms > now_ms)
		return NULL;
	first = heap->entries[0];
	deadline_clear(heap, first);
	return first;
}

int64_t deadline_next_ms(const struct deadline_heap *heap)
{
	return heap->count ? heap->entries[0]->at_ms : -1;
}
