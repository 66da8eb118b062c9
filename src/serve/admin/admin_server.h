/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The admin listener: /healthz (alive), /readyz (200 once every group serves something, else 503
 * with the reason) and /status (JSON). libmicrohttpd, own thread.
 */
#ifndef XDSPUB_SERVE_ADMIN_ADMIN_SERVER_H
#define XDSPUB_SERVE_ADMIN_ADMIN_SERVER_H

#include <jansson.h>

#include "base/log.h"

/* Called on the admin thread: must be thread-safe and quick. */
struct admin_source {
	void *ctx;
	json_t *(*status)(void *ctx);			/* new reference */
	bool (*is_ready)(void *ctx, char **ret_reason); /* malloc'ed when not ready */
};

struct admin_server;

int admin_server_start(
	const struct admin_source *source, const struct log *log, struct admin_server **ret_server);
void admin_server_stop(struct admin_server *server);
int admin_server_listen(struct admin_server *server, const char *const *addresses, size_t count,
	char **ret_problem);

#endif
