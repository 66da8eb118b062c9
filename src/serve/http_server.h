/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP/1.1 for the adapters, over libmicrohttpd: one thread with one epoll, its listeners, its
 * clients and their deadlines. The handlers run on that thread, never at the same time; they get
 * whole requests and may park a client for as long as they like without a thread.
 * A parked client that leaves is noticed at once.
 */
#ifndef XDSPUB_SERVE_HTTP_SERVER_H
#define XDSPUB_SERVE_HTTP_SERVER_H

#include "base/log.h"
#include "serve/http_client.h"

struct http_handlers {
	/* A request is complete: http_client_answer() or http_client_park() before returning. */
	void (*request)(void *ctx, struct http_client *client, const struct http_request *request);
	/* A parked client's time is over: answer or park again. NULL: nothing is ever parked. */
	void (*expired)(void *ctx, struct http_client *client);
	/* A parked client left: forget its request. */
	void (*left)(void *ctx, struct http_client *client);
	/* The answer is gone, all of it or not. May be NULL. */
	void (*sent)(void *ctx, struct http_client *client, bool is_complete);
	/* The connection is over: free http_client_data(). May be NULL. */
	void (*closed)(void *ctx, struct http_client *client);
	/* http_server_wake() was called, once or more. May be NULL. */
	void (*woken)(void *ctx);
	/* The server is about to stop: answer every parked client. */
	void (*stopping)(void *ctx);
};

struct http_options {
	const char *name; /* of the thread and in the log: at most 15 bytes, a literal */
	const struct http_handlers *handlers;
	void *ctx;
	const struct log *log;
	uint64_t body_bytes;  /* a larger request body is 413 */
	uint64_t connections; /* 0: from the descriptor limit */
	int64_t slow_ms; /* first head, bodies and answers that take longer are cut off; 0: 60 s */
};

struct http_counters {
	uint64_t accepted, requests, answers;
	uint64_t refused; /* by limits: 413, slow, too many bodies at once */
	uint64_t connections, parked;
	uint64_t connections_limit;
};

struct http_server;

int http_server_start(const struct http_options *options, struct http_server **ret_server);
/* Calls `stopping`, sends what it can within two seconds, closes, joins, frees. */
void http_server_stop(struct http_server *server);

/* Makes these the listeners: new ones are open before old ones are closed, same ones stay.
 * Clients of a closed one keep their connection up to their next answer. On error nothing
 * changes; *ret_problem is malloc'ed text for people. One caller at a time. */
int http_server_listen(
	struct http_server *server, const char *const *addresses, size_t count, char **ret_problem);
/* Array of {"address": as given, "bound": with the real port}. Loop thread only. */
json_t *http_server_listeners(const struct http_server *server);

/* Any thread, a signal-free few instructions. */
void http_server_wake(struct http_server *server);
/* Runs the function on the loop's thread and waits for it. Any thread but that one. */
void http_server_call(struct http_server *server, void (*function)(void *arg), void *arg);

/* Loop thread only. */
struct http_counters http_server_counters(const struct http_server *server);
struct http_client *http_server_next(const struct http_server *server, struct http_client *client);

#endif
