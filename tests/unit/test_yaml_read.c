/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the reader says about bad YAML is in tests/data/bind/invalid; here is what it makes of
 * good YAML, and its limits. */
#include "message/yaml_read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/limits.h"
#include "node_dump.h"

struct result {
	struct arena *arena;
	struct diag_list *diags;
	struct documents documents;
	int rc;
};

static struct result read_limited(struct slice text, uint64_t nodes, size_t arena_bytes)
{
	struct result result = {.arena = arena_new(arena_bytes), .diags = diag_list_new(0)};

	result.rc = yaml_read(&(struct read_options){.path = "t", .nodes_limit = nodes}, text,
		result.arena, result.diags, &result.documents);
	return result;
}

static void result_free(struct result *result)
{
	diag_list_free(result->diags);
	arena_free(result->arena);
}

static const char *first_diag(const struct result *result, struct buf *out)
{
	assert_true(diag_list_count(result->diags) > 0);
	buf_reset(out);
	diag_format(diag_list_get(result->diags, 0), out);
	return buf_cstr(out);
}

static void check(const char *yaml, const char *want, bool has_positions)
{
	struct result result = read_limited(slice_of(yaml), 0, 0);
	struct buf got = BUF_INIT;

	if (result.rc)
		fail_msg("%s", first_diag(&result, &got));
	for (size_t i = 0; i < result.documents.count; i++) {
		if (i)
			buf_puts(&got, " --- ");
		node_dump(&got, result.documents.roots[i], has_positions);
	}
	assert_string_equal(buf_cstr(&got), want);
	assert_int_equal(diag_list_count(result.diags), 0);
	buf_fini(&got);
	result_free(&result);
}

static void values(void **state)
{
	(void)state;
	check("a: 1\nb: 'x'\nc: \"y\\n\"\nd:\ne: ~", "{a: 1, b: 'x', c: 'y\n', d: , e: ~}", false);
	check("- a\n- [b, {c: d}]\n-\n  - e\n", "[a, [b, {c: d}], [e]]", false);
	check("a: |\n  x\n  y\nb: >\n  x\n  y\n", "{a: 'x\ny\n', b: 'x y\n'}", false);
	check("a: x\n  y\nb: 'x\n  y'\n", "{a: x y, b: 'x y'}", false);
	check("{? a : b, \"c\": d, ? e}", "{a: b, c: d, e: }", false);
	check("? |\n  long\n: 1\n", "{long\n: 1}", false);
	check("1: a\ntrue: b\n~: c\n", "{1: a, true: b, ~: c}", false);
	check("\xef\xbb\xbf"
	      "a: 1",
		"{a: 1}", false);
	check("a: 'it''s'\nb: \"\\x41\\N\\\"\"\n", "{a: 'it's', b: 'A\xc2\x85\"'}", false);
	check("a: \"x\\\n  y\"\n", "{a: 'xy'}", false);
	check("\"\": 1\n", "{: 1}", false);
}

static void documents(void **state)
{
	struct result result;

	(void)state;
	check("", "", false);
	check("# comment\n", "", false);
	check("---\n---\n# x\n--- \n", "", false);
	check("--- a\n...\n---\n- b\n--- ~\n--- ''\n", "a --- [b] --- ~ --- ''", false);
	result = read_limited(SLICE("# c\n\n---\na: 1\n--- # d\n\nb: 2\n"), 0, 0);
	assert_int_equal(result.documents.count, 2);
	assert_int_equal(result.documents.starts[0].line, 3);
	assert_int_equal(result.documents.starts[1].line, 5);
	assert_false(result.documents.has_merge_keys);
	result_free(&result);
}

static void positions(void **state)
{
	(void)state;
	check("a: 1\nb:\n  c: [x, y]\n",
		"{a@1:1: 1@1:4, b@2:1: {c@3:3: [x@3:7, y@3:10]@3:6}@3:3}@1:1", true);
	/* Columns are bytes, also behind and in lines with other characters. */
	check("\xc3\xa4: \xe2\x82\xac\nb: {\xf0\x9f\x98\x80: 1, c: 2}\nd: 3\n",
		"{\xc3\xa4@1:1: \xe2\x82\xac@1:5, b@2:1: {\xf0\x9f\x98\x80@2:5: 1@2:11, c@2:14: "
		"2@2:17}@2:4, d@3:1: 3@3:4}@1:1",
		true);
	check("a: 1\r\nb: 2\r\n", "{a@1:1: 1@1:4, b@2:1: 2@2:4}@1:1", true);
	check("\xc3\xa4: 1\r\nb: 2\r\n", "{\xc3\xa4@1:1: 1@1:5, b@2:1: 2@2:4}@1:1", true);
}

static void anchors_and_merges(void **state)
{
	(void)state;
	check("a: &x [1]\nb: *x\n", "{a: [1], b: [1]}", false);
	check("a: &x 1\nb: &x 2\nc: *x\n", "{a: 1, b: 2, c: 2}", false);
	check("&k a: 1\nb: *k\nc: {*k : 2}\n", "{a: 1, b: a, c: {a: 2}}", false);
}

static void merges(void **state)
{
	struct result result;

	(void)state;
	check("a: &x {p: 1, q: 2}\nb: {q: 3, <<: *x, r: 4}\n",
		"{a: {p: 1, q: 2}, b: {q: 3, r: 4, <p: 1}}", false);
	check("a: &x {p: 1}\nb: &y {p: 2, q: 3}\nc: {<<: [*x, *y]}\n",
		"{a: {p: 1}, b: {p: 2, q: 3}, c: {<p: 1, <q: 3}}", false);
	/* Merged maps merge on; more keys than are compared one by one. */
	check("a: &a {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1}\n"
	      "b: &b {<<: *a, f: 2, g: 2, h: 2, i: 2, j: 2}\n"
	      "c: {<<: *b, a: 3, j: 3, k: 3}\n",
		"{a: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1}, "
		"b: {f: 2, g: 2, h: 2, i: 2, j: 2, <a: 1, <b: 1, <c: 1, <d: 1, <e: 1}, "
		"c: {a: 3, j: 3, k: 3, <f: 2, <g: 2, <h: 2, <i: 2, <b: 1, <c: 1, <d: 1, <e: 1}}",
		false);
	check("a: {\"<<\": {b: 1}}\nc: {!!str <<: 1}\n", "{a: {<<: {b: 1}}, c: {<<: 1}}", false);
	check("a: {<<: [], b: 1}\n", "{a: {b: 1}}", false);
	result = read_limited(SLICE("a: {<<: {b: 1}}\n"), 0, 0);
	assert_true(result.documents.has_merge_keys);
	result_free(&result);
}

static void tags(void **state)
{
	(void)state;
	check("a: !file x\nb: !delete {c: d}\nd: !!str 5\ne: ! 6\nf: !!int '7'\n",
		"{a: !file x, b: !delete {c: d}, d: !str '5', e: !str '6', f: !core 7}", false);
	check("!ignore a: &x {b: 1}\nc: *x\n!ignore c: 2\n? !ignore d\n: [1]\n", "{c: {b: 1}}",
		false);
	check("a: {!ignore b: 1, !!str c: 2}\n", "{a: {c: 2}}", false);
}

static void many_keys(void **state)
{
	struct buf yaml = BUF_INIT, got = BUF_INIT;
	struct result result;

	(void)state;
	for (int i = 0; i < 20000; i++)
		buf_printf(&yaml, "key%d: %d\n", i, i);
	result = read_limited(buf_slice(&yaml), 0, 0);
	assert_int_equal(result.rc, 0);
	assert_int_equal(result.documents.roots[0]->pairs_count, 20000);
	assert_non_null(node_find(result.documents.roots[0], "key19999"));
	assert_null(node_find(result.documents.roots[0], "key20000"));
	result_free(&result);

	buf_puts(&yaml, "key17: again\n");
	result = read_limited(buf_slice(&yaml), 0, 0);
	assert_int_equal(result.rc, -EBADMSG);
	assert_int_equal(diag_list_count(result.diags), 1);
	assert_string_equal(first_diag(&result, &got),
		"t:20001:1: error: key \"key17\" is already at 18:1 [duplicate-key]");
	/* The reader went on: the rest is there for finding more. */
	assert_int_equal(result.documents.roots[0]->pairs_count, 20000);
	result_free(&result);
	buf_fini(&yaml);
	buf_fini(&got);
}

/* libyaml alone needs minutes for these. */
static void deep_texts_fail_fast(void **state)
{
	static const char *const parts[] = {"[", "{a: ", "- ", "[{a: ", "? ", "&a [", "!x ["};
	struct buf yaml = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		clock_t start = clock();
		struct result result;

		buf_reset(&yaml);
		for (int n = 0; n < 100000; n++)
			buf_puts(&yaml, parts[i]);
		result = read_limited(buf_slice(&yaml), 0, 0);
		assert_int_equal(result.rc, -EBADMSG);
		assert_int_equal(result.documents.count, 0);
		if ((clock() - start) / CLOCKS_PER_SEC > 5)
			fail_msg("%s: too slow", parts[i]);
		result_free(&result);
	}
	buf_fini(&yaml);
}

static void depth_limit(void **state)
{
	(void)state;
	for (int depth = LIMIT_DEPTH; depth <= LIMIT_DEPTH + 1; depth++) {
		struct buf yaml = BUF_INIT, got = BUF_INIT;
		struct result result;

		buf_fill(&yaml, '[', (size_t)depth);
		buf_fill(&yaml, ']', (size_t)depth);
		result = read_limited(buf_slice(&yaml), 0, 0);
		assert_int_equal(result.rc, depth > LIMIT_DEPTH ? -EBADMSG : 0);
		if (result.rc)
			assert_string_equal(first_diag(&result, &got),
				"t:1:101: error: lists and mappings are nested more than 100 "
				"levels deep [too-deep]");
		result_free(&result);
		buf_fini(&yaml);
		buf_fini(&got);
	}
	/* With aliases: 60 levels in 40 are fine, in 41 they are not. */
	for (size_t outer = 39; outer <= 40; outer++) {
		struct buf yaml = BUF_INIT;
		struct result result;

		buf_puts(&yaml, "- &a ");
		buf_fill(&yaml, '[', 60);
		buf_fill(&yaml, ']', 60);
		buf_puts(&yaml, "\n- ");
		buf_fill(&yaml, '[', outer);
		buf_puts(&yaml, "*a ");
		buf_fill(&yaml, ']', outer);
		result = read_limited(buf_slice(&yaml), 0, 0);
		assert_int_equal(result.rc, outer > 39 ? -EBADMSG : 0);
		result_free(&result);
		buf_fini(&yaml);
	}
}

static void node_limit(void **state)
{
	struct slice text = SLICE("a: &x [1, 2]\nb: *x\nc: {<<: {d: 1}}\n");
	struct buf got = BUF_INIT;

	(void)state;
	/* 3 keys, map, list and 2 items, again 3 by alias, map, key, map, key, value: 14 and 1. */
	for (uint64_t limit = 1; limit < 20; limit++) {
		struct result result = read_limited(text, limit, 0);

		assert_int_equal(result.rc, limit < 15 ? -EBADMSG : 0);
		if (result.rc)
			assert_non_null(strstr(first_diag(&result, &got), "too-many-nodes"));
		result_free(&result);
	}
	buf_fini(&got);
}

/* Ten levels of ten aliases, once as lists and once as merges. */
static void alias_bombs(void **state)
{
	(void)state;
	for (int form = 0; form < 2; form++) {
		struct buf yaml = BUF_INIT, got = BUF_INIT;
		struct result result;

		buf_puts(&yaml, "a0: &a0 {k1: 1, k2: 2, k3: 3}\n");
		for (int i = 1; i <= 10; i++) {
			buf_printf(&yaml, form ? "a%d: &a%d {<<: [" : "a%d: &a%d [", i, i);
			for (int j = 0; j < 10; j++)
				buf_printf(&yaml, "%s*a%d", j ? ", " : "", i - 1);
			buf_puts(&yaml, form ? "]}\n" : "]\n");
		}
		result = read_limited(buf_slice(&yaml), 0, 0);
		assert_int_equal(result.rc, -EBADMSG);
		assert_non_null(strstr(first_diag(&result, &got), "too-many-nodes"));
		assert_true(arena_used(result.arena) < 1u << 20);
		result_free(&result);
		buf_fini(&yaml);
		buf_fini(&got);
	}
}

/* Wherever the memory ends: -ENOMEM, no crash. */
static void arena_limits(void **state)
{
	struct slice text = SLICE("a: &x [1, 'two', \"th\\x41ree\"]\nb: {<<: {c: 1, d: 2}, e: *x}\n"
				  "---\n&y k: *y\n---\nf: [[[{g: h}]]]\n");
	size_t enough = 0;

	(void)state;
	for (size_t bytes = 8; !enough; bytes += 8) {
		struct result result = read_limited(text, 0, bytes);

		if (result.rc == 0)
			enough = bytes;
		else
			assert_int_equal(result.rc, -ENOMEM);
		assert_true(bytes < 65536);
		result_free(&result);
	}
}

static void many_directives_fail_fast(void **state)
{
	struct buf yaml = BUF_INIT;
	struct result result;

	(void)state;
	for (int i = 0; i < 200000; i++)
		buf_printf(&yaml, "%%TAG !e%d! tag:example.com,2000:%d\n", i, i);
	buf_puts(&yaml, "--- a\n");
	result = read_limited(buf_slice(&yaml), 0, 0);
	assert_int_equal(result.rc, -EBADMSG);
	result_free(&result);
	buf_fini(&yaml);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(documents),
		cmocka_unit_test(positions),
		cmocka_unit_test(anchors_and_merges),
		cmocka_unit_test(merges),
		cmocka_unit_test(tags),
		cmocka_unit_test(many_keys),
		cmocka_unit_test(deep_texts_fail_fast),
		cmocka_unit_test(depth_limit),
		cmocka_unit_test(node_limit),
		cmocka_unit_test(alias_bombs),
		cmocka_unit_test(arena_limits),
		cmocka_unit_test(many_directives_fail_fast),
	};

	return cmocka_run_group_tests_name("yaml_read", tests, NULL, NULL);
}
