/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "publish/text_cache.h"

#include <stdlib.h>

#include "base/mem.h"

void text_cache_init(struct text_cache *cache)
{
	hash_init(&cache->entries);
	cache->bytes = 0;
}

void text_cache_fini(struct text_cache *cache)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&cache->entries, &cursor))) {
		struct text_cache_entry *entry = slot->value;

		set_text_unref(entry->text);
		rcstr_unref(entry->source);
		free((void *)entry->bytes.data);
		buf_fini(&entry->key);
		free(entry);
	}
	hash_fini(&cache->entries);
}

static void put_key(struct buf *out, const struct resource_set *set, enum file_format format,
	const struct rcstr *source)
{
	buf_append(out, &set, sizeof(set));
	buf_append(out, &format, sizeof(format));
	if (source)
		buf_append(out, source->text, source->length);
}

struct text_cache_entry *text_cache_find(const struct text_cache *cache,
	const struct resource_set *set, enum file_format format, const struct rcstr *source)
{
	struct buf key = BUF_INIT;
	struct text_cache_entry *entry;

	put_key(&key, set, format, source);
	entry = hash_get(&cache->entries, buf_slice(&key));
	buf_fini(&key);
	return entry;
}

void text_cache_put(struct text_cache *cache, struct set_text *text, enum file_format format,
	struct rcstr *source, struct slice bytes)
{
	struct text_cache_entry *entry;
	char *copy;

	if (bytes.length > TEXT_CACHE_BYTES)
		return;
	if (cache->bytes + bytes.length > TEXT_CACHE_BYTES) {
		text_cache_fini(cache);
		text_cache_init(cache);
	}
	entry = xcalloc(1, sizeof(*entry));
	entry->text = set_text_ref(text);
	entry->source = source ? rcstr_ref(source) : NULL;
	entry->format = format;
	copy = xmalloc(bytes.length + 1);
	memcpy(copy, bytes.data, bytes.length);
	entry->bytes = (struct slice){copy, bytes.length};
	put_key(&entry->key, text->set, format, source);
	hash_put(&cache->entries, buf_slice(&entry->key), entry);
	cache->bytes += bytes.length;
}
