/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "author/source_cut.h"

struct cut_case {
	const char *text;
	struct position at;
	const char *want;    /* NULL: refused */
	struct position key; /* line 0: nothing is edited */
	const char *lines;
};

static void check(const struct cut_case *one)
{
	struct outline outline;
	const struct source_edit edit = {one->key, one->lines};
	struct source_cut cut = {.outline = &outline, .edits = &edit};
	struct buf out = BUF_INIT;
	const char *problem;

	cut.edits_count = one->key.line != 0;
	buf_puts(&out, "before\n");
	assert_int_equal(yaml_outline_read(slice_of(one->text), &outline), 0);
	problem = source_cut_map(&cut, one->at, &out);
	if (!one->want) {
		assert_non_null(problem);
		assert_string_equal(buf_cstr(&out), "before\n");
	} else {
		if (problem)
			fail_msg("%s\n%s", problem, one->text);
		assert_string_equal(buf_cstr(&out) + 7, one->want);
	}
	yaml_outline_fini(&outline);
	buf_fini(&out);
}

static void test_comments(void **state)
{
	static const char text[] =
		"# file\nx:\n# of x\ny:\n  # head\n\n  # head 2\n  - a: 1 # a\n\n"
		"    # tail\n  # next\n  - b: |\n      t # no comment\n\n      u\n"
		"    c:\n    - d\n# far\n";

	(void)state;
	check(&(struct cut_case){
		text, {8, 5}, "# head\n\n# head 2\na: 1 # a\n\n# tail\n", {0}, ""});
	check(&(struct cut_case){
		text, {12, 5}, "# next\nb: |\n  t # no comment\n\n  u\nc:\n- d\n", {0}, ""});
	check(&(struct cut_case){"k: # k\n  # one\n  a: 1\n  # two\n  b: 2 # b\n", {3, 3},
		"# one\na: 1\n# two\nb: 2 # b\n", {0}, ""});
	check(&(struct cut_case){"- \xc3\xa4: \"\xc3\xb6\" # \xc3\xbc\n  b: x\n- c: y\n", {1, 3},
		"\xc3\xa4: \"\xc3\xb6\" # \xc3\xbc\nb: x\n", {0}, ""});
	check(&(struct cut_case){"- {a: 1}\n", {1, 3}, NULL, {0}, ""});
	check(&(struct cut_case){"- a: 1\n", {7, 7}, NULL, {0}, ""});
}

static void test_aliases(void **state)
{
	(void)state;
	check(&(struct cut_case){"x: &x 5\ny:\n- a: *x # five\n  b: [*x]\n", {3, 3},
		"a: 5 # five\nb: [5]\n", {0}, ""});
	check(&(struct cut_case){"x: &x\n  # c\n  p: 1\n  q: [2]\ny:\n- a: *x\n  b: 1\n", {6, 3},
		"a:\n  p: 1\n  q: [2]\nb: 1\n", {0}, ""});
	check(&(struct cut_case){"x: &x\n- p\n- q: 1\n  r: 2\ny:\n  a:\n    l: *x\n  z: 1\n",
		{6, 3}, "a:\n  l:\n    - p\n    - q: 1\n      r: 2\nz: 1\n", {0}, ""});
	check(&(struct cut_case){
		"x: &x\n  p: 1\n  q: 2\ny:\n  <<: *x\n  q: 3\n", {5, 3}, "p: 1\nq: 3\n", {0}, ""});
	check(&(struct cut_case){
		"w: &w\n  o: 0\nx: &x\n  <<: *w\n  p:\n    r: 1\ny:\n  q: 3\n  <<: *x\n", {8, 3},
		"q: 3\no: 0\np:\n  r: 1\n", {0}, ""});
	/* What comes along stays as it is. */
	check(&(struct cut_case){
		"- a: &x {p: 1}\n  b: *x\n", {1, 3}, "a: &x {p: 1}\nb: *x\n", {0}, ""});
	check(&(struct cut_case){"x: &x\n  p: 1\ny:\n- a: [*x]\n", {4, 3}, NULL, {0}, ""});
	check(&(struct cut_case){"x: &x {p: 1}\ny: &y {q: 1}\nz:\n  a: 1\n  <<: [*x, *y]\n", {4, 3},
		"a: 1\n<<: [{p: 1}, {q: 1}]\n", {0}, ""});
}

static void test_edits(void **state)
{
	static const char text[] = "- a: 1\n  b: # b\n    c: 1\n    # c\n  d: 2 # d\n";

	(void)state;
	check(&(struct cut_case){
		text, {1, 3}, "a: 1\nx:\n  y: 1\nd: 2 # d\n", {2, 3}, "x:\n  y: 1\n"});
	check(&(struct cut_case){text, {1, 3}, "a: 1\nd: 2 # d\n", {2, 3}, ""});
	check(&(struct cut_case){text, {1, 3}, "b: # b\n  c: 1\n  # c\nd: 2 # d\n", {1, 3}, ""});
	check(&(struct cut_case){
		text, {1, 3}, "a: 1\nb: # b\n  c: 1\n  # c\nd: 3 # d\n", {5, 3}, "d: 3\n"});
	check(&(struct cut_case){text, {1, 3}, NULL, {9, 9}, "x: 1\n"});
	check(&(struct cut_case){"- a: {b: 1}\n", {1, 3}, NULL, {1, 7}, "x: 1\n"});
	check(&(struct cut_case){"- a: 1\n", {1, 3}, NULL, {1, 3}, ""});
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_comments),
		cmocka_unit_test(test_aliases), cmocka_unit_test(test_edits)};

	return cmocka_run_group_tests_name("source_cut", tests, NULL, NULL);
}
