/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole transport with real sockets and threads, services of the test's own. */
#include "serve/grpc/grpc_server.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "grpc_fixture.h"

/* ---- calls ---- */

/* S.54, S.60 */
static void echoes_and_ends(void **state)
{
	struct peer *peer = connect_to(*state);
	struct peer_stream *stream = peer_open(peer, "/test/Echo");
	struct slice last = {0};

	/* Headers come before any message does. */
	assert_true(peer_wait(peer, stream->has_headers));
	assert_string_equal(stream->encoding, "identity");
	peer_send(peer, stream, SLICE("one"), false);
	assert_true(peer_wait(peer, peer_messages(stream, &last) == 1));
	assert_true(slice_is(last, "one"));
	peer_send(peer, stream, SLICE(""), false);
	assert_true(peer_wait(peer, peer_messages(stream, &last) == 2));
	assert_int_equal(last.length, 0);
	peer_send(peer, stream, SLICE("two"), false);
	peer_send(peer, stream, SLICE("three"), true);
	assert_ends(peer, stream, GRPC_OK);
	assert_int_equal(peer_messages(stream, &last), 4);
	assert_true(slice_is(last, "three"));
	assert_false(stream->is_trailers_only);
	assert_int_equal(peer->remote_streams, 10000); /* S.57 */
	peer_free(peer);
}

/* S.53: 200 and Trailers-Only */
static void refuses_unknown_methods(void **state)
{
	struct peer *peer = connect_to(*state);
	struct peer_stream *stream = peer_open(peer, "/test/None");

	assert_ends(peer, stream, GRPC_UNIMPLEMENTED);
	assert_true(stream->is_trailers_only);
	assert_string_equal(stream->message, "no method /test/None");
	stream = peer_open(peer, "/test/Now");
	assert_ends(peer, stream, GRPC_NOT_FOUND);
	assert_true(stream->is_trailers_only);
	peer_free(peer);
}

static void percent_encodes_messages(void **state)
{
	struct peer *peer = connect_to(*state);
	struct peer_stream *stream = peer_open(peer, "/test/Fail");

	peer_send(peer, stream, SLICE("x"), false);
	assert_ends(peer, stream, GRPC_INVALID_ARGUMENT);
	assert_string_equal(stream->message, "100%25 wr%C3%B6ng%0A");
	peer_free(peer);
}

static void checks_headers(void **state)
{
	static const struct {
		const char *extra[3];
		const char *http;
		int status;
	} cases[] = {
		{{"content-type", "application/json", NULL}, "415", GRPC_UNKNOWN},
		{{"content-type", "application/grpc-web", NULL}, "415", GRPC_UNKNOWN},
		{{"content-type", "application/grpc+proto", NULL}, "200", GRPC_OK},
		{{"content-type", "application/grpc;charset=utf-8", NULL}, "200", GRPC_OK},
		{{":method", "PUT", NULL}, "405", GRPC_UNIMPLEMENTED},
		{{"grpc-timeout", "1", NULL}, "200", GRPC_INVALID_ARGUMENT},
		{{"grpc-timeout", "99999999H", NULL}, "200", GRPC_OK},
		{{"te", "whatever", NULL}, "200", GRPC_OK},
		{{"grpc-encoding", "gzip", NULL}, "200", GRPC_OK},
	};
	struct peer *peer = connect_to(*state);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct peer_stream *stream = peer_open_with(peer, "/test/Echo", cases[i].extra);

		/* te: anything but trailers is malformed HTTP/2, and nghttp2 says so. */
		if (strcmp(cases[i].extra[0], "te") == 0) {
			assert_true(peer_wait(peer, stream->has_headers || stream->is_closed));
			if (stream->is_closed)
				continue;
		}
		peer_send(peer, stream, SLICE("x"), true);
		assert_true(peer_wait(peer, stream->is_closed));
		assert_string_equal(stream->http, cases[i].http);
		assert_int_equal(stream->status, cases[i].status);
	}
	peer_free(peer);
}

static void limits_headers(void **state)
{
	struct peer *peer = connect_to(*state);
	AUTO_FREE char *large = xcalloc(1, 20001);
	const char *extra[] = {"x-large", large, NULL};
	struct peer_stream *stream;

	memset(large, 'x', 20000);
	stream = peer_open_with(peer, "/test/Echo", extra);
	assert_ends(peer, stream, GRPC_RESOURCE_EXHAUSTED);
	large[8000] = '\0';
	stream = peer_open_with(peer, "/test/Echo", extra);
	peer_send(peer, stream, SLICE("x"), true);
	assert_ends(peer, stream, GRPC_OK);
	peer_free(peer);
}

static void honours_timeouts(void **state)
{
	static const char *const extra[] = {"grpc-timeout", "30m", NULL};
	struct peer *peer = connect_to(*state);
	struct peer_stream *stream = peer_open_with(peer, "/test/Quiet", extra);

	assert_ends(peer, stream, GRPC_DEADLINE_EXCEEDED);
	stream = peer_open(peer, "/test/Later");
	peer_send(peer, stream, SLICE("x"), false);
	assert_true(peer_wait(peer, peer_messages(stream, NULL) == 1));
	peer_send(peer, stream, SLICE("x"), true);
	assert_ends(peer, stream, GRPC_OK);
	peer_free(peer);
}

static void checks_messages(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		int status;
	} cases[] = {
		{"\1\0\0\0\1x", 6, GRPC_INTERNAL},	       /* compressed without a word */
		{"\0\0\0\0\2x", 6, GRPC_INTERNAL},	       /* ends in the middle */
		{"\0\0\0", 3, GRPC_INTERNAL},		       /* of the head, too */
		{"\0\0\x40\0\1x", 6, GRPC_RESOURCE_EXHAUSTED}, /* one more than 4 MiB */
		{"", 0, GRPC_OK},
	};
	static const char *const gzip[] = {"grpc-encoding", "gzip", NULL};
	struct peer *peer = connect_to(*state);
	struct peer_stream *stream;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		stream = peer_open(peer, "/test/Quiet");
		peer_send_raw(peer, stream, cases[i].bytes, cases[i].length, true);
		assert_ends(peer, stream, cases[i].status);
	}
	/* S.55: the other way is not our fault. */
	stream = peer_open_with(peer, "/test/Quiet", gzip);
	peer_send_raw(peer, stream, "\1\0\0\0\1x", 6, false);
	assert_ends(peer, stream, GRPC_UNIMPLEMENTED);
	assert_string_equal(stream->encoding, "identity");
	peer_free(peer);
}

/* S.56: cut at every byte, and many in one. */
static void takes_split_messages(void **state)
{
	struct peer *peer = connect_to(*state);
	struct peer_stream *stream = peer_open(peer, "/test/Echo");
	struct buf many = BUF_INIT;
	struct slice last = {0};

	for (size_t cut = 0; cut <= 10; cut++) {
		size_t before = peer_messages(stream, NULL);

		peer_send_raw(peer, stream, "\0\0\0\0\5hello", cut, false);
		peer_write(peer);
		peer_send_raw(peer, stream, &"\0\0\0\0\5hello"[cut], 10 - cut, false);
		assert_true(peer_wait(peer, peer_messages(stream, &last) == before + 1));
		assert_true(slice_is(last, "hello"));
	}
	for (int i = 0; i < 3000; i++)
		buf_append(&many, "\0\0\0\0\5hello", 10);
	peer_send_raw(peer, stream, many.data, many.length, false);
	assert_true(peer_wait(peer, peer_messages(stream, NULL) == 3011));
	peer->write_limit = 1;
	peer_send(peer, stream, SLICE("byte by byte"), true);
	assert_ends(peer, stream, GRPC_OK);
	assert_int_equal(peer_messages(stream, &last), 3012);
	assert_true(slice_is(last, "byte by byte"));
	buf_fini(&many);
	peer_free(peer);
}

static void assert_big(struct slice message, size_t length)
{
	assert_int_equal(message.length, length + 8);
	for (size_t i = 0; i < length; i++)
		if ((uint8_t)message.data[i] != (uint8_t)(i * 7 + i / 251))
			fail_msg("byte %zu of %zu differs", i, length);
	assert_memory_equal(message.data + length, "the tail", 8);
}

/* S.56: what the socket or the window does not take at once arrives whole. */
static void sends_in_parts(void **state)
{
	static const size_t sizes[] = {0, 1, 16370, 16379, 16380, 65535, 70000, 3000000};
	static const nghttp2_settings_entry small[] = {
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1000}};
	int tiny = 1;

	for (int way = 0; way < 3; way++) {
		struct peer *peer = way == 1 ? connect_with(*state, small, 1) : connect_to(*state);

		setsockopt(peer->fd, SOL_SOCKET, SO_RCVBUF, &tiny, sizeof(tiny));
		peer->read_limit = way == 2 ? 777 : 0;
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			struct peer_stream *stream = peer_open(peer, "/test/Big");
			struct buf digits = BUF_INIT;
			struct slice message = {0};

			buf_printf(&digits, "%zu", sizes[i]);
			peer_send(peer, stream, buf_slice(&digits), true);
			assert_ends(peer, stream, GRPC_OK);
			assert_int_equal(peer_messages(stream, &message), 1);
			assert_big(message, sizes[i]);
			buf_fini(&digits);
		}
		peer_free(peer);
	}
}

/* A large answer does not hold up the small ones of other streams. */
static void is_fair_to_streams(void **state)
{
	struct peer *peer = connect_to(*state);
	struct peer_stream *big = peer_open(peer, "/test/Big");
	struct peer_stream *small = peer_open(peer, "/test/Echo");

	nghttp2_session_set_local_window_size(peer->session, NGHTTP2_FLAG_NONE, 0, 1 << 26);
	peer_send(peer, big, SLICE("50000000"), true);
	assert_true(peer_wait(peer, big->data.length > 0));
	peer_send(peer, small, SLICE("x"), true);
	assert_ends(peer, small, GRPC_OK);
	assert_true(big->data.length < 40000000);
	peer_free(peer);
}

static void forgets_reset_calls(void **state)
{
	struct fixture *fixture = *state;
	struct peer *peer = connect_to(fixture);
	struct peer_stream *stream = peer_open(peer, "/test/Echo");
	struct peer_stream *big = peer_open(peer, "/test/Big");

	peer_send(peer, big, SLICE("50000000"), true);
	assert_true(peer_wait(peer, stream->has_headers && big->data.length > 100));
	nghttp2_submit_rst_stream(peer->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
	nghttp2_submit_rst_stream(peer->session, NGHTTP2_FLAG_NONE, big->id, NGHTTP2_CANCEL);
	assert_true(peer_wait(peer, test_counts.closed == 2));
	/* The connection goes on. */
	stream = peer_open(peer, "/test/Echo");
	peer_send(peer, stream, SLICE("x"), true);
	assert_ends(peer, stream, GRPC_OK);
	peer_free(peer);
}

/* ---- pushes ---- */

static void wakes_calls_on_changes(void **state)
{
	struct fixture *fixture = *state;
	struct peer *peers[4];
	struct peer_stream *streams[4];

	for (int i = 0; i < 4; i++) {
		peers[i] = connect_to(fixture);
		streams[i] = peer_open(peers[i], "/test/Push");
		peer_send(peers[i], streams[i], SLICE("x"), false);
		assert_true(peer_wait(peers[i], peer_messages(streams[i], NULL) > 0));
	}
	/* More rounds than there can be changes from the start. */
	for (size_t round = 2; round < 8; round++) {
		store_publish(fixture->store, SLICE("g"), NULL);
		for (int i = 0; i < 4; i++)
			assert_true(peer_wait(peers[i], peer_messages(streams[i], NULL) >= round));
		grpc_server_wake(fixture->server);
	}
	for (int i = 0; i < 4; i++)
		peer_free(peers[i]);
}

/* ---- connections ---- */

static void answers_pings(void **state)
{
	struct peer *peer = connect_to(*state);

	/* S.58: quick ones, too. */
	for (unsigned i = 1; i <= 500; i++) {
		nghttp2_submit_ping(peer->session, NGHTTP2_FLAG_NONE, NULL);
		assert_true(peer_wait(peer, peer->ping_acks == i));
	}
	assert_int_equal(peer->goaways, 0);
	peer_free(peer);
}

static void stops_with_clients(void **state)
{
	struct fixture *fixture = *state;
	struct peer *silent = connect_to(fixture);
	struct peer *peer = connect_to(fixture);
	struct peer_stream *stream = peer_open(peer, "/test/Quiet");
	int64_t began_ms;

	peer_open(silent, "/test/Big");
	peer_send(silent, &silent->streams[0], SLICE("50000000"), false);
	peer_write(silent); /* and never reads */
	assert_true(peer_wait(peer, stream->has_headers && test_counts.messages == 1));
	began_ms = clock_monotonic_ms();
	stop(fixture);
	assert_true(clock_monotonic_ms() - began_ms < 5000);
	peer_wait(peer, false);
	assert_true(peer->is_over);
	assert_true(peer->goaways >= 1);
	assert_int_equal(peer->last_stream[0], INT32_MAX);
	assert_int_equal(stream->status, GRPC_UNAVAILABLE);
	peer_free(peer);
	peer_free(silent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(echoes_and_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refuses_unknown_methods, set_up, tear_down),
		cmocka_unit_test_setup_teardown(percent_encodes_messages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(checks_headers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(limits_headers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(honours_timeouts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(checks_messages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(takes_split_messages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sends_in_parts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(is_fair_to_streams, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forgets_reset_calls, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wakes_calls_on_changes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_pings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stops_with_clients, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
