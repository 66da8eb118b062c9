/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an HTTP/2 client sends behind its preface: the whole transport on one thread, over a socket
 * pair, with services of the tests' own. The first byte of the input says how it gets there: in
 * pieces (1), with small buffers (2), to a client that reads nothing (4), with the end of the
 * stream at the end (8). At the end every call is closed and every body is free.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define BIG_MAX 1000000
#include "../unit/grpc_services.h"
#include "base/clock.h"
#include "base/mem.h"
#include "serve/grpc/grpc_core.h"

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct grpc_options options;
static struct log null_log = {.fd = -1, .level = LOG_LEVEL_ERROR};
static struct grpc_loop *loop;

static void start(void)
{
	static struct grpc_loop *peers[1];

	options.limits = LIMITS_DEFAULT;
	options.limits.grpc_message_bytes = 100000;
	options.log = &null_log;
	if (grpc_loop_new(&options, &loop))
		abort();
	peers[0] = loop;
	grpc_loop_set_peers(loop, peers, 1, grpc_listeners_new(loop, 10));
}

static void read_all(int fd)
{
	static char waste[65536];

	while (recv(fd, waste, sizeof(waste), MSG_DONTWAIT) > 0)
		;
}

/* A fixed sequence: the same input does the same thing. */
static size_t next_piece(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 24) % 40 + 1;
}

static void send_all(int fd, struct slice bytes, unsigned ways)
{
	uint32_t seed = ways;
	int idle = 0;

	while (bytes.length && idle < 20) {
		size_t piece = ways & 1 ? next_piece(&seed) : 4096;
		ssize_t sent = send(fd, bytes.data, piece < bytes.length ? piece : bytes.length,
			MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent > 0)
			bytes = (struct slice){bytes.data + sent, bytes.length - (size_t)sent};
		idle = sent > 0 ? 0 : idle + 1;
		grpc_loop_turn(loop, 0);
		if (!(ways & 4))
			read_all(fd);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int tiny = 1, ends[2];
	unsigned ways;

	if (size < 1 || size > 65536)
		return 0;
	if (!loop)
		start();
	ways = data[0];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		abort();
	if (ways & 2)
		setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &tiny, sizeof(tiny));
	if (!grpc_connection_new(loop, ends[1], xstrdup("fuzz"), 1))
		abort();
	send_all(ends[0], (struct slice){PREFACE, sizeof(PREFACE) - 1}, ways & ~1u);
	send_all(ends[0], (struct slice){(const char *)data + 1, size - 1}, ways);
	/* Pushes meet whatever state that left behind. */
	grpc_dispatch_store_changed(loop->dispatch, loop->now_ms);
	for (int i = 0; i < 3; i++) {
		grpc_loop_turn(loop, 0);
		if (!(ways & 4))
			read_all(ends[0]);
	}
	if (ways & 8)
		shutdown(ends[0], SHUT_WR);
	else if (!LIST_EMPTY(&loop->connections))
		grpc_drain_start(LIST_FIRST(&loop->connections), 0, "the end");
	grpc_loop_turn(loop, 0);
	close(ends[0]);
	for (int i = 0;
		i < 100 && !(LIST_EMPTY(&loop->connections) && LIST_EMPTY(&loop->graveyard)); i++)
		grpc_loop_turn(loop, 0);
	assert(LIST_EMPTY(&loop->connections) && LIST_EMPTY(&loop->graveyard));
	assert(test_counts.opened == test_counts.closed);
	assert(loop->counters.calls == 0 && loop->assembling == 0 && !loop->dispatch->calls);
	assert(loop->dispatch->body->references == 1);
	assert(loop->call_deadlines.count == 0 && loop->timeouts.count == 0 &&
		loop->connection_deadlines.count == 0);
	return 0;
}
