/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of DiscoveryResponse and DeltaDiscoveryResponse: a body that every stream with the
 * same answer, of the same kind when it has open config sources, shares (encoded once, kept in
 * xds_answer.encoded) and a tail of a few bytes with
 * nonce and control plane identifier. Equal answers have equal bodies. Threads: the hub's.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_RESPONSE_H
#define XDSPUB_SERVE_GRPC_GRPC_RESPONSE_H

#include "base/buf.h"
#include "serve/grpc/grpc_body.h"
#include "serve/xds_stream.h"

/* No protobuf reader takes a message of 2 GiB; the rest is for the tail. */
#define GRPC_RESPONSE_BODY_MOST (((size_t)2 << 30) - (1 << 20))

/* Borrowed from the answer; made on the first call. NULL: it would be longer than that, so end the
 * stream with RESOURCE_EXHAUSTED. */
struct grpc_body *grpc_response_body(struct xds_answer *answer, bool is_aggregated);
/* What stands in open config sources on such a stream. */
enum source_transport grpc_response_transport(bool is_aggregated, bool is_delta);
/* Appends. Fields may come in any order, so body and tail together are the message. */
void grpc_response_tail(const struct xds_response *response, struct buf *out);

#endif
