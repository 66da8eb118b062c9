/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "validate/pattern.h"

static int match(const char *text, const char *subject)
{
	struct pattern *pattern;
	char problem[200];
	int result;

	if (pattern_new(slice_of(text), false, &pattern, problem, sizeof(problem)))
		fail_msg("%s: %s", text, problem);
	result = pattern_match(pattern, slice_of(subject));
	pattern_free(pattern);
	return result;
}

/* The whole text has to match, as with RE2::FullMatch. */
static void test_match(void **state)
{
	(void)state;
	assert_int_equal(match("[a-z]+", "abc"), 1);
	assert_int_equal(match("[a-z]+", "abc1"), 0);
	assert_int_equal(match("a|ab", "ab"), 1);
	assert_int_equal(match("", ""), 1);
	assert_int_equal(match("a$", "a\n"), 0);
	assert_int_equal(match("(?i)ABC", "abc"), 1);
	assert_int_equal(match("(?P<name>x)y", "xy"), 1);
	assert_int_equal(match("\\pL+", "\xc3\xa4"), 1);
	assert_int_equal(match("\\Qa.b\\E", "a.b"), 1);
	assert_int_equal(match("\\Qa.b\\E", "axb"), 0);
	assert_int_equal(match("[[:alpha:](?=]*", "ab(?="), 1);
	assert_int_equal(match("a+?b", "aab"), 1);
	assert_int_equal(match("x{2}", "xx"), 1);
	assert_int_equal(match(".", "\xc3\xa4"), 1);
}

static void refuse(const char *text)
{
	struct pattern *pattern;
	char problem[200] = "";

	if (pattern_new(slice_of(text), false, &pattern, problem, sizeof(problem)) != -EINVAL)
		fail_msg("%s should be refused", text);
	assert_true(problem[0]);
}

static void test_refuse(void **state)
{
	(void)state;
	refuse("(?=a)");
	refuse("(?!a)");
	refuse("(?<=a)b");
	refuse("(?<!a)b");
	refuse("(a)\\1");
	refuse("(?>a)");
	refuse("a++");
	refuse("a?+");
	refuse("(?R)");
	refuse("(?P=name)");
	refuse("(*FAIL)");
	refuse("\\C");
	refuse("(a");
	refuse("[a");
	refuse("\\");
}

/* Work is bounded: undecided, not for ever. */
static void test_work(void **state)
{
	(void)state;
	assert_int_equal(
		match("(a|aa|aaa)*[xy]", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), -EAGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_match),
		cmocka_unit_test(test_refuse), cmocka_unit_test(test_work)};

	return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
