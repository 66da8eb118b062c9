/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes for random groups: what is found belongs to its group, and what is there is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "author/sample_node.h"
#include "base/arena.h"

#define ROUNDS 400
#define GROUPS 5

static uint32_t seed = 1; /* the same groups every time */

static unsigned pick(unsigned count)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % count;
}

static struct match *make_text(struct arena *arena)
{
	static const char *const texts[] = {"a", "ab", "edge-", "1"};
	struct match *match = arena_zalloc(arena, sizeof(*match));

	match->kind = (enum match_kind)(MATCH_EXACT + pick(4));
	match->ignore_case = pick(3) == 0;
	match->text = slice_of(texts[pick(4)]);
	return match;
}

static struct match *make_many(struct arena *arena, enum match_kind kind, unsigned count)
{
	struct match *match = arena_zalloc(arena, sizeof(*match));

	match->kind = kind;
	match->children = arena_zalloc(arena, count * sizeof(*match->children));
	match->children_count = count;
	return match;
}

/* {cluster: ..., id: [...], metadata: {env: ...}}, in the shapes that match_read makes. */
static struct match *make_match(struct arena *arena)
{
	static const char *const names[] = {"cluster", "id", "metadata"};
	unsigned first = pick(3), count = 1 + pick(3 - first);
	struct match *all = make_many(arena, MATCH_ALL, count);

	for (unsigned i = 0; i < count; i++) {
		struct match *field = make_many(arena, MATCH_FIELD, 1), *value = NULL;

		field->text = slice_of(names[first + i]);
		if (first + i == 2) {
			struct match *inner = make_many(arena, MATCH_FIELD, 1);

			value = make_many(arena, MATCH_ALL, 1);
			inner->text = slice_of(pick(2) ? "env" : "tier");
			inner->children[0] = *make_text(arena);
			if (pick(3) == 0)
				inner->children[0] =
					(struct match){.kind = MATCH_NUMBER, .number = 7};
			value->children[0] = *inner;
		} else if (pick(2)) {
			value = make_many(arena, MATCH_ANY, 2);
			value->children[0] = *make_text(arena);
			value->children[1] = *make_text(arena);
		} else {
			value = make_text(arena);
		}
		field->children[0] = *value;
		all->children[i] = *field;
	}
	return all;
}

static json_t *random_text(void)
{
	static const char *const parts[] = {"", "a", "ab", "edge-", "1", "AB", "x"};
	char text[32];

	snprintf(text, sizeof(text), "%s%s%s", parts[pick(7)], parts[pick(7)], parts[pick(7)]);
	return json_string(text);
}

static json_t *random_node(void)
{
	json_t *metadata = json_object(), *node = json_object();

	json_object_set_new(metadata, "env", pick(4) ? random_text() : json_integer(7));
	json_object_set_new(metadata, "tier", pick(4) ? random_text() : json_integer(7));
	json_object_set_new(node, "id", random_text());
	json_object_set_new(node, "cluster", random_text());
	if (pick(3))
		json_object_set(node, "metadata", metadata);
	json_decref(metadata);
	return node;
}

/* How many that can be reached were not found. */
static size_t check_groups(const struct selector *selector)
{
	bool is_reachable[GROUPS] = {[0] = true, [GROUPS - 1] = true};
	size_t missed = 0;

	for (unsigned i = 0; i < 300; i++) {
		json_t *node = random_node();

		is_reachable[selector_select(selector, node)] = true;
		json_decref(node);
	}
	for (int i = 0; i < GROUPS; i++) {
		json_t *node = sample_node_find(selector, i);

		if (node)
			assert_int_equal(selector_select(selector, node), i);
		missed += !node && is_reachable[i];
		json_decref(node);
	}
	return missed;
}

static void test_random(void **state)
{
	size_t missed = 0;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct arena *arena = arena_new(0);
		struct selector_builder *builder = selector_begin();
		struct selector *selector;

		for (unsigned i = 0; i < GROUPS; i++)
			selector_add(builder, (const char *[]){"g", "h", "i", "j", "k"}[i],
				i == GROUPS - 1 ? NULL : make_match(arena));
		selector = selector_finish(builder);
		missed += check_groups(selector);
		selector_unref(selector);
		arena_free(arena);
	}
	/* Conditions that only differ in corners: nobody writes these. */
	if (missed > ROUNDS * GROUPS / 100)
		fail_msg("%zu groups missed", missed);
}

static void test_strip(void **state)
{
	json_t *node = json_pack("{ss ss s{}}", "id", "x", "user_agent_name", "envoy", "metadata");

	(void)state;
	assert_true(sample_node_strip(node));
	assert_false(sample_node_strip(node));
	assert_int_equal(json_object_size(node), 2);
	json_decref(node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random), cmocka_unit_test(test_strip)};

	return cmocka_run_group_tests_name("sample_node", tests, NULL, NULL);
}
