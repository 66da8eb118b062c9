/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A REST client's body: parsing it, its node, and finding its group never fails badly; the cut-out
 * node and the whole document agree with a parser that sees everything at once. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "serve/rest/json_indent.h"
#include "serve/rest/rest_node.h"
#include "serve/rest/rest_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct selector *make_selector(void)
{
	struct match exact = {.kind = MATCH_EXACT, .text = SLICE("edge")};
	struct match field = {.kind = MATCH_FIELD,
		.text = SLICE("cluster"),
		.children = &exact,
		.children_count = 1};
	struct selector_builder *builder = selector_begin();

	selector_add(builder, "edge", &field);
	selector_add(builder, "rest", NULL);
	return selector_finish(builder);
}

/* An accepted body is valid JSON as a whole, and its node is the one a parser finds. */
static void check(struct slice body, const struct rest_request *request)
{
	json_t *whole = json_loadb(
		body.data, body.length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);
	json_t *node = NULL;

	if (request->node.data)
		node = json_loadb(request->node.data, request->node.length,
			JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL | JSON_DECODE_ANY, NULL);
	/* Only the node may be broken here: it is parsed when its group is looked up. */
	if (request->node.data && !node) {
		assert(!whole);
	} else {
		assert(whole && json_is_object(whole));
		assert(!node || json_equal(node, json_object_get(whole, "node")));
	}
	json_decref(node);
	json_decref(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct limits limits = LIMITS_DEFAULT;
	struct slice body = {(const char *)data, size};
	struct rest_request request;
	struct buf problem = BUF_INIT, indented = BUF_INIT;

	if (rest_request_parse(body, &limits, &request, &problem) == 0) {
		struct rest_node_table table;
		struct rest_node *node;

		check(body, &request);
		rest_node_table_init(&table);
		rest_node_table_set_selector(&table, make_selector());
		for (int again = 0; again < 2; again++)
			if (rest_node_get(&table, request.node, &node, &problem) == 0)
				rest_node_unref(&table, node);
		rest_node_table_fini(&table);
		rest_request_fini(&request);
	} else {
		assert(problem.length > 0);
	}
	json_indent(body, &indented);
	buf_fini(&indented);
	buf_fini(&problem);
	return 0;
}
