/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocation that aborts when memory is out, for small objects of fixed size, and scope-bound
 * clean-up. What grows with input goes through arena.h and buf.h, which have limits instead.
 * Threads: any.
 */
#ifndef XDSPUB_BASE_MEM_H
#define XDSPUB_BASE_MEM_H

#include <stddef.h>

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull, warn_unused_result));
void *xcalloc(size_t count, size_t size)
	__attribute__((malloc, returns_nonnull, warn_unused_result));
void *xrealloc(void *old, size_t size) __attribute__((returns_nonnull, warn_unused_result));
void *xreallocarray(void *old, size_t count, size_t size)
	__attribute__((returns_nonnull, warn_unused_result)); /* aborts on overflow, too */
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull, warn_unused_result));
char *xstrndup(const char *text, size_t length)
	__attribute__((malloc, returns_nonnull, warn_unused_result));
char *xasprintf(const char *format, ...)
	__attribute__((format(printf, 1, 2), malloc, returns_nonnull, warn_unused_result));

/* Grows an array to hold at least `need` elements; doubles. The array pointer may move. */
#define array_reserve(array, capacity, need)                                                       \
	do {                                                                                       \
		if ((need) > (capacity)) {                                                         \
			size_t grown_ = (capacity) ? (size_t)(capacity)*2 : 8;                     \
			if (grown_ < (need))                                                       \
				grown_ = (need);                                                   \
			(array) = xreallocarray((array), grown_, sizeof(*(array)));                \
			(capacity) = grown_;                                                       \
		}                                                                                  \
	} while (0)

/* AUTO_FREE char *s = ...; frees s at scope end. TAKE(s) hands it out and leaves NULL behind. */
void mem_auto_free(void *pointer_to_pointer);
#define AUTO_FREE __attribute__((cleanup(mem_auto_free)))
#define TAKE(pointer)                                                                              \
	({                                                                                         \
		__typeof__(pointer) taken_ = (pointer);                                            \
		(pointer) = NULL;                                                                  \
		taken_;                                                                            \
	})

void mem_auto_close(int *fd);
#define AUTO_CLOSE __attribute__((cleanup(mem_auto_close)))

#endif
