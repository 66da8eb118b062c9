/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One HTTP/2 connection (h2c with prior knowledge): nghttp2 keeps the protocol, this file moves its
 * bytes, turns its events into calls and throws out who misbehaves.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "serve/grpc/grpc_core.h"

#define STREAM_WINDOW	  (256 << 10)
#define CONNECTION_WINDOW (1 << 20) /* nothing waits in it: requests are handled as they come */
#define FRAME_BYTES	  (16384 + 9)
#define CALM_DOWN	  NGHTTP2_ENHANCE_YOUR_CALM

void grpc_connection_log(struct grpc_connection *connection, enum log_level level,
	const char *event, const char *reason)
{
	const struct log *log = connection->loop->options->log;
	unsigned suppressed = 0;

	if (level == LOG_LEVEL_DEBUG || grpc_loop_may_log(connection->loop, &suppressed))
		log_event(log, level, event, LOG_TEXT("client", connection->peer),
			LOG_TEXT("reason", reason), LOG_NUMBER("suppressed", suppressed));
}

void grpc_connection_watch(struct grpc_connection *connection)
{
	struct epoll_event event = {.data.ptr = connection};

	event.events =
		(connection->is_deaf ? 0 : EPOLLIN) | (connection->wants_output ? EPOLLOUT : 0);
	epoll_ctl(connection->loop->epoll_fd, EPOLL_CTL_MOD, connection->fd, &event);
}

static void misbehave(struct grpc_connection *connection, const char *reason)
{
	if (!connection->misbehaved)
		connection->misbehaved = reason;
}

/* ---- what nghttp2 tells us; nothing here may free the session ---- */

static bool costs_work(const nghttp2_frame_hd *head)
{
	switch (head->type) {
	case NGHTTP2_DATA:
		return head->length == 0 && !(head->flags & NGHTTP2_FLAG_END_STREAM);
	case NGHTTP2_HEADERS: /* streams are counted and closed ones are paid for by resets */
	case NGHTTP2_CONTINUATION:
	case NGHTTP2_GOAWAY:
		return false;
	default:
		return true;
	}
}

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *head, void *user_data)
{
	struct grpc_connection *connection = user_data;
	int64_t now_ms = connection->loop->now_ms;

	(void)session;
	if (costs_work(head) && !grpc_flood_frame(&connection->flood, now_ms)) {
		misbehave(connection, "too many frames that carry nothing");
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	}
	return 0;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
	struct grpc_connection *connection = user_data;

	(void)session;
	if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	if (!connection->opening)
		connection->opening = xmalloc(sizeof(*connection->opening));
	grpc_metadata_init(connection->opening);
	connection->opening_id = frame->hd.stream_id;
	return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
	size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags,
	void *user_data)
{
	struct grpc_connection *connection = user_data;

	(void)session;
	(void)flags;
	if (connection->opening && connection->opening_id == frame->hd.stream_id)
		grpc_metadata_add(connection->opening,
			(struct slice){(const char *)name, name_length},
			(struct slice){(const char *)value, value_length});
	return 0;
}

static void opening_free(struct grpc_connection *connection)
{
	free(connection->opening);
	connection->opening = NULL;
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
	struct grpc_connection *connection = user_data;
	int32_t stream_id = frame->hd.stream_id;
	struct grpc_call *call;

	if (frame->hd.type == NGHTTP2_SETTINGS)
		connection->has_settings = true;
	if (frame->hd.type == NGHTTP2_PING && frame->hd.flags & NGHTTP2_FLAG_ACK)
		grpc_drain_on_ping_ack(connection, frame->ping.opaque_data);
	if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
		return 0;
	if (frame->hd.type == NGHTTP2_HEADERS && connection->opening &&
		connection->opening_id == stream_id) {
		grpc_call_open(connection, stream_id, connection->opening);
		opening_free(connection);
	}
	call = nghttp2_session_get_stream_user_data(session, stream_id);
	if (call && frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
		grpc_call_on_half_close(call);
	return 0;
}

static int on_data_chunk(nghttp2_session *session, uint8_t flags, int32_t stream_id,
	const uint8_t *data, size_t length, void *user_data)
{
	struct grpc_call *call = nghttp2_session_get_stream_user_data(session, stream_id);

	(void)flags;
	(void)user_data;
	if (call)
		grpc_call_on_data(call, (struct slice){(const char *)data, length});
	return 0;
}

static int on_stream_close(
	nghttp2_session *session, int32_t stream_id, uint32_t error_code, void *user_data)
{
	struct grpc_connection *connection = user_data;
	struct grpc_call *call = nghttp2_session_get_stream_user_data(session, stream_id);
	int64_t now_ms = connection->loop->now_ms;
	bool is_abrupt;

	(void)error_code;
	if (connection->opening && connection->opening_id == stream_id)
		opening_free(connection);
	/* One that was opened to be reset, or that nghttp2 reset for its faults. */
	is_abrupt = !call ||
		    (!call->has_trailers && now_ms - call->opened_ms < GRPC_FLOOD_RESET_AGE_MS);
	if (call)
		grpc_call_on_gone(call);
	if (is_abrupt && !grpc_flood_reset(&connection->flood, now_ms)) {
		misbehave(connection, "too many streams that are reset at once");
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	}
	return 0;
}

static int on_invalid_frame(
	nghttp2_session *session, const nghttp2_frame *frame, int error, void *user_data)
{
	struct grpc_connection *connection = user_data;

	(void)session;
	(void)frame;
	(void)error;
	if (!grpc_flood_frame(&connection->flood, connection->loop->now_ms)) {
		misbehave(connection, "too many invalid frames");
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	}
	return 0;
}

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
	struct grpc_connection *connection = user_data;
	struct grpc_call *call;

	if (frame->hd.type == NGHTTP2_DATA)
		grpc_flood_sent(&connection->flood);
	if (frame->hd.type == NGHTTP2_HEADERS && frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
		call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
		if (call)
			grpc_call_on_ended(call);
	}
	/* nghttp2 gives up on the peer by itself. */
	if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR)
		misbehave(connection, nghttp2_http2_strerror(frame->goaway.error_code));
	return 0;
}

/* Our headers could not be sent: without them the client would wait for ever. */
static int on_frame_not_send(
	nghttp2_session *session, const nghttp2_frame *frame, int error, void *user_data)
{
	(void)user_data;
	if (frame->hd.type == NGHTTP2_HEADERS && error != NGHTTP2_ERR_STREAM_CLOSED &&
		error != NGHTTP2_ERR_STREAM_CLOSING)
		nghttp2_submit_rst_stream(
			session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_INTERNAL_ERROR);
	return 0;
}

static int on_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
	size_t length, nghttp2_data_source *source, void *user_data)
{
	struct grpc_connection *connection = user_data;

	(void)session;
	(void)frame;
	/* Head and prefix, body, tail. */
	if (!grpc_output_has_room(&connection->loop->output, 3, 9 + GRPC_FRAME_HEAD))
		return NGHTTP2_ERR_WOULDBLOCK;
	grpc_call_write(source->ptr, head, length);
	return 0;
}

nghttp2_session_callbacks *grpc_connection_callbacks(void)
{
	nghttp2_session_callbacks *callbacks;

	if (nghttp2_session_callbacks_new(&callbacks))
		abort();
	nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
	nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, on_invalid_frame);
	nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
	nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_frame_not_send);
	nghttp2_session_callbacks_set_send_data_callback(callbacks, on_send_data);
	return callbacks;
}

nghttp2_option *grpc_connection_options(void)
{
	nghttp2_option *option;

	if (nghttp2_option_new(&option))
		abort();
	/* Acknowledgements that one read can ask for, several times. */
	nghttp2_option_set_max_outbound_ack(option, 4 * GRPC_READ_BYTES / 17);
	nghttp2_option_set_no_closed_streams(option, 1);
	/* Its own limit counts streams that lived long, too: a client that loses a thousand
	 * clusters resets a thousand streams. Ours (grpc_flood.h) comes first. */
#ifdef HAVE_NGHTTP2_OPTION_SET_STREAM_RESET_RATE_LIMIT
	nghttp2_option_set_stream_reset_rate_limit(
		option, 4 * GRPC_FLOOD_RESETS, 4 * GRPC_FLOOD_RESETS_PER_SECOND);
#endif
	/* Our headers are few and the same: no table for them. */
	nghttp2_option_set_max_deflate_dynamic_table_size(option, 0);
	return option;
}

/* ---- life ---- */

struct grpc_connection *grpc_connection_new(
	struct grpc_loop *loop, int fd, char *peer, uint64_t listener)
{
	static const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, GRPC_STREAMS},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, GRPC_METADATA_BYTES},
		{NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
	};
	struct grpc_connection *connection = xcalloc(1, sizeof(*connection));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};

	connection->source = GRPC_SOURCE_CONNECTION;
	connection->fd = fd;
	connection->loop = loop;
	connection->peer = peer;
	connection->listener = listener;
	connection->heard_ms = connection->idle_ms = loop->now_ms;
	connection->flood.refilled_ms = loop->now_ms;
	connection->ping_ms = connection->stuck_ms = -1;
	connection->end_text = "the server is stopping";
	LIST_INIT(&connection->calls);
	if (nghttp2_session_server_new2(
		    &connection->session, loop->callbacks, connection, loop->session_options) ||
		epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		nghttp2_session_del(connection->session);
		close(fd);
		free(peer);
		free(connection);
		return NULL;
	}
	LIST_INSERT_HEAD(&loop->connections, connection, link);
	loop->counters.accepted++;
	nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, settings,
		sizeof(settings) / sizeof(settings[0]));
	nghttp2_session_set_local_window_size(
		connection->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW);
	grpc_loop_mark_dirty(loop, connection);
	grpc_drain_arm(connection);
	return connection;
}

/* No protocol any more: calls hear of it at the end of the turn. */
static void end_session(struct grpc_connection *connection)
{
	while (!LIST_EMPTY(&connection->calls))
		grpc_call_on_gone(LIST_FIRST(&connection->calls));
	nghttp2_session_del(connection->session);
	connection->session = NULL;
	opening_free(connection);
	grpc_parked_free(connection->parked);
	connection->parked = NULL;
	if (connection->is_dirty)
		TAILQ_REMOVE(&connection->loop->dirty, connection, dirty_link);
	connection->is_dirty = false;
}

void grpc_connection_close(struct grpc_connection *connection)
{
	struct grpc_loop *loop = connection->loop;

	if (connection->state == GRPC_CONNECTION_CLOSED)
		return;
	if (connection->session)
		end_session(connection);
	connection->state = GRPC_CONNECTION_CLOSED;
	deadline_clear(&loop->connection_deadlines, &connection->deadline);
	close(connection->fd);
	connection->fd = -1;
	LIST_REMOVE(connection, link);
	LIST_INSERT_HEAD(&loop->graveyard, connection, link);
}

void grpc_connection_free(struct grpc_connection *connection)
{
	LIST_REMOVE(connection, link);
	atomic_fetch_sub(&connection->loop->connections_count, 1);
	grpc_listeners_left(connection->loop->listeners);
	free(connection->peer);
	free(connection);
}

/* All is said. Closing now could reset the connection and destroy our last words on their way:
 * wait for the peer's end, throwing away what comes. */
static void linger(struct grpc_connection *connection)
{
	if (connection->misbehaved) {
		connection->loop->counters.misbehaved++;
		grpc_connection_log(
			connection, LOG_LEVEL_WARNING, "client-misbehaved", connection->misbehaved);
	}
	end_session(connection);
	connection->state = GRPC_CONNECTION_LINGER;
	connection->is_deaf = connection->wants_output = false;
	grpc_connection_watch(connection);
	shutdown(connection->fd, SHUT_WR);
	grpc_drain_arm(connection);
}

void grpc_connection_throw_out(
	struct grpc_connection *connection, uint32_t error_code, const char *reason)
{
	if (!connection->session)
		return;
	misbehave(connection, reason);
	nghttp2_submit_goaway(connection->session, NGHTTP2_FLAG_NONE,
		nghttp2_session_get_last_proc_stream_id(connection->session), error_code,
		(const uint8_t *)reason, strlen(reason));
	grpc_connection_flush(connection);
	if (connection->session)
		linger(connection);
}

/* ---- bytes ---- */

static void set_output(struct grpc_connection *connection, bool wants_output)
{
	struct grpc_loop *loop = connection->loop;

	if (!wants_output)
		connection->stuck_ms = -1;
	else if (connection->stuck_ms < 0)
		connection->stuck_ms = loop->now_ms;
	if (connection->wants_output == wants_output)
		return;
	connection->wants_output = wants_output;
	grpc_connection_watch(connection);
}

/* False: the connection was closed, or some of it is parked. */
static bool write_output(struct grpc_connection *connection, bool is_parked, size_t *written)
{
	struct grpc_output *output = &connection->loop->output;
	size_t bytes;
	int rc = is_parked ? grpc_parked_write(&connection->parked, connection->fd, &bytes)
			   : grpc_output_write(output, connection->fd, &connection->parked, &bytes);

	*written += bytes;
	if (bytes)
		connection->stuck_ms = -1;
	if (rc == -EAGAIN)
		set_output(connection, true);
	else if (rc)
		grpc_connection_close(connection);
	return rc == 0;
}

/* Gathers frames. False: the session cannot go on. */
static bool fill_output(struct grpc_connection *connection, bool *ret_more)
{
	struct grpc_output *output = &connection->loop->output;
	const uint8_t *bytes;
	ssize_t length;

	/* It hands out a frame at most; what it has handed out cannot be given back. */
	while (grpc_output_has_room(output, 4, FRAME_BYTES)) {
		length = nghttp2_session_mem_send(connection->session, &bytes);
		if (length < 0)
			return false;
		if (length == 0) {
			*ret_more = !grpc_output_has_room(output, 3, 9 + GRPC_FRAME_HEAD);
			return true;
		}
		grpc_output_copy(output, bytes, (size_t)length);
	}
	*ret_more = true;
	return true;
}

static bool is_over(const struct grpc_connection *connection)
{
	return !nghttp2_session_want_read(connection->session) &&
	       !nghttp2_session_want_write(connection->session);
}

void grpc_connection_flush(struct grpc_connection *connection)
{
	struct grpc_loop *loop = connection->loop;
	size_t written = 0;
	bool more = true;

	if (connection->state >= GRPC_CONNECTION_LINGER)
		return;
	if (connection->parked && !write_output(connection, true, &written))
		return;
	while (more && written < GRPC_WRITE_PER_TURN) {
		if (!fill_output(connection, &more)) {
			grpc_connection_close(connection);
			return;
		}
		if (loop->output.count && !write_output(connection, false, &written))
			return;
	}
	set_output(connection, false);
	if (more) {
		grpc_loop_mark_dirty(loop, connection);
		return;
	}
	if (is_over(connection)) {
		linger(connection);
		return;
	}
	if (connection->is_deaf) {
		connection->is_deaf = false;
		grpc_connection_watch(connection);
	}
}

/* True: went on well. */
static bool feed(struct grpc_connection *connection, const uint8_t *bytes, size_t length)
{
	ssize_t rc = nghttp2_session_mem_recv(connection->session, bytes, length);

	if (rc >= 0) {
		grpc_loop_mark_dirty(connection->loop, connection);
		return true;
	}
	switch (rc) {
	case NGHTTP2_ERR_BAD_CLIENT_MAGIC:
		grpc_connection_throw_out(connection, NGHTTP2_PROTOCOL_ERROR,
			"does not speak HTTP/2 with prior knowledge");
		break;
	case NGHTTP2_ERR_FLOODED:
		grpc_connection_throw_out(
			connection, CALM_DOWN, "too many frames that want an answer");
		break;
	case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS:
		grpc_connection_throw_out(connection, CALM_DOWN, "too many CONTINUATION frames");
		break;
	case NGHTTP2_ERR_CALLBACK_FAILURE:
		grpc_connection_throw_out(connection, CALM_DOWN, connection->misbehaved);
		break;
	default:
		grpc_connection_throw_out(
			connection, NGHTTP2_INTERNAL_ERROR, nghttp2_strerror((int)rc));
		break;
	}
	return false;
}

/* Too much waits to be sent: the peer gets nothing more done before it has read that. */
static bool must_be_deaf(struct grpc_connection *connection)
{
	if (nghttp2_session_get_outbound_queue_size(connection->session) < GRPC_OUTBOUND_MAX)
		return false;
	grpc_connection_flush(connection);
	if (!connection->session || !connection->parked ||
		nghttp2_session_get_outbound_queue_size(connection->session) < GRPC_OUTBOUND_MAX)
		return false;
	connection->is_deaf = true;
	grpc_connection_watch(connection);
	return true;
}

static void read_input(struct grpc_connection *connection)
{
	struct grpc_loop *loop = connection->loop;

	for (int i = 0; i < GRPC_READS_PER_TURN; i++) {
		ssize_t got = recv(connection->fd, loop->input, sizeof(loop->input), MSG_DONTWAIT);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		if (got <= 0) {
			grpc_connection_close(connection);
			return;
		}
		connection->heard_ms = loop->now_ms;
		if (connection->state == GRPC_CONNECTION_LINGER)
			continue;
		if (!feed(connection, loop->input, (size_t)got) || must_be_deaf(connection) ||
			!connection->session)
			return;
		if ((size_t)got < sizeof(loop->input))
			return;
	}
}

void grpc_connection_on_event(struct grpc_connection *connection, uint32_t events)
{
	if (connection->state == GRPC_CONNECTION_CLOSED)
		return;
	if (events & EPOLLOUT)
		grpc_connection_flush(connection);
	if (connection->state == GRPC_CONNECTION_CLOSED)
		return;
	/* Nobody reads what is parked for a peer that is gone. */
	if (events & (EPOLLERR | EPOLLHUP) && !(events & EPOLLIN))
		grpc_connection_close(connection);
	else if (events & EPOLLIN)
		read_input(connection);
}
