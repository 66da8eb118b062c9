/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/selector.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"

struct rule {
	struct rcstr *group;
	struct match *match; /* NULL: everyone */
};

struct selector {
	atomic_uint references;
	struct arena *arena; /* conditions */
	struct rule *rules;
	size_t count;
	size_t capacity;
};

/* The builder is the selector that nobody else has seen yet. */
struct selector_builder {
	struct selector selector;
};

struct selector_builder *selector_begin(void)
{
	struct selector_builder *builder = xcalloc(1, sizeof(*builder));

	atomic_init(&builder->selector.references, 1);
	builder->selector.arena = arena_new(0);
	return builder;
}

/* Readers bound the depth of what they read; an assertion is enough here. */
static void copy_match(
	struct arena *arena, const struct match *from, struct match *to, unsigned depth)
{
	assert(depth <= LIMIT_DEPTH);
	*to = *from;
	to->text = arena_copy(arena, from->text.data, from->text.length);
	to->children = NULL;
	if (from->children_count == 0)
		return;
	to->children = arena_alloc(arena, from->children_count * sizeof(*to->children));
	assert(to->children);
	for (size_t i = 0; i < from->children_count; i++)
		copy_match(arena, &from->children[i], &to->children[i], depth + 1);
}

void selector_add(struct selector_builder *builder, const char *group, const struct match *match)
{
	struct selector *selector = &builder->selector;
	struct rule *rule;

	array_reserve(selector->rules, selector->capacity, selector->count + 1);
	rule = &selector->rules[selector->count++];
	rule->group = rcstr_new(group, strlen(group));
	rule->match = NULL;
	if (match) {
		rule->match = arena_alloc(selector->arena, sizeof(*rule->match));
		assert(rule->match);
		copy_match(selector->arena, match, rule->match, 0);
	}
}

struct selector *selector_finish(struct selector_builder *builder)
{
	return &builder->selector;
}

struct selector *selector_ref(struct selector *selector)
{
	if (selector)
		atomic_fetch_add_explicit(&selector->references, 1, memory_order_relaxed);
	return selector;
}

void selector_unref(struct selector *selector)
{
	if (!selector ||
		atomic_fetch_sub_explicit(&selector->references, 1, memory_order_acq_rel) != 1)
		return;
	for (size_t i = 0; i < selector->count; i++)
		rcstr_unref(selector->rules[i].group);
	free(selector->rules);
	arena_free(selector->arena);
	free(selector);
}

static bool same_match(const struct match *a, const struct match *b)
{
	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || a->ignore_case != b->ignore_case || a->number != b->number ||
		a->boolean != b->boolean || a->children_count != b->children_count ||
		!slice_equal(a->text, b->text))
		return false;
	for (size_t i = 0; i < a->children_count; i++)
		if (!same_match(&a->children[i], &b->children[i]))
			return false;
	return true;
}

bool selector_equal(const struct selector *a, const struct selector *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->rules[i].group->text, b->rules[i].group->text) != 0 ||
			!same_match(a->rules[i].match, b->rules[i].match))
			return false;
	return true;
}

size_t selector_count(const struct selector *selector)
{
	return selector->count;
}

struct rcstr *selector_group(const struct selector *selector, size_t index)
{
	assert(index < selector->count);
	return selector->rules[index].group;
}

const struct match *selector_match(const struct selector *selector, size_t index)
{
	assert(index < selector->count);
	return selector->rules[index].match;
}

int selector_find(const struct selector *selector, struct slice group)
{
	for (size_t i = 0; i < selector->count; i++) {
		const struct rcstr *name = selector->rules[i].group;

		if (slice_equal(group, (struct slice){name->text, name->length}))
			return (int)i;
	}
	return -1;
}

static char fold(char byte)
{
	return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

static bool same_bytes(const char *a, const char *b, size_t length, bool ignore_case)
{
	if (!ignore_case)
		return memcmp(a, b, length) == 0;
	for (size_t i = 0; i < length; i++)
		if (fold(a[i]) != fold(b[i]))
			return false;
	return true;
}

static bool text_matches(const struct match *match, struct slice value)
{
	struct slice want = match->text;
	size_t spare;

	if (value.length < want.length)
		return false;
	spare = value.length - want.length;
	switch (match->kind) {
	case MATCH_EXACT:
		return spare == 0 &&
		       same_bytes(value.data, want.data, want.length, match->ignore_case);
	case MATCH_PREFIX:
		return same_bytes(value.data, want.data, want.length, match->ignore_case);
	case MATCH_SUFFIX:
		return same_bytes(value.data + spare, want.data, want.length, match->ignore_case);
	case MATCH_CONTAINS:
		for (size_t at = 0; at <= spare; at++)
			if (same_bytes(value.data + at, want.data, want.length, match->ignore_case))
				return true;
		return false;
	case MATCH_ALL:
	case MATCH_ANY:
	case MATCH_FIELD:
	case MATCH_NUMBER:
	case MATCH_BOOL:
		break;
	}
	return false;
}

bool match_allows_text(const struct match *match, struct slice text)
{
	bool is_all = match->kind == MATCH_ALL;

	if (!is_all && match->kind != MATCH_ANY)
		return text_matches(match, text);
	/* Readers bound the depth. */
	for (size_t i = 0; i < match->children_count; i++) {
		if (match_allows_text(&match->children[i], text) != is_all)
			return !is_all;
	}
	return is_all;
}

/* The other spelling of a protobuf field name: sub_zone for subZone and the other way round.
 * False when there is none or it is too long to be a field of Node. */
static bool other_spelling(struct slice name, char out[static 64])
{
	size_t length = 0;
	bool differs = false;

	for (size_t i = 0; i < name.length; i++) {
		char byte = name.data[i];

		if (length + 3 > 64)
			return false;
		if (byte == '_' && i + 1 < name.length && name.data[i + 1] >= 'a' &&
			name.data[i + 1] <= 'z') {
			out[length++] = (char)(name.data[++i] - 'a' + 'A');
			differs = true;
		} else if (byte >= 'A' && byte <= 'Z') {
			out[length++] = '_';
			out[length++] = fold(byte);
			differs = true;
		} else {
			out[length++] = byte;
		}
	}
	out[length] = '\0';
	return differs;
}

/* Keys of metadata (a Struct) are the user's own; all others are protobuf field names. */
const json_t *match_field(const json_t *object, struct slice name, bool is_free_form)
{
	const json_t *value = json_object_getn(object, name.data, name.length);
	char other[64];

	if (!value && !is_free_form && other_spelling(name, other))
		value = json_object_get(object, other);
	return value;
}

static bool matches(
	const struct match *match, const json_t *value, bool is_free_form, unsigned depth);

static bool field_matches(
	const struct match *match, const json_t *object, bool is_free_form, unsigned depth)
{
	const json_t *value;

	if (!json_is_object(object) || match->children_count != 1)
		return false;
	value = match_field(object, match->text, is_free_form);
	return value && matches(&match->children[0], value,
				is_free_form || slice_is(match->text, "metadata"), depth + 1);
}

static bool leaf_matches(const struct match *match, const json_t *value)
{
	switch (match->kind) {
	case MATCH_NUMBER:
		return json_is_number(value) && json_number_value(value) == match->number;
	case MATCH_BOOL:
		return json_is_boolean(value) && json_is_true(value) == match->boolean;
	case MATCH_EXACT:
	case MATCH_PREFIX:
	case MATCH_SUFFIX:
	case MATCH_CONTAINS:
		return json_is_string(value) &&
		       text_matches(match,
			       (struct slice){json_string_value(value), json_string_length(value)});
	case MATCH_ALL:
	case MATCH_ANY:
	case MATCH_FIELD:
		break;
	}
	return false;
}

/* A list in the node satisfies a condition when one of its elements does. */
static bool element_matches(
	const struct match *match, const json_t *list, bool is_free_form, unsigned depth)
{
	const json_t *element;
	size_t index;

	json_array_foreach(list, index,
		element) if (matches(match, element, is_free_form, depth + 1)) return true;
	return false;
}

static bool matches(
	const struct match *match, const json_t *value, bool is_free_form, unsigned depth)
{
	if (depth > 2 * LIMIT_DEPTH)
		return false;
	if (json_is_array(value))
		return element_matches(match, value, is_free_form, depth);
	switch (match->kind) {
	case MATCH_ALL:
		for (size_t i = 0; i < match->children_count; i++)
			if (!matches(&match->children[i], value, is_free_form, depth + 1))
				return false;
		return true;
	case MATCH_ANY:
		for (size_t i = 0; i < match->children_count; i++)
			if (matches(&match->children[i], value, is_free_form, depth + 1))
				return true;
		return false;
	case MATCH_FIELD:
		return field_matches(match, value, is_free_form, depth);
	case MATCH_EXACT:
	case MATCH_PREFIX:
	case MATCH_SUFFIX:
	case MATCH_CONTAINS:
	case MATCH_NUMBER:
	case MATCH_BOOL:
		return leaf_matches(match, value);
	}
	return false;
}

bool match_holds(const struct match *match, const json_t *value, bool is_free_form)
{
	return matches(match, value, is_free_form, 0);
}

int selector_select(const struct selector *selector, const json_t *node)
{
	if (!node || !json_is_object(node))
		return selector->count == 1 && !selector->rules[0].match ? 0 : -1;
	for (size_t i = 0; i < selector->count; i++)
		if (!selector->rules[i].match || matches(selector->rules[i].match, node, false, 0))
			return (int)i;
	return -1;
}
