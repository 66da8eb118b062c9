/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests of the gRPC transport: an nghttp2 client on a UNIX or TCP socket, driven by the test,
 * and services of the test's own behind the real server (the test defines grpc_dispatch_*).
 */
#ifndef XDSPUB_TESTS_GRPC_PEER_H
#define XDSPUB_TESTS_GRPC_PEER_H

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#define PEER_WAIT_MS 20000
#define PEER_STREAMS 128

struct peer_stream {
	int32_t id;
	struct buf sent; /* what the request still has to send */
	size_t sent_offset;
	bool ends; /* half-close when all of `sent` went */
	struct buf data;
	char http[8], type[64], encoding[32];
	int status; /* grpc-status; -1: none yet */
	char message[512];
	bool has_headers, has_trailers, is_trailers_only, is_closed, ended_by_data;
	uint32_t error; /* of the close */
};

struct peer {
	int fd;
	nghttp2_session *session;
	struct peer_stream streams[PEER_STREAMS];
	size_t count;
	size_t write_limit; /* bytes in one send(2); 0: all */
	size_t read_limit;  /* in one recv(2); 0: as many as there are */
	bool is_over;	    /* the server closed */
	bool ignores_pings; /* does not answer */
	unsigned goaways;
	int32_t last_stream[4];
	uint32_t goaway_error;
	char goaway_text[128];
	unsigned pings; /* from the server */
	unsigned ping_acks;
	uint32_t remote_streams; /* SETTINGS_MAX_CONCURRENT_STREAMS */
};

static inline struct peer_stream *peer_find(struct peer *peer, int32_t id)
{
	for (size_t i = 0; i < peer->count; i++)
		if (peer->streams[i].id == id)
			return &peer->streams[i];
	return NULL;
}

static inline void peer_copy(char *out, size_t size, const uint8_t *value, size_t length)
{
	snprintf(out, size, "%.*s", (int)length, (const char *)value);
}

static inline int peer_on_header(nghttp2_session *session, const nghttp2_frame *frame,
	const uint8_t *name, size_t name_length, const uint8_t *value, size_t length, uint8_t flags,
	void *user_data)
{
	struct peer_stream *stream = peer_find(user_data, frame->hd.stream_id);
	struct slice key = {(const char *)name, name_length};

	(void)session;
	(void)flags;
	if (!stream)
		return 0;
	if (slice_is(key, ":status"))
		peer_copy(stream->http, sizeof(stream->http), value, length);
	else if (slice_is(key, "content-type"))
		peer_copy(stream->type, sizeof(stream->type), value, length);
	else if (slice_is(key, "grpc-accept-encoding"))
		peer_copy(stream->encoding, sizeof(stream->encoding), value, length);
	else if (slice_is(key, "grpc-status"))
		stream->status = atoi((const char *)value);
	else if (slice_is(key, "grpc-message"))
		peer_copy(stream->message, sizeof(stream->message), value, length);
	return 0;
}

static inline int peer_on_frame(
	nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
	struct peer *peer = user_data;
	struct peer_stream *stream = peer_find(peer, frame->hd.stream_id);
	bool ends = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;

	switch (frame->hd.type) {
	case NGHTTP2_HEADERS:
		if (!stream)
			break;
		stream->is_trailers_only = ends && !stream->has_headers;
		stream->has_trailers |= ends;
		stream->has_headers = true;
		break;
	case NGHTTP2_DATA:
		if (stream && ends)
			stream->ended_by_data = true;
		break;
	case NGHTTP2_PING:
		if (frame->hd.flags & NGHTTP2_FLAG_ACK)
			peer->ping_acks++;
		else
			peer->pings++;
		if (!(frame->hd.flags & NGHTTP2_FLAG_ACK) && !peer->ignores_pings)
			nghttp2_submit_ping(session, NGHTTP2_FLAG_ACK, frame->ping.opaque_data);
		break;
	case NGHTTP2_SETTINGS:
		for (size_t i = 0; i < frame->settings.niv; i++)
			if (frame->settings.iv[i].settings_id ==
				NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
				peer->remote_streams = frame->settings.iv[i].value;
		break;
	case NGHTTP2_GOAWAY:
		if (peer->goaways < 4)
			peer->last_stream[peer->goaways] = frame->goaway.last_stream_id;
		peer->goaways++;
		peer->goaway_error = frame->goaway.error_code;
		peer_copy(peer->goaway_text, sizeof(peer->goaway_text), frame->goaway.opaque_data,
			frame->goaway.opaque_data_len);
		break;
	default:
		break;
	}
	return 0;
}

static inline int peer_on_data(nghttp2_session *session, uint8_t flags, int32_t id,
	const uint8_t *data, size_t length, void *user_data)
{
	struct peer_stream *stream = peer_find(user_data, id);

	(void)session;
	(void)flags;
	if (stream)
		buf_append(&stream->data, data, length);
	return 0;
}

static inline int peer_on_close(
	nghttp2_session *session, int32_t id, uint32_t error, void *user_data)
{
	struct peer_stream *stream = peer_find(user_data, id);

	(void)session;
	if (stream) {
		stream->is_closed = true;
		stream->error = error;
	}
	return 0;
}

static inline ssize_t peer_on_read(nghttp2_session *session, int32_t id, uint8_t *bytes,
	size_t length, uint32_t *flags, nghttp2_data_source *source, void *user_data)
{
	struct peer_stream *stream = peer_find(user_data, id);
	size_t left = stream->sent.length - stream->sent_offset;

	(void)session;
	(void)source;
	if (left > length)
		left = length;
	if (left)
		memcpy(bytes, stream->sent.data + stream->sent_offset, left);
	stream->sent_offset += left;
	if (stream->sent_offset == stream->sent.length && stream->ends)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	else if (left == 0)
		return NGHTTP2_ERR_DEFERRED;
	return (ssize_t)left;
}

static inline struct peer *peer_new(int fd, const nghttp2_settings_entry *settings, size_t count)
{
	struct peer *peer = xcalloc(1, sizeof(*peer));
	nghttp2_session_callbacks *callbacks;
	nghttp2_option *option;

	peer->fd = fd;
	nghttp2_session_callbacks_new(&callbacks);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, peer_on_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, peer_on_frame);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, peer_on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, peer_on_close);
	nghttp2_option_new(&option);
	nghttp2_option_set_no_auto_ping_ack(option, 1); /* so that tests can keep silent */
	nghttp2_session_client_new2(&peer->session, callbacks, peer, option);
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_submit_settings(peer->session, NGHTTP2_FLAG_NONE, settings, count);
	return peer;
}

static inline void peer_free(struct peer *peer)
{
	for (size_t i = 0; i < peer->count; i++) {
		buf_fini(&peer->streams[i].data);
		buf_fini(&peer->streams[i].sent);
	}
	nghttp2_session_del(peer->session);
	close(peer->fd);
	free(peer);
}

#define PEER_HEADER(name_, value_)                                                                 \
	{                                                                                          \
		.name = (uint8_t *)(uintptr_t)(name_), .value = (uint8_t *)(uintptr_t)(value_),    \
		.namelen = strlen(name_), .valuelen = strlen(value_)                               \
	}

/* A POST with these headers besides the usual ones; NULL-terminated pairs. A name that is one of
 * the usual ones takes its place. */
static inline struct peer_stream *peer_open_with(
	struct peer *peer, const char *path, const char *const *extra)
{
	struct peer_stream *stream = &peer->streams[peer->count++];
	nghttp2_data_provider provider = {.read_callback = peer_on_read};
	nghttp2_nv headers[64] = {
		PEER_HEADER(":method", "POST"),
		PEER_HEADER(":scheme", "http"),
		PEER_HEADER(":authority", "test"),
		PEER_HEADER(":path", path),
		PEER_HEADER("content-type", "application/grpc"),
		PEER_HEADER("te", "trailers"),
	};
	size_t count = 6;

	for (; extra && *extra; extra += 2) {
		nghttp2_nv header = PEER_HEADER(extra[0], extra[1]);
		size_t place = count;

		for (size_t i = 0; i < count; i++)
			if (strcmp((const char *)headers[i].name, extra[0]) == 0)
				place = i;
		headers[place] = header;
		count += place == count;
	}
	stream->status = -1;
	stream->id = nghttp2_submit_request(peer->session, NULL, headers, count, &provider, NULL);
	return stream;
}

static inline struct peer_stream *peer_open(struct peer *peer, const char *path)
{
	return peer_open_with(peer, path, NULL);
}

static inline void peer_send_raw(
	struct peer *peer, struct peer_stream *stream, const void *bytes, size_t length, bool ends)
{
	buf_append(&stream->sent, bytes, length);
	stream->ends = ends;
	nghttp2_session_resume_data(peer->session, stream->id);
}

static inline void peer_send(
	struct peer *peer, struct peer_stream *stream, struct slice message, bool ends)
{
	uint8_t head[5] = {0, (uint8_t)(message.length >> 24), (uint8_t)(message.length >> 16),
		(uint8_t)(message.length >> 8), (uint8_t)message.length};

	buf_append(&stream->sent, head, 5);
	peer_send_raw(peer, stream, message.data, message.length, ends);
}

/* How many whole messages have come; the last one of them, when there is one. */
static inline size_t peer_messages(const struct peer_stream *stream, struct slice *ret_last)
{
	const uint8_t *data = (const uint8_t *)stream->data.data;
	size_t offset = 0, count = 0;

	while (stream->data.length - offset >= 5) {
		size_t length = (size_t)data[offset + 1] << 24 | (size_t)data[offset + 2] << 16 |
				(size_t)data[offset + 3] << 8 | data[offset + 4];

		if (stream->data.length - offset - 5 < length)
			break;
		if (ret_last)
			*ret_last = (struct slice){(const char *)data + offset + 5, length};
		offset += 5 + length;
		count++;
	}
	return count;
}

static inline void peer_write(struct peer *peer)
{
	const uint8_t *bytes;
	ssize_t length;

	while (!peer->is_over && (length = nghttp2_session_mem_send(peer->session, &bytes)) > 0) {
		size_t offset = 0;

		while (offset < (size_t)length) {
			size_t part = (size_t)length - offset;
			struct pollfd poll_fd = {.fd = peer->fd, .events = POLLOUT};
			ssize_t sent;

			if (peer->write_limit && part > peer->write_limit)
				part = peer->write_limit;
			sent = send(peer->fd, bytes + offset, part, MSG_NOSIGNAL);
			if (sent < 0 && errno == EAGAIN) {
				poll(&poll_fd, 1, PEER_WAIT_MS);
			} else if (sent < 0) {
				peer->is_over = true;
				return;
			} else {
				offset += (size_t)sent;
			}
		}
	}
}

/* Writes what there is, and reads once when something comes within the time. */
static inline void peer_step(struct peer *peer, int wait_ms)
{
	static __thread uint8_t bytes[65536];
	struct pollfd poll_fd = {.fd = peer->fd, .events = POLLIN};
	size_t size = peer->read_limit ? peer->read_limit : sizeof(bytes);
	ssize_t got;

	peer_write(peer);
	if (poll(&poll_fd, 1, wait_ms) <= 0)
		return;
	got = recv(peer->fd, bytes, size, 0);
	if (got <= 0) {
		peer->is_over = true;
		return;
	}
	if (nghttp2_session_mem_recv(peer->session, bytes, (size_t)got) < 0)
		peer->is_over = true;
	peer_write(peer);
}

/* Until the condition holds; false: it did not in time, or the connection is over. */
#define peer_wait(peer, condition)                                                                 \
	({                                                                                         \
		int64_t until_ = clock_monotonic_ms() + PEER_WAIT_MS;                              \
		bool held_;                                                                        \
		peer_write(peer);                                                                  \
		while (!(held_ = (condition)) && !(peer)->is_over &&                               \
			clock_monotonic_ms() < until_)                                             \
			peer_step(peer, 100);                                                      \
		held_;                                                                             \
	})

static inline int peer_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

#endif
