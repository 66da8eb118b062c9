/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * envoy.service.status.v3.ClientStatusDiscoveryService: what this server sent to whom, over all
 * loops. One ClientConfig for each discovery stream; its client_scope says which ("grpc delta
 * ads"). Of a resource:
 *   SYNCED    sent, acknowledged, and still what the group serves
 *   STALE     sent, but not answered yet; or not the newest any more
 *   ERROR     refused: error_state has the text, and the refused version
 *   NOT_SENT  asked for; client_status DOES_NOT_EXIST where the group has none of that name
 * version_info is what the client was told: SotW the version of the response, delta that of the
 * resource. Secrets come without content and version. A response is at most 4 MiB, then
 * RESOURCE_EXHAUSTED. Node matchers: node_id only, no regular expressions. Threads: the loop's.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_CSDS_H
#define XDSPUB_SERVE_GRPC_GRPC_CSDS_H

#include "serve/grpc/grpc_service.h"

void *grpc_csds_open_stream(struct grpc_dispatch *dispatch, struct grpc_call *call);
void *grpc_csds_open_fetch(struct grpc_dispatch *dispatch, struct grpc_call *call);
extern const struct grpc_handler grpc_csds_handler;

#endif
