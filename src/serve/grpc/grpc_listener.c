/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The listeners of the server. One loop accepts and hands every connection to the loop that has
 * the fewest; the set is changed by whoever called, with the acceptor's help.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "serve/grpc/grpc_core.h"
#include "serve/listen.h"

#define ACCEPTS_PER_TURN 64
#define ACCEPT_PAUSE_MS	 100   /* when descriptors or memory are out, and while it is full */
#define FULL_LOG_MS	 60000 /* a server that goes in and out of its limit says so once */

struct grpc_listener {
	enum grpc_source source;
	struct grpc_listeners *owner;
	uint64_t number; /* connections remember it */
	char *address;
	struct listen_socket socket;
};

struct grpc_listeners {
	struct grpc_loop *acceptor;
	uint64_t limit;
	uint64_t last_number;
	struct grpc_listener **items;
	size_t count;
	int64_t again_ms;	/* after a failed accept; -1: nothing is wrong */
	int64_t full_logged_ms; /* 0: never */
	bool is_paused;
	atomic_uint_least64_t connections;
};

/* ---- handing over ---- */

struct adoption {
	int fd;
	char *peer;
	uint64_t listener;
};

void grpc_listeners_left(struct grpc_listeners *listeners)
{
	atomic_fetch_sub(&listeners->connections, 1);
}

/* On the loop that is to have it. */
static void adopt(struct grpc_loop *loop, void *arg)
{
	struct adoption *adoption = arg;
	struct grpc_connection *connection = NULL;

	if (loop->is_stopping) {
		close(adoption->fd);
		free(adoption->peer);
	} else {
		connection =
			grpc_connection_new(loop, adoption->fd, adoption->peer, adoption->listener);
	}
	if (!connection) {
		loop->counters.refused++;
		atomic_fetch_sub(&loop->connections_count, 1);
		grpc_listeners_left(loop->listeners);
	}
	free(adoption);
}

static char *peer_name(const struct sockaddr *address, socklen_t length)
{
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (address->sa_family == AF_UNIX ||
		getnameinfo(address, length, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return xstrdup("unix");
	return xasprintf(address->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

static void hand_over(
	struct grpc_listener *listener, int fd, const struct sockaddr *address, socklen_t length)
{
	struct grpc_loop *acceptor = listener->owner->acceptor;
	struct grpc_loop *least = acceptor->peers[0];
	struct adoption *adoption = xcalloc(1, sizeof(*adoption));
	int on = 1;

	if (address->sa_family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	for (size_t i = 1; i < acceptor->peers_count; i++)
		if (atomic_load(&acceptor->peers[i]->connections_count) <
			atomic_load(&least->connections_count))
			least = acceptor->peers[i];
	adoption->fd = fd;
	adoption->peer = peer_name(address, length);
	adoption->listener = listener->number;
	atomic_fetch_add(&least->connections_count, 1);
	atomic_fetch_add(&listener->owner->connections, 1);
	if (least == acceptor)
		adopt(least, adoption);
	else
		grpc_loop_post_run(least, adopt, adoption);
}

/* ---- accepting ---- */

static bool is_full(const struct grpc_listeners *listeners)
{
	return atomic_load(&listeners->connections) >= listeners->limit;
}

static void pause_accepting(struct grpc_listeners *listeners, int error)
{
	struct grpc_loop *acceptor = listeners->acceptor;

	if (listeners->again_ms < 0)
		log_event(acceptor->options->log, LOG_LEVEL_WARNING, "accept-failed",
			LOG_TEXT("server", "grpc"), LOG_TEXT("error", strerrordesc_np(error)),
			LOG_NUMBER("connections", (int64_t)atomic_load(&listeners->connections)));
	listeners->again_ms = acceptor->now_ms + ACCEPT_PAUSE_MS;
}

void grpc_listeners_accept(void *source)
{
	struct grpc_listener *listener = source;
	struct grpc_listeners *listeners = listener->owner;

	for (int i = 0; i < ACCEPTS_PER_TURN && !is_full(listeners); i++) {
		struct sockaddr_storage address = {0};
		socklen_t length = sizeof(address);
		int fd = accept4(listener->socket.fd, (struct sockaddr *)&address, &length,
			SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			if (length < sizeof(address.ss_family))
				address.ss_family = AF_UNIX;
			hand_over(listener, fd, (struct sockaddr *)&address, length);
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
			   errno == ENOMEM) {
			pause_accepting(listeners, errno);
			break;
		} else if (errno != EINTR && errno != ECONNABORTED) {
			break;
		}
	}
}

static void log_full(struct grpc_listeners *listeners, int64_t now_ms)
{
	if (listeners->full_logged_ms && now_ms - listeners->full_logged_ms < FULL_LOG_MS)
		return;
	listeners->full_logged_ms = now_ms;
	log_event(listeners->acceptor->options->log, LOG_LEVEL_WARNING, "connections-full",
		LOG_TEXT("server", "grpc"),
		LOG_NUMBER("connections", (int64_t)atomic_load(&listeners->connections)));
}

int64_t grpc_listeners_balance(struct grpc_listeners *listeners, int64_t now_ms)
{
	bool full = is_full(listeners);
	bool must_pause;

	if (listeners->again_ms >= 0 && now_ms >= listeners->again_ms)
		listeners->again_ms = -1;
	must_pause = full || listeners->again_ms >= 0;
	if (must_pause != listeners->is_paused) {
		listeners->is_paused = must_pause;
		for (size_t i = 0; i < listeners->count; i++) {
			struct epoll_event event = {.events = must_pause ? 0 : EPOLLIN,
				.data.ptr = listeners->items[i]};

			epoll_ctl(listeners->acceptor->epoll_fd, EPOLL_CTL_MOD,
				listeners->items[i]->socket.fd, &event);
		}
		if (full)
			log_full(listeners, now_ms);
	}
	/* Connections end on any loop, and none of them says so. */
	return must_pause ? now_ms + ACCEPT_PAUSE_MS : -1;
}

/* ---- changing the set ---- */

static void listener_free(struct grpc_listener *listener)
{
	listen_close(&listener->socket);
	free(listener->address);
	free(listener);
}

static struct grpc_listener *find(const struct grpc_listeners *listeners, const char *address)
{
	for (size_t i = 0; i < listeners->count; i++)
		if (strcmp(listeners->items[i]->address, address) == 0)
			return listeners->items[i];
	return NULL;
}

/* On each loop: connections of a listener that is no more. */
static void drain_number(struct grpc_loop *loop, void *arg)
{
	uint64_t number = (uint64_t)(uintptr_t)arg;
	int64_t grace_ms = loop->options->drain_ms ? loop->options->drain_ms : 2000;
	struct grpc_connection *connection;

	LIST_FOREACH(connection, &loop->connections, link)
	if (connection->listener == number)
		grpc_drain_start(connection, grace_ms, "this address is no longer served");
}

/* Whoever is in the backlog gets in before the door closes, and is drained like the others. */
static void close_one(struct grpc_listeners *listeners, struct grpc_listener *listener)
{
	struct grpc_loop *acceptor = listeners->acceptor;

	grpc_listeners_accept(listener);
	epoll_ctl(acceptor->epoll_fd, EPOLL_CTL_DEL, listener->socket.fd, NULL);
	for (size_t i = 0; i < acceptor->peers_count; i++)
		grpc_loop_post_run(
			acceptor->peers[i], drain_number, (void *)(uintptr_t)listener->number);
	listener_free(listener);
}

struct exchange {
	struct grpc_listeners *listeners;
	struct grpc_listener **items;
	size_t count;
};

/* On the acceptor: everything that could fail has happened. */
static void install(struct grpc_loop *loop, void *arg)
{
	struct exchange *exchange = arg;
	struct grpc_listeners *listeners = exchange->listeners;

	for (size_t i = 0; i < exchange->count; i++) {
		struct grpc_listener *listener = exchange->items[i];
		struct epoll_event event = {
			.events = listeners->is_paused ? 0 : EPOLLIN, .data.ptr = listener};

		if (find(listeners, listener->address))
			continue;
		listener->number = ++listeners->last_number;
		epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, listener->socket.fd, &event);
	}
	for (size_t i = 0; i < listeners->count; i++) {
		bool stays = false;

		for (size_t j = 0; j < exchange->count; j++)
			stays |= exchange->items[j] == listeners->items[i];
		if (!stays)
			close_one(listeners, listeners->items[i]);
	}
	free(listeners->items);
	listeners->items = exchange->items;
	listeners->count = exchange->count;
}

static bool is_among(const char *address, const char *const *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(address, addresses[i]) == 0)
			return true;
	return false;
}

static int open_one(struct grpc_listeners *listeners, const char *address,
	const char *const *addresses, size_t count, struct grpc_listener **ret_listener,
	char **ret_problem)
{
	const struct listen_socket **leaving =
		xcalloc(listeners->count + 1, sizeof(struct listen_socket *));
	size_t leaving_count = 0;
	struct grpc_listener *listener = xcalloc(1, sizeof(*listener));
	const char *problem;
	int rc;

	for (size_t i = 0; i < listeners->count; i++)
		if (!is_among(listeners->items[i]->address, addresses, count))
			leaving[leaving_count++] = &listeners->items[i]->socket;
	rc = listen_open_beside(address, leaving, leaving_count, &listener->socket, &problem);
	free(leaving);
	if (rc) {
		*ret_problem = xasprintf("cannot listen on %s: %s", address,
			problem ? problem : strerrordesc_np(-rc));
		free(listener);
		return rc;
	}
	listener->source = GRPC_SOURCE_LISTENER;
	listener->owner = listeners;
	listener->address = xstrdup(address);
	*ret_listener = listener;
	return 0;
}

int grpc_listeners_set(struct grpc_listeners *listeners, const char *const *addresses, size_t count,
	char **ret_problem)
{
	struct exchange exchange = {.listeners = listeners};
	int rc = 0;

	*ret_problem = NULL;
	exchange.items = xcalloc(count ? count : 1, sizeof(struct grpc_listener *));
	for (size_t i = 0; i < count && !rc; i++) {
		struct grpc_listener *item = find(listeners, addresses[i]);

		if (is_among(addresses[i], addresses, i))
			continue;
		if (!item)
			rc = open_one(
				listeners, addresses[i], addresses, count, &item, ret_problem);
		if (!rc)
			exchange.items[exchange.count++] = item;
	}
	if (!rc) {
		grpc_loop_call(listeners->acceptor, install, &exchange);
		return 0;
	}
	for (size_t i = 0; i < exchange.count; i++)
		if (!find(listeners, exchange.items[i]->address))
			listener_free(exchange.items[i]);
	free(exchange.items);
	return rc;
}

void grpc_listeners_close(struct grpc_listeners *listeners)
{
	for (size_t i = 0; i < listeners->count; i++) {
		epoll_ctl(listeners->acceptor->epoll_fd, EPOLL_CTL_DEL,
			listeners->items[i]->socket.fd, NULL);
		listener_free(listeners->items[i]);
	}
	listeners->count = 0;
}

/* ---- life and status ---- */

static uint64_t connections_from_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 512;
	/* The rest is for files, listeners and other servers. */
	return limit.rlim_cur > 512 ? limit.rlim_cur - limit.rlim_cur / 8 - 64 : limit.rlim_cur / 2;
}

struct grpc_listeners *grpc_listeners_new(struct grpc_loop *acceptor, uint64_t connections_limit)
{
	struct grpc_listeners *listeners = xcalloc(1, sizeof(*listeners));

	listeners->acceptor = acceptor;
	listeners->limit = connections_limit ? connections_limit : connections_from_descriptors();
	listeners->again_ms = -1;
	return listeners;
}

void grpc_listeners_free(struct grpc_listeners *listeners)
{
	free(listeners->items);
	free(listeners);
}

uint64_t grpc_listeners_connections(const struct grpc_listeners *listeners, uint64_t *ret_limit)
{
	*ret_limit = listeners->limit;
	return atomic_load(&listeners->connections);
}

json_t *grpc_listeners_status(const struct grpc_listeners *listeners)
{
	json_t *array = json_array();

	for (size_t i = 0; i < listeners->count; i++) {
		struct buf bound = BUF_INIT;

		listen_name(&listeners->items[i]->socket, &bound);
		json_array_append_new(
			array, json_pack("{s:s,s:s}", "address", listeners->items[i]->address,
				       "bound", buf_cstr(&bound)));
		buf_fini(&bound);
	}
	return array;
}
