/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/overview.h"

static void build(struct overview *overview, const char *error)
{
	struct diag_list *diags = diag_list_new(0);
	const struct overview_build outcome = {.files = 2, .resources = 3, .diags = diags};

	if (error)
		diag_error(diags, "clusters/a.yaml", (struct position){3, 5}, "x", "%s", error);
	overview_build(overview, &outcome);
	diag_list_free(diags);
}

static void order(struct overview *overview, const char *first, const char *second)
{
	struct rcstr *names[2] = {rcstr_new(first, strlen(first)), NULL};
	size_t count = 1;

	if (second)
		names[count++] = rcstr_new(second, strlen(second));
	overview_order(overview, names, count);
	for (size_t i = 0; i < count; i++)
		rcstr_unref(names[i]);
}

static void group(struct overview *overview, const char *name, bool is_serving, const char *held)
{
	const struct overview_group one = {.name = slice_of(name),
		.is_serving = is_serving,
		.is_held = held != NULL,
		.held_reason = held,
		.bridge_left_ms = -1};

	overview_group(overview, &one);
}

static void check_ready(struct overview *overview, const char *want, const char *line)
{
	char *reason = NULL, *got;

	assert_int_equal(overview_is_ready(overview, &reason), want == NULL);
	if (want)
		assert_string_equal(reason, want);
	free(reason);
	got = overview_line(overview);
	assert_string_equal(got, line);
	free(got);
}

static void test_ready(void **state)
{
	struct overview *overview = overview_new();

	(void)state;
	check_ready(overview, "the first build is not done yet",
		"waiting: the first build is not done yet");
	overview_source(overview, "No such file or directory");
	check_ready(overview, "the source cannot be read: No such file or directory",
		"waiting: the source cannot be read: No such file or directory");
	overview_source(overview, NULL);
	build(overview, "bad");
	check_ready(overview, "no groups are known: groups.yaml has errors",
		"waiting: no groups are known: groups.yaml has errors");
	order(overview, "edge", "mesh");
	group(overview, "edge", true, NULL);
	check_ready(overview, "group mesh has nothing to serve yet: not built yet",
		"waiting: group mesh has nothing to serve yet: not built yet");
	group(overview, "mesh", false, "1 error");
	check_ready(overview, "group mesh has nothing to serve yet: 1 error",
		"waiting: group mesh has nothing to serve yet: 1 error");
	group(overview, "mesh", true, "1 error");
	check_ready(overview, NULL, "2 groups, 3 resources; 1 held: 1 error");
	group(overview, "mesh", true, NULL);
	overview_files_error(overview, "No space left on device");
	check_ready(
		overview, NULL, "2 groups, 3 resources; published files: No space left on device");
	overview_files_error(overview, NULL);
	order(overview, "edge", NULL);
	overview_group_gone(overview, SLICE("mesh"));
	check_ready(overview, NULL, "1 group, 3 resources");
	overview_free(overview);
}

static void test_document(void **state)
{
	struct overview *overview = overview_new();
	struct overview_group one = {
		.name = SLICE("edge"), .is_serving = true, .bridge_left_ms = 500};
	json_t *document, *edge, *types;

	(void)state;
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		one.counts[type] = 1;
		one.built.is_known[type] = one.rest.is_known[type] = true;
		memset(one.built.versions[type].text, 'b', VERSION_TEXT_LENGTH);
		memset(one.rest.versions[type].text, 'r', VERSION_TEXT_LENGTH);
	}
	order(overview, "edge", NULL);
	overview_group(overview, &one);
	build(overview, "bad");
	document = overview_json(overview);
	assert_true(json_is_true(json_object_get(document, "ready")));
	edge = json_array_get(json_object_get(document, "groups"), 0);
	assert_true(json_is_string(json_object_get(edge, "bridge_until")));
	types = json_object_get(edge, "types");
	assert_int_equal(json_object_size(types), XDS_TYPE_COUNT);
	/* No version of secrets; no version where nothing is known. */
	assert_int_equal(json_object_size(json_object_get(types, "SDS")), 1);
	assert_int_equal(json_object_size(json_object_get(types, "CDS")), 4);
	assert_null(json_object_get(json_object_get(types, "CDS"), "files"));
	assert_string_equal(
		json_string_value(json_array_get(
			json_object_get(json_object_get(document, "diagnostics"), "shown"), 0)),
		"clusters/a.yaml:3:5: error: bad [x]");
	json_decref(document);
	overview_free(overview);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ready),
		cmocka_unit_test(test_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
