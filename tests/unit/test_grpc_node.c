/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/mem.h"

/* id "a", cluster "edge", then what is not kept: extensions { name: "e" }. */
#define KEPT                                                                                       \
	"\x0a\x01"                                                                                 \
	"a"                                                                                        \
	"\x12\x04"                                                                                 \
	"edge"
#define WHOLE                                                                                      \
	KEPT "\x4a\x03\x0a\x01"                                                                    \
	     "e"

static unsigned conversions;

/* Stands for the schema: knows what the test's nodes mean. */
static json_t *convert(void *ctx, struct slice node, char *problem, size_t problem_size)
{
	(void)ctx;
	conversions++;
	if (slice_equal(node, SLICE(KEPT))) /* never the whole: most of it would be for nothing */
		return json_pack("{s:s,s:s}", "id", "a", "cluster", "edge");
	if (node.length == 0 || node.length > 1000)
		return json_object();
	strncpy(problem, "no node", problem_size);
	return NULL;
}

static const struct grpc_schema schema = {.node = convert};

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

struct fixture {
	struct grpc_node_table table;
	struct grpc_node *node;
	struct grpc_node_names names;
};

static void open(struct fixture *fixture, struct selector *selector)
{
	conversions = 0;
	grpc_node_table_init(&fixture->table, &schema);
	if (selector)
		assert_true(grpc_node_table_set_selector(&fixture->table, selector));
}

static struct xds_admission admit(struct fixture *fixture, struct slice bytes)
{
	return grpc_node_admit(&fixture->table, bytes, &fixture->node, &fixture->names);
}

static void shared_and_stripped(void **state)
{
	struct fixture fixture;
	struct grpc_node *first;

	(void)state;
	open(&fixture, one_group("g", "edge"));
	assert_int_equal(admit(&fixture, SLICE(WHOLE)).status, XDS_STATUS_OK);
	first = fixture.node;
	assert_string_equal(first->group->text, "g");
	assert_string_equal(first->id, "a");
	assert_string_equal(first->cluster, "edge");
	assert_true(slice_equal((struct slice){first->bytes, first->length}, SLICE(KEPT)));
	/* Again: no parsing. */
	assert_int_equal(admit(&fixture, SLICE(WHOLE)).status, XDS_STATUS_OK);
	assert_ptr_equal(fixture.node, first);
	assert_int_equal(conversions, 1);
	grpc_node_unref(&fixture.table, first);
	assert_int_equal(fixture.table.nodes.count, 1);
	grpc_node_unref(&fixture.table, first);
	grpc_node_table_fini(&fixture.table);
}

static void refused(void **state)
{
	struct fixture fixture;
	struct xds_admission admission;

	(void)state;
	open(&fixture, NULL);
	/* Nothing was built yet: not even parsed. */
	assert_int_equal(admit(&fixture, SLICE(WHOLE)).status, XDS_STATUS_UNAVAILABLE);
	assert_int_equal(conversions, 0);
	assert_true(grpc_node_table_set_selector(&fixture.table, one_group("g", "mesh")));
	admission = admit(&fixture, SLICE(WHOLE));
	assert_int_equal(admission.status, XDS_STATUS_PERMISSION_DENIED);
	assert_string_equal(fixture.names.id, "a");
	assert_string_equal(fixture.names.cluster, "edge");
	assert_null(fixture.node);
	admission = admit(&fixture, SLICE("?"));
	assert_int_equal(admission.status, XDS_STATUS_INVALID_ARGUMENT);
	assert_string_equal(admission.problem, "the node is no protobuf message");
	admission = admit(&fixture, SLICE("\x0a\x01?"));
	assert_int_equal(admission.status, XDS_STATUS_INVALID_ARGUMENT);
	assert_string_equal(admission.problem, "no node");
	/* S.62: none at all is another thing than an empty one. */
	admission = admit(&fixture, (struct slice){NULL, 0});
	assert_int_equal(admission.status, XDS_STATUS_INVALID_ARGUMENT);
	admission = admit(&fixture, SLICE(""));
	assert_int_equal(admission.status, XDS_STATUS_PERMISSION_DENIED);
	grpc_node_table_fini(&fixture.table);
}

static void other_groups(void **state)
{
	struct fixture fixture;
	struct grpc_node *node;

	(void)state;
	open(&fixture, one_group("g", "edge"));
	assert_int_equal(admit(&fixture, SLICE(WHOLE)).status, XDS_STATUS_OK);
	node = fixture.node;
	/* The same groups from another build: nothing to look at. */
	assert_false(grpc_node_table_set_selector(&fixture.table, one_group("g", "edge")));
	assert_true(grpc_node_table_set_selector(&fixture.table, one_group("h", "edge")));
	assert_int_equal(grpc_node_admit_again(&fixture.table, node).status, XDS_STATUS_OK);
	assert_string_equal(node->group->text, "h");
	assert_true(grpc_node_table_set_selector(&fixture.table, one_group("h", "mesh")));
	assert_int_equal(
		grpc_node_admit_again(&fixture.table, node).status, XDS_STATUS_PERMISSION_DENIED);
	assert_null(node->group);
	grpc_node_unref(&fixture.table, node);
	grpc_node_table_fini(&fixture.table);
}

static void too_large(void **state)
{
	struct fixture fixture;
	size_t length = GRPC_NODE_BYTES + 1;
	AUTO_FREE char *bytes = xcalloc(1, length + 4);
	struct selector_builder *builder = selector_begin();
	struct slice node = {bytes, length + 4};

	(void)state;
	selector_add(builder, "g", NULL);
	open(&fixture, selector_finish(builder));
	/* An id of more than 128 KiB. */
	memcpy(bytes, "\x0a\x81\x80\x08", 4);
	assert_int_equal(admit(&fixture, node).status, XDS_STATUS_RESOURCE_EXHAUSTED);
	assert_null(fixture.node);
	/* Extensions of the same size are nothing that we keep. */
	bytes[0] = 0x4a;
	assert_int_equal(admit(&fixture, node).status, XDS_STATUS_OK);
	assert_int_equal(fixture.node->length, 0);
	grpc_node_unref(&fixture.table, fixture.node);
	grpc_node_table_fini(&fixture.table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_and_stripped),
		cmocka_unit_test(refused),
		cmocka_unit_test(other_groups),
		cmocka_unit_test(too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
