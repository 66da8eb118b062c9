/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "cli/args.h"

static const struct args_option output = {"output", 'o', "DIR", false, "where to"};
static const struct args_option format = {"format", 0, "FORMAT", true, "which"};
static const struct args_option json = {"json", 'j', NULL, false, "as JSON"};
static const struct args_option *const options[] = {&output, &format, &json};

static int parse(struct args *args, struct buf *problem, const char *const *words)
{
	char *argv[16];
	int argc = 0;

	for (; words[argc]; argc++)
		argv[argc] = (char *)words[argc];
	buf_reset(problem);
	return args_parse(args, options, 3, argc, argv, problem);
}

static void test_forms(void **state)
{
	struct args args;
	struct buf problem = BUF_INIT;
	size_t cursor = 0;

	(void)state;
	assert_int_equal(parse(&args, &problem,
				 (const char *const[]){"tree", "--format", "pb", "-o", "a",
					 "--output=b", "--format=yaml", "-j", "--", "-x", NULL}),
		0);
	assert_string_equal(args_get(&args, "output"), "b");
	assert_string_equal(args_next(&args, "format", &cursor), "pb");
	assert_string_equal(args_next(&args, "format", &cursor), "yaml");
	assert_null(args_next(&args, "format", &cursor));
	assert_true(args_has(&args, "json"));
	assert_int_equal(args.operands_count, 2);
	assert_string_equal(args.operands[0], "tree");
	assert_string_equal(args.operands[1], "-x");
	args_fini(&args);

	assert_int_equal(parse(&args, &problem, (const char *const[]){"-oout", "-", NULL}), 0);
	assert_string_equal(args_get(&args, "output"), "out");
	assert_string_equal(args.operands[0], "-");
	assert_false(args_has(&args, "json"));
	args_fini(&args);

	assert_int_equal(parse(&args, &problem, (const char *const[]){"--output=", NULL}), 0);
	assert_string_equal(args_get(&args, "output"), "");
	args_fini(&args);
	buf_fini(&problem);
}

static void test_refused(void **state)
{
	static const struct {
		const char *words[3];
		const char *want;
	} rows[] = {
		{{"--outptu", "x"}, "unknown option \"--outptu\", did you mean \"output\"?"},
		{{"--zzzzzzzz"}, "unknown option \"--zzzzzzzz\""},
		{{"-z"}, "unknown option \"-z\""},
		{{"--output"}, "option \"--output\" needs a value: DIR"},
		{{"-o"}, "option \"--output\" needs a value: DIR"},
		{{"--json=x"}, "option \"--json\" takes no value"},
		{{"-jx"}, "option \"--json\" takes no value"},
		{{"--out", "x"}, "unknown option \"--out\""},
	};
	struct args args;
	struct buf problem = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(&args, &problem, rows[i].words), -EINVAL);
		assert_ptr_equal(strstr(buf_cstr(&problem), rows[i].want), buf_cstr(&problem));
	}
	buf_fini(&problem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
