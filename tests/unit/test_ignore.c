/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "catalogue/ignore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *parse(const char *text)
{
	static char out[1024];
	static const char *const kinds[] = {[IGNORE_NONE] = "none",
		[IGNORE_LINE] = "line",
		[IGNORE_FILE] = "file",
		[IGNORE_BAD] = "bad"};
	struct ignore_comment comment;
	int length;

	ignore_parse(slice_of(text), &comment);
	length = snprintf(out, sizeof(out), "%s", kinds[comment.kind]);
	for (size_t i = 0; comment.kind != IGNORE_BAD && i < comment.ids_count; i++)
		length += snprintf(out + length, sizeof(out) - (size_t)length, " %.*s",
			SLICE_ARG(comment.ids[i]));
	return out;
}

static void test_forms(void **state)
{
	(void)state;
	assert_string_equal(parse("# xdspub: ignore a"), "line a");
	assert_string_equal(parse("#xdspub:ignore a"), "line a");
	assert_string_equal(parse("## \txdspub:  ignore\ta-b.c_d , e,f some reason, with commas"),
		"line a-b.c_d e f");
	assert_string_equal(parse("# xdspub: ignore-file a, b"), "file a b");
	assert_string_equal(parse("# xdspub: ignore a\r"), "line a");
	assert_string_equal(parse("# xdspub: ignore a reason"), "line a");
}

static void test_others(void **state)
{
	(void)state;
	assert_string_equal(parse("#"), "none");
	assert_string_equal(parse("# see xdspub: ignore a"), "none");
	assert_string_equal(parse("# xdspub: is our daemon"), "none");
	assert_string_equal(parse("# xdspub:"), "none");
	assert_string_equal(parse("# xdspub"), "none");
}

static void test_bad(void **state)
{
	char many[2048] = "# xdspub: ignore a";

	(void)state;
	assert_string_equal(parse("# xdspub: ignore"), "bad");
	assert_string_equal(parse("# xdspub: ignore "), "bad");
	assert_string_equal(parse("# xdspub: ignore a,"), "bad");
	assert_string_equal(parse("# xdspub: ignore ,a"), "bad");
	assert_string_equal(parse("# xdspub: ignored a"), "bad");
	assert_string_equal(parse("# xdspub: ignore-line a"), "bad");
	for (size_t i = 1; i < IGNORE_IDS; i++)
		strcat(many, ",a");
	assert_string_not_equal(parse(many), "bad");
	strcat(many, ",a");
	assert_string_equal(parse(many), "bad");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
