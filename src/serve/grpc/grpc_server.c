/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_server.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "serve/grpc/grpc_core.h"

#define THREADS_DEFAULT_MAX 4
#define THREADS_MAX	    64
#define DRAIN_MS	    2000

struct grpc_server {
	struct grpc_options options;
	struct grpc_loop **loops;
	size_t loops_count;
	size_t started;
	struct grpc_listeners *listeners; /* loops[0] accepts */
	struct store_subscription *subscription;
};

void grpc_server_wake(struct grpc_server *server)
{
	for (size_t i = 0; i < server->loops_count; i++)
		grpc_loop_store_changed(server->loops[i]);
}

static void on_store_changed(void *ctx)
{
	grpc_server_wake(ctx);
}

/* Jobs may post more jobs, to any loop. */
static void run_late_jobs(struct grpc_server *server)
{
	bool any;

	do {
		any = false;
		for (size_t i = 0; i < server->loops_count; i++)
			any |= grpc_loop_run_jobs(server->loops[i]);
	} while (any);
}

static void close_listeners(struct grpc_loop *loop, void *arg)
{
	(void)loop;
	grpc_listeners_close(arg);
}

void grpc_server_stop(struct grpc_server *server)
{
	int64_t drain_ms = server->options.drain_ms ? server->options.drain_ms : DRAIN_MS;

	if (server->subscription)
		store_unsubscribe(server->options.store, server->subscription);
	if (server->started)
		grpc_loop_call(server->loops[0], close_listeners, server->listeners);
	for (size_t i = 0; i < server->started; i++)
		grpc_loop_stop(server->loops[i], drain_ms);
	for (size_t i = 0; i < server->started; i++)
		grpc_loop_join(server->loops[i]);
	run_late_jobs(server);
	for (size_t i = 0; i < server->loops_count; i++)
		grpc_loop_free(server->loops[i]);
	free(server->loops);
	if (server->listeners)
		grpc_listeners_free(server->listeners);
	free(server);
}

static size_t threads_of(const struct grpc_options *options)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (options->threads)
		return options->threads < THREADS_MAX ? options->threads : THREADS_MAX;
	if (processors < 1)
		return 1;
	return processors < THREADS_DEFAULT_MAX ? (size_t)processors : THREADS_DEFAULT_MAX;
}

int grpc_server_start(const struct grpc_options *options, struct grpc_server **ret_server)
{
	struct grpc_server *server = xcalloc(1, sizeof(*server));
	size_t threads = threads_of(options);
	int rc = 0;

	server->options = *options;
	server->loops = xcalloc(threads, sizeof(struct grpc_loop *));
	while (server->loops_count < threads && !rc) {
		rc = grpc_loop_new(&server->options, &server->loops[server->loops_count]);
		if (!rc)
			server->loops_count++;
	}
	if (!rc) {
		server->listeners =
			grpc_listeners_new(server->loops[0], options->limits.grpc_connections);
		for (size_t i = 0; i < threads; i++)
			grpc_loop_set_peers(
				server->loops[i], server->loops, threads, server->listeners);
	}
	while (!rc && server->started < threads) {
		rc = grpc_loop_start(server->loops[server->started]);
		if (!rc)
			server->started++;
	}
	if (rc) {
		grpc_server_stop(server);
		return rc;
	}
	server->subscription = store_subscribe(options->store, on_store_changed, server);
	grpc_server_wake(server);
	*ret_server = server;
	return 0;
}

int grpc_server_listen(
	struct grpc_server *server, const char *const *addresses, size_t count, char **ret_problem)
{
	return grpc_listeners_set(server->listeners, addresses, count, ret_problem);
}

/* ---- status ---- */

struct status_call {
	struct grpc_server *server;
	json_t *listeners, *clients, *numbers; /* numbers: the services' own */
	size_t clients_limit;
	struct grpc_counters sum;
};

/* On each loop, one after the other. */
static void add_status(struct grpc_loop *loop, void *arg)
{
	struct status_call *call = arg;
	const struct grpc_counters *counters = &loop->counters;

	if (loop->is_acceptor)
		call->listeners = grpc_listeners_status(loop->listeners);
	call->sum.accepted += counters->accepted;
	call->sum.refused += counters->refused;
	call->sum.calls += counters->calls;
	call->sum.calls_opened += counters->calls_opened;
	call->sum.calls_unknown += counters->calls_unknown;
	call->sum.messages_received += counters->messages_received;
	call->sum.messages_sent += counters->messages_sent;
	call->sum.goaways += counters->goaways;
	call->sum.unresponsive += counters->unresponsive;
	call->sum.misbehaved += counters->misbehaved;
	grpc_dispatch_status(
		loop->dispatch, call->clients, call->clients_limit, call->numbers, loop->now_ms);
}

static void set_number(json_t *object, const char *key, uint64_t number)
{
	json_object_set_new(object, key, json_integer((json_int_t)number));
}

json_t *grpc_server_status(struct grpc_server *server, size_t clients_limit)
{
	struct status_call call = {.server = server,
		.clients = json_array(),
		.numbers = json_object(),
		.clients_limit = clients_limit};
	json_t *status = json_object();
	uint64_t limit, connections;

	for (size_t i = 0; i < server->loops_count; i++)
		grpc_loop_call(server->loops[i], add_status, &call);
	connections = grpc_listeners_connections(server->listeners, &limit);
	json_object_set_new(status, "listeners", call.listeners);
	set_number(status, "threads", server->loops_count);
	set_number(status, "connections", connections);
	set_number(status, "connections_limit", limit);
	set_number(status, "accepted", call.sum.accepted);
	set_number(status, "refused", call.sum.refused);
	set_number(status, "calls", call.sum.calls);
	set_number(status, "calls_opened", call.sum.calls_opened);
	set_number(status, "calls_unknown", call.sum.calls_unknown);
	set_number(status, "messages_received", call.sum.messages_received);
	set_number(status, "messages_sent", call.sum.messages_sent);
	set_number(status, "goaways", call.sum.goaways);
	set_number(status, "unresponsive", call.sum.unresponsive);
	set_number(status, "misbehaved", call.sum.misbehaved);
	json_object_update(status, call.numbers);
	json_decref(call.numbers);
	json_object_set_new(status, "clients", call.clients);
	return status;
}
