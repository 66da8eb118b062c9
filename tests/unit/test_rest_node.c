/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/rest/rest_node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define EDGE "{\"id\":\"1\",\"cluster\":\"edge\"}"

/* One group that takes the nodes of one cluster. */
static struct selector *one_group(const char *group, const char *cluster)
{
	struct match exact = {.kind = MATCH_EXACT, .text = slice_of(cluster)};
	struct match field = {.kind = MATCH_FIELD,
		.text = SLICE("cluster"),
		.children = &exact,
		.children_count = 1};
	struct selector_builder *builder = selector_begin();

	selector_add(builder, group, &field);
	return selector_finish(builder);
}

static struct rest_node *get(struct rest_node_table *table, const char *json)
{
	struct rest_node *node = NULL;
	struct buf problem = BUF_INIT;
	struct slice text = json ? slice_of(json) : (struct slice){NULL, 0};

	if (rest_node_get(table, text, &node, &problem))
		assert_true(problem.length > 0);
	buf_fini(&problem);
	return node;
}

static void shared_by_bytes(void **state)
{
	struct rest_node_table table;
	struct rest_node *a, *b, *c, *none;

	(void)state;
	rest_node_table_init(&table);
	assert_true(rest_node_table_set_selector(&table, one_group("g", "edge")));
	a = get(&table, EDGE);
	b = get(&table, EDGE);
	c = get(&table, "{\"id\":\"1\", \"cluster\":\"edge\"}");
	none = get(&table, NULL);
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	assert_ptr_not_equal(a, none);
	assert_string_equal(a->id, "1");
	assert_string_equal(a->cluster, "edge");
	assert_string_equal(a->group->text, "g");
	assert_string_equal(c->group->text, "g");
	assert_null(none->group);
	assert_int_equal(table.nodes.count, 3);
	assert_null(get(&table, "{\"id\":"));
	assert_null(get(&table, "[]"));
	assert_int_equal(table.nodes.count, 3);
	rest_node_unref(&table, a);
	rest_node_unref(&table, b);
	rest_node_unref(&table, c);
	rest_node_unref(&table, none);
	assert_int_equal(table.nodes.count, 0);
	rest_node_table_fini(&table);
}

static void follows_the_selector(void **state)
{
	struct rest_node_table table;
	struct rest_node *node;

	(void)state;
	rest_node_table_init(&table);
	assert_true(rest_node_table_set_selector(&table, one_group("g", "edge")));
	node = get(&table, EDGE);
	assert_false(rest_node_table_set_selector(&table, one_group("g", "edge")));
	assert_true(rest_node_table_set_selector(&table, one_group("h", "edge")));
	assert_ptr_equal(get(&table, EDGE), node);
	assert_string_equal(node->group->text, "h");
	assert_true(rest_node_table_set_selector(&table, one_group("h", "core")));
	assert_ptr_equal(get(&table, EDGE), node);
	assert_null(node->group);
	for (int i = 0; i < 3; i++)
		rest_node_unref(&table, node);
	rest_node_table_fini(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_by_bytes),
		cmocka_unit_test(follows_the_selector),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
