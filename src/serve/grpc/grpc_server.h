/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xDS over gRPC (h2c, TCP and UNIX sockets) over nghttp2: every discovery method, health,
 * reflection and CSDS. Several loop threads share the listeners; a connection lives on one of
 * them, each loop has a hub (serve/xds_hub.h) of its own and nothing is locked between streams.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_SERVER_H
#define XDSPUB_SERVE_GRPC_GRPC_SERVER_H

#include <jansson.h>

#include "base/limits.h"
#include "base/log.h"
#include "serve/xds_hub.h"
#include "snapshot/store.h"

/* What needs the schema, which no transport sees. Called on any loop's thread, at the same time. */
struct grpc_schema {
	/* A serialized envoy.config.core.v3.Node as JSON in Envoy's shape (original field names), a
	 * new reference. NULL: refused, and `problem` says why in one line for people. */
	json_t *(*node)(void *ctx, struct slice node, char *problem, size_t problem_size);
	/* The serialized FileDescriptorProto of the file with this path, or of the one that
	 * declares this full name (message, enum, service, method, field, extension) of any file in
	 * the set; borrowed for as long as the server lives. False: there is none. */
	bool (*file_by_path)(void *ctx, struct slice path, struct slice *ret_file);
	bool (*file_by_symbol)(void *ctx, struct slice symbol, struct slice *ret_file);
	bool (*file_by_extension)(
		void *ctx, struct slice extendee, uint32_t number, struct slice *ret_file);
	/* Numbers of the known extensions of a message; malloc'ed. False: no such message. */
	bool (*extensions)(
		void *ctx, struct slice extendee, uint32_t **ret_numbers, size_t *ret_count);
	void *ctx;
};

struct grpc_options {
	struct store *store; /* borrowed; outlives the server */
	struct limits limits;
	struct xds_settings settings;
	struct grpc_schema schema;
	unsigned threads;	      /* 0: one per processor, up to 4 */
	int64_t keepalive_ms;	      /* PING to a silent peer after so long; 0: 60 s */
	int64_t keepalive_timeout_ms; /* its answer must come within; 0: 20 s */
	int64_t drain_ms; /* a stop or a closed listener gives streams so long; 0: 2 s */
	/* Every group serves something, as /readyz means it: what health says. Any thread; must not
	 * wait. After it changed: grpc_server_wake(). */
	bool (*is_ready)(void *ctx);
	void *ready_ctx;
	const struct log *log;
};

struct grpc_server;

int grpc_server_start(const struct grpc_options *options, struct grpc_server **ret_server);
/* GOAWAY in two steps, ends every stream with UNAVAILABLE, closes, joins, frees. */
void grpc_server_stop(struct grpc_server *server);
/* As rest_server_listen(): new ones are open before old ones are drained with GOAWAY, same ones
 * stay and keep their clients. On error nothing changes; *ret_problem is malloc'ed text. */
int grpc_server_listen(
	struct grpc_server *server, const char *const *addresses, size_t count, char **ret_problem);
/* Every loop looks at the store and at is_ready() again, soon. Any thread. */
void grpc_server_wake(struct grpc_server *server);
/* JSON for the status document: listeners, counters, clients (at most `clients_limit`). A new
 * reference. Any thread; waits for each loop's turn. */
json_t *grpc_server_status(struct grpc_server *server, size_t clients_limit);

#endif
