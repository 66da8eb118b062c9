/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "serve/http_core.h"

#define ACCEPTS_PER_TURN 64
#define ACCEPT_PAUSE_MS	 100   /* when descriptors or memory are out */
#define FULL_LOG_MS	 60000 /* a server that goes in and out of its limit says so once */

void http_listener_unref(struct http_listener *listener)
{
	if (--listener->references)
		return;
	free(listener->address);
	free(listener);
}

static bool may_accept(const struct http_server *server)
{
	return server->counters.connections < server->counters.connections_limit;
}

static void pause_accepting(struct http_server *server, int error)
{
	if (server->accept_again_ms < 0)
		log_event(server->options.log, LOG_LEVEL_WARNING, "accept-failed",
			LOG_TEXT("server", server->options.name),
			LOG_TEXT("error", strerrordesc_np(error)),
			LOG_NUMBER("connections", (int64_t)server->counters.connections));
	server->accept_again_ms = clock_monotonic_ms() + ACCEPT_PAUSE_MS;
}

static void accept_one(struct http_server *server, struct http_listener *listener, int fd,
	const struct sockaddr *address, socklen_t length)
{
	server->accepting = listener;
	/* It owns the descriptor from here on, even when it fails. */
	if (MHD_add_connection(server->daemon, fd, address, length) != MHD_YES)
		pause_accepting(server, errno ? errno : ENOMEM);
	server->accepting = NULL;
	server->must_run = true;
}

void http_listener_accept(struct http_server *server, struct http_listener *listener)
{
	if (listener->is_closed)
		return;
	for (int i = 0; i < ACCEPTS_PER_TURN && may_accept(server); i++) {
		struct sockaddr_storage address;
		socklen_t length = sizeof(address);
		int fd = accept4(listener->socket.fd, (struct sockaddr *)&address, &length,
			SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			accept_one(server, listener, fd, (struct sockaddr *)&address, length);
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
			   errno == ENOMEM) {
			pause_accepting(server, errno);
			break;
		} else if (errno != EINTR && errno != ECONNABORTED) {
			break;
		}
	}
}

static void watch(struct http_server *server, struct http_listener *listener, bool on)
{
	struct epoll_event event = {.events = on ? EPOLLIN : 0, .data.ptr = listener};

	epoll_ctl(server->epoll_fd, EPOLL_CTL_MOD, listener->socket.fd, &event);
}

void http_listener_balance(struct http_server *server, int64_t now_ms)
{
	bool is_full = !may_accept(server);

	if (server->accept_again_ms >= 0 && now_ms >= server->accept_again_ms && !is_full)
		server->accept_again_ms = -1;
	is_full |= server->accept_again_ms >= 0;
	if (is_full == server->is_full)
		return;
	server->is_full = is_full;
	for (size_t i = 0; i < server->listeners_count; i++)
		watch(server, server->listeners[i], !is_full);
	if (!is_full || (server->full_logged_ms && now_ms - server->full_logged_ms < FULL_LOG_MS))
		return;
	server->full_logged_ms = now_ms;
	log_event(server->options.log, LOG_LEVEL_WARNING, "connections-full",
		LOG_TEXT("server", server->options.name),
		LOG_NUMBER("connections", (int64_t)server->counters.connections));
}

/* Whoever is in the backlog gets in before the door closes. */
static void close_listener(struct http_server *server, struct http_listener *listener)
{
	http_listener_accept(server, listener);
	listener->is_closed = true;
	epoll_ctl(server->epoll_fd, EPOLL_CTL_DEL, listener->socket.fd, NULL);
	listen_close(&listener->socket);
	http_listener_unref(listener);
}

void http_listener_close_all(struct http_server *server)
{
	for (size_t i = 0; i < server->listeners_count; i++)
		close_listener(server, server->listeners[i]);
	free(server->listeners);
	server->listeners = NULL;
	server->listeners_count = 0;
}

/* ---- changing the set ---- */

static struct http_listener *find_listener(const struct http_server *server, const char *address)
{
	for (size_t i = 0; i < server->listeners_count; i++)
		if (strcmp(server->listeners[i]->address, address) == 0)
			return server->listeners[i];
	return NULL;
}

struct exchange {
	struct http_server *server;
	struct http_listener **listeners;
	size_t count;
};

/* On the loop's thread: everything that could fail has happened. */
static void install(void *arg)
{
	struct exchange *exchange = arg;
	struct http_server *server = exchange->server;

	for (size_t i = 0; i < exchange->count; i++) {
		struct http_listener *listener = exchange->listeners[i];
		struct epoll_event event = {
			.events = server->is_full ? 0 : EPOLLIN, .data.ptr = listener};

		if (find_listener(server, listener->address))
			continue;
		epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, listener->socket.fd, &event);
	}
	for (size_t i = 0; i < server->listeners_count; i++) {
		bool stays = false;

		for (size_t j = 0; j < exchange->count; j++)
			stays |= exchange->listeners[j] == server->listeners[i];
		if (!stays)
			close_listener(server, server->listeners[i]);
	}
	free(server->listeners);
	server->listeners = exchange->listeners;
	server->listeners_count = exchange->count;
}

static bool is_among(const char *address, const char *const *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(address, addresses[i]) == 0)
			return true;
	return false;
}

static int open_listener(const struct http_server *server, const char *address,
	const char *const *addresses, size_t count, struct http_listener **ret_listener,
	char **ret_problem)
{
	const struct listen_socket **leaving =
		xcalloc(server->listeners_count + 1, sizeof(struct listen_socket *));
	size_t leaving_count = 0;
	struct http_listener *listener = xcalloc(1, sizeof(*listener));
	const char *problem;
	int rc;

	for (size_t i = 0; i < server->listeners_count; i++)
		if (!is_among(server->listeners[i]->address, addresses, count))
			leaving[leaving_count++] = &server->listeners[i]->socket;
	rc = listen_open_beside(address, leaving, leaving_count, &listener->socket, &problem);
	free(leaving);

	if (rc) {
		*ret_problem = xasprintf("cannot listen on %s: %s", address,
			problem ? problem : strerrordesc_np(-rc));
		free(listener);
		return rc;
	}
	listener->source = HTTP_SOURCE_LISTENER;
	listener->references = 1;
	listener->address = xstrdup(address);
	*ret_listener = listener;
	return 0;
}

int http_server_listen(
	struct http_server *server, const char *const *addresses, size_t count, char **ret_problem)
{
	struct exchange exchange = {.server = server};
	int rc = 0;

	*ret_problem = NULL;
	exchange.listeners = xcalloc(count ? count : 1, sizeof(struct http_listener *));
	for (size_t i = 0; i < count && !rc; i++) {
		struct http_listener *same = find_listener(server, addresses[i]);

		if (is_among(addresses[i], addresses, i))
			continue;
		if (same)
			exchange.listeners[exchange.count++] = same;
		else
			rc = open_listener(server, addresses[i], addresses, count,
				&exchange.listeners[exchange.count], ret_problem);
		if (!rc && !same)
			exchange.count++;
	}
	if (!rc) {
		http_server_call(server, install, &exchange);
		return 0;
	}
	for (size_t i = 0; i < exchange.count; i++) {
		if (find_listener(server, exchange.listeners[i]->address))
			continue;
		listen_close(&exchange.listeners[i]->socket);
		http_listener_unref(exchange.listeners[i]);
	}
	free(exchange.listeners);
	return rc;
}

json_t *http_server_listeners(const struct http_server *server)
{
	json_t *array = json_array();

	for (size_t i = 0; i < server->listeners_count; i++) {
		struct buf bound = BUF_INIT;

		listen_name(&server->listeners[i]->socket, &bound);
		json_array_append_new(
			array, json_pack("{s:s,s:s}", "address", server->listeners[i]->address,
				       "bound", buf_cstr(&bound)));
		buf_fini(&bound);
	}
	return array;
}
