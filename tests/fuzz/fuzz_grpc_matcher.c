/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first byte is the length of a NodeMatcher of CSDS; what follows it is a node to match. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/text.h"
#include "serve/grpc/grpc_matcher.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct grpc_matcher *matcher = xcalloc(1, sizeof(*matcher));
	char problem[256] = "";
	size_t length = size ? data[0] : 0;
	struct slice bytes, node;
	int error;

	if (size == 0 || length > size - 1)
		length = size ? size - 1 : 0;
	bytes = (struct slice){(const char *)data + (size > 0), length};
	node = (struct slice){bytes.data + length, size - (size > 0) - length};
	error = grpc_matcher_read(bytes, matcher, problem, sizeof(problem));
	assert(error == 0 || error == -EINVAL || error == -ENOTSUP);
	assert((error == 0) == (problem[0] == '\0'));
	assert(text_is_utf8(slice_of(problem)));
	if (error == 0) {
		bool is_match = grpc_matchers_match(matcher, 1, node);

		/* A text is in what it begins, ends or is. */
		if (is_match) {
			matcher->kind = GRPC_MATCH_CONTAINS;
			assert(grpc_matchers_match(matcher, 1, node));
		}
	}
	assert(grpc_matchers_match(NULL, 0, node));
	grpc_matchers_free(matcher, error == 0);
	return 0;
}
