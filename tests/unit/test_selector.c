/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/selector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/mem.h"

#define EXACT(text_)                                                                               \
	{                                                                                          \
		.kind = MATCH_EXACT, .text = SLICE(text_)                                          \
	}
#define PREFIX(text_)                                                                              \
	{                                                                                          \
		.kind = MATCH_PREFIX, .text = SLICE(text_)                                         \
	}
#define SUFFIX(text_)                                                                              \
	{                                                                                          \
		.kind = MATCH_SUFFIX, .text = SLICE(text_)                                         \
	}
#define CONTAINS(text_)                                                                            \
	{                                                                                          \
		.kind = MATCH_CONTAINS, .text = SLICE(text_)                                       \
	}
#define NUMBER(value_)                                                                             \
	{                                                                                          \
		.kind = MATCH_NUMBER, .number = (value_)                                           \
	}
#define BOOL(value_)                                                                               \
	{                                                                                          \
		.kind = MATCH_BOOL, .boolean = (value_)                                            \
	}
#define LIST(kind_, ...)                                                                           \
	{                                                                                          \
		.kind = (kind_), .children = (struct match[]){__VA_ARGS__},                        \
		.children_count = sizeof((struct match[]){__VA_ARGS__}) / sizeof(struct match)     \
	}
#define FIELD(name_, ...)                                                                          \
	{                                                                                          \
		.kind = MATCH_FIELD, .text = SLICE(name_),                                         \
		.children = (struct match[]){__VA_ARGS__}, .children_count = 1                     \
	}

static int select_in(const struct selector *selector, const char *node)
{
	json_t *json = node ? json_loads(node, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;
	int index;

	assert_true(!node || json);
	index = selector_select(selector, json);
	json_decref(json);
	return index;
}

static bool accepts(const struct match *match, const char *node)
{
	struct selector_builder *builder = selector_begin();
	struct selector *selector;
	int index;

	selector_add(builder, "g", match);
	selector = selector_finish(builder);
	index = select_in(selector, node);
	selector_unref(selector);
	return index == 0;
}

static void test_leaves(void **state)
{
	(void)state;
	struct match prefix = FIELD("cluster", PREFIX("edge-"));
	struct match suffix = FIELD("id", SUFFIX(".eu"));
	struct match contains = FIELD("id", CONTAINS("mid"));
	struct match exact = FIELD("cluster", EXACT("edge"));
	struct match empty = FIELD("cluster", PREFIX(""));

	assert_true(accepts(&prefix, "{\"cluster\":\"edge-1\"}"));
	assert_true(accepts(&prefix, "{\"cluster\":\"edge-\"}"));
	assert_false(accepts(&prefix, "{\"cluster\":\"edge\"}"));
	assert_false(accepts(&prefix, "{\"cluster\":1}"));
	assert_false(accepts(&prefix, "{\"id\":\"edge-1\"}"));
	assert_true(accepts(&suffix, "{\"id\":\"a.eu\"}"));
	assert_false(accepts(&suffix, "{\"id\":\"a.eu2\"}"));
	assert_true(accepts(&contains, "{\"id\":\"amidst\"}"));
	assert_true(accepts(&contains, "{\"id\":\"mid\"}"));
	assert_false(accepts(&contains, "{\"id\":\"mi-d\"}"));
	assert_true(accepts(&exact, "{\"cluster\":\"edge\"}"));
	assert_false(accepts(&exact, "{\"cluster\":\"Edge\"}"));
	assert_false(accepts(&exact, "{\"cluster\":\"edge\\u0000\"}"));
	assert_true(accepts(&empty, "{\"cluster\":\"\"}"));
	assert_false(accepts(&empty, "{}"));
}

static void test_ignore_case(void **state)
{
	struct match leaf = {.kind = MATCH_CONTAINS, .text = SLICE("EdGe"), .ignore_case = true};
	struct match match = {
		.kind = MATCH_FIELD, .text = SLICE("id"), .children = &leaf, .children_count = 1};

	(void)state;
	assert_true(accepts(&match, "{\"id\":\"my-eDgE-1\"}"));
	assert_false(accepts(&match, "{\"id\":\"my-ed-ge\"}"));
}

static void test_both_spellings_of_field_names(void **state)
{
	struct match zone = FIELD("locality", FIELD("sub_zone", EXACT("a")));
	struct match camel = FIELD("userAgentName", EXACT("envoy"));

	(void)state;
	assert_true(accepts(&zone, "{\"locality\":{\"sub_zone\":\"a\"}}"));
	assert_true(accepts(&zone, "{\"locality\":{\"subZone\":\"a\"}}"));
	assert_true(accepts(&camel, "{\"user_agent_name\":\"envoy\"}"));
	assert_true(accepts(&camel, "{\"userAgentName\":\"envoy\"}"));
	assert_false(accepts(&camel, "{\"useragentname\":\"envoy\"}"));
}

static void test_metadata_is_plain_json(void **state)
{
	struct match text = FIELD("metadata", FIELD("my_key", EXACT("v")));
	struct match flag = FIELD("metadata", FIELD("canary", BOOL(false)));
	struct match number = FIELD("metadata", FIELD("shard", NUMBER(3)));
	struct match deep = FIELD("metadata", FIELD("a", FIELD("b_c", NUMBER(1.5))));

	(void)state;
	assert_true(accepts(&text, "{\"metadata\":{\"my_key\":\"v\"}}"));
	assert_false(accepts(&text, "{\"metadata\":{\"myKey\":\"v\"}}"));
	assert_true(accepts(&flag, "{\"metadata\":{\"canary\":false}}"));
	assert_false(accepts(&flag, "{\"metadata\":{\"canary\":true}}"));
	assert_false(accepts(&flag, "{\"metadata\":{\"canary\":\"false\"}}"));
	assert_false(accepts(&flag, "{\"metadata\":{}}"));
	assert_true(accepts(&number, "{\"metadata\":{\"shard\":3}}"));
	assert_true(accepts(&number, "{\"metadata\":{\"shard\":3.0}}"));
	assert_false(accepts(&number, "{\"metadata\":{\"shard\":\"3\"}}"));
	assert_true(accepts(&deep, "{\"metadata\":{\"a\":{\"b_c\":1.5}}}"));
	assert_false(accepts(&deep, "{\"metadata\":{\"a\":[]}}"));
	assert_false(accepts(&deep, "{\"metadata\":null}"));
}

static void test_and_or(void **state)
{
	struct match match = LIST(MATCH_ALL, FIELD("cluster", PREFIX("edge-")),
		LIST(MATCH_ANY, FIELD("id", EXACT("a")), FIELD("id", EXACT("b"))));
	struct match one_of = FIELD("cluster", LIST(MATCH_ANY, EXACT("x"), SUFFIX("y")));

	(void)state;
	assert_true(accepts(&match, "{\"cluster\":\"edge-1\",\"id\":\"b\"}"));
	assert_false(accepts(&match, "{\"cluster\":\"edge-1\",\"id\":\"c\"}"));
	assert_false(accepts(&match, "{\"cluster\":\"core\",\"id\":\"a\"}"));
	assert_true(accepts(&one_of, "{\"cluster\":\"aay\"}"));
	assert_false(accepts(&one_of, "{\"cluster\":\"xx\"}"));
}

static void test_a_list_in_the_node(void **state)
{
	struct match feature = FIELD("client_features", EXACT("b"));
	struct match both = FIELD("metadata",
		FIELD("l", LIST(MATCH_ALL, FIELD("a", NUMBER(1)), FIELD("b", NUMBER(2)))));

	(void)state;
	assert_true(accepts(&feature, "{\"client_features\":[\"a\",\"b\"]}"));
	assert_false(accepts(&feature, "{\"client_features\":[\"a\"]}"));
	assert_false(accepts(&feature, "{\"client_features\":[]}"));
	assert_true(accepts(&both, "{\"metadata\":{\"l\":[{},{\"a\":1,\"b\":2}]}}"));
	/* one element must satisfy all */
	assert_false(accepts(&both, "{\"metadata\":{\"l\":[{\"a\":1},{\"b\":2}]}}"));
}

static void test_first_match_wins_and_no_node(void **state)
{
	struct match edge = FIELD("cluster", PREFIX("edge"));
	struct match edge2 = FIELD("cluster", PREFIX("edge2"));
	struct selector_builder *builder = selector_begin();
	struct selector *selector;

	(void)state;
	selector_add(builder, "one", &edge);
	selector_add(builder, "two", &edge2);
	selector_add(builder, "rest", NULL);
	selector = selector_ref(selector_finish(builder));
	selector_unref(selector);
	assert_int_equal(selector_count(selector), 3);
	assert_string_equal(selector_group(selector, 2)->text, "rest");
	assert_int_equal(selector_find(selector, SLICE("two")), 1);
	assert_int_equal(selector_find(selector, SLICE("tw")), -1);
	assert_int_equal(select_in(selector, "{\"cluster\":\"edge2\"}"), 0);
	assert_int_equal(select_in(selector, "{\"cluster\":\"core\"}"), 2);
	assert_int_equal(select_in(selector, "{}"), 2);
	assert_int_equal(select_in(selector, NULL), -1);
	assert_int_equal(select_in(selector, "[]"), -1);
	selector_unref(selector);

	builder = selector_begin();
	selector_add(builder, "one", &edge);
	selector = selector_finish(builder);
	assert_int_equal(select_in(selector, "{\"cluster\":\"core\"}"), -1);
	assert_int_equal(select_in(selector, NULL), -1);
	selector_unref(selector);

	builder = selector_begin();
	selector_add(builder, "default", NULL);
	selector = selector_finish(builder);
	assert_int_equal(select_in(selector, NULL), 0);
	selector_unref(selector);

	selector = selector_finish(selector_begin());
	assert_int_equal(select_in(selector, "{}"), -1);
	selector_unref(selector);
	selector_unref(NULL);
}

/* A hostile node: lists 1,900 deep (the JSON reader stops at 2,048) must not exhaust the stack. */
static void test_depth_is_bounded(void **state)
{
	struct match match = FIELD("metadata", FIELD("a", EXACT("x")));
	char text[8192];
	size_t length = 0;

	(void)state;
	length += (size_t)sprintf(text, "{\"metadata\":{\"a\":");
	memset(text + length, '[', 1900);
	length += 1900;
	memcpy(text + length, "\"x\"", 3);
	length += 3;
	memset(text + length, ']', 1900);
	length += 1900;
	strcpy(text + length, "}}");
	assert_false(accepts(&match, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_ignore_case),
		cmocka_unit_test(test_both_spellings_of_field_names),
		cmocka_unit_test(test_metadata_is_plain_json),
		cmocka_unit_test(test_and_or),
		cmocka_unit_test(test_a_list_in_the_node),
		cmocka_unit_test(test_first_match_wins_and_no_node),
		cmocka_unit_test(test_depth_is_bounded),
	};

	return cmocka_run_group_tests_name("selector", tests, NULL, NULL);
}
