/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The least that nghttp2 needs to send one discovery response to many streams: no request is
 * read, nothing is copied, one epoll loop. What the fan-out of xdspub is measured against.
 *
 * usage: bench_grpc_bare BYTES
 *
 * Prints the port. Every stream gets a response of that size at once, and another one when a line
 * with a marker, which will be in it, comes on stdin.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench_grpc_scan.h"

struct connection {
	struct bare *bare;
	nghttp2_session *session;
	int fd;
	bool is_waiting; /* for EPOLLOUT */
	int32_t stream;
	size_t at; /* of the message; its length: all was handed over */
	/* The rest of a frame that the socket did not take. */
	uint8_t head[9];
	struct iovec parked[2];
};

struct bare {
	int epoll, listener;
	nghttp2_session_callbacks *callbacks;
	struct connection *connections[32768]; /* by descriptor */
	size_t bytes;
	struct buf message;
	unsigned version;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void make_message(struct bare *bare, const char *marker)
{
	struct buf body = BUF_INIT, fields = BUF_INIT;
	char version[16];
	uint32_t length;

	snprintf(version, sizeof(version), "%u", ++bare->version);
	bench_put_field(&fields, 1, slice_of(version));
	bench_put_field(&fields, 4, slice_of(bench_type_urls[BENCH_CDS]));
	bench_put_field(&fields, 5, slice_of(version));
	buf_puts(&body, marker);
	buf_fill(&body, 'x', bare->bytes - body.length - fields.length - 5);
	bench_put_field(&fields, 2, buf_slice(&body));
	length = (uint32_t)fields.length;
	buf_reset(&bare->message);
	buf_append(&bare->message,
		(uint8_t[]){0, (uint8_t)(length >> 24), (uint8_t)(length >> 16),
			(uint8_t)(length >> 8), (uint8_t)length},
		5);
	buf_append_slice(&bare->message, buf_slice(&fields));
	buf_fini(&body);
	buf_fini(&fields);
}

/* ---- out ---- */

/* False: the socket is full. */
static bool unpark(struct connection *connection)
{
	while (connection->parked[0].iov_len + connection->parked[1].iov_len) {
		ssize_t got = writev(connection->fd, connection->parked, 2);

		if (got < 0 && errno == EAGAIN)
			return false;
		if (got <= 0)
			die("writev");
		for (int i = 0; i < 2; i++) {
			struct iovec *part = &connection->parked[i];
			size_t took = (size_t)got < part->iov_len ? (size_t)got : part->iov_len;

			part->iov_base = (char *)part->iov_base + took;
			part->iov_len -= took;
			got -= (ssize_t)took;
		}
	}
	return true;
}

static ssize_t on_send(
	nghttp2_session *session, const uint8_t *data, size_t length, int flags, void *arg)
{
	struct connection *connection = arg;
	ssize_t got;

	(void)session;
	(void)flags;
	if (!unpark(connection))
		return NGHTTP2_ERR_WOULDBLOCK;
	got = write(connection->fd, data, length);
	if (got < 0 && errno == EAGAIN)
		return NGHTTP2_ERR_WOULDBLOCK;
	return got;
}

static int on_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
	size_t length, nghttp2_data_source *source, void *arg)
{
	struct connection *connection = arg;

	(void)session;
	(void)frame;
	(void)source;
	if (!unpark(connection))
		return NGHTTP2_ERR_WOULDBLOCK;
	memcpy(connection->head, head, sizeof(connection->head));
	connection->parked[0] = (struct iovec){connection->head, sizeof(connection->head)};
	connection->parked[1] =
		(struct iovec){connection->bare->message.data + connection->at, length};
	connection->at += length;
	unpark(connection);
	return 0;
}

static ssize_t on_read(nghttp2_session *session, int32_t id, uint8_t *out, size_t length,
	uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct connection *connection = arg;
	size_t left = connection->bare->message.length - connection->at;

	(void)session;
	(void)id;
	(void)out;
	(void)source;
	if (!left)
		return NGHTTP2_ERR_DEFERRED;
	*flags |= NGHTTP2_DATA_FLAG_NO_COPY;
	return (ssize_t)(left < length ? left : length);
}

static void watch(struct connection *connection, int operation)
{
	struct epoll_event event = {.data.fd = connection->fd,
		.events = EPOLLIN | (connection->is_waiting ? EPOLLOUT : 0)};

	if (epoll_ctl(connection->bare->epoll, operation, connection->fd, &event) < 0)
		die("epoll_ctl");
}

static void flush(struct connection *connection)
{
	bool was_waiting = connection->is_waiting;

	if (unpark(connection) && nghttp2_session_send(connection->session))
		die("nghttp2_session_send");
	connection->is_waiting = connection->parked[0].iov_len + connection->parked[1].iov_len > 0;
	if (was_waiting != connection->is_waiting)
		watch(connection, EPOLL_CTL_MOD);
}

/* ---- in ---- */

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	static uint8_t name[] = ":status", value[] = "200", type[] = "content-type",
		       grpc[] = "application/grpc";
	const nghttp2_nv headers[] = {{name, value, 7, 3, NGHTTP2_NV_FLAG_NONE},
		{type, grpc, 12, 16, NGHTTP2_NV_FLAG_NONE}};
	struct connection *connection = arg;
	nghttp2_data_provider provider = {.read_callback = on_read};

	if (frame->hd.type != NGHTTP2_HEADERS)
		return 0;
	connection->stream = frame->hd.stream_id;
	return nghttp2_submit_response(session, frame->hd.stream_id, headers, 2, &provider);
}

static void receive(struct connection *connection)
{
	static uint8_t data[65536];
	ssize_t got = read(connection->fd, data, sizeof(data));

	if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0) {
		connection->bare->connections[connection->fd] = NULL;
		close(connection->fd);
		nghttp2_session_del(connection->session);
		free(connection);
		return;
	}
	if (nghttp2_session_mem_recv(connection->session, data, (size_t)got) != got)
		die("nghttp2_session_mem_recv");
	flush(connection);
}

static void accept_all(struct bare *bare)
{
	nghttp2_settings_entry settings = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 100};
	int fd, on = 1;

	while ((fd = accept4(bare->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct connection *connection = xcalloc(1, sizeof(*connection));

		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		connection->bare = bare;
		connection->fd = fd;
		bare->connections[fd] = connection;
		nghttp2_session_server_new(&connection->session, bare->callbacks, connection);
		nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, &settings, 1);
		watch(connection, EPOLL_CTL_ADD);
	}
}

static void read_command(struct bare *bare)
{
	char line[128];
	ssize_t got = read(STDIN_FILENO, line, sizeof(line) - 1);

	if (got <= 0)
		exit(0);
	line[got] = '\0';
	line[strcspn(line, "\n")] = '\0';
	make_message(bare, line);
	for (size_t i = 0; i < 32768; i++) {
		struct connection *connection = bare->connections[i];

		if (!connection)
			continue;
		connection->at = 0;
		nghttp2_session_resume_data(connection->session, connection->stream);
		flush(connection);
	}
}

static void listen_on(struct bare *bare)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	struct epoll_event input = {.events = EPOLLIN, .data.fd = STDIN_FILENO};
	struct epoll_event listener = {.events = EPOLLIN};

	bare->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (bare->listener < 0 ||
		bind(bare->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(bare->listener, 4096) < 0 ||
		getsockname(bare->listener, (struct sockaddr *)&address, &length) < 0)
		die("listen");
	listener.data.fd = bare->listener;
	bare->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_ctl(bare->epoll, EPOLL_CTL_ADD, STDIN_FILENO, &input) < 0 ||
		epoll_ctl(bare->epoll, EPOLL_CTL_ADD, bare->listener, &listener) < 0)
		die("epoll_ctl");
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct bare bare;
	struct epoll_event events[256];
	struct rlimit limit;

	if (argc != 2 || (bare.bytes = strtoul(argv[1], NULL, 10)) < 1000) {
		fprintf(stderr, "usage: bench_grpc_bare BYTES\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	nghttp2_session_callbacks_new(&bare.callbacks);
	nghttp2_session_callbacks_set_send_callback(bare.callbacks, on_send);
	nghttp2_session_callbacks_set_send_data_callback(bare.callbacks, on_send_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(bare.callbacks, on_frame);
	make_message(&bare, "first");
	listen_on(&bare);
	for (;;) {
		int got = epoll_wait(bare.epoll, events, 256, -1);

		for (int i = 0; i < got; i++) {
			int fd = events[i].data.fd;

			if (fd == bare.listener)
				accept_all(&bare);
			else if (fd == STDIN_FILENO)
				read_command(&bare);
			else if (bare.connections[fd] && events[i].events & EPOLLOUT)
				flush(bare.connections[fd]);
			else if (bare.connections[fd])
				receive(bare.connections[fd]);
		}
	}
}
