/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DiscoveryRequest and DeltaDiscoveryRequest from bytes: checked for size, counts, lengths, UTF-8
 * and NUL (grpc_wire_check), then read in place, because ACKs are what a server reads most: one
 * without names takes no memory. Threads: any.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_REQUEST_H
#define XDSPUB_SERVE_GRPC_GRPC_REQUEST_H

#include "base/limits.h"
#include "serve/xds_stream.h"

struct grpc_request {
	struct xds_request xds; /* error_message: always UTF-8; Envoy cuts it anywhere */
	bool has_node;
	struct slice node; /* serialized Node; unchecked, see struct grpc_schema */
	/* Private: what xds points to. */
	struct slice *names, *unsubscribe;
	struct xds_version_pair *versions;
	char *error_text;
};

/* Everything in it borrows from `bytes` or lives until grpc_request_fini(). -EINVAL, -E2BIG (a
 * limit): `problem` says what is wrong in one line; there is nothing to free then. */
int grpc_request_read(struct slice bytes, bool is_delta, const struct limits *limits,
	struct grpc_request *ret_request, char *problem, size_t problem_size);
void grpc_request_fini(struct grpc_request *request);

#endif
