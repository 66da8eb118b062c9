/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * envoy.type.matcher.v3.NodeMatcher, as far as CSDS takes it: a node's id, compared with a text.
 * Threads: any.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_MATCHER_H
#define XDSPUB_SERVE_GRPC_GRPC_MATCHER_H

#include "base/slice.h"

enum grpc_matcher_kind {
	GRPC_MATCH_ANY, /* every node */
	GRPC_MATCH_EXACT,
	GRPC_MATCH_PREFIX,
	GRPC_MATCH_SUFFIX,
	GRPC_MATCH_CONTAINS
};

struct grpc_matcher {
	enum grpc_matcher_kind kind;
	bool ignore_case;  /* ASCII */
	struct slice text; /* malloc'ed */
};

/* From a serialized NodeMatcher. -EINVAL: damaged or without a pattern; -ENOTSUP: a regular
 * expression, metadata, or something newer; `problem` says it in one line. */
int grpc_matcher_read(
	struct slice bytes, struct grpc_matcher *ret_matcher, char *problem, size_t problem_size);
void grpc_matchers_free(struct grpc_matcher *matchers, size_t count);
/* One of them matches, or there is none. `node`: serialized. */
bool grpc_matchers_match(const struct grpc_matcher *matchers, size_t count, struct slice node);

#endif
