/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_matcher.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mem.h"

/* NodeMatcher{node_id: StringMatcher{...}}; literals are short enough for one byte of length. */
#define NODE_ID(length) "\x0a" length

struct reading {
	struct slice bytes;
	int error;
	enum grpc_matcher_kind kind;
};

static const struct reading readings[] = {
	{SLICE(NODE_ID("\x03") "\x0a\x01"
			       "a"),
		0, GRPC_MATCH_EXACT},
	{SLICE(NODE_ID("\x03") "\x12\x01"
			       "a"),
		0, GRPC_MATCH_PREFIX},
	{SLICE(NODE_ID("\x03") "\x1a\x01"
			       "a"),
		0, GRPC_MATCH_SUFFIX},
	{SLICE(NODE_ID("\x03") "\x3a\x01"
			       "a"),
		0, GRPC_MATCH_CONTAINS},
	{SLICE(NODE_ID("\x05") "\x0a\x01"
			       "a\x30\x01"),
		0, GRPC_MATCH_EXACT},
	/* safe_regex */
	{SLICE(NODE_ID("\x05") "\x2a\x03\x12\x01"
			       "a"),
		-ENOTSUP, GRPC_MATCH_ANY},
	/* node_metadatas */
	{SLICE("\x12\x00"), -ENOTSUP, GRPC_MATCH_ANY},
	{SLICE(NODE_ID("\x03") "\x0a\x01"
			       "a"
			       "\x12\x00"),
		-ENOTSUP, GRPC_MATCH_ANY},
	/* nothing to match, or no message */
	{SLICE(""), -EINVAL, GRPC_MATCH_ANY},
	{SLICE(NODE_ID("\x00")), -EINVAL, GRPC_MATCH_ANY},
	{SLICE(NODE_ID("\x02") "\x30\x01"), -EINVAL, GRPC_MATCH_ANY},
	{SLICE(NODE_ID("\x03") "\x0a\x02"
			       "a"),
		-EINVAL, GRPC_MATCH_ANY},
	{SLICE("\x0a\x7f"), -EINVAL, GRPC_MATCH_ANY},
};

static void reads(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
		struct grpc_matcher *matcher = xcalloc(1, sizeof(*matcher));
		char problem[256] = "";
		int error = grpc_matcher_read(readings[i].bytes, matcher, problem, sizeof(problem));

		assert_int_equal(error, readings[i].error);
		assert_int_equal(error == 0, problem[0] == '\0');
		if (!error) {
			assert_int_equal(matcher->kind, readings[i].kind);
			assert_true(slice_is(matcher->text, "a"));
		}
		grpc_matchers_free(matcher, error == 0);
	}
}

static bool match(enum grpc_matcher_kind kind, bool ignore_case, const char *text)
{
	/* id "Edge-1", cluster "x" */
	const struct slice node = SLICE("\x0a\x06"
					"Edge-1\x12\x01x");
	const struct grpc_matcher matcher = {
		.kind = kind, .ignore_case = ignore_case, .text = slice_of(text)};

	return grpc_matchers_match(&matcher, 1, node);
}

static void matches(void **state)
{
	(void)state;
	assert_true(match(GRPC_MATCH_EXACT, false, "Edge-1"));
	assert_false(match(GRPC_MATCH_EXACT, false, "edge-1"));
	assert_true(match(GRPC_MATCH_EXACT, true, "edge-1"));
	assert_false(match(GRPC_MATCH_EXACT, false, "Edge-12"));
	assert_false(match(GRPC_MATCH_EXACT, false, "Edge-"));
	assert_true(match(GRPC_MATCH_PREFIX, false, "Edge"));
	assert_false(match(GRPC_MATCH_PREFIX, false, "dge"));
	assert_true(match(GRPC_MATCH_SUFFIX, false, "-1"));
	assert_false(match(GRPC_MATCH_SUFFIX, false, "-"));
	assert_true(match(GRPC_MATCH_CONTAINS, true, "GE-"));
	assert_false(match(GRPC_MATCH_CONTAINS, false, "GE-"));
	assert_false(match(GRPC_MATCH_CONTAINS, false, "Edge-1Edge-1"));
	/* the cluster is not looked at */
	assert_false(match(GRPC_MATCH_EXACT, false, "x"));
}

static void any_of(void **state)
{
	const struct grpc_matcher matchers[] = {
		{.kind = GRPC_MATCH_EXACT, .text = SLICE("a")},
		{.kind = GRPC_MATCH_EXACT, .text = SLICE("b")},
	};

	(void)state;
	assert_true(grpc_matchers_match(matchers, 2,
		SLICE("\x0a\x01"
		      "b")));
	assert_false(grpc_matchers_match(matchers, 2,
		SLICE("\x0a\x01"
		      "c")));
	assert_false(grpc_matchers_match(matchers, 2, SLICE("")));
	assert_true(grpc_matchers_match(matchers, 0, SLICE("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(matches),
		cmocka_unit_test(any_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
