/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection of an http_server and the one request it may have open: what handlers see and do.
 * Owned by the server; dead after `closed`. Threads: the loop of its server.
 */
#ifndef XDSPUB_SERVE_HTTP_CLIENT_H
#define XDSPUB_SERVE_HTTP_CLIENT_H

#include "serve/http_reply.h"

struct http_client;

/* Borrowed for the time of the callback. */
struct http_request {
	const char *method;
	const char *path;  /* unescaped, without the query */
	struct slice body; /* NUL-terminated behind its end */
};

/* A header of the current request, data NULL when absent. Only inside `request`. */
struct slice http_client_header(const struct http_client *client, const char *name);
/* `name` of the query, unescaped; NULL when absent. Only inside `request`. */
const char *http_client_argument(const struct http_client *client, const char *name);

/* Answers the open request; the client takes its own reference. */
void http_client_answer(struct http_client *client, struct http_reply *reply);
/* The same, and gives up the caller's reference. */
void http_client_answer_new(struct http_client *client, struct http_reply *reply);
/* Holds the request; `expired` comes at the given time (clock_monotonic_ms), or a little before. */
void http_client_park(struct http_client *client, int64_t until_ms);

bool http_client_is_parked(const struct http_client *client);
void *http_client_data(const struct http_client *client); /* NULL at first */
void http_client_set_data(struct http_client *client, void *data);
/* "127.0.0.1:40312", "[::1]:40312" or "unix". */
void http_client_address(const struct http_client *client, struct buf *out);

#endif
