/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hash tables from byte strings to pointers: open addressing, keys borrowed (they must outlive
 * the entry), insertion order not kept. Threads: one at a time; many may read one that nobody
 * changes. Memory: aborts when it is out, so callers bound the count.
 */
#ifndef XDSPUB_BASE_HASH_H
#define XDSPUB_BASE_HASH_H

#include "base/slice.h"

/* FNV-1a, 64 bit: fixed for ever, because set versions depend on it (see docs of versions). */
uint64_t hash_fnv1a(const void *data, size_t length);
/* Fast hash for tables only: another one in each process, so nothing may be ordered by it. */
uint64_t hash_bytes(const void *data, size_t length);

struct hash_entry {
	struct slice key;
	uint64_t hash;
	void *value; /* NULL: free slot */
};

struct hash {
	struct hash_entry *entries;
	size_t capacity; /* power of two or 0 */
	size_t count;
};

void hash_init(struct hash *hash);
void hash_fini(struct hash *hash); /* values are the caller's */
void hash_reserve(struct hash *hash, size_t count);
void *hash_get(const struct hash *hash, struct slice key); /* NULL: absent */
/* Inserts or replaces (the key, too); returns the value that was there or NULL. value must not be
 * NULL. */
void *hash_put(struct hash *hash, struct slice key, void *value);
void *hash_remove(struct hash *hash, struct slice key); /* returns the value or NULL */
/* Next used entry at or after *cursor (start with 0), NULL at the end. No changes meanwhile. */
struct hash_entry *hash_next(const struct hash *hash, size_t *cursor);

#endif
