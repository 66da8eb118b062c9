/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_slice(struct slice got, const char *want)
{
	assert_true(slice_is(got, want));
}

static void test_parts_of_paths(void **state)
{
	(void)state;
	assert_slice(folder_parent(SLICE("a/b/c")), "a/b");
	assert_slice(folder_parent(SLICE("a")), "");
	assert_slice(folder_parent(SLICE("")), "");
	assert_slice(folder_name(SLICE("a/b/c")), "c");
	assert_slice(folder_name(SLICE("a")), "a");
	assert_slice(folder_name(SLICE("")), "");
	assert_true(folder_holds(SLICE(""), SLICE("a")));
	assert_true(folder_holds(SLICE("a"), SLICE("a")));
	assert_true(folder_holds(SLICE("a"), SLICE("a/b")));
	assert_false(folder_holds(SLICE("a"), SLICE("ab")));
	assert_false(folder_holds(SLICE("a/b"), SLICE("a")));
}

static void test_sources(void **state)
{
	(void)state;
	assert_true(folder_is_source(SLICE("a.yaml")));
	assert_true(folder_is_source(SLICE("a/b.yml")));
	assert_true(folder_is_source(SLICE("a/b.json")));
	assert_true(folder_is_source(SLICE("a/groups.yaml")));
	assert_false(folder_is_source(SLICE("groups.yaml")));
	assert_false(folder_is_source(SLICE("_a.yaml")));
	assert_false(folder_is_source(SLICE("a/_b.yaml")));
	assert_false(folder_is_source(SLICE("a/_b/c.yaml")));
	assert_false(folder_is_source(SLICE("a.txt")));
	assert_false(folder_is_source(SLICE("a.yaml/b")));
	assert_false(folder_is_source(SLICE(".yaml")));
}

static void assert_type(const char *path, const char *type, const char *want_folder)
{
	struct slice folder;
	const struct xds_type_row *row = folder_type(slice_of(path), &folder);

	if (!type) {
		assert_null(row);
		return;
	}
	assert_non_null(row);
	assert_string_equal(row->name, type);
	assert_slice(folder, want_folder);
}

static void test_nearest_type_folder(void **state)
{
	(void)state;
	assert_type("clusters/a.yaml", "CDS", "clusters");
	assert_type("x/clusters/y/z/a.yaml", "CDS", "x/clusters");
	assert_type("clusters/endpoints/a.yaml", "EDS", "clusters/endpoints");
	assert_type("scoped_routes/a.yaml", "SRDS", "scoped_routes");
	assert_type("scoped-routes/a.yaml", "SRDS", "scoped-routes");
	assert_type("extension-configs/a.yaml", "ECDS", "extension-configs");
	assert_type("virtual_hosts/a/b.yaml", "VHDS", "virtual_hosts");
	assert_type("Clusters/a.yaml", NULL, NULL);
	assert_type("clusters", NULL, NULL);
	assert_type("cds.yaml", NULL, NULL);
}

static void assert_near(const char *name, const char *folder)
{
	const struct xds_type_row *row = folder_near_miss(slice_of(name));

	if (folder) {
		assert_non_null(row);
		assert_string_equal(row->folder, folder);
	} else {
		assert_null(row);
	}
}

static void test_near_misses(void **state)
{
	(void)state;
	assert_near("cluster", "clusters");
	assert_near("clustres", "clusters");
	assert_near("Clusters", "clusters");
	assert_near("endpoint", "endpoints");
	assert_near("listners", "listeners");
	assert_near("scoped.route", "scoped-routes");
	assert_near("clusters", NULL);
	assert_near("scoped_routes", NULL);
	assert_near("production", NULL);
	assert_near("eu", NULL);
	assert_near("", NULL);
	assert_true(folder_is_misspelt_groups(SLICE("groups.yml")));
	assert_true(folder_is_misspelt_groups(SLICE("group.yaml")));
	assert_true(folder_is_misspelt_groups(SLICE("Groups.yaml")));
	assert_false(folder_is_misspelt_groups(SLICE("groups.yaml")));
	assert_false(folder_is_misspelt_groups(SLICE("a/groups.yml")));
	assert_false(folder_is_misspelt_groups(SLICE("routes.yaml")));
}

static void assert_resolves(const char *folder, const char *relative, const char *want, int error)
{
	char out[32];

	assert_int_equal(
		folder_resolve(slice_of(folder), slice_of(relative), out, sizeof(out)), error);
	if (!error)
		assert_string_equal(out, want);
}

static void test_resolve(void **state)
{
	(void)state;
	assert_resolves("", "a", "a", 0);
	assert_resolves("a/b", "c", "a/b/c", 0);
	assert_resolves("a/b", "../c", "a/c", 0);
	assert_resolves("a/b", "../../c", "c", 0);
	assert_resolves("a/b", "../../../c", NULL, -EXDEV);
	assert_resolves("a", "..", NULL, -EINVAL);
	assert_resolves("a", "./x//y/./z", "a/x/y/z", 0);
	assert_resolves("a", "b/../../a/c", "a/c", 0);
	assert_resolves("a", "/etc/passwd", NULL, -EXDEV);
	assert_resolves("a", "", NULL, -EINVAL);
	assert_resolves("0123456789", "0123456789/0123456789", NULL, -ENAMETOOLONG);
	assert_resolves("0123456789", "012345678901234567890", NULL, -ENAMETOOLONG);
	assert_resolves("0123456789", "01234567890123456789", "0123456789/01234567890123456789", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_of_paths),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_nearest_type_folder),
		cmocka_unit_test(test_near_misses),
		cmocka_unit_test(test_resolve),
	};

	return cmocka_run_group_tests_name("folder", tests, NULL, NULL);
}
