/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operator's view of a loop's clients: log lines and the status document. Nothing here shows
 * what a secret's content could be guessed from. Threads: the loop's.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_CLIENTS_H
#define XDSPUB_SERVE_GRPC_GRPC_CLIENTS_H

#include "serve/grpc/grpc_service.h"

#define GRPC_BLAMED 4 /* resources that a refusal is mapped back to */

/* Events of a stream. */
void grpc_clients_joined(struct grpc_stream *stream, int64_t now_ms);
void grpc_clients_left(struct grpc_stream *stream, int64_t now_ms);
/* Before it is moved: to the group of its node. */
void grpc_clients_moved(struct grpc_stream *stream, int64_t now_ms);
void grpc_clients_rejected(struct grpc_stream *stream, enum xds_type type, int64_t now_ms);
void grpc_clients_unknown_type(struct grpc_stream *stream, const char *problem, int64_t now_ms);
void grpc_clients_refused(struct grpc_stream *stream, const char *problem, int64_t now_ms);
/* A response of so many bytes is on its way; said once for the group and type if gRPC libraries
 * refuse it (S.61). */
void grpc_clients_sent(
	struct grpc_stream *stream, enum xds_type type, size_t bytes, int64_t now_ms);
void grpc_clients_unmatched(struct grpc_dispatch *dispatch, const struct grpc_node_names *names,
	const char *address, int64_t now_ms);

#define GRPC_TRANSPORT_SIZE 32
/* "grpc delta ads", "grpc sotw cds" */
void grpc_clients_transport(const struct grpc_stream *stream, char out[static GRPC_TRANSPORT_SIZE]);
/* Which resources the last refusal of the type is about: those that its text names, else the only
 * one that the client holds. Borrowed from the group's present snapshot; at most GRPC_BLAMED. */
size_t grpc_clients_blame(const struct grpc_stream *stream, enum xds_type type,
	const struct xds_type_report *report, struct resource **found);

/* See grpc_dispatch_status(). */
void grpc_clients_status(struct grpc_dispatch *dispatch, json_t *clients, size_t limit,
	json_t *counters, int64_t now_ms);
void grpc_clients_fini(struct grpc_dispatch *dispatch);

#endif
