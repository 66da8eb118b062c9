/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of folders; what groups make of them is in tests/data/compile/each*. */
#include "compile/groups_each.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* What the stars stand for, with "|" between them; NULL: no match. Static memory. */
static const char *match(const char *text, const char *folder)
{
	static char answer[256];
	struct arena *arena = arena_new(0);
	struct groups_pattern pattern;
	struct groups_found found;
	bool is_match;
	size_t length = 0;

	assert_null(groups_pattern_read(slice_of(text), arena, &pattern));
	is_match = groups_pattern_match(&pattern, slice_of(folder), &found);
	for (unsigned i = 0; is_match && i < pattern.stars; i++) {
		if (i)
			answer[length++] = '|';
		memcpy(answer + length, found.captures[i].data, found.captures[i].length);
		length += found.captures[i].length;
	}
	answer[length] = 0;
	arena_free(arena);
	return is_match ? answer : NULL;
}

static void patterns(void **state)
{
	(void)state;
	assert_string_equal(match("env/*", "env/prod"), "prod");
	assert_string_equal(match("./env//*/", "env/prod"), "prod");
	assert_string_equal(match("*/*", "env/prod"), "env|prod");
	assert_string_equal(match("a-*-b/*", "a-x-y-b/z"), "x-y|z");
	assert_string_equal(match("*/fixed/x*", "1/fixed/x2"), "1|2");
	assert_null(match("env/*", "env"));
	assert_null(match("env/*", "env/prod/eu"));
	assert_null(match("env/*", "environment/prod"));
	assert_null(match("a*a", "a"));
	assert_null(match("a*a", "aa"));
	assert_null(match("env/*", "env/clusters"));
	assert_null(match("*/*", "clusters/a"));
	assert_null(match("*/*", "_parts/a"));
	assert_null(match("*", "a\nb"));
}

static void bad_patterns(void **state)
{
	static const char *const bad[] = {
		"", "env", "**", "a/*b*", "/a/*", "../*", "*/*/*/*/*/*/*/*/*/*"};
	struct arena *arena = arena_new(0);
	struct groups_pattern pattern;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_non_null(groups_pattern_read(slice_of(bad[i]), arena, &pattern));
	arena_free(arena);
}

/* The text with captures filled in, or NULL. In the arena. */
static const char *fill(struct arena *arena, const char *text)
{
	const struct groups_found found = {.captures = {SLICE("one"), SLICE("two")}};
	const struct node node = {.kind = NODE_SCALAR, .is_plain = true, .text = slice_of(text)};
	const struct node *bad = NULL, *filled = groups_substitute(&node, &found, 2, arena, &bad);

	assert_true(filled || bad == &node);
	if (filled)
		assert_true((filled == &node) == (strcmp(text, filled->text.data) == 0));
	return filled ? filled->text.data : NULL;
}

static void captures(void **state)
{
	struct arena *arena = arena_new(0);

	(void)state;
	assert_string_equal(fill(arena, "a-{1}-{2}{2}"), "a-one-twotwo");
	assert_string_equal(fill(arena, "{1}"), "one");
	assert_string_equal(fill(arena, "{} {a} {1 1} {1"), "{} {a} {1 1} {1");
	assert_string_equal(fill(arena, "{{1}}"), "{one}");
	assert_null(fill(arena, "x{3}"));
	assert_null(fill(arena, "{0}"));
	assert_null(fill(arena, "{9999}"));
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns),
		cmocka_unit_test(bad_patterns),
		cmocka_unit_test(captures),
	};

	return cmocka_run_group_tests_name("groups_each", tests, NULL, NULL);
}
