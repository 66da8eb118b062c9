/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_body.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct grpc_body *grpc_body_new(size_t length)
{
	struct grpc_body *body = xmalloc(sizeof(*body) + length);

	body->references = 1;
	body->length = length;
	return body;
}

struct grpc_body *grpc_body_ref(struct grpc_body *body)
{
	body->references++;
	return body;
}

void grpc_body_unref(struct grpc_body *body)
{
	if (!body)
		return;
	assert(body->references > 0);
	if (--body->references == 0)
		free(body);
}
