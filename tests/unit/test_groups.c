/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a good groups.yaml means; what is wrong with bad ones is in tests/data/compile/groups_*. */
#include "compile/groups.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "compile/compile.h"

static struct groups *read_good(const char *text)
{
	struct diag_list *diags = diag_list_new(0);
	struct groups *groups = NULL;
	int error = groups_read("groups.yaml", slice_of(text), NULL, NULL, diags, &groups);

	for (size_t i = 0; i < diag_list_count(diags); i++)
		print_message("# %s\n", diag_list_get(diags, i)->text);
	assert_int_equal(error, 0);
	assert_int_equal(diag_list_count(diags), 0);
	diag_list_free(diags);
	return groups;
}

static void test_shape(void **state)
{
	struct groups *groups = read_good("groups:\n"
					  "- name: 1st.edge_a-b\n"
					  "  layers: [./a//b/, .]\n"
					  "  match: {id: x}\n"
					  "  allow_empty: true\n"
					  "- {name: rest, layers: [a]}\n"
					  "isolate: tree\n");

	(void)state;
	assert_int_equal(groups->count, 2);
	assert_true(groups->isolate_tree);
	assert_false(groups->is_default);
	assert_string_equal(groups->entries[0].name, "1st.edge_a-b");
	assert_int_equal(groups->entries[0].at.line, 2);
	assert_int_equal(groups->entries[0].layers_count, 2);
	assert_true(slice_is(groups->entries[0].layers[0].path, "a/b"));
	assert_true(slice_is(groups->entries[0].layers[1].path, ""));
	assert_int_equal(groups->entries[0].layers[1].at.column, 21);
	assert_true(groups->entries[0].allow_empty);
	assert_null(groups->entries[1].match);
	groups_free(groups);
}

/* Reads one group with this match and says whether it takes the node. */
static bool takes(const char *match, const char *node)
{
	char text[1024];
	struct groups *groups;
	json_t *json = json_loads(node, 0, NULL);
	int chosen;

	assert_non_null(json);
	snprintf(text, sizeof(text), "groups: [{name: a, layers: [.], match: %s}]", match);
	groups = read_good(text);
	chosen = selector_select(groups->selector, json);
	json_decref(json);
	groups_free(groups);
	return chosen == 0;
}

static void test_matches(void **state)
{
	(void)state;
	assert_true(takes("{id: a}", "{\"id\": \"a\"}"));
	assert_false(takes("{id: a}", "{\"id\": \"ab\"}"));
	assert_false(takes("{id: a}", "{}"));
	/* A scalar in a text field is text, whatever YAML would make of it elsewhere. */
	assert_true(takes("{id: 1.10}", "{\"id\": \"1.10\"}"));
	assert_true(takes("{cluster: true}", "{\"cluster\": \"true\"}"));
	/* Keys are ANDed, entries ORed. */
	assert_true(takes("{id: [a, b], cluster: c}", "{\"id\": \"b\", \"cluster\": \"c\"}"));
	assert_false(takes("{id: [a, b], cluster: c}", "{\"id\": \"b\", \"cluster\": \"d\"}"));
	assert_true(takes("[{id: a}, {cluster: c}]", "{\"cluster\": \"c\"}"));
	/* Comparisons. */
	assert_true(takes("{id: {prefix: a, suffix: z}}", "{\"id\": \"abcz\"}"));
	assert_false(takes("{id: {prefix: a, suffix: z}}", "{\"id\": \"abc\"}"));
	assert_true(takes("{id: {contains: B, ignore_case: true}}", "{\"id\": \"abc\"}"));
	assert_false(takes("{id: {contains: B}}", "{\"id\": \"abc\"}"));
	assert_true(takes("{id: {exact: ABC, ignore_case: true}}", "{\"id\": \"abc\"}"));
}

static void test_matches_in_depth(void **state)
{
	(void)state;
	assert_true(takes("{locality: {sub_zone: z}}", "{\"locality\": {\"subZone\": \"z\"}}"));
	assert_true(takes("{locality: {subZone: z}}", "{\"locality\": {\"sub_zone\": \"z\"}}"));
	assert_true(takes("{userAgentName: envoy}", "{\"user_agent_name\": \"envoy\"}"));
	assert_true(takes("{user_agent_build_version: {version: {major_number: 1}}}",
		"{\"user_agent_build_version\": {\"version\": {\"major_number\": 1}}}"));
	assert_true(takes("{client_features: a.b}", "{\"client_features\": [\"x\", \"a.b\"]}"));

	/* Metadata is free: numbers and booleans are themselves there. */
	assert_true(takes("{metadata: {canary: false}}", "{\"metadata\": {\"canary\": false}}"));
	assert_false(
		takes("{metadata: {canary: false}}", "{\"metadata\": {\"canary\": \"false\"}}"));
	assert_true(takes(
		"{metadata: {canary: \"false\"}}", "{\"metadata\": {\"canary\": \"false\"}}"));
	assert_true(takes("{metadata: {shard: 3}}", "{\"metadata\": {\"shard\": 3.0}}"));
	assert_true(takes(
		"{metadata: {a: {b: {prefix: x}}}}", "{\"metadata\": {\"a\": {\"b\": \"xy\"}}}"));
	/* The first level of metadata is names, also when they look like comparisons. */
	assert_true(takes("{metadata: {prefix: x}}", "{\"metadata\": {\"prefix\": \"x\"}}"));
	assert_false(takes("{metadata: {sub_zone: x}}", "{\"metadata\": {\"subZone\": \"x\"}}"));
}

static void test_default(void **state)
{
	struct groups *groups = groups_new_default();
	struct selector *selector;

	(void)state;
	assert_true(groups->is_default);
	assert_true(groups_text_is_default(groups->text));
	assert_false(groups_text_is_default(SLICE("groups: []")));
	assert_int_equal(compile_selector(groups->text, &selector), 0);
	assert_int_equal(selector_select(selector, NULL), 0);
	selector_unref(selector);
	groups_free(groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shape),
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_matches_in_depth),
		cmocka_unit_test(test_default),
	};

	return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
