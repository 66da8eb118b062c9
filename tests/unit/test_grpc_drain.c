/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How connections are asked to leave, and how the dead are found. */
#include <jansson.h>

#include "grpc_fixture.h"

static int set_up_short(void **state)
{
	struct fixture *fixture;

	prepare(state);
	fixture = *state;
	fixture->options.drain_ms = 200;
	start(fixture);
	return 0;
}

static char *second_address(const struct fixture *fixture)
{
	return xasprintf("unix:%s/second", fixture->folder);
}

static void listen_on(const struct fixture *fixture, const char *first, const char *second)
{
	const char *addresses[] = {first, second};
	char *problem;

	assert_int_equal(
		grpc_server_listen(fixture->server, addresses, second ? 2 : 1, &problem), 0);
}

static void assert_echo(struct peer *peer)
{
	struct peer_stream *stream = peer_open(peer, "/test/Echo");

	peer_send(peer, stream, SLICE("x"), true);
	assert_ends(peer, stream, GRPC_OK);
}

static void swaps_listeners(void **state)
{
	struct fixture *fixture = *state;
	AUTO_FREE char *second = second_address(fixture);
	struct peer *leaving = connect_to(fixture);
	struct peer_stream *quiet = peer_open(leaving, "/test/Quiet");
	struct peer_stream *late;
	struct peer *staying;

	assert_true(peer_wait(leaving, quiet->has_headers));
	listen_on(fixture, fixture->address, second);
	staying = peer_new(peer_connect(second + 5), NULL, 0);
	assert_echo(staying);
	assert_echo(leaving);

	listen_on(fixture, second, NULL);
	assert_int_equal(peer_connect(fixture->path), -1);
	/* Begun before it knew: still served. */
	late = peer_open(leaving, "/test/Echo");
	peer_send(leaving, late, SLICE("late"), true);
	assert_true(peer_wait(leaving, leaving->goaways == 1));
	assert_int_equal(leaving->last_stream[0], INT32_MAX);
	assert_true(peer_wait(leaving, leaving->goaways == 2));
	assert_true(leaving->last_stream[1] >= late->id);
	assert_ends(leaving, late, GRPC_OK);
	assert_ends(leaving, quiet, GRPC_UNAVAILABLE);
	assert_string_equal(quiet->message, "this address is no longer served");
	peer_wait(leaving, false);
	assert_true(leaving->is_over);

	assert_echo(staying);
	assert_int_equal(staying->goaways, 0);
	peer_free(leaving);
	peer_free(staying);
}

/* The second GOAWAY does not wait for ever for the answer to the PING. */
static void leaves_who_does_not_answer(void **state)
{
	struct fixture *fixture = *state;
	AUTO_FREE char *second = second_address(fixture);
	struct peer *peer = connect_to(fixture);
	struct peer_stream *quiet = peer_open(peer, "/test/Quiet");

	peer->ignores_pings = true;
	assert_true(peer_wait(peer, quiet->has_headers));
	listen_on(fixture, second, NULL);
	assert_true(peer_wait(peer, peer->goaways == 2));
	assert_int_equal(peer->last_stream[1], quiet->id);
	assert_ends(peer, quiet, GRPC_UNAVAILABLE);
	peer_free(peer);
}

static void keeps_what_it_has_when_it_cannot_listen(void **state)
{
	struct fixture *fixture = *state;
	const char *addresses[] = {fixture->address, "unix:/nowhere/at/all", "nonsense"};
	struct peer *peer = connect_to(fixture);
	char *problem = NULL;

	assert_true(grpc_server_listen(fixture->server, addresses, 3, &problem) < 0);
	assert_non_null(strstr(problem, "unix:/nowhere/at/all"));
	free(problem);
	assert_echo(peer);
	assert_int_equal(peer->goaways, 0);
	peer_free(peer);
}

static void stops_though_nobody_reads(void **state)
{
	struct fixture *fixture = *state;
	struct peer *peers[20];
	int64_t began_ms;

	for (int i = 0; i < 20; i++) {
		peers[i] = connect_to(fixture);
		peer_open(peers[i], "/test/Big");
		peer_send(peers[i], &peers[i]->streams[0], SLICE("5000000"), false);
		peer_write(peers[i]);
		assert_true(peer_wait(peers[i], peers[i]->streams[0].data.length > 0));
	}
	began_ms = clock_monotonic_ms();
	stop(fixture);
	assert_true(clock_monotonic_ms() - began_ms < 3000);
	for (int i = 0; i < 20; i++)
		peer_free(peers[i]);
}

static void stops_at_once_when_nobody_is_there(void **state)
{
	struct fixture *fixture = *state;
	int64_t began_ms = clock_monotonic_ms();

	stop(fixture);
	assert_true(clock_monotonic_ms() - began_ms < 1000);
}

static int set_up_keepalive(void **state)
{
	struct fixture *fixture;

	prepare(state);
	fixture = *state;
	fixture->options.keepalive_ms = 30;
	fixture->options.keepalive_timeout_ms = 60;
	start(fixture);
	return 0;
}

static int64_t number(const json_t *status, const char *key)
{
	assert_true(json_is_integer(json_object_get(status, key)));
	return json_integer_value(json_object_get(status, key));
}

/* S.58 */
static void drops_the_dead(void **state)
{
	struct fixture *fixture = *state;
	struct peer *peer = connect_to(fixture);
	struct peer_stream *stream = peer_open(peer, "/test/Quiet");
	json_t *status;

	/* Who answers stays. */
	assert_true(peer_wait(peer, peer->pings >= 5));
	assert_false(stream->is_closed);
	peer->ignores_pings = true;
	peer_wait(peer, false);
	assert_true(peer->is_over);
	status = grpc_server_status(fixture->server, 10);
	assert_int_equal(number(status, "unresponsive"), 1);
	json_decref(status);
	peer_free(peer);
}

/* Also one that never says a word, and one whose socket takes nothing. */
static void drops_who_does_nothing(void **state)
{
	struct fixture *fixture = *state;
	int silent = peer_connect(fixture->path);
	struct peer *peer = connect_to(fixture);
	char bytes[4096];

	assert_true(silent >= 0);
	while (recv(silent, bytes, sizeof(bytes), 0) > 0)
		;
	close(silent);
	nghttp2_session_set_local_window_size(peer->session, NGHTTP2_FLAG_NONE, 0, 1 << 26);
	peer_open(peer, "/test/Big");
	peer_send(peer, &peer->streams[0], SLICE("60000000"), false);
	/* Alive, but it does not read: the call ends all the same. */
	while (test_counts.closed == 0) {
		nghttp2_submit_window_update(peer->session, NGHTTP2_FLAG_NONE, 1, 1000000);
		peer_write(peer);
		if (peer->is_over)
			break;
		poll(NULL, 0, 5);
	}
	peer_wait(peer, false);
	assert_true(peer->is_over);
	peer_free(peer);
}

static void tells_its_status(void **state)
{
	struct fixture *fixture = *state;
	struct peer *peers[10];
	json_t *status, *listener;

	for (int i = 0; i < 10; i++) {
		peers[i] = connect_to(fixture);
		assert_echo(peers[i]);
	}
	peer_open(peers[0], "/test/Quiet");
	assert_true(peer_wait(peers[0], peers[0]->streams[1].has_headers));
	peer_open(peers[0], "/test/None");
	assert_true(peer_wait(peers[0], peers[0]->streams[2].is_closed));
	status = grpc_server_status(fixture->server, 10);
	assert_int_equal(number(status, "threads"), 2);
	assert_int_equal(number(status, "connections"), 10);
	assert_int_equal(number(status, "accepted"), 10);
	assert_int_equal(number(status, "calls_opened"), 12);
	assert_int_equal(number(status, "calls_unknown"), 1);
	assert_int_equal(number(status, "messages_received"), 10);
	assert_int_equal(number(status, "messages_sent"), 10);
	assert_true(json_is_true(json_object_get(status, "test")));
	assert_int_equal(json_array_size(json_object_get(status, "clients")), 2);
	listener = json_array_get(json_object_get(status, "listeners"), 0);
	assert_string_equal(
		json_string_value(json_object_get(listener, "address")), fixture->address);
	assert_string_equal(
		json_string_value(json_object_get(listener, "bound")), fixture->address);
	json_decref(status);
	for (int i = 0; i < 10; i++)
		peer_free(peers[i]);
}

static int set_up_few(void **state)
{
	struct fixture *fixture;

	prepare(state);
	fixture = *state;
	fixture->options.limits.grpc_connections = 3;
	fixture->log.level = LOG_LEVEL_ERROR;
	start(fixture);
	return 0;
}

/* Beyond the limit they wait in the backlog until somebody leaves. */
static void limits_connections(void **state)
{
	struct fixture *fixture = *state;
	struct peer *peers[5];

	for (int i = 0; i < 5; i++)
		peers[i] = connect_to(fixture);
	for (int i = 0; i < 3; i++)
		assert_echo(peers[i]);
	peer_open(peers[3], "/test/Echo");
	/* Not even SETTINGS come. */
	for (int i = 0; i < 5; i++)
		peer_step(peers[3], 40);
	assert_int_equal(peers[3]->remote_streams, 0);
	assert_false(peers[3]->streams[0].has_headers);
	peer_free(peers[0]);
	assert_true(peer_wait(peers[3], peers[3]->streams[0].has_headers));
	for (int i = 1; i < 5; i++)
		peer_free(peers[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(swaps_listeners, set_up_short, tear_down),
		cmocka_unit_test_setup_teardown(
			leaves_who_does_not_answer, set_up_short, tear_down),
		cmocka_unit_test_setup_teardown(
			keeps_what_it_has_when_it_cannot_listen, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stops_though_nobody_reads, set_up_short, tear_down),
		cmocka_unit_test_setup_teardown(
			stops_at_once_when_nobody_is_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(drops_the_dead, set_up_keepalive, tear_down),
		cmocka_unit_test_setup_teardown(
			drops_who_does_nothing, set_up_keepalive, tear_down),
		cmocka_unit_test_setup_teardown(tells_its_status, set_up, tear_down),
		cmocka_unit_test_setup_teardown(limits_connections, set_up_few, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
