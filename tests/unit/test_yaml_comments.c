/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/yaml_comments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char found[4096];

/* "LINE:COLUMN>LINE text|" */
static void write(void *ctx, const struct yaml_comment *comment)
{
	size_t length = strlen(found);

	(void)ctx;
	snprintf(found + length, sizeof(found) - length, "%u:%u>%u %.*s|", comment->at.line,
		comment->at.column, comment->line, SLICE_ARG(comment->text));
}

static const char *comments(const char *text)
{
	found[0] = 0;
	assert_int_equal(yaml_comments(slice_of(text), write, NULL), 0);
	return found;
}

static void test_places(void **state)
{
	(void)state;
	assert_string_equal(comments(""), "");
	assert_string_equal(comments("a: b\n"), "");
	assert_string_equal(comments("# only"), "1:1>0 # only|");
	assert_string_equal(comments("a: b # at the end\n"), "1:6>1 # at the end|");
	assert_string_equal(comments("# alone\na: b\n"), "1:1>2 # alone|");
	assert_string_equal(comments("# one\n\n  # two\n  \na: b\n"), "1:1>5 # one|3:3>5 # two|");
	assert_string_equal(comments("a:\n  # deep\n  - b # c\n"), "2:3>3 # deep|3:7>3 # c|");
	assert_string_equal(comments("a: b # x\r\n# y\r\nc: d\r\n"), "1:6>1 # x|2:1>3 # y|");
	assert_string_equal(comments("--- # x\n{a: [b, # y\n c]}\n... # z\n"),
		"1:5>1 # x|2:9>2 # y|4:5>4 # z|");
}

static void test_not_comments(void **state)
{
	(void)state;
	assert_string_equal(comments("a: b#c\nd: '# e'\nf: \"# g\"\n"), "");
	assert_string_equal(comments("a: 'b\n  # c\n  d'\n"), "");
	assert_string_equal(comments("a: \"b\n  # c\n  d\" # e\n"), "3:6>3 # e|");
	assert_string_equal(comments("a#b: c\n"), "");
	assert_string_equal(comments("a: |\n  # b\n  c # d\n# e\nf: g\n"), "4:1>5 # e|");
	assert_string_equal(comments("a: >-\n  # b\n\n  # c\nd: e # f\n"), "5:6>5 # f|");
	assert_string_equal(comments("a: | # header\n  # b\n"), "1:6>1 # header|");
	assert_string_equal(
		comments("a: |+ # header\n\n\n# x\nb: c\n"), "1:7>1 # header|4:1>5 # x|");
	assert_string_equal(comments("? |\n  # b\n: c # d\n"), "3:5>3 # d|");
	assert_string_equal(comments("a: b\n  c # d\n"), "2:5>2 # d|");
}

static void test_characters(void **state)
{
	(void)state;
	assert_string_equal(comments("\xef\xbb\xbf# x\na: b\n"), "1:1>2 # x|");
	assert_string_equal(comments("a: \"\xc3\xa4# x\" # \xe2\x82\xac\nb: c # y\n"),
		"1:12>1 # \xe2\x82\xac|2:6>2 # y|");
	assert_string_equal(comments("a: |\n  \xf0\x9f\x98\x80 # x\nb: c # y\n"), "3:6>3 # y|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_not_comments),
		cmocka_unit_test(test_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
