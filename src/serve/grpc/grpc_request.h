/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DiscoveryRequest and DeltaDiscoveryRequest from bytes: checked for size, depth, counts, UTF-8
 * and NUL before protobuf-c sees them (grpc_wire.h). Threads: any.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_REQUEST_H
#define XDSPUB_SERVE_GRPC_GRPC_REQUEST_H

#include "base/limits.h"
#include "serve/xds_stream.h"

struct grpc_request {
	struct xds_request xds;
	bool has_node;
	struct slice node; /* serialized Node, into the message's bytes */
	/* DiscoveryRequest.node.user_agent_name and the like are read from the JSON of the node. */
	struct grpc_request_memory *memory;
};

/* Everything in it borrows from `bytes` or from `memory`. -EINVAL, -E2BIG (a limit): `problem`
 * says what is wrong in one line. */
int grpc_request_read(struct slice bytes, bool is_delta, const struct limits *limits,
	struct grpc_request *ret_request, char *problem, size_t problem_size);
void grpc_request_fini(struct grpc_request *request);

#endif
