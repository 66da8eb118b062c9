/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What time does to a connection: it must begin, it must answer when it is silent, it may not be
 * idle for ever, and when it has to leave it does so in steps, so that no call is lost: a GOAWAY
 * that names no stream and a PING; when that is answered nothing older can be on its way, and the
 * GOAWAY with the real last stream follows; then the calls are ended; then it is closed.
 */
#include "serve/grpc/grpc_core.h"

#define BEGIN_MS	     10000  /* for the preface and the SETTINGS of a new connection */
#define IDLE_MS		     600000 /* without a call */
#define NOTICE_MS	     1000   /* longest wait for the answer to the first GOAWAY's PING */
#define LINGER_MS	     1000
#define LEAVE_MS	     2000 /* for what is on its way when the calls have been ended */
#define KEEPALIVE_MS	     60000
#define KEEPALIVE_TIMEOUT_MS 20000

static const uint8_t alive_ping[8] = "alive?";
static const uint8_t leave_ping[8] = "leaving";

static int64_t min_ms(int64_t a_ms, int64_t b_ms)
{
	return a_ms < b_ms ? a_ms : b_ms;
}

static int64_t keepalive_ms(const struct grpc_connection *connection)
{
	int64_t ms = connection->loop->options->keepalive_ms;

	return ms ? ms : KEEPALIVE_MS;
}

static int64_t timeout_ms(const struct grpc_connection *connection)
{
	int64_t ms = connection->loop->options->keepalive_timeout_ms;

	return ms ? ms : KEEPALIVE_TIMEOUT_MS;
}

static void arm(struct grpc_connection *connection, int64_t at_ms)
{
	deadline_set(&connection->loop->connection_deadlines, &connection->deadline, at_ms);
}

void grpc_drain_arm(struct grpc_connection *connection)
{
	int64_t now_ms = connection->loop->now_ms;

	if (connection->state == GRPC_CONNECTION_LINGER)
		arm(connection, now_ms + LINGER_MS);
	else
		arm(connection, now_ms + min_ms(BEGIN_MS, keepalive_ms(connection)));
}

static void give_up(struct grpc_connection *connection, const char *reason)
{
	connection->loop->counters.unresponsive++;
	grpc_connection_log(connection, LOG_LEVEL_INFO, "client-unresponsive", reason);
	grpc_connection_close(connection);
}

static void send_ping(struct grpc_connection *connection, const uint8_t opaque[8])
{
	nghttp2_submit_ping(connection->session, NGHTTP2_FLAG_NONE, opaque);
	connection->ping_ms = connection->loop->now_ms;
	grpc_loop_mark_dirty(connection->loop, connection);
}

/* Its last deadline: what it still does after is its own loss. */
static void end_calls(struct grpc_connection *connection)
{
	struct grpc_call *call;

	LIST_FOREACH(call, &connection->calls, link)
	grpc_call_finish(call, GRPC_UNAVAILABLE, connection->end_text);
	connection->state = GRPC_CONNECTION_ENDING;
	arm(connection, connection->loop->now_ms + LEAVE_MS);
}

/* Nothing older than the first GOAWAY can come any more, or we have waited long enough. */
static void send_goaway(struct grpc_connection *connection)
{
	nghttp2_submit_goaway(connection->session, NGHTTP2_FLAG_NONE,
		nghttp2_session_get_last_proc_stream_id(connection->session), NGHTTP2_NO_ERROR,
		(const uint8_t *)connection->end_text, strlen(connection->end_text));
	grpc_loop_mark_dirty(connection->loop, connection);
	connection->state = GRPC_CONNECTION_LEAVING;
	if (connection->end_ms <= connection->loop->now_ms)
		end_calls(connection);
	else
		arm(connection, connection->end_ms);
}

void grpc_drain_start(struct grpc_connection *connection, int64_t grace_ms, const char *text)
{
	int64_t now_ms = connection->loop->now_ms;
	int64_t end_ms = now_ms + grace_ms;

	if (connection->state >= GRPC_CONNECTION_ENDING)
		return;
	if (connection->state != GRPC_CONNECTION_OPEN && end_ms >= connection->end_ms)
		return;
	connection->end_ms = end_ms;
	connection->end_text = text;
	if (connection->state == GRPC_CONNECTION_LEAVING) {
		arm(connection, end_ms);
		return;
	}
	if (connection->state == GRPC_CONNECTION_OPEN) {
		connection->loop->counters.goaways++;
		nghttp2_submit_shutdown_notice(connection->session);
		send_ping(connection, leave_ping);
		connection->state = GRPC_CONNECTION_NOTICED;
	}
	/* A server that stops cannot wait for long. */
	arm(connection, now_ms + (grace_ms ? NOTICE_MS : NOTICE_MS / 2));
}

void grpc_drain_on_ping_ack(struct grpc_connection *connection, const uint8_t opaque[8])
{
	connection->ping_ms = -1;
	if (connection->state == GRPC_CONNECTION_NOTICED && memcmp(opaque, leave_ping, 8) == 0)
		send_goaway(connection);
}

/* Deadlines are not moved with every byte that comes: when one is due it is worked out anew. */
static void check_open(struct grpc_connection *connection)
{
	int64_t now_ms = connection->loop->now_ms;
	int64_t next_ms = connection->heard_ms + keepalive_ms(connection);
	int64_t stuck_ms = keepalive_ms(connection) + timeout_ms(connection);

	if (!connection->has_settings && now_ms - connection->idle_ms >= BEGIN_MS) {
		give_up(connection, "sent no HTTP/2 preface and SETTINGS within 10 s");
		return;
	}
	if (connection->stuck_ms >= 0 && now_ms - connection->stuck_ms >= stuck_ms) {
		give_up(connection, "does not read");
		return;
	}
	if (connection->ping_ms >= 0 && connection->heard_ms > connection->ping_ms)
		connection->ping_ms = -1; /* anything that came is a sign of life */
	if (connection->ping_ms >= 0 && now_ms - connection->ping_ms >= timeout_ms(connection)) {
		give_up(connection, "does not answer a PING");
		return;
	}
	if (connection->calls_count == 0 && now_ms - connection->idle_ms >= IDLE_MS) {
		grpc_drain_start(connection, 0, "the connection was idle");
		return;
	}
	if (connection->ping_ms < 0 && now_ms >= next_ms) {
		send_ping(connection, alive_ping);
		next_ms = now_ms + timeout_ms(connection);
	} else if (connection->ping_ms >= 0) {
		next_ms = connection->ping_ms + timeout_ms(connection);
	}
	if (!connection->has_settings)
		next_ms = min_ms(next_ms, connection->idle_ms + BEGIN_MS);
	if (connection->stuck_ms >= 0)
		next_ms = min_ms(next_ms, connection->stuck_ms + stuck_ms);
	if (connection->calls_count == 0)
		next_ms = min_ms(next_ms, connection->idle_ms + IDLE_MS);
	arm(connection, next_ms > now_ms ? next_ms : now_ms + 1);
}

void grpc_drain_on_deadline(struct grpc_connection *connection)
{
	switch ((enum grpc_connection_state)connection->state) {
	case GRPC_CONNECTION_OPEN:
		check_open(connection);
		break;
	case GRPC_CONNECTION_NOTICED:
		send_goaway(connection);
		break;
	case GRPC_CONNECTION_LEAVING:
		end_calls(connection);
		break;
	case GRPC_CONNECTION_ENDING:
	case GRPC_CONNECTION_LINGER:
		grpc_connection_close(connection);
		break;
	case GRPC_CONNECTION_CLOSED:
		break;
	}
}
