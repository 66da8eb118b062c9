/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_admission.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct selector *edges_only(void)
{
	struct match prefix = {.kind = MATCH_PREFIX, .text = SLICE("edge-")};
	struct match field = {.kind = MATCH_FIELD,
		.text = SLICE("cluster"),
		.children = &prefix,
		.children_count = 1};
	struct selector_builder *builder = selector_begin();

	selector_add(builder, "edge", &field);
	return selector_finish(builder);
}

static struct xds_admission admit(const struct selector *selector, const char *json)
{
	json_t *node = json ? json_loads(json, 0, NULL) : NULL;
	struct xds_admission admission = xds_admission_of(selector, node);

	json_decref(node);
	return admission;
}

static void test_groups(void **state)
{
	struct selector *selector = edges_only();
	struct xds_admission admission;

	(void)state;
	admission = admit(selector, "{\"id\": \"a\", \"cluster\": \"edge-1\"}");
	assert_int_equal(admission.status, XDS_STATUS_OK);
	assert_int_equal(admission.group, 0);
	admission = admit(selector, "{\"id\": \"a\\n\", \"cluster\": \"other\"}");
	assert_int_equal(admission.status, XDS_STATUS_PERMISSION_DENIED);
	assert_int_equal(admission.group, -1);
	assert_string_equal(
		admission.problem, "no group matches node id \"a\\n\", cluster \"other\"");
	/* S.62 */
	admission = admit(selector, NULL);
	assert_int_equal(admission.status, XDS_STATUS_INVALID_ARGUMENT);
	assert_string_equal(admission.problem, "the first message has no node");
	admission = admit(NULL, "{}");
	assert_int_equal(admission.status, XDS_STATUS_UNAVAILABLE);
	selector_unref(selector);
}

static void test_without_a_node_where_everyone_is_served(void **state)
{
	struct selector_builder *builder = selector_begin();
	struct selector *selector;

	(void)state;
	selector_add(builder, "all", NULL);
	selector = selector_finish(builder);
	assert_int_equal(admit(selector, NULL).group, 0);
	selector_unref(selector);
}

static void test_s83_what_the_client_understands(void **state)
{
	struct selector_builder *builder = selector_begin();
	struct selector *selector;

	(void)state;
	selector_add(builder, "all", NULL);
	selector = selector_finish(builder);
	assert_true(admit(selector, "{\"user_agent_name\": \"envoy\"}").client.unwraps_resources);
	assert_true(admit(selector, "{\"userAgentName\": \"envoy\"}").client.unwraps_resources);
	assert_false(admit(selector, "{\"user_agent_name\": 7}").client.unwraps_resources);
	assert_true(admit(selector, "{\"user_agent_name\": \"gRPC Go\", \"client_features\": "
				    "[1, \"xds.config.resource-in-sotw\"]}")
			    .client.unwraps_resources);
	assert_false(admit(selector, "{\"user_agent_name\": \"gRPC Go\", \"clientFeatures\": "
				     "[\"envoy.lb.does_not_support_overprovisioning\"]}")
			     .client.unwraps_resources);
	selector_unref(selector);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_without_a_node_where_everyone_is_served),
		cmocka_unit_test(test_s83_what_the_client_understands),
	};

	return cmocka_run_group_tests_name("xds_admission", tests, NULL, NULL);
}
