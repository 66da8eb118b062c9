/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gRPC server with the services of grpc_services.h on a UNIX socket, and clients for it.
 * Include it once in a cmocka program.
 */
#ifndef XDSPUB_TESTS_GRPC_FIXTURE_H
#define XDSPUB_TESTS_GRPC_FIXTURE_H

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "grpc_peer.h"
#include "grpc_services.h"
#include "serve/grpc/grpc_server.h"

struct fixture {
	struct grpc_server *server;
	struct grpc_options options;
	struct store *store;
	struct log log;
	char folder[32];
	char *path, *address;
};

static inline void start(struct fixture *fixture)
{
	const char *address = fixture->address;
	char *problem;

	assert_int_equal(grpc_server_start(&fixture->options, &fixture->server), 0);
	assert_int_equal(grpc_server_listen(fixture->server, &address, 1, &problem), 0);
}

static inline int prepare(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));

	log_init(&fixture->log, STDERR_FILENO, LOG_LEVEL_ERROR);
	strcpy(fixture->folder, "/tmp/test_grpc.XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	fixture->path = xasprintf("%s/s", fixture->folder);
	fixture->address = xasprintf("unix:%s", fixture->path);
	fixture->store = store_new();
	fixture->options = (struct grpc_options){.store = fixture->store,
		.limits = LIMITS_DEFAULT,
		.threads = 2,
		.drain_ms = 1000,
		.log = &fixture->log};
	memset(&test_counts, 0, sizeof(test_counts));
	*state = fixture;
	return 0;
}

static inline int set_up(void **state)
{
	prepare(state);
	start(*state);
	return 0;
}

static inline void stop(struct fixture *fixture)
{
	grpc_server_stop(fixture->server);
	fixture->server = NULL;
	assert_int_equal(test_counts.opened, test_counts.closed);
	assert_int_equal(test_counts.stopped, fixture->options.threads);
	assert_int_equal(
		test_counts.late_jobs, fixture->options.threads * fixture->options.threads);
}

static inline int tear_down(void **state)
{
	struct fixture *fixture = *state;

	if (fixture->server)
		stop(fixture);
	store_free(fixture->store);
	assert_int_equal(rmdir(fixture->folder), 0);
	free(fixture->path);
	free(fixture->address);
	free(fixture);
	return 0;
}

static inline struct peer *connect_with(
	const struct fixture *fixture, const nghttp2_settings_entry *settings, size_t count)
{
	int fd = peer_connect(fixture->path);

	assert_true(fd >= 0);
	return peer_new(fd, settings, count);
}

static inline struct peer *connect_to(const struct fixture *fixture)
{
	return connect_with(fixture, NULL, 0);
}

static inline void assert_ends(struct peer *peer, struct peer_stream *stream, int status)
{
	assert_true(peer_wait(peer, stream->is_closed));
	assert_string_equal(stream->http, "200");
	assert_string_equal(stream->type, "application/grpc");
	assert_true(stream->has_trailers);
	assert_false(stream->ended_by_data);
	assert_int_equal(stream->status, status);
	assert_int_equal(stream->error, NGHTTP2_NO_ERROR);
}

#endif
