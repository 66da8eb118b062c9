/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the services of one loop share; not for anyone else. All of it on the loop's thread. */
#ifndef XDSPUB_SERVE_GRPC_GRPC_SERVICE_H
#define XDSPUB_SERVE_GRPC_GRPC_SERVICE_H

#include <protobuf-c/protobuf-c.h>

#include "serve/grpc/grpc_dispatch.h"
#include "serve/grpc/grpc_feeds.h"
#include "serve/grpc/grpc_log.h"
#include "serve/grpc/grpc_loop.h"
#include "serve/grpc/grpc_node.h"
#include "serve/xds_stream.h"

#define GRPC_UNMATCHED_MAX 32 /* nodes without a group that are remembered for the status */
#define GRPC_HEAVY_MAX	   16 /* calls whose answers are large and their own: reflection, CSDS */
#define GRPC_TOO_MANY_HEAVY                                                                        \
	"too many calls of reflection and ClientStatusDiscoveryService; close one first"
#define GRPC_STOPPING "the server is stopping, come again"

/* First in the state of every call of every service. */
struct grpc_service_call {
	struct grpc_dispatch *dispatch;
	struct grpc_call *call;
	LIST_ENTRY(grpc_service_call) link;
};
LIST_HEAD(grpc_service_calls, grpc_service_call);
struct health_call;
LIST_HEAD(grpc_watches, health_call);

/* A discovery call. */
struct grpc_stream {
	struct grpc_service_call base;
	struct grpc_feed_member member;
	LIST_ENTRY(grpc_stream) link; /* in the dispatch once it is admitted */
	const struct xds_type_row *row;
	struct grpc_node *node;	   /* NULL: the first message has not come */
	struct xds_stream *stream; /* NULL: the same */
	uint8_t form;		   /* enum xds_form */
	bool is_half_closed;
	bool has_unknown_type; /* was logged */
	bool is_ended;	       /* only its end is still to come */
};
LIST_HEAD(grpc_streams, grpc_stream);

struct grpc_unmatched {
	char *id, *cluster, *address;
	uint64_t count;
	int64_t last_wall_ms;
};

struct grpc_counters {
	uint64_t requests; /* discovery, and so are the others */
	uint64_t responses;
	uint64_t pushes; /* of the responses: nobody had asked */
	uint64_t acks, nacks, stale, unknown_types;
	uint64_t refused;   /* calls ended with an error by us */
	uint64_t unmatched; /* of these: no group matches the node */
};

struct grpc_dispatch {
	const struct grpc_options *options;
	struct grpc_loop *loop;
	struct grpc_feeds feeds;
	struct grpc_node_table nodes;
	struct grpc_log log;
	struct grpc_service_calls calls;
	struct grpc_watches watches; /* of health */
	struct grpc_streams streams;
	size_t streams_count;
	size_t heavy_count;
	struct grpc_counters counters;
	struct grpc_unmatched unmatched[GRPC_UNMATCHED_MAX]; /* newest first */
	size_t unmatched_count;
	bool is_stopping;
};

/* grpc_dispatch.c */
void grpc_service_call_init(
	struct grpc_service_call *base, struct grpc_dispatch *dispatch, struct grpc_call *call);
void grpc_service_call_fini(struct grpc_service_call *base);
/* Ends it with an error and counts that. */
void grpc_service_call_refuse(
	struct grpc_service_call *base, enum grpc_status status, const char *text);
/* Only when the call can send. */
void grpc_service_call_send(struct grpc_service_call *base, const ProtobufCMessage *message);

#endif
