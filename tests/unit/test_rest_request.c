/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/rest/rest_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

static const struct limits limits = LIMITS_DEFAULT;

static int parse(struct slice body, struct rest_request *request)
{
	/* An exact copy lets ASan see one byte too far. */
	char *copy = xmalloc(body.length + 1);
	struct buf problem = BUF_INIT;
	int rc;

	memcpy(copy, body.data, body.length);
	rc = rest_request_parse((struct slice){copy, body.length}, &limits, request, &problem);
	assert_int_equal(rc != 0, problem.length != 0);
	if (!rc && request->node.data) {
		char *node = xstrndup(request->node.data, request->node.length);

		free(request->node_copy);
		request->node_copy = node;
		request->node = slice_of(node);
	}
	free(copy);
	buf_fini(&problem);
	return rc;
}

/* S.34 */
static void both_spellings(void **state)
{
	static const char *const bodies[] = {
		"{\"version_info\":\"42\",\"node\":{\"id\":\"fo0\"},\"resource_names\":"
		"[\"cluster0\",\"cluster1\"],\"type_url\":\"T\"}",
		"{\"versionInfo\":\"42\",\"resourceNames\":[\"cluster0\",\"cluster1\"],"
		"\"typeUrl\":\"T\",\"node\" : {\"id\":\"fo0\"} \n}",
		" {\"node\":{\"id\":\"fo0\"}, \"unknown\":{\"node\":{\"id\":\"other\"}},"
		"\"version_info\":\"42\",\"response_nonce\":\"\",\"error_detail\":null,"
		"\"resource_names\":[\"cluster0\",\"cluster1\"],\"type_url\":\"T\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		struct rest_request request;

		assert_int_equal(parse(slice_of(bodies[i]), &request), 0);
		assert_true(slice_is(request.version_info, "42"));
		assert_true(slice_is(request.type_url, "T"));
		assert_int_equal(request.names_count, 2);
		assert_true(slice_is(request.names[0], "cluster0"));
		assert_true(slice_is(request.names[1], "cluster1"));
		assert_true(slice_is(request.node, "{\"id\":\"fo0\"}"));
		rest_request_fini(&request);
	}
}

static void defaults(void **state)
{
	static const char *const bodies[] = {
		"{}",
		"{\"node\":null,\"version_info\":null,\"resource_names\":null,\"type_url\":null}",
		"{\"version_info\":\"\",\"resource_names\":[],\"type_url\":\"\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		struct rest_request request;

		assert_int_equal(parse(slice_of(bodies[i]), &request), 0);
		assert_int_equal(request.version_info.length, 0);
		assert_int_equal(request.type_url.length, 0);
		assert_int_equal(request.names_count, 0);
		assert_null(request.node.data);
		rest_request_fini(&request);
	}
}

/* The node is cut out by a scan; spellings that the scan does not know must still be seen. */
static void an_escaped_node(void **state)
{
	struct rest_request request;

	(void)state;
	assert_int_equal(parse(SLICE("{\"no\\u0064e\":{\"id\":\"x\"}}"), &request), 0);
	assert_true(slice_is(request.node, "{\"id\":\"x\"}"));
	rest_request_fini(&request);
	assert_int_not_equal(
		parse(SLICE("{\"no\\u0064e\":{\"id\":\"x\"},\"node\":{\"id\":\"y\"}}"), &request),
		0);
	assert_int_not_equal(
		parse(SLICE("{\"node\":{\"id\":\"x\"},\"node\":{\"id\":\"y\"}}"), &request), 0);
}

static void nodes(void **state)
{
	static const struct {
		const char *json;
		bool want;
	} rows[] = {
		{"{}", true},
		{"{\"id\":\"x\",\"metadata\":{\"n\":123456789012345678901234567890}}", true},
		{"{\"metadata\":{\"n\":1e20}}", true},
		{"[]", false},
		{"\"x\"", false},
		{"17", false},
		{"{\"id\":}", false},
		{"{\"id\":\"x\",\"id\":\"y\"}", false},
		{"{]", false},
		{"{\"id\":\"\\u0000\"}", false},
		{"{} {}", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf problem = BUF_INIT;
		json_t *node = rest_request_parse_node(slice_of(rows[i].json), &problem);

		assert_int_equal(node != NULL, rows[i].want);
		assert_int_equal(problem.length == 0, rows[i].want);
		json_decref(node);
		buf_fini(&problem);
	}
}

static void bad_bodies(void **state)
{
	static const struct slice bodies[] = {
		SLICE(""),
		SLICE(" "),
		SLICE("{"),
		SLICE("{\"version_info\":\"4"),
		SLICE("{\"version_info\":\"42\","),
		SLICE("}"),
		SLICE("[]"),
		SLICE("null"),
		SLICE("\"x\""),
		SLICE("not JSON"),
		SLICE("version_info: yaml"),
		SLICE("{}{}"),
		SLICE("{\"version_info\":42}"),
		SLICE("{\"version_info\":[\"42\"]}"),
		SLICE("{\"type_url\":{}}"),
		SLICE("{\"resource_names\":\"a\"}"),
		SLICE("{\"resource_names\":[1]}"),
		SLICE("{\"resource_names\":[\"\"]}"),
		SLICE("{\"resource_names\":[\"a\",null]}"),
		SLICE("{\"resource_names\":{\"0\":\"a\"}}"),
		SLICE("{\"version_info\":\"a\",\"versionInfo\":\"b\"}"),
		SLICE("{\"version_info\":\"a\",\"version_info\":\"b\"}"),
		SLICE("{\"type_url\":\"\xff\xfe\"}"),
		SLICE("{\"type_url\":\"\xc0\x80\"}"),
		SLICE("{\"type_url\":\"\xed\xa0\x80\"}"),
		SLICE("{\"type_url\":\"a\0b\"}"),
		SLICE("{\"type_url\":\"a\\u0000b\"}"),
		SLICE("\0"),
		SLICE("{\"node\":{\"id\":\"x\""),
		SLICE("{\"node\":{\"id\":\"x\"},,}"),
		SLICE("\x0a\x05hello"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		struct rest_request request;

		if (parse(bodies[i], &request) == 0)
			fail_msg("body %zu was accepted", i);
	}
}

static struct slice nested(
	struct buf *text, const char *before, size_t depth, const char *open, const char *close)
{
	buf_reset(text);
	buf_puts(text, before);
	for (size_t i = 0; i < depth; i++)
		buf_puts(text, open);
	buf_puts(text, "1");
	for (size_t i = 0; i < depth; i++)
		buf_puts(text, close);
	buf_puts(text, "}");
	return buf_slice(text);
}

static void depth_is_bounded(void **state)
{
	struct buf text = BUF_INIT;
	struct rest_request request;

	(void)state;
	assert_int_equal(parse(nested(&text, "{\"x\":", 99, "[", "]"), &request), 0);
	rest_request_fini(&request);
	assert_int_not_equal(parse(nested(&text, "{\"x\":", 100, "[", "]"), &request), 0);
	assert_int_not_equal(parse(nested(&text, "{\"x\":", 1000000, "[", "]"), &request), 0);
	assert_int_not_equal(
		parse(nested(&text, "{\"node\":", 500000, "{\"a\":", "}"), &request), 0);
	/* Brackets in strings are no nesting. */
	buf_reset(&text);
	buf_puts(&text, "{\"x\":\"\\\"");
	buf_fill(&text, '[', 1000);
	buf_puts(&text, "\"}");
	assert_int_equal(parse(buf_slice(&text), &request), 0);
	rest_request_fini(&request);
	buf_fini(&text);
}

static void names_are_bounded(void **state)
{
	struct buf text = BUF_INIT;
	struct rest_request request;

	(void)state;
	for (int more = 0; more < 2; more++) {
		buf_reset(&text);
		buf_puts(&text, "{\"resource_names\":[\"a\"");
		for (uint64_t i = 1; i < limits.request_names + (uint64_t)more; i++)
			buf_puts(&text, ",\"a\"");
		buf_puts(&text, "]}");
		assert_int_equal(parse(buf_slice(&text), &request) == 0, !more);
		rest_request_fini(&request);
		buf_reset(&text);
		buf_puts(&text, "{\"resource_names\":[\"");
		buf_fill(&text, 'n', limits.resource_name_bytes + (size_t)more);
		buf_puts(&text, "\"]}");
		assert_int_equal(parse(buf_slice(&text), &request) == 0, !more);
		rest_request_fini(&request);
	}
	/* So are values of any kind: a parser spends many times their bytes. */
	buf_reset(&text);
	buf_puts(&text, "{\"x\":[0");
	for (int i = 0; i < 600000; i++)
		buf_puts(&text, ",0");
	buf_puts(&text, "]}");
	assert_int_not_equal(parse(buf_slice(&text), &request), 0);
	buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_spellings),
		cmocka_unit_test(defaults),
		cmocka_unit_test(an_escaped_node),
		cmocka_unit_test(nodes),
		cmocka_unit_test(bad_bodies),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(names_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
