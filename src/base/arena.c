/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define BLOCK_BYTES_FIRST 2048
#define BLOCK_BYTES_MOST  65536
#define KEEP_BYTES_MOST	  (1u << 20) /* what a reset may hold on to */

struct arena_block {
	struct arena_block *next;
	size_t bytes; /* of data */
	_Alignas(8) char data[];
};

struct arena *arena_new(size_t limit_bytes)
{
	struct arena *arena = xcalloc(1, sizeof(*arena));

	arena->limit_bytes = limit_bytes ? limit_bytes : SIZE_MAX;
	arena->block_bytes = BLOCK_BYTES_FIRST;
	return arena;
}

static void free_blocks(struct arena_block *block)
{
	while (block) {
		struct arena_block *next = block->next;

		ASAN_UNPOISON_MEMORY_REGION(block->data, block->bytes);
		free(block);
		block = next;
	}
}

void arena_free(struct arena *arena)
{
	if (!arena)
		return;
	free_blocks(arena->blocks);
	free(arena);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Makes the block the one that is filled; its free end stops at the limit. */
static void use_block(struct arena *arena, struct arena_block *block)
{
	size_t room;

	arena->used = arena_used(arena);
	room = smaller(block->bytes, arena->limit_bytes - arena->used) & ~(size_t)7;
	arena->start = block->data;
	arena->next = block->data;
	arena->end = block->data + room;
	ASAN_POISON_MEMORY_REGION(block->data, block->bytes);
}

void arena_reset(struct arena *arena)
{
	struct arena_block *keep = NULL;

	for (struct arena_block **link = &arena->blocks, **best = NULL;; link = &(*link)->next) {
		if (*link) {
			if ((*link)->bytes <= KEEP_BYTES_MOST &&
				(!best || (*link)->bytes > (*best)->bytes))
				best = link;
			continue;
		}
		if (best) {
			keep = *best;
			*best = keep->next;
			keep->next = NULL;
		}
		break;
	}
	free_blocks(arena->blocks);
	arena->blocks = keep;
	arena->start = NULL;
	arena->next = NULL;
	arena->end = NULL;
	arena->used = 0;
	arena->failed = false;
	if (keep)
		use_block(arena, keep);
}

static struct arena_block *add_block(struct arena *arena, size_t bytes)
{
	struct arena_block *block = malloc(sizeof(*block) + bytes);

	if (!block)
		return NULL;
	block->bytes = bytes;
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

void *arena_alloc_slow(struct arena *arena, size_t size)
{
	size_t need;
	size_t room;
	struct arena_block *block;
	bool large;

	if (size > SIZE_MAX / 2)
		goto fail;
	need = arena_round(size ? size : 1);
	if (need > arena->limit_bytes - arena_used(arena))
		goto fail;
	if (need <= (size_t)(arena->end - arena->next)) {
		char *memory = arena->next;

		arena->next += need;
		ASAN_UNPOISON_MEMORY_REGION(memory, size);
		return memory;
	}
	/* What would waste most of a block gets its own, and the current one stays in use. */
	large = need > arena->block_bytes / 4;
	block = add_block(arena, large ? need : arena->block_bytes);
	if (!block)
		goto fail;
	if (large) {
		arena->used += need;
		room = (arena->limit_bytes - arena_used(arena)) & ~(size_t)7;
		if ((size_t)(arena->end - arena->next) > room)
			arena->end = arena->next + room;
		ASAN_POISON_MEMORY_REGION(block->data + size, need - size);
		return block->data;
	}
	if (arena->block_bytes < BLOCK_BYTES_MOST)
		arena->block_bytes *= 2;
	use_block(arena, block);
	/* The limit may end inside this block, but `need` was checked against it above. */
	arena->next += need;
	ASAN_UNPOISON_MEMORY_REGION(block->data, size);
	return block->data;
fail:
	arena->failed = true;
	return NULL;
}

void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t new_size)
{
	void *memory;

	assert(new_size >= old_size);
	if (old && old_size && (char *)old + arena_round(old_size) == arena->next &&
		new_size < SIZE_MAX / 2 &&
		arena_round(new_size) <= (size_t)(arena->end - (char *)old)) {
		arena->next = (char *)old + arena_round(new_size);
		ASAN_UNPOISON_MEMORY_REGION(old, new_size);
		return old;
	}
	memory = arena_alloc(arena, new_size);
	if (memory && old && old_size)
		memcpy(memory, old, old_size);
	return memory;
}

struct slice arena_copy(struct arena *arena, const void *data, size_t length)
{
	char *copy = length < SIZE_MAX ? arena_alloc(arena, length + 1) : NULL;

	if (!copy)
		return (struct slice){NULL, 0};
	if (length)
		memcpy(copy, data, length);
	copy[length] = '\0';
	return (struct slice){copy, length};
}

char *arena_strdup(struct arena *arena, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = arena_alloc(arena, size);

	return copy ? memcpy(copy, text, size) : NULL;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	char small[256];
	va_list arguments;
	int length;
	char *text;

	va_start(arguments, format);
	length = vsnprintf(small, sizeof(small), format, arguments);
	va_end(arguments);
	if (length < 0) {
		arena->failed = true;
		return NULL;
	}
	text = arena_alloc(arena, (size_t)length + 1);
	if (!text)
		return NULL;
	if ((size_t)length < sizeof(small))
		return memcpy(text, small, (size_t)length + 1);
	va_start(arguments, format);
	vsnprintf(text, (size_t)length + 1, format, arguments);
	va_end(arguments);
	return text;
}
