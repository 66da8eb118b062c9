/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/rest/rest_server.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "serve/rest/rest_core.h"

#define GROUPS_CHANGED "the groups have changed, ask again"
#define STOPPING       "the server is stopping, ask again"

static const unsigned statuses[REST_ANSWER_COUNT] = {
	[REST_OK] = 200,
	[REST_NOT_MODIFIED] = 304,
	[REST_BAD_REQUEST] = 400,
	[REST_FORBIDDEN] = 403,
	[REST_NOT_FOUND] = 404,
	[REST_BAD_METHOD] = 405,
	[REST_UNAVAILABLE] = 503,
	[REST_FAILED] = 500,
};

void rest_answer(struct rest_server *server, struct http_client *client, enum rest_answer kind,
	struct http_reply *reply)
{
	server->answers[kind]++;
	http_client_answer_new(client, reply);
}

void rest_answer_error(struct rest_server *server, struct http_client *client,
	enum rest_answer kind, const char *format, ...)
{
	va_list arguments;
	char *message;

	va_start(arguments, format);
	if (vasprintf(&message, format, arguments) < 0)
		message = NULL;
	va_end(arguments);
	rest_answer(server, client, kind,
		http_reply_error(statuses[kind], "%s", message ? message : "out of memory"));
	free(message);
}

/* ---- handlers ---- */

static struct rest_waiter *get_waiter(struct http_client *client)
{
	struct rest_waiter *waiter = http_client_data(client);

	if (!waiter) {
		waiter = xcalloc(1, sizeof(*waiter));
		waiter->client = client;
		http_client_set_data(client, waiter);
	}
	return waiter;
}

static void on_request(void *ctx, struct http_client *client, const struct http_request *request)
{
	struct rest_server *server = ctx;
	struct buf problem = BUF_INIT;
	struct rest_route route = rest_route_find(request->method, request->path, &problem);
	struct http_reply *reply;

	rest_hub_expire(server->hub, clock_monotonic_ms());
	get_waiter(client);
	switch (route.kind) {
	case REST_DISCOVERY:
		rest_poll_request(server, client, route.row, request->body);
		break;
	case REST_GROUPS:
		rest_people_groups(server, client);
		break;
	case REST_GROUP:
		rest_people_group(server, client, route.group);
		break;
	case REST_SET:
		rest_people_set(server, client, route.group, route.row);
		break;
	case REST_NO_METHOD:
		reply = http_reply_error(405, "%s", buf_cstr(&problem));
		http_reply_header(reply, "Allow", route.allow);
		rest_answer(server, client, REST_BAD_METHOD, reply);
		break;
	case REST_NO_PATH:
		rest_answer_error(server, client, REST_NOT_FOUND, "%s", buf_cstr(&problem));
		break;
	}
	buf_fini(&problem);
}

static void on_expired(void *ctx, struct http_client *client)
{
	struct rest_server *server = ctx;

	rest_hub_expire(server->hub, clock_monotonic_ms());
	rest_poll_expire(server, http_client_data(client));
}

static void on_left(void *ctx, struct http_client *client)
{
	rest_poll_forget(ctx, http_client_data(client));
}

static void on_sent(void *ctx, struct http_client *client, bool is_complete)
{
	struct rest_waiter *waiter = http_client_data(client);

	/* None: refused before its body was read. */
	if (waiter)
		rest_poll_sent(ctx, waiter, is_complete);
}

static void on_closed(void *ctx, struct http_client *client)
{
	struct rest_waiter *waiter = http_client_data(client);

	if (waiter)
		rest_poll_free(ctx, waiter);
}

static void release_all(struct rest_server *server, const char *problem)
{
	struct http_client *client = NULL;

	while ((client = http_server_next(server->http, client)))
		if (http_client_is_parked(client))
			rest_poll_release(server, http_client_data(client), problem);
}

static void on_woken(void *ctx)
{
	struct rest_server *server = ctx;

	/* First: nobody may get content of a group that is no longer theirs. Parked clients keep
	 * no node to match again, so they are asked to come back with it. */
	if (rest_node_table_set_selector(&server->nodes, store_selector(server->options.store)))
		release_all(server, GROUPS_CHANGED);
	rest_hub_refresh(server->hub, clock_monotonic_ms());
	rest_hub_expire(server->hub, clock_monotonic_ms());
}

static void on_stopping(void *ctx)
{
	release_all(ctx, STOPPING);
}

static void on_topic_changed(void *ctx, struct rest_topic *topic)
{
	struct rest_waiter *waiter = LIST_FIRST(&topic->waiters);

	/* Waiters keep their reference to the topic until their answer is sent. */
	while (waiter) {
		struct rest_waiter *next = LIST_NEXT(waiter, link);

		rest_poll_decide(ctx, waiter);
		waiter = next;
	}
}

static const struct http_handlers handlers = {
	.request = on_request,
	.expired = on_expired,
	.left = on_left,
	.sent = on_sent,
	.closed = on_closed,
	.woken = on_woken,
	.stopping = on_stopping,
};

/* ---- life ---- */

static void on_store_changed(void *ctx)
{
	struct rest_server *server = ctx;

	http_server_wake(server->http);
}

int rest_server_start(const struct rest_options *options, struct rest_server **ret_server)
{
	struct rest_server *server = xcalloc(1, sizeof(*server));
	struct http_options http = {
		.name = "rest",
		.handlers = &handlers,
		.ctx = server,
		.log = options->log,
		.body_bytes = options->limits.rest_body_bytes,
		.connections = options->limits.connections,
	};
	int rc;

	server->options = *options;
	server->hub = rest_hub_new(&server->options, on_topic_changed, server);
	rest_node_table_init(&server->nodes);
	server->not_modified = http_reply_new(304, NULL, NULL);
	rc = http_server_start(&http, &server->http);
	if (rc) {
		http_reply_unref(server->not_modified);
		rest_hub_free(server->hub);
		rest_node_table_fini(&server->nodes);
		free(server);
		return rc;
	}
	server->subscription = store_subscribe(options->store, on_store_changed, server);
	http_server_wake(server->http);
	*ret_server = server;
	return 0;
}

void rest_server_stop(struct rest_server *server)
{
	store_unsubscribe(server->options.store, server->subscription);
	http_server_stop(server->http);
	for (size_t i = 0; i < server->unmatched_count; i++) {
		free(server->unmatched[i].id);
		free(server->unmatched[i].cluster);
		free(server->unmatched[i].address);
	}
	http_reply_unref(server->not_modified);
	rest_hub_free(server->hub);
	rest_node_table_fini(&server->nodes);
	free(server);
}

int rest_server_listen(
	struct rest_server *server, const char *const *addresses, size_t count, char **ret_problem)
{
	return http_server_listen(server->http, addresses, count, ret_problem);
}

struct status_call {
	struct rest_server *server;
	size_t clients_limit;
	json_t *status;
};

static void make_status(void *arg)
{
	struct status_call *call = arg;

	call->status = rest_status_make(call->server, call->clients_limit);
}

json_t *rest_server_status(struct rest_server *server, size_t clients_limit)
{
	struct status_call call = {.server = server, .clients_limit = clients_limit};

	http_server_call(server->http, make_status, &call);
	return call.status;
}
