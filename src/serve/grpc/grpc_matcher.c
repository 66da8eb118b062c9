/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_matcher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "serve/grpc/grpc_wire.h"

enum {
	NODE_ID = 1, /* of Node */
	MATCHER_NODE_ID = 1,
	STRING_EXACT = 1,
	STRING_PREFIX = 2,
	STRING_SUFFIX = 3,
	STRING_IGNORE_CASE = 6,
	STRING_CONTAINS = 7
};

static int fail(int error, const char *text, char *problem, size_t problem_size)
{
	snprintf(problem, problem_size, "%s", text);
	return error;
}

static enum grpc_matcher_kind kind_of(const struct grpc_wire_field *field)
{
	if (field->type != GRPC_WIRE_BYTES)
		return GRPC_MATCH_ANY;
	return field->number == STRING_EXACT	  ? GRPC_MATCH_EXACT
	       : field->number == STRING_PREFIX	  ? GRPC_MATCH_PREFIX
	       : field->number == STRING_SUFFIX	  ? GRPC_MATCH_SUFFIX
	       : field->number == STRING_CONTAINS ? GRPC_MATCH_CONTAINS
						  : GRPC_MATCH_ANY;
}

/* A StringMatcher. */
static int read_pattern(
	struct slice bytes, struct grpc_matcher *matcher, char *problem, size_t problem_size)
{
	struct grpc_wire_field field;
	int rc;

	while ((rc = grpc_wire_next(&bytes, &field)) > 0) {
		enum grpc_matcher_kind kind = kind_of(&field);

		if (field.number == STRING_IGNORE_CASE && field.type == GRPC_WIRE_VARINT) {
			matcher->ignore_case = field.value != 0;
		} else if (kind == GRPC_MATCH_ANY) {
			return fail(-ENOTSUP,
				"node_matchers: only exact, prefix, suffix and contains, with "
				"ignore_case, are supported for node_id",
				problem, problem_size);
		} else {
			matcher->kind = kind;
			matcher->text = field.bytes;
		}
	}
	if (rc < 0)
		return fail(-EINVAL, "node_matchers: not a message", problem, problem_size);
	return 0;
}

int grpc_matcher_read(
	struct slice bytes, struct grpc_matcher *ret_matcher, char *problem, size_t problem_size)
{
	struct grpc_matcher matcher = {.kind = GRPC_MATCH_ANY};
	struct grpc_wire_field field;
	int rc;

	while ((rc = grpc_wire_next(&bytes, &field)) > 0) {
		if (field.number != MATCHER_NODE_ID || field.type != GRPC_WIRE_BYTES)
			return fail(-ENOTSUP, "node_matchers: only node_id is supported", problem,
				problem_size);
		rc = read_pattern(field.bytes, &matcher, problem, problem_size);
		if (rc)
			return rc;
	}
	if (rc < 0)
		return fail(-EINVAL, "node_matchers: not a message", problem, problem_size);
	if (matcher.kind == GRPC_MATCH_ANY)
		return fail(-EINVAL, "node_matchers: a matcher needs a node_id with a pattern",
			problem, problem_size);
	matcher.text.data = xstrndup(matcher.text.data, matcher.text.length);
	*ret_matcher = matcher;
	return 0;
}

void grpc_matchers_free(struct grpc_matcher *matchers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free((char *)matchers[i].text.data);
	free(matchers);
}

static struct slice id_of(struct slice node)
{
	struct grpc_wire_field field;
	struct slice id = SLICE("");

	/* The last one counts, as in every protobuf parser. */
	while (grpc_wire_next(&node, &field) > 0)
		if (field.number == NODE_ID && field.type == GRPC_WIRE_BYTES)
			id = field.bytes;
	return id;
}

static bool is_same(const char *a, const char *b, size_t length, bool ignore_case)
{
	return length == 0 ||
	       (ignore_case ? strncasecmp(a, b, length) == 0 : memcmp(a, b, length) == 0);
}

static bool matches(const struct grpc_matcher *matcher, struct slice id)
{
	struct slice text = matcher->text;
	size_t spare;

	if (id.length < text.length)
		return false;
	spare = id.length - text.length;
	switch (matcher->kind) {
	case GRPC_MATCH_EXACT:
		return spare == 0 && is_same(id.data, text.data, text.length, matcher->ignore_case);
	case GRPC_MATCH_PREFIX:
		return is_same(id.data, text.data, text.length, matcher->ignore_case);
	case GRPC_MATCH_SUFFIX:
		return is_same(id.data + spare, text.data, text.length, matcher->ignore_case);
	case GRPC_MATCH_CONTAINS:
		for (size_t at = 0; at <= spare; at++)
			if (is_same(id.data + at, text.data, text.length, matcher->ignore_case))
				return true;
		return false;
	case GRPC_MATCH_ANY:
		break;
	}
	return true;
}

bool grpc_matchers_match(const struct grpc_matcher *matchers, size_t count, struct slice node)
{
	struct slice id = count ? id_of(node) : SLICE("");

	for (size_t i = 0; i < count; i++)
		if (matches(&matchers[i], id))
			return true;
	return count == 0;
}
