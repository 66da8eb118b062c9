/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/node_build.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

#define LINEAR_KEYS ((size_t)8) /* up to here comparing all is cheaper than hashing */

const char node_build_merge_key[] = "<<";

void node_build_init(struct node_build *build, struct arena *arena, struct diag_list *diags,
	const char *path, uint64_t limit, uint32_t line_base)
{
	build->arena = arena;
	build->diags = diags;
	build->path = path;
	build->line_base = line_base;
	build->limit = limit ? limit : LIMITS_DEFAULT.yaml_nodes;
	build->count = 0;
	build->root = NULL;
	build->height = 0;
	build->depth = 0;
	build->is_bad = false;
	build->error = 0;
	build->pairs = build->first_pairs;
	build->pairs_count = 0;
	build->pairs_capacity = NODE_BUILD_SCRATCH;
	build->slots = (struct node_build_slots){0};
	build->frames[0] = (struct node_build_frame){0};
}

void node_build_fini(struct node_build *build)
{
	if (build->pairs != build->first_pairs)
		free(build->pairs);
	free(build->slots.items);
}

/* Of a place that may be counted within the text. */
static struct position place(const struct node_build *build, struct position at)
{
	if (at.line < build->line_base)
		at.line += build->line_base;
	return at;
}

void node_build_fail(
	struct node_build *build, struct position at, const char *rule, const char *format, ...)
{
	va_list arguments;

	build->error = -EBADMSG;
	va_start(arguments, format);
	diag_vadd(build->diags, DIAG_ERROR, build->path, place(build, at), rule, format, arguments);
	va_end(arguments);
}

void node_build_complain(
	struct node_build *build, struct position at, const char *rule, const char *format, ...)
{
	va_list arguments;

	build->is_bad = true;
	va_start(arguments, format);
	diag_vadd(build->diags, DIAG_ERROR, build->path, place(build, at), rule, format, arguments);
	va_end(arguments);
}

void node_build_count(struct node_build *build, uint64_t nodes, struct position at)
{
	if (nodes <= build->limit - build->count) {
		build->count += nodes;
		return;
	}
	build->count = build->limit;
	if (build->error)
		return;
	if (build->line_base)
		node_build_fail(build, at, "too-many-nodes",
			"the file that includes this has too many values with all it includes");
	else
		node_build_fail(build, at, "too-many-nodes",
			"more than %llu values once aliases are expanded",
			(unsigned long long)build->limit);
}

void node_build_key(struct node_build *build, struct slice key, struct position at, bool is_dropped)
{
	struct node_build_frame *top = node_build_top(build);

	top->key = key;
	top->key_at = at;
	top->has_key = true;
	top->drops_key = is_dropped;
	if (key.data == node_build_merge_key)
		top->has_merge = true;
}

static bool push(struct node_build *build, const struct node_pair *pair)
{
	if (build->pairs_count == build->pairs_capacity) {
		size_t capacity = build->pairs_capacity * 2;
		bool is_first = build->pairs == build->first_pairs;
		struct node_pair *pairs =
			realloc(is_first ? NULL : build->pairs, capacity * sizeof(*pairs));

		if (!pairs) {
			build->error = -ENOMEM;
			return false;
		}
		if (is_first)
			memcpy(pairs, build->first_pairs, sizeof(build->first_pairs));
		build->pairs = pairs;
		build->pairs_capacity = capacity;
	}
	build->pairs[build->pairs_count++] = *pair;
	return true;
}

void node_build_add(struct node_build *build, struct node *node, unsigned height)
{
	struct node_build_frame *top = node_build_top(build);

	if (height >= top->height)
		top->height = height + 1;
	if (build->depth == 0) {
		build->root = node;
		if (height > build->height)
			build->height = height;
		return;
	}
	if (top->node->kind == NODE_LIST) {
		push(build, &(struct node_pair){.value = node});
		return;
	}
	assert(top->has_key);
	top->has_key = false;
	if (top->drops_key)
		return;
	push(build, &(struct node_pair){.key = top->key, .key_at = top->key_at, .value = node});
}

void node_build_open(struct node_build *build, struct node *node)
{
	struct node_build_frame *frame;
	bool is_key = node_build_wants_key(build);

	if (build->depth == LIMIT_DEPTH) {
		node_build_fail(build, node->at, "too-deep",
			"lists and mappings are nested more than %d levels deep", LIMIT_DEPTH);
		return;
	}
	if (is_key)
		node_build_complain(build, node->at, "bad-key", "a key must be text, not a %s%s",
			node->kind == NODE_LIST ? "list" : "mapping",
			node->kind == NODE_MAP ? " (a template such as {{ name }}? quote it)" : "");
	frame = &build->frames[++build->depth];
	frame->node = node;
	frame->start = build->pairs_count;
	frame->is_key = is_key;
	frame->has_key = false;
	frame->drops_key = false;
	frame->has_merge = false;
	frame->height = 1;
	frame->anchor = 0;
	frame->count = build->count;
}

/* The index of an equal key before `index`, or -1. Beyond LINEAR_KEYS the keys go to a hash table,
 * which holds all pairs before `index` when called for ascending indexes. */
static ssize_t find_before(struct node_build *build, const struct node_pair *pairs, size_t index)
{
	struct slice key = pairs[index].key;
	struct node_build_slots *slots = &build->slots;

	if (index < LINEAR_KEYS) {
		for (size_t i = 0; i < index; i++) {
			if (pairs[i].key.length == key.length &&
				memcmp(pairs[i].key.data, key.data, key.length) == 0)
				return (ssize_t)i;
		}
		return -1;
	}
	if (index == LINEAR_KEYS || index * 2 > slots->capacity) {
		size_t capacity = slots->capacity ? slots->capacity : 64;

		while (capacity < index * 4)
			capacity *= 2;
		if (index == LINEAR_KEYS)
			while (capacity > 64 && capacity > index * 16)
				capacity /= 2;
		slots->items = xrealloc(slots->items, capacity * sizeof(*slots->items));
		memset(slots->items, 0, capacity * sizeof(*slots->items));
		slots->capacity = capacity;
		for (size_t i = 0; i < index; i++) {
			size_t at = hash_bytes(pairs[i].key.data, pairs[i].key.length);

			while (slots->items[at &= capacity - 1])
				at++;
			slots->items[at] = (uint32_t)i + 1;
		}
	}
	size_t at = hash_bytes(key.data, key.length);

	for (; slots->items[at &= slots->capacity - 1]; at++) {
		size_t other = slots->items[at] - 1;

		if (slice_equal(pairs[other].key, key))
			return (ssize_t)other;
	}
	slots->items[at] = (uint32_t)index + 1;
	return -1;
}

/* Reports duplicates and moves them out of the way; returns how many pairs are left. */
static size_t drop_duplicates(struct node_build *build, struct node_pair *pairs, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		ssize_t first;

		if (kept != i)
			pairs[kept] = pairs[i];
		first = find_before(build, pairs, kept);
		if (first < 0) {
			kept++;
			continue;
		}
		struct buf key = BUF_INIT;

		text_quote(&key, pairs[kept].key, 80);
		if (pairs[kept].key.data == node_build_merge_key)
			node_build_complain(build, pairs[kept].key_at, "duplicate-key",
				"a second \"<<\" (the first is at %u:%u): merge a list, <<: [*a, "
				"*b]",
				pairs[first].key_at.line - build->line_base,
				pairs[first].key_at.column);
		else
			node_build_complain(build, pairs[kept].key_at, "duplicate-key",
				"key \"%s\" is already at %u:%u", buf_cstr(&key),
				pairs[first].key_at.line - build->line_base,
				pairs[first].key_at.column);
		buf_fini(&key);
	}
	return kept;
}

/* Appends the pairs of `map` behind the scratch pairs from `start` on, unless the key is there. */
static void merge_map(struct node_build *build, size_t start, const struct node *map)
{
	for (size_t i = 0; i < map->pairs_count && !build->error; i++) {
		struct node_pair pair = map->pairs[i];

		pair.from_merge = true;
		if (!push(build, &pair))
			return;
		if (find_before(build, build->pairs + start, build->pairs_count - start - 1) >= 0)
			build->pairs_count--;
	}
}

/* Takes `<<` out of the scratch pairs from `start` on and puts what it names behind the rest. */
static void resolve_merge(struct node_build *build, size_t start)
{
	const struct node *source = NULL;
	size_t kept = start;
	struct position at = {0};

	for (size_t i = start; i < build->pairs_count; i++) {
		if (build->pairs[i].key.data == node_build_merge_key) {
			source = build->pairs[i].value;
			at = build->pairs[i].key_at;
		} else {
			build->pairs[kept++] = build->pairs[i];
		}
	}
	build->pairs_count = kept;
	assert(source);
	/* The table may hold `<<` and old places: fill it anew for what follows. */
	build->slots.capacity = 0;
	for (size_t i = start; i < kept; i++)
		find_before(build, build->pairs + start, i - start);
	if (source->kind == NODE_MAP) {
		merge_map(build, start, source);
		return;
	}
	for (size_t i = 0; source->kind == NODE_LIST && i < source->items_count; i++) {
		if (source->items[i]->kind != NODE_MAP) {
			source = source->items[i];
			break;
		}
		merge_map(build, start, source->items[i]);
	}
	if (source->kind == NODE_SCALAR)
		node_build_complain(build, at, "bad-merge",
			"\"<<\" merges a mapping or a list of mappings, such as <<: *name");
}

void node_build_close(struct node_build *build)
{
	struct node_build_frame *top = node_build_top(build);
	struct node *node = top->node;
	size_t start = top->start, count = build->pairs_count - start;

	assert(build->depth);
	if (node->kind == NODE_MAP) {
		count = drop_duplicates(build, build->pairs + start, count);
		build->pairs_count = start + count;
		if (top->has_merge && count)
			resolve_merge(build, start);
		count = build->pairs_count - start;
		node->pairs_count = count;
		node->pairs = arena_alloc(build->arena, count * sizeof(*node->pairs));
		if (node->pairs)
			memcpy(node->pairs, build->pairs + start, count * sizeof(*node->pairs));
	} else {
		node->items_count = count;
		node->items = arena_alloc(build->arena, count * sizeof(*node->items));
		for (size_t i = 0; node->items && i < count; i++)
			node->items[i] = build->pairs[start + i].value;
	}
	build->pairs_count = start;
	if (arena_failed(build->arena))
		build->error = -ENOMEM;
	build->depth--;
	if (top->is_key)
		node_build_key(build, SLICE(""), node->at, true);
	else
		node_build_add(build, node, top->height);
}
