/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

#define CAPACITY_FIRST 4 /* many tables stay small: those of a layer */

uint64_t hash_fnv1a(const void *data, size_t length)
{
	const uint8_t *bytes = data;
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return hash;
}

static inline uint64_t load_64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint64_t load_32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Both halves of the full product, folded: every input bit reaches every output bit. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_bytes(const void *data, size_t length)
{
	/* Where the loader put us differs from process to process: a seed without a variable. Names
	 * come from clients, who must not be able to choose colliding ones. */
	static const char anchor;
	uint64_t seed_a = (uint64_t)(uintptr_t)&anchor * 0x9e3779b97f4a7c15u;
	uint64_t seed_b = ~seed_a * 0xd1342543de82ef95u;
	const uint8_t *bytes = data;
	uint64_t state = seed_a ^ length;
	uint64_t a;
	uint64_t b;

	if (length > 16) {
		const uint8_t *last = bytes + length - 16;

		do {
			state = mix(load_64(bytes) ^ seed_b, load_64(bytes + 8) ^ state);
			bytes += 16;
		} while (bytes < last);
		a = load_64(last);
		b = load_64(last + 8);
	} else if (length >= 8) {
		a = load_64(bytes);
		b = load_64(bytes + length - 8);
	} else if (length >= 4) {
		a = load_32(bytes);
		b = load_32(bytes + length - 4);
	} else if (length) {
		a = (uint64_t)bytes[0] << 16 | (uint64_t)bytes[length / 2] << 8 | bytes[length - 1];
		b = 0;
	} else {
		a = 0;
		b = 0;
	}
	return mix(mix(a ^ seed_b, b ^ state) ^ seed_a, seed_b ^ 0xa0761d6478bd642fu);
}

void hash_init(struct hash *hash)
{
	*hash = (struct hash){0};
}

void hash_fini(struct hash *hash)
{
	free(hash->entries);
	*hash = (struct hash){0};
}

/* The slot that holds the key or the free one where it belongs; capacity is not 0. */
static inline struct hash_entry *find(const struct hash *hash, struct slice key, uint64_t code)
{
	size_t mask = hash->capacity - 1;

	for (size_t i = code & mask;; i = (i + 1) & mask) {
		struct hash_entry *entry = &hash->entries[i];

		if (!entry->value || (entry->hash == code && slice_equal(entry->key, key)))
			return entry;
	}
}

static void resize(struct hash *hash, size_t capacity)
{
	struct hash_entry *old = hash->entries;
	size_t old_capacity = hash->capacity;

	hash->entries = xcalloc(capacity, sizeof(*hash->entries));
	hash->capacity = capacity;
	for (size_t i = 0; i < old_capacity; i++) {
		size_t slot = old[i].hash & (capacity - 1);

		if (!old[i].value)
			continue;
		while (hash->entries[slot].value)
			slot = (slot + 1) & (capacity - 1);
		hash->entries[slot] = old[i];
	}
	free(old);
}

/* At most three quarters are used: a free slot ends every search. */
void hash_reserve(struct hash *hash, size_t count)
{
	size_t capacity = hash->capacity ? hash->capacity : CAPACITY_FIRST;

	assert(count <= SIZE_MAX / 128);
	while (capacity / 4 * 3 < count)
		capacity *= 2;
	if (count && capacity != hash->capacity)
		resize(hash, capacity);
}

void *hash_get(const struct hash *hash, struct slice key)
{
	if (!hash->count)
		return NULL;
	return find(hash, key, hash_bytes(key.data, key.length))->value;
}

void *hash_put(struct hash *hash, struct slice key, void *value)
{
	uint64_t code = hash_bytes(key.data, key.length);
	struct hash_entry *entry;
	void *before;

	assert(value);
	hash_reserve(hash, hash->count + 1);
	entry = find(hash, key, code);
	before = entry->value;
	hash->count += !before;
	*entry = (struct hash_entry){.key = key, .hash = code, .value = value};
	return before;
}

void *hash_remove(struct hash *hash, struct slice key)
{
	size_t mask = hash->capacity - 1;
	struct hash_entry *entry;
	void *value;
	size_t hole;

	if (!hash->count)
		return NULL;
	entry = find(hash, key, hash_bytes(key.data, key.length));
	value = entry->value;
	if (!value)
		return NULL;
	/* Entries that were pushed on by the hole move back: no tombstones. */
	hole = (size_t)(entry - hash->entries);
	for (size_t i = (hole + 1) & mask; hash->entries[i].value; i = (i + 1) & mask) {
		size_t home = hash->entries[i].hash & mask;

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			hash->entries[hole] = hash->entries[i];
			hole = i;
		}
	}
	hash->entries[hole] = (struct hash_entry){.value = NULL};
	hash->count--;
	return value;
}

struct hash_entry *hash_next(const struct hash *hash, size_t *cursor)
{
	while (*cursor < hash->capacity) {
		struct hash_entry *entry = &hash->entries[(*cursor)++];

		if (entry->value)
			return entry;
	}
	return NULL;
}
