/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The admin listener: /healthz (alive), /readyz (200 once every group serves something, else 503
 * with the reason), /status (JSON), and questions about the tree:
 * /why?resource=CDS/a&group=g&node={} and /layers. libmicrohttpd, own thread.
 */
#ifndef XDSPUB_SERVE_ADMIN_ADMIN_SERVER_H
#define XDSPUB_SERVE_ADMIN_ADMIN_SERVER_H

#include <jansson.h>

#include "base/log.h"

struct admin_question {
	const char *about;    /* "why" or "layers" */
	const char *resource; /* "CDS/a", NULL: not given, as all below */
	const char *group;
	const char *node; /* JSON */
};

/* Called on the admin thread: must be thread-safe and quick, except `answer`, which may wait for
 * some seconds. */
struct admin_source {
	void *ctx;
	json_t *(*status)(void *ctx);			/* new reference */
	bool (*is_ready)(void *ctx, char **ret_reason); /* malloc'ed when not ready */
	/* The status of the answer, and its document; not a 200: {"error": {"message"}}. */
	unsigned (*answer)(void *ctx, const struct admin_question *question, json_t **ret_document);
};

struct admin_server;

int admin_server_start(
	const struct admin_source *source, const struct log *log, struct admin_server **ret_server);
void admin_server_stop(struct admin_server *server);
int admin_server_listen(struct admin_server *server, const char *const *addresses, size_t count,
	char **ret_problem);

#endif
