/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the reader says about bad JSON is in tests/data/bind/invalid. */
#include "message/json_read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "node_dump.h"

static void check(const char *json, const char *want, bool has_positions)
{
	struct arena *arena = arena_new(0);
	struct diag_list *diags = diag_list_new(0);
	struct buf got = BUF_INIT;
	struct node *root;
	int rc =
		json_read(&(struct read_options){.path = "t"}, slice_of(json), arena, diags, &root);

	if (rc) {
		diag_format(diag_list_get(diags, 0), &got);
		fail_msg("%s", buf_cstr(&got));
	}
	node_dump(&got, root, has_positions);
	assert_string_equal(buf_cstr(&got), want);
	assert_true(root->is_json);
	buf_fini(&got);
	diag_list_free(diags);
	arena_free(arena);
}

static void values(void **state)
{
	(void)state;
	check("{}", "{}", false);
	check(" [ ] ", "[]", false);
	check("null", "null", false);
	check("-0", "-0", false);
	check("\"x\"", "'x'", false);
	check("[1, -2.5e+10, true, false, null, \"a\", [], {}]",
		"[1, -2.5e+10, true, false, null, 'a', [], {}]", false);
	check("{\"a\":{\"b\":[{\"c\":1},{\"d\":2}]},\"<<\":3}", "{a: {b: [{c: 1}, {d: 2}]}, <<: 3}",
		false);
	check("[123456789012345678901234567890, 1e999]", "[123456789012345678901234567890, 1e999]",
		false);
	check("\"\\u00e4\\u20ac\\ud83d\\ude00\\u007f\\\"\\\\\\/\"",
		"'\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"\\/'", false);
	check("\"\\b\\f\\n\\r\\t\"", "'\b\f\n\r\t'", false);
	check("\xef\xbb\xbf{}", "{}", false);
	check("{\"\": \"\"}", "{: ''}", false);
}

static void positions(void **state)
{
	(void)state;
	check("{\n  \"a\": 1,\r\n  \"b\": [\"x\",\n2]\n}",
		"{a@2:3: 1@2:8, b@3:3: ['x'@3:9, 2@4:1]@3:8}@1:1", true);
	check("[\"\xc3\xa4\", 1]", "['\xc3\xa4'@1:2, 1@1:8]@1:1", true);
}

static int read_text(struct slice text, uint64_t nodes, size_t arena_bytes)
{
	struct arena *arena = arena_new(arena_bytes);
	struct diag_list *diags = diag_list_new(0);
	struct node *root;
	int rc = json_read(&(struct read_options){.path = "t", .nodes_limit = nodes}, text, arena,
		diags, &root);

	assert_true((rc == -EBADMSG) == (diag_list_level_count(diags, DIAG_ERROR) > 0));
	diag_list_free(diags);
	arena_free(arena);
	return rc;
}

static void limits(void **state)
{
	struct slice text = SLICE("{\"a\": [1, \"t\\nwo\", {}], \"b\": {\"c\": null}}");
	struct buf deep = BUF_INIT;
	size_t enough = 0;

	(void)state;
	for (size_t depth = LIMIT_DEPTH; depth <= LIMIT_DEPTH + 1; depth++) {
		buf_reset(&deep);
		buf_fill(&deep, '[', depth);
		buf_fill(&deep, ']', depth);
		assert_int_equal(
			read_text(buf_slice(&deep), 0, 0), depth > LIMIT_DEPTH ? -EBADMSG : 0);
	}
	buf_reset(&deep);
	buf_fill(&deep, '[', 10000000);
	assert_int_equal(read_text(buf_slice(&deep), 0, 0), -EBADMSG);
	buf_fini(&deep);
	for (uint64_t nodes = 1; nodes < 15; nodes++)
		assert_int_equal(read_text(text, nodes, 0), nodes < 10 ? -EBADMSG : 0);
	for (size_t bytes = 8; !enough; bytes += 8) {
		int rc = read_text(text, 0, bytes);

		if (rc == 0)
			enough = bytes;
		else
			assert_int_equal(rc, -ENOMEM);
		assert_true(bytes < 65536);
	}
}

/* No prefix of a good text is good, and none makes the reader look beyond it (ASan). */
static void every_prefix(void **state)
{
	static const char json[] =
		"{\"a\": [1, -2.5e+1, \"t\\u00e4\\ud83d\\ude00\", {}], \"b\": null}";

	(void)state;
	for (size_t length = 0; length < sizeof(json); length++) {
		char *exact = malloc(length ? length : 1);

		memcpy(exact, json, length);
		if (length < sizeof(json) - 1)
			assert_int_equal(read_text((struct slice){exact, length}, 0, 0), -EBADMSG);
		free(exact);
	}
	assert_int_equal(read_text(slice_of(json), 0, 0), 0);
	assert_int_equal(read_text((struct slice){NULL, 0}, 0, 0), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(positions),
		cmocka_unit_test(limits),
		cmocka_unit_test(every_prefix),
	};

	return cmocka_run_group_tests_name("json_read", tests, NULL, NULL);
}
