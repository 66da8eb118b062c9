/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "source/hold.h"

static char folder[64];

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/test_hold.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	AUTO_FREE char *command = xasprintf("rm -rf %s", folder);

	(void)state;
	return system(command);
}

static void shell(const char *script)
{
	AUTO_FREE char *command = xasprintf("set -e; cd %s; %s", folder, script);

	assert_int_equal(system(command), 0);
}

static void check(const char *root, bool is_held, bool is_changing)
{
	AUTO_FREE char *path = xasprintf("%s/%s", folder, root);
	struct hold hold;
	struct settle_facts facts;

	hold_init(&hold, path);
	facts = hold_look(&hold);
	hold_fini(&hold);
	assert_int_equal(facts.is_held, is_held);
	assert_int_equal(facts.is_changing, is_changing);
}

static void test_hold_file(void **state)
{
	(void)state;
	check("tree", false, false);
	shell("mkdir tree; touch tree/.xdspub-hold");
	check("tree", true, false);
}

static void test_repository(void **state)
{
	(void)state;
	shell("mkdir -p repo/.git repo/envoy/tree; ln -s repo/envoy/tree link");
	check("repo/envoy/tree", false, false);
	shell("touch repo/.git/index.lock");
	check("repo", false, true);
	check("repo/envoy/tree", false, true);
	check("link", false, true);
	check("repo/envoy/not-there", false, false);
}

static void test_linked_work_tree(void **state)
{
	(void)state;
	shell("mkdir -p main/.git/worktrees/w w/tree m/tree; touch "
	      "main/.git/worktrees/w/index.lock");
	shell("echo \"gitdir: $PWD/main/.git/worktrees/w\" > w/.git");
	check("w/tree", false, true);
	shell("echo 'gitdir: ../main/.git/worktrees/w' > m/.git");
	check("m/tree", false, true);
	shell("echo 'gitdir: ../nowhere' > m/.git");
	check("m/tree", false, false);
	shell("echo 'rubbish' > m/.git");
	check("m/tree", false, false);
}

static void test_located_again(void **state)
{
	AUTO_FREE char *path = xasprintf("%s/tree", folder);
	struct hold hold;

	(void)state;
	hold_init(&hold, path);
	shell("mkdir -p tree/.git; touch tree/.git/index.lock");
	assert_false(hold_look(&hold).is_changing);
	hold_locate(&hold);
	assert_true(hold_look(&hold).is_changing);
	shell("rm tree/.git/index.lock");
	assert_false(hold_look(&hold).is_changing);
	hold_fini(&hold);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_hold_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_repository, setup, teardown),
		cmocka_unit_test_setup_teardown(test_linked_work_tree, setup, teardown),
		cmocka_unit_test_setup_teardown(test_located_again, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
