/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one loop serves: its hub, its feeds and streams, and the table from paths to services
 * (discovery, health, reflection, CSDS). Knows nothing of HTTP/2. Threads: the loop's, but for
 * what says otherwise.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_DISPATCH_H
#define XDSPUB_SERVE_GRPC_GRPC_DISPATCH_H

#include "serve/grpc/grpc_call.h"
#include "serve/grpc/grpc_server.h"

struct grpc_dispatch; /* the services of one loop */

/* `options` must outlive it. */
struct grpc_dispatch *grpc_dispatch_new(const struct grpc_options *options, struct grpc_loop *loop);
void grpc_dispatch_free(struct grpc_dispatch *dispatch); /* every call must be closed */

/* A call begins: finds the service by its path ("/package.Service/Method"). False: there is none
 * (UNIMPLEMENTED, with a text that suggests the nearest method when one is near). */
bool grpc_dispatch_open(struct grpc_dispatch *dispatch, struct slice path, struct grpc_call *call,
	const struct grpc_handler **ret_handler, void **ret_state, char *problem,
	size_t problem_size);
/* The store may have changed: moves feeds to their new snapshots, streams to their new groups, and
 * wakes the calls that have news. */
void grpc_dispatch_store_changed(struct grpc_dispatch *dispatch, int64_t now_ms);
/* At the end of every turn of the loop. Returns when it wants to be called again though nothing
 * else happens, -1: never. Sums up log lines. */
int64_t grpc_dispatch_turn(struct grpc_dispatch *dispatch, int64_t now_ms);
/* The server is about to stop: health says NOT_SERVING, every call ends with UNAVAILABLE. */
void grpc_dispatch_stop(struct grpc_dispatch *dispatch);
/* Adds this loop's clients to the array (at most `limit` in it), and its numbers to those in
 * `counters`, which all loops share; the nodes without a group are there, too ("unmatched"). */
void grpc_dispatch_status(struct grpc_dispatch *dispatch, json_t *clients, size_t limit,
	json_t *counters, int64_t now_ms);

#endif
