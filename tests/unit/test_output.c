/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scratch.h"

#include "daemon/output.h"

static struct scratch scratch;

static int setup(void **state)
{
	(void)state;
	scratch_init(&scratch);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scratch_fini(&scratch);
	return 0;
}

static bool inside(const char *path, const char *folder)
{
	char a[4200], b[4200];

	return output_is_inside(scratch_path(&scratch, path, a), scratch_path(&scratch, folder, b));
}

static void test_inside(void **state)
{
	(void)state;
	scratch_mkdir(&scratch, "tree/sub");
	scratch_mkdir(&scratch, "tree2");
	scratch_link(&scratch, "tree", "link");
	assert_true(inside("tree", "tree"));
	assert_true(inside("tree/", "tree"));
	assert_true(inside("tree", "tree/"));
	assert_true(inside("tree/sub", "tree"));
	assert_true(inside("tree/sub/../sub", "tree"));
	assert_false(inside("tree/sub/../../tree2", "tree"));
	assert_false(inside("tree2", "tree"));
	assert_false(inside("tree", "tree/sub"));
	assert_false(inside("tree", "tree2"));
	/* Through links, and for what does not exist yet. */
	assert_true(inside("link/sub", "tree"));
	assert_true(inside("tree/sub", "link"));
	assert_true(inside("tree/not/yet", "tree"));
	assert_true(inside("link/not/yet", "tree"));
	assert_true(inside("not/yet", "not"));
	assert_false(inside("not/yet", "tree"));
	assert_true(inside("tree", "../.."));
	assert_true(output_is_inside("x/y", "."));
	assert_true(output_is_inside("x/y", "x"));
	assert_false(output_is_inside("x/y", "y"));
	assert_true(output_is_inside("/anything", "/"));
}

static void test_missing_schema(void **state)
{
	struct options options;
	struct buf problem = BUF_INIT;
	struct diag_list *diags = diag_list_new(0);
	struct schema *schema = NULL;

	(void)state;
	options_init(&options);
	assert_int_equal(options_set(&options, option_by_flag("schema"), SLICE("/nowhere.pb"), NULL,
				 &problem),
		0);
	assert_int_equal(output_load_schema(&options, diags, &schema), -ENOENT);
	assert_int_equal(diag_list_level_count(diags, DIAG_ERROR), 1);
	assert_int_equal(diag_list_level_count(diags, DIAG_NOTE), 1); /* what to do */
	diag_list_free(diags);
	options_fini(&options);
	buf_fini(&problem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_inside, setup, teardown),
		cmocka_unit_test(test_missing_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
