/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole-set files that were composed just now: groups that share a set have the very same file.
 * Threads: build. Limit: TEXT_CACHE_BYTES; beyond it everything is forgotten and begun again.
 */
#ifndef XDSPUB_PUBLISH_TEXT_CACHE_H
#define XDSPUB_PUBLISH_TEXT_CACHE_H

#include "base/hash.h"
#include "publish/atomic_file.h"
#include "publish/set_text.h"

#define TEXT_CACHE_BYTES (16u << 20)

struct text_cache_entry {
	struct set_text *text; /* its set is the key, with what follows */
	struct rcstr *source;  /* of the snapshot, may be NULL */
	enum file_format format;
	struct slice bytes;	   /* malloc'ed */
	struct atomic_file staged; /* somebody's file with them, which may be gone; inode 0: none */
	struct buf key;
};

struct text_cache {
	struct hash entries;
	uint64_t bytes;
};

void text_cache_init(struct text_cache *cache);
void text_cache_fini(struct text_cache *cache);
/* Borrowed till the next put, NULL: not known. */
struct text_cache_entry *text_cache_find(const struct text_cache *cache,
	const struct resource_set *set, enum file_format format, const struct rcstr *source);
/* Copies the bytes, takes references; one that is not there yet. */
void text_cache_put(struct text_cache *cache, struct set_text *text, enum file_format format,
	struct rcstr *source, struct slice bytes);

#endif
