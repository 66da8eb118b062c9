/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DiscoveryRequest and DeltaDiscoveryRequest from bytes: checked for size, counts, lengths, UTF-8
 * and NUL before protobuf-c sees them (grpc_wire.h). Threads: any.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_REQUEST_H
#define XDSPUB_SERVE_GRPC_GRPC_REQUEST_H

#include "base/arena.h"
#include "base/limits.h"
#include "serve/xds_stream.h"

struct grpc_request {
	struct xds_request xds; /* error_message: always UTF-8; Envoy cuts it anywhere */
	bool has_node;
	struct slice node; /* serialized Node; unchecked, see struct grpc_schema */
	struct arena *memory;
};

/* Everything in it lives until grpc_request_fini(), whatever becomes of `bytes`. -EINVAL, -E2BIG
 * (a limit): `problem` says what is wrong in one line; there is nothing to free then. */
int grpc_request_read(struct slice bytes, bool is_delta, const struct limits *limits,
	struct grpc_request *ret_request, char *problem, size_t problem_size);
void grpc_request_fini(struct grpc_request *request);

#endif
