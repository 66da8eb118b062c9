/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One discovery stream as a serialized envoy.service.status.v3.ClientConfig; see grpc_csds.h for
 * what it says. Threads: the loop's.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_CLIENT_CONFIG_H
#define XDSPUB_SERVE_GRPC_GRPC_CLIENT_CONFIG_H

#include "serve/grpc/grpc_service.h"

/* Appends it as a field of a ClientStatusResponse. The buffer's limit bounds it. */
void grpc_client_config_write(
	const struct grpc_stream *stream, bool with_contents, int64_t now_ms, struct buf *out);

#endif
