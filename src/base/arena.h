/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bump allocation that is freed as a whole: parse trees, messages and diagnostics live in one.
 * Memory is zeroed on request only, aligned to 8. Threads: one at a time.
 * Limit: `limit_bytes` (0: none); beyond it allocations return NULL and arena_failed() is true.
 * An unused arena costs its struct; blocks grow from 2 KiB to 64 KiB as it fills.
 */
#ifndef XDSPUB_BASE_ARENA_H
#define XDSPUB_BASE_ARENA_H

#include "base/slice.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define ARENA_GAP 16 /* poisoned bytes behind each allocation */
#else
#define ARENA_GAP			  0
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_POISON_MEMORY_REGION(p, n)	  ((void)(p), (void)(n))
#endif

struct arena_block;

/* Private to arena.c and the inline functions below. */
struct arena {
	char *next; /* free bytes of the current block; never beyond the limit */
	char *end;
	char *start;
	size_t used; /* outside [start, next) */
	size_t limit_bytes;
	size_t block_bytes; /* of the next block */
	struct arena_block *blocks;
	bool failed;
};

struct arena *arena_new(size_t limit_bytes);
void arena_free(struct arena *arena); /* NULL is fine */
/* Forgets everything; keeps one block so that the next small use allocates nothing. */
void arena_reset(struct arena *arena);

void *arena_alloc_slow(struct arena *arena, size_t size);
/* Grows the newest allocation in place where it can, else copies. old may be NULL. */
void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t new_size);
char *arena_strdup(struct arena *arena, const char *text);
struct slice arena_copy(struct arena *arena, const void *data, size_t length); /* plus a NUL */
char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline size_t arena_round(size_t size)
{
	return ((size + 7) & ~(size_t)7) + ARENA_GAP;
}

/* Not zeroed; NULL at the limit; a size of 0 is fine. */
static inline void *arena_alloc(struct arena *arena, size_t size)
{
	size_t room = (size_t)(arena->end - arena->next);
	char *memory = arena->next;

	if (__builtin_expect(size - 1 >= room || arena_round(size) > room, 0))
		return arena_alloc_slow(arena, size);
	arena->next += arena_round(size);
	ASAN_UNPOISON_MEMORY_REGION(memory, size);
	return memory;
}

static inline void *arena_zalloc(struct arena *arena, size_t size)
{
	void *memory = arena_alloc(arena, size);

	return memory ? memset(memory, 0, size) : NULL;
}

static inline bool arena_failed(const struct arena *arena)
{
	return arena->failed;
}

/* Bytes handed out, with their padding. */
static inline size_t arena_used(const struct arena *arena)
{
	return arena->used + (size_t)(arena->next - arena->start);
}

#endif
