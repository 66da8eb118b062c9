/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of DiscoveryResponse and DeltaDiscoveryResponse: a body that every stream with the
 * same answer shares (encoded once, kept in xds_answer.encoded) and a tail of a few bytes with
 * nonce and control plane identifier. Protobuf parsers take fields in any order. Threads: the
 * hub's.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_RESPONSE_H
#define XDSPUB_SERVE_GRPC_GRPC_RESPONSE_H

#include "serve/grpc/grpc_call.h"
#include "serve/xds_stream.h"

/* Borrowed from the answer; made on the first call. */
struct grpc_body *grpc_response_body(struct xds_answer *answer);
void grpc_response_tail(const struct xds_response *response, struct buf *out);

#endif
