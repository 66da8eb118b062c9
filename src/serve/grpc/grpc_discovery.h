/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The discovery methods: Stream, Delta and Fetch of every type, and the aggregated ones. The first
 * message's node chooses the group; what is said on the stream decides serve/xds_stream.h.
 * Threads: the loop's.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_DISCOVERY_H
#define XDSPUB_SERVE_GRPC_GRPC_DISCOVERY_H

#include "serve/grpc/grpc_service.h"

void *grpc_discovery_open(
	struct grpc_dispatch *dispatch, struct grpc_call *call, struct xds_method method);
extern const struct grpc_handler grpc_discovery_handler;

/* Nodes may belong to other groups now: moves their streams, ends those that no group matches. */
void grpc_discovery_admit_again(struct grpc_dispatch *dispatch, int64_t now_ms);

#endif
