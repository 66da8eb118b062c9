/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Peers that mean harm, frame by frame: each is thrown out, and others do not notice. */
#include <fcntl.h>
#include <jansson.h>

#include "grpc_fixture.h"

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

/* A socket and what came from it, nothing between us and the bytes. */
struct raw {
	int fd;
	struct buf out, in;
	bool is_closed;
};

static void put_frame(struct raw *raw, unsigned type, unsigned flags, uint32_t stream,
	const void *payload, size_t length)
{
	uint8_t head[9] = {(uint8_t)(length >> 16), (uint8_t)(length >> 8), (uint8_t)length,
		(uint8_t)type, (uint8_t)flags, (uint8_t)(stream >> 24), (uint8_t)(stream >> 16),
		(uint8_t)(stream >> 8), (uint8_t)stream};

	buf_append(&raw->out, head, 9);
	buf_append(&raw->out, payload, length);
}

/* Literals without a table, so that every block is the same. */
static void put_header(struct buf *block, const char *name, const char *value)
{
	buf_putc(block, 0);
	buf_putc(block, (char)strlen(name));
	buf_puts(block, name);
	buf_putc(block, (char)strlen(value));
	buf_puts(block, value);
}

static void put_request(struct raw *raw, uint32_t stream, const char *path, unsigned flags)
{
	struct buf block = BUF_INIT;

	put_header(&block, ":method", "POST");
	put_header(&block, ":scheme", "http");
	put_header(&block, ":path", path);
	put_header(&block, ":authority", "test");
	put_header(&block, "content-type", "application/grpc");
	put_frame(raw, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | flags, stream, block.data,
		block.length);
	buf_fini(&block);
}

static void raw_open(const struct fixture *fixture, struct raw *raw)
{
	*raw = (struct raw){.fd = peer_connect(fixture->path)};
	assert_true(raw->fd >= 0);
	fcntl(raw->fd, F_SETFL, O_NONBLOCK);
	buf_puts(&raw->out, PREFACE);
	put_frame(raw, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
}

static void raw_read(struct raw *raw)
{
	static char bytes[65536];
	ssize_t got;

	while ((got = recv(raw->fd, bytes, sizeof(bytes), 0)) > 0)
		buf_append(&raw->in, bytes, (size_t)got);
	raw->is_closed |= got == 0 || (got < 0 && errno != EAGAIN);
}

/* Sends all that was put, reading along (or not), and then reads to the end if there is one. */
static void raw_run(struct raw *raw, bool reads, bool until_end)
{
	int64_t until_ms = clock_monotonic_ms() + PEER_WAIT_MS;
	size_t offset = 0;

	while (!raw->is_closed && (offset < raw->out.length || until_end)) {
		struct pollfd poll_fd = {.fd = raw->fd,
			.events = (short)((offset < raw->out.length ? POLLOUT : 0) |
					  (reads || offset == raw->out.length ? POLLIN : 0))};
		ssize_t sent;

		assert_true(clock_monotonic_ms() < until_ms);
		/* One that does not read gets stuck: the server takes no more from it. */
		if (poll(&poll_fd, 1, reads ? 1000 : 300) == 0 && !reads)
			break;
		if (poll_fd.revents & POLLOUT) {
			sent = send(raw->fd, raw->out.data + offset, raw->out.length - offset,
				MSG_NOSIGNAL);
			if (sent < 0 && errno != EAGAIN) {
				offset = raw->out.length;
				reads = until_end = true;
			}
			offset += sent > 0 ? (size_t)sent : 0;
		}
		if (poll_fd.revents & (POLLIN | POLLHUP | POLLERR))
			raw_read(raw);
	}
	buf_reset(&raw->out);
}

static void raw_close(struct raw *raw)
{
	close(raw->fd);
	buf_fini(&raw->out);
	buf_fini(&raw->in);
}

/* Frames of a type in what came (stream 0: any); the last one's payload. */
static size_t count_frames(const struct raw *raw, unsigned type, struct slice *ret_last)
{
	const uint8_t *bytes = (const uint8_t *)raw->in.data;
	size_t offset = 0, count = 0;

	while (raw->in.length - offset >= 9) {
		size_t length = (size_t)bytes[offset] << 16 | (size_t)bytes[offset + 1] << 8 |
				bytes[offset + 2];

		if (raw->in.length - offset - 9 < length)
			break;
		if (bytes[offset + 3] == type) {
			count++;
			if (ret_last)
				*ret_last = (struct slice){raw->in.data + offset + 9, length};
		}
		offset += 9 + length;
	}
	return count;
}

static void assert_thrown_out(struct raw *raw, uint8_t error)
{
	struct slice goaway = {0};

	assert_true(raw->is_closed);
	assert_true(count_frames(raw, NGHTTP2_GOAWAY, &goaway) >= 1);
	assert_true(goaway.length >= 8);
	assert_int_equal((uint8_t)goaway.data[7], error);
}

static int64_t status_number(const struct fixture *fixture, const char *key)
{
	json_t *status = grpc_server_status(fixture->server, 0);
	int64_t value = json_integer_value(json_object_get(status, key));

	json_decref(status);
	return value;
}

static void assert_others_are_fine(const struct fixture *fixture)
{
	struct peer *peers[2];

	/* On both loops. */
	for (int i = 0; i < 2; i++) {
		struct peer_stream *stream;

		peers[i] = connect_to(fixture);
		stream = peer_open(peers[i], "/test/Echo");
		peer_send(peers[i], stream, SLICE("x"), true);
		assert_ends(peers[i], stream, GRPC_OK);
	}
	for (int i = 0; i < 2; i++)
		peer_free(peers[i]);
}

static int set_up_quiet(void **state)
{
	struct fixture *fixture;

	prepare(state);
	fixture = *state;
	/* Lines about what they do are expected here. */
	fixture->log.level = LOG_LEVEL_ERROR;
	start(fixture);
	return 0;
}

/* ---- floods ---- */

static void throws_out_floods(void **state)
{
	static const struct {
		unsigned type;
		uint32_t stream;
		const char *payload;
		size_t length;
		unsigned count;
	} cases[] = {
		{NGHTTP2_PING, 0, "12345678", 8, 40000},
		{NGHTTP2_SETTINGS, 0, "", 0, 40000},
		{NGHTTP2_DATA, 1, "", 0, 40000},
		{NGHTTP2_PRIORITY, 1, "\0\0\0\0\20", 5, 40000},
		{NGHTTP2_WINDOW_UPDATE, 0, "\0\0\0\1", 4, 40000},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct raw raw;

		raw_open(fixture, &raw);
		put_request(&raw, 1, "/test/Quiet", 0);
		for (unsigned j = 0; j < cases[i].count; j++)
			put_frame(&raw, cases[i].type, 0, cases[i].stream, cases[i].payload,
				cases[i].length);
		raw_run(&raw, true, true);
		assert_thrown_out(&raw, NGHTTP2_ENHANCE_YOUR_CALM);
		raw_close(&raw);
		assert_int_equal(status_number(fixture, "misbehaved"), i + 1);
	}
	assert_others_are_fine(fixture);
}

/* Answers that nobody reads: the server stops listening and holds little. */
static void goes_deaf(void **state)
{
	struct fixture *fixture = *state;
	struct raw raws[20];

	for (int i = 0; i < 20; i++) {
		raw_open(fixture, &raws[i]);
		for (unsigned j = 0; j < 9000; j++)
			put_frame(&raws[i], NGHTTP2_PING, 0, 0, "12345678", 8);
		/* Unknown paths: an answer of 100 bytes for 60. */
		for (unsigned j = 0; j < 20000; j++)
			put_request(&raws[i], 2 * j + 1, "/x", NGHTTP2_FLAG_END_STREAM);
		raw_run(&raws[i], false, false);
	}
	assert_others_are_fine(fixture);
	/* Answers to some fill the sockets and what nghttp2 may hold; the rest was never read. */
	assert_true(status_number(fixture, "calls_opened") < INT64_C(20) * 20000 / 2);
	for (int i = 0; i < 20; i++)
		raw_close(&raws[i]);
}

/* CVE-2023-44487 */
static void throws_out_rapid_resets(void **state)
{
	struct fixture *fixture = *state;
	struct raw raw;

	raw_open(fixture, &raw);
	for (uint32_t i = 0; i < 40000; i++) {
		put_request(&raw, 2 * i + 1, "/test/Quiet", 0);
		put_frame(&raw, NGHTTP2_RST_STREAM, 0, 2 * i + 1, "\0\0\0\10", 4);
	}
	raw_run(&raw, true, true);
	assert_thrown_out(&raw, NGHTTP2_ENHANCE_YOUR_CALM);
	assert_true(test_counts.opened < 20000);
	raw_close(&raw);
	assert_others_are_fine(fixture);
}

/* What a client does that loses all its clusters at once. */
static void lets_old_streams_go(void **state)
{
	struct fixture *fixture = *state;
	struct raw raw;
	struct slice last;

	raw_open(fixture, &raw);
	for (uint32_t i = 0; i < 9000; i++)
		put_request(&raw, 2 * i + 1, "/test/Quiet", 0);
	raw_run(&raw, true, false);
	for (uint32_t i = 0; i < 9000; i++)
		put_frame(&raw, NGHTTP2_RST_STREAM, 0, 2 * i + 1, "\0\0\0\10", 4);
	put_request(&raw, 20001, "/test/None", NGHTTP2_FLAG_END_STREAM);
	put_frame(&raw, NGHTTP2_PING, 0, 0, "12345678", 8);
	raw_run(&raw, true, false);
	while (count_frames(&raw, NGHTTP2_PING, &last) == 0 && !raw.is_closed) {
		struct pollfd poll_fd = {.fd = raw.fd, .events = POLLIN};

		assert_int_equal(poll(&poll_fd, 1, PEER_WAIT_MS), 1);
		raw_read(&raw);
	}
	assert_false(raw.is_closed);
	assert_int_equal(count_frames(&raw, NGHTTP2_GOAWAY, NULL), 0);
	raw_close(&raw);
}

/* S.57: ten thousand may stand. The next is refused as long as the client did not say that it has
 * seen the limit; then it is a fault. */
static void refuses_streams_beyond_the_limit(void **state)
{
	struct fixture *fixture = *state;
	struct raw raw;
	struct slice reset = {0};

	raw_open(fixture, &raw);
	for (uint32_t i = 0; i < 10003; i++)
		put_request(&raw, 2 * i + 1, "/test/Quiet", 0);
	raw_run(&raw, true, false);
	while (count_frames(&raw, NGHTTP2_RST_STREAM, &reset) < 3 && !raw.is_closed) {
		struct pollfd poll_fd = {.fd = raw.fd, .events = POLLIN};

		assert_int_equal(poll(&poll_fd, 1, PEER_WAIT_MS), 1);
		raw_read(&raw);
	}
	assert_false(raw.is_closed);
	assert_int_equal((uint8_t)reset.data[3], NGHTTP2_REFUSED_STREAM);
	assert_int_equal(status_number(fixture, "calls"), 10000);
	put_frame(&raw, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
	put_request(&raw, 30001, "/test/Quiet", 0);
	raw_run(&raw, true, true);
	assert_thrown_out(&raw, NGHTTP2_PROTOCOL_ERROR);
	raw_close(&raw);
}

static void bounds_header_blocks(void **state)
{
	struct fixture *fixture = *state;
	struct buf large = BUF_INIT;
	struct raw raw;

	/* CONTINUATION without an end. */
	raw_open(fixture, &raw);
	put_frame(&raw, NGHTTP2_HEADERS, 0, 1, "\0\1x\1y", 5);
	for (int i = 0; i < 10000; i++)
		put_frame(&raw, NGHTTP2_CONTINUATION, 0, 1, "\0\1x\1y", 5);
	raw_run(&raw, true, true);
	assert_thrown_out(&raw, NGHTTP2_ENHANCE_YOUR_CALM);
	raw_close(&raw);

	/* One entry of the table, three thousand times: 12 MB of headers in 7 KB. */
	raw_open(fixture, &raw);
	buf_append(&large, "\100\1x\177\341\36", 6); /* literal, indexed: 4,064 bytes */
	buf_fill(&large, 'v', 4064 - 32);
	for (int i = 0; i < 3000; i++)
		buf_putc(&large, (char)0xbe);
	put_frame(&raw, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, large.data, large.length);
	put_frame(&raw, NGHTTP2_PING, 0, 0, "12345678", 8);
	raw_run(&raw, true, false);
	raw_close(&raw);
	buf_fini(&large);
	assert_int_equal(test_counts.opened, 0);
	assert_others_are_fine(fixture);
}

/* ---- nonsense ---- */

static void throws_out_nonsense(void **state)
{
	static const struct {
		unsigned type, flags;
		uint32_t stream;
		const char *payload;
		size_t length;
		uint8_t error;
	} cases[] = {
		{NGHTTP2_WINDOW_UPDATE, 0, 0, "\177\377\377\377", 4, NGHTTP2_FLOW_CONTROL_ERROR},
		{NGHTTP2_WINDOW_UPDATE, 0, 0, "\0\0\0\0", 4, NGHTTP2_PROTOCOL_ERROR},
		{NGHTTP2_PING, 0, 0, "short", 5, NGHTTP2_FRAME_SIZE_ERROR},
		{NGHTTP2_PING, 0, 1, "12345678", 8, NGHTTP2_PROTOCOL_ERROR},
		{NGHTTP2_SETTINGS, 0, 0, "\0\4\377\377\377\377", 6, NGHTTP2_FLOW_CONTROL_ERROR},
		{NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, "x", 1, NGHTTP2_FRAME_SIZE_ERROR},
		{NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 2, "\202", 1, NGHTTP2_PROTOCOL_ERROR},
		{NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\377\377\377\377\377\377", 6,
			NGHTTP2_COMPRESSION_ERROR},
		{NGHTTP2_DATA, 0, 7, "data of no stream", 17, NGHTTP2_PROTOCOL_ERROR},
		{NGHTTP2_CONTINUATION, 0, 1, "", 0, NGHTTP2_PROTOCOL_ERROR},
		{NGHTTP2_PUSH_PROMISE, 0, 1, "\0\0\0\2", 4, NGHTTP2_PROTOCOL_ERROR},
	};
	struct fixture *fixture = *state;
	struct raw raw;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		raw_open(fixture, &raw);
		put_frame(&raw, cases[i].type, cases[i].flags, cases[i].stream, cases[i].payload,
			cases[i].length);
		raw_run(&raw, true, true);
		assert_thrown_out(&raw, cases[i].error);
		raw_close(&raw);
	}
	assert_int_equal(status_number(fixture, "misbehaved"), sizeof(cases) / sizeof(cases[0]));
	assert_others_are_fine(fixture);
}

/* What other protocols say first. */
static void throws_out_strangers(void **state)
{
	static const char *const words[] = {
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"\26\3\1\2\0\1\0\1\374\3\3 a TLS ClientHello is binary",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\rX",
		"\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n",
	};
	struct fixture *fixture = *state;
	struct raw raw;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		raw_open(fixture, &raw);
		buf_reset(&raw.out);
		buf_puts(&raw.out, words[i]);
		raw_run(&raw, true, true);
		assert_true(raw.is_closed);
		raw_close(&raw);
	}
	assert_others_are_fine(fixture);
}

/* DATA for a call that has ended is thrown away, and does not cost the connection. */
static void ignores_data_of_ended_calls(void **state)
{
	struct fixture *fixture = *state;
	struct peer *peer = connect_to(fixture);
	struct peer_stream *stream = peer_open(peer, "/test/Fail");
	AUTO_FREE char *large = xcalloc(1, 1000000);

	peer_send(peer, stream, SLICE("x"), false);
	peer_send(peer, stream, (struct slice){large, 1000000}, false);
	assert_true(peer_wait(peer, stream->is_closed));
	assert_int_equal(stream->status, GRPC_INVALID_ARGUMENT);
	for (int i = 0; i < 20; i++) {
		stream = peer_open(peer, "/test/Now");
		peer_send(peer, stream, (struct slice){large, 100000}, true);
		assert_true(peer_wait(peer, stream->is_closed));
		assert_int_equal(stream->status, GRPC_NOT_FOUND);
	}
	stream = peer_open(peer, "/test/Echo");
	peer_send(peer, stream, SLICE("x"), true);
	assert_ends(peer, stream, GRPC_OK);
	peer_free(peer);
}

static long resident_kb(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
	fclose(file);
	return pages * 4;
}

/* A thousand large answers and a window that stays shut: they share their bytes. */
static void holds_little_for_shut_windows(void **state)
{
	static const nghttp2_settings_entry shut[] = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0}};
	struct fixture *fixture = *state;
	struct peer *peer = connect_with(fixture, shut, 1);
	long before_kb = resident_kb();

	for (int i = 0; i < PEER_STREAMS - 1; i++)
		peer_send(peer, peer_open(peer, "/test/Push"), SLICE("x"), false);
	assert_true(peer_wait(peer, test_counts.messages == PEER_STREAMS - 1));
	store_publish(fixture->store, SLICE("g"), NULL);
	assert_true(peer_wait(peer, test_counts.changed >= 4));
	assert_true(resident_kb() - before_kb < 16000);
	for (int i = 0; i < PEER_STREAMS - 1; i++)
		assert_int_equal(peer->streams[i].data.length, 0);
	peer_free(peer);
}

/* Incomplete messages are paid for with bytes, and there may not be too many. */
static void limits_incomplete_messages(void **state)
{
	struct fixture *fixture = *state;
	struct peer *peer = connect_to(fixture);
	AUTO_FREE char *large = xcalloc(1, 1000000);
	struct slice most = {large, 1000000};
	unsigned exhausted = 0;

	for (int i = 0; i < 20; i++) {
		struct peer_stream *stream = peer_open(peer, "/test/Echo");

		buf_append(&stream->sent, "\0\0\20\0\0", 5); /* 1 MiB */
		peer_send_raw(peer, stream, most.data, most.length, false);
	}
	nghttp2_submit_ping(peer->session, NGHTTP2_FLAG_NONE, NULL);
	for (int i = 0; i < 20; i++)
		assert_true(peer_wait(peer,
			peer->streams[i].is_closed ||
				(peer->streams[i].sent_offset == 1000005 && peer->ping_acks)));
	for (int i = 0; i < 20; i++)
		exhausted += peer->streams[i].status == GRPC_RESOURCE_EXHAUSTED;
	assert_true(exhausted >= 8);
	assert_true(exhausted < 20);
	peer_free(peer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(throws_out_floods, set_up_quiet, tear_down),
		cmocka_unit_test_setup_teardown(goes_deaf, set_up_quiet, tear_down),
		cmocka_unit_test_setup_teardown(throws_out_rapid_resets, set_up_quiet, tear_down),
		cmocka_unit_test_setup_teardown(lets_old_streams_go, set_up_quiet, tear_down),
		cmocka_unit_test_setup_teardown(
			refuses_streams_beyond_the_limit, set_up_quiet, tear_down),
		cmocka_unit_test_setup_teardown(bounds_header_blocks, set_up_quiet, tear_down),
		cmocka_unit_test_setup_teardown(throws_out_nonsense, set_up_quiet, tear_down),
		cmocka_unit_test_setup_teardown(throws_out_strangers, set_up_quiet, tear_down),
		cmocka_unit_test_setup_teardown(ignores_data_of_ended_calls, set_up, tear_down),
		cmocka_unit_test_setup_teardown(holds_little_for_shut_windows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(limits_incomplete_messages, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
