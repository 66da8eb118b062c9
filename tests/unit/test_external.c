/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scratch.h"

#include "compile/external.h"
#include "message/yaml_read.h"

struct fixture {
	struct arena *arena;
	struct diag_list *diags;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->arena = arena_new(0);
	f->diags = diag_list_new(0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_free(f->arena);
	diag_list_free(f->diags);
	free(f);
	return 0;
}

static const struct external *read_yaml(struct fixture *f, const char *text)
{
	struct read_options options = {.path = "groups.yaml", .nodes_limit = 1000};
	struct documents documents = {0};

	diag_list_clear(f->diags);
	assert_int_equal(yaml_read(&options, slice_of(text), f->arena, f->diags, &documents), 0);
	return external_read(documents.roots[0], "groups.yaml", f->arena, f->diags);
}

static bool has(const struct external *external, enum xds_type type, const char *name)
{
	return external_has(external, type, slice_of(name));
}

static void test_names(void **state)
{
	const struct external *external = read_yaml(*state,
		"clusters: [xds, 'a*', '*.b', 'c*d*e', {prefix: P-, ignore_case: true},"
		" {suffix: -s}, {contains: in}]\n"
		"secrets: []\n"
		"extension-configs: ['*']\n");

	assert_non_null(external);
	assert_true(has(external, XDS_CDS, "xds"));
	assert_false(has(external, XDS_CDS, "xds2"));
	assert_false(has(external, XDS_CDS, "xd"));
	assert_true(has(external, XDS_CDS, "a"));
	assert_true(has(external, XDS_CDS, "abc"));
	assert_true(has(external, XDS_CDS, ".b"));
	assert_true(has(external, XDS_CDS, "x.b"));
	assert_false(has(external, XDS_CDS, "x.bc"));
	assert_true(has(external, XDS_CDS, "cde"));
	assert_true(has(external, XDS_CDS, "c-d-d-e"));
	assert_false(has(external, XDS_CDS, "ce"));
	assert_false(has(external, XDS_CDS, "ced"));
	assert_true(has(external, XDS_CDS, "p-x"));
	assert_true(has(external, XDS_CDS, "x-s"));
	assert_true(has(external, XDS_CDS, "xinx"));
	assert_false(has(external, XDS_CDS, ""));
	assert_false(has(external, XDS_SDS, "xds"));
	assert_true(has(external, XDS_ECDS, "anything"));
	assert_true(has(external, XDS_ECDS, ""));
	assert_true(external_says(external, XDS_CDS));
	assert_true(external_says(external, XDS_SDS));
	assert_false(external_says(external, XDS_EDS));
	assert_false(external_says(NULL, XDS_CDS));
	assert_false(has(NULL, XDS_CDS, "xds"));
}

/* One star must not match a name's start and end twice. */
static void test_overlap(void **state)
{
	const struct external *external = read_yaml(*state, "clusters: ['ab*ba', 'x*y*y']\n");

	assert_false(has(external, XDS_CDS, "aba"));
	assert_true(has(external, XDS_CDS, "abba"));
	assert_false(has(external, XDS_CDS, "xy"));
	assert_true(has(external, XDS_CDS, "xyy"));
}

static void test_errors(void **state)
{
	static const char *const bad[] = {
		"[clusters]",
		"clusters: xds",
		"cluster: []",
		"clusters: [{name: a}]",
		"clusters: [null]",
		"clusters: {prefix: a}",
		"clusters: [{prefix: [a]}]",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_null(read_yaml(f, bad[i]));
		assert_true(diag_list_level_count(f->diags, DIAG_ERROR) > 0);
	}
	read_yaml(f, "cluster: []");
	assert_non_null(strstr(diag_list_get(f->diags, 0)->text, "did you mean \"clusters\"?"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overlap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
	};

	return cmocka_run_group_tests_name("external", tests, NULL, NULL);
}
