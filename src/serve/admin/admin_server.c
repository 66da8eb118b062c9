/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/admin/admin_server.h"

#include <stdlib.h>

#include "base/mem.h"
#include "serve/http_server.h"

#define BODY_BYTES  4096
#define CONNECTIONS 256

struct admin_server {
	struct admin_source source;
	struct http_server *http;
};

static struct http_reply *healthz(void)
{
	return http_reply_json(200, json_pack("{s:s}", "status", "alive"));
}

static struct http_reply *readyz(struct admin_server *server)
{
	char *reason = NULL;
	json_t *document;

	if (server->source.is_ready(server->source.ctx, &reason)) {
		free(reason);
		return http_reply_json(200, json_pack("{s:s}", "status", "ready"));
	}
	document = json_pack(
		"{s:s,s:s}", "status", "not ready", "reason", reason ? reason : "starting");
	free(reason);
	return http_reply_json(503, document);
}

static struct http_reply *answer(
	struct admin_server *server, const struct http_client *client, const char *about)
{
	const struct admin_question question = {.about = about,
		.resource = http_client_argument(client, "resource"),
		.group = http_client_argument(client, "group"),
		.node = http_client_argument(client, "node")};
	json_t *document = NULL;
	unsigned status = server->source.answer(server->source.ctx, &question, &document);

	return http_reply_json(status, document);
}

static void on_request(void *ctx, struct http_client *client, const struct http_request *request)
{
	struct admin_server *server = ctx;
	struct http_reply *reply;

	if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
		reply = http_reply_error(405, "only GET and HEAD are allowed here");
		http_reply_header(reply, "Allow", "GET, HEAD");
	} else if (strcmp(request->path, "/healthz") == 0) {
		reply = healthz();
	} else if (strcmp(request->path, "/readyz") == 0) {
		reply = readyz(server);
	} else if (strcmp(request->path, "/status") == 0) {
		reply = http_reply_json(200, server->source.status(server->source.ctx));
	} else if (strcmp(request->path, "/why") == 0 || strcmp(request->path, "/layers") == 0) {
		reply = answer(server, client, request->path + 1);
	} else {
		reply = http_reply_error(
			404, "there are /healthz, /readyz, /status, /why and /layers");
	}
	http_client_answer_new(client, reply);
}

static void on_stopping(void *ctx)
{
	(void)ctx; /* nobody is ever parked */
}

static const struct http_handlers handlers = {
	.request = on_request,
	.stopping = on_stopping,
};

int admin_server_start(
	const struct admin_source *source, const struct log *log, struct admin_server **ret_server)
{
	struct admin_server *server = xcalloc(1, sizeof(*server));
	struct http_options options = {
		.name = "admin",
		.handlers = &handlers,
		.ctx = server,
		.log = log,
		.body_bytes = BODY_BYTES,
		.connections = CONNECTIONS,
	};
	int rc;

	server->source = *source;
	rc = http_server_start(&options, &server->http);
	if (rc)
		free(server);
	else
		*ret_server = server;
	return rc;
}

void admin_server_stop(struct admin_server *server)
{
	http_server_stop(server->http);
	free(server);
}

int admin_server_listen(
	struct admin_server *server, const char *const *addresses, size_t count, char **ret_problem)
{
	return http_server_listen(server->http, addresses, count, ret_problem);
}
