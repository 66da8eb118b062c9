/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * REST-JSON long polling over libmicrohttpd, and GET for people. Owns one thread with one epoll
 * for all its listeners; parked clients hold versions, not snapshots. Bodies are encoded once per
 * (group, type, names, version) and shared.
 */
#ifndef XDSPUB_SERVE_REST_REST_SERVER_H
#define XDSPUB_SERVE_REST_REST_SERVER_H

#include <jansson.h>

#include "base/limits.h"
#include "base/log.h"
#include "snapshot/store.h"

/* Appends a DiscoveryResponse as one line of JSON. Called on the server's thread. */
typedef int (*rest_encode_cb)(void *ctx, enum xds_type type, const struct version *version,
	struct resource *const *resources, size_t count, struct buf *out);

struct rest_options {
	struct store *store; /* borrowed; outlives the server */
	struct limits limits;
	int64_t route_delay_ms; /* see serve/route_delay.h; 0: none */
	rest_encode_cb encode;
	void *encode_ctx;
	const struct log *log;
};

struct rest_server;

int rest_server_start(const struct rest_options *options, struct rest_server **ret_server);
/* Answers everyone (304 or 503), closes, joins. */
void rest_server_stop(struct rest_server *server);
/* Makes these the listeners: new ones are open before old ones are drained, same ones stay and
 * keep their clients. On error nothing changes; *ret_problem is malloc'ed text for people. */
int rest_server_listen(
	struct rest_server *server, const char *const *addresses, size_t count, char **ret_problem);
/* JSON for the status document: listeners, counters, clients (node, group, type, parked, version,
 * last rejected version ...), at most `clients_limit` clients. New reference. Any thread. */
json_t *rest_server_status(struct rest_server *server, size_t clients_limit);

#endif
