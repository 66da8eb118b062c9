/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which conditions take all that another one takes. */
#include "compile/match_cover.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "compile/groups.h"

/* The answers for `wide` and `narrow`, conditions in the form of groups.yaml. */
static bool covers(const char *wide, const char *narrow)
{
	struct diag_list *diags = diag_list_new(0);
	struct groups *groups = NULL;
	char text[1024];
	bool answer;

	snprintf(text, sizeof(text),
		"groups:\n- {name: a, layers: [.], match: %s}\n- {name: b, layers: [.], match: "
		"%s}\n",
		wide, narrow);
	assert_int_equal(groups_read("groups.yaml", slice_of(text), NULL, NULL, diags, &groups), 0);
	answer = match_covers(groups->entries[0].match, groups->entries[1].match);
	/* And groups_read says so. */
	assert_int_equal(answer, diag_list_count(diags) == 1);
	groups_free(groups);
	diag_list_free(diags);
	return answer;
}

static void what_covers(void **state)
{
	(void)state;
	assert_true(covers("{id: a}", "{id: a}"));
	assert_true(covers("{id: a}", "{id: a, cluster: b}"));
	assert_true(covers("{id: [a, b]}", "{id: b}"));
	assert_true(covers("{id: [a, b, c]}", "{id: [c, a]}"));
	assert_true(covers("[{id: a}, {cluster: b}]", "{cluster: b}"));
	assert_true(covers("{id: {prefix: a}}", "{id: abc}"));
	assert_true(covers("{id: {prefix: a}}", "{id: {prefix: ab}}"));
	assert_true(covers("{id: {suffix: c}}", "{id: {suffix: bc}}"));
	assert_true(covers("{id: {contains: b}}", "{id: {prefix: abc, suffix: x}}"));
	assert_true(covers("{id: {exact: ABC, ignore_case: true}}", "{id: abc}"));
	assert_true(covers("{metadata: {a: {b: 1}}}", "{metadata: {a: {b: 1.0, c: true}}}"));
	assert_true(covers("{metadata: {a: true}}", "{metadata: {a: true}, locality: {zone: z}}"));
}

static void what_does_not(void **state)
{
	(void)state;
	assert_false(covers("{id: a}", "{id: b}"));
	assert_false(covers("{id: a}", "{id: [a, b]}"));
	assert_false(covers("{id: a, cluster: b}", "{id: a}"));
	assert_false(covers("{id: {prefix: ab}}", "{id: {prefix: a}}"));
	assert_false(covers("{id: {prefix: a}}", "{id: {suffix: a}}"));
	assert_false(covers("{id: {exact: a}}", "{id: {prefix: a}}"));
	assert_false(covers("{id: ABC}", "{id: {exact: ABC, ignore_case: true}}"));
	assert_false(covers("{id: ABC}", "{id: abc}"));
	assert_false(covers("{id: a}", "{cluster: a}"));
	assert_false(covers("{metadata: {a: 1}}", "{metadata: {a: \"1\"}}"));
	assert_false(covers("{metadata: {a: 1}}", "{metadata: {a: 2}}"));
	assert_false(covers("{metadata: {a: true}}", "{metadata: {a: false}}"));
}

static void everyone(void **state)
{
	const struct match some = {.kind = MATCH_BOOL};

	(void)state;
	assert_true(match_covers(NULL, &some));
	assert_true(match_covers(NULL, NULL));
	assert_false(match_covers(&some, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_covers),
		cmocka_unit_test(what_does_not),
		cmocka_unit_test(everyone),
	};

	return cmocka_run_group_tests_name("match_cover", tests, NULL, NULL);
}
