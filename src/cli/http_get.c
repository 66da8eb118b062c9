/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/http_get.h"

#include <errno.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/http_answer.h"

#define ANSWER_LIMIT_BYTES (256u << 20)
#define PATIENCE_S	   10
#define PATIENCE_ALL_S	   120

static int try_connect(int family, const struct sockaddr *address, socklen_t length)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, address, length) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

static int connect_unix(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	return try_connect(AF_UNIX, (const struct sockaddr *)&address, sizeof(address));
}

/* host:port or [v6]:port */
static int connect_tcp(const char *text)
{
	const char *colon = strrchr(text, ':');
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
	AUTO_FREE char *host = NULL;
	int fd = -EINVAL;

	if (!colon || colon == text || colon[1] == '\0')
		return -EINVAL;
	host = text[0] == '[' && colon[-1] == ']' ? xstrndup(text + 1, (size_t)(colon - text) - 2)
						  : xstrndup(text, (size_t)(colon - text));
	if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
		return -EHOSTUNREACH;
	for (const struct addrinfo *one = found; one; one = one->ai_next) {
		fd = try_connect(one->ai_family, one->ai_addr, one->ai_addrlen);
		if (fd >= 0)
			break;
	}
	freeaddrinfo(found);
	return fd;
}

/* As file_read_fd, but not for ever: a peer may send a byte now and then. */
static int read_answer(int fd, struct buf *text)
{
	const int64_t until = clock_monotonic_ms() + PATIENCE_ALL_S * 1000;

	text->limit_bytes = ANSWER_LIMIT_BYTES;
	for (;;) {
		char *room = buf_reserve(text, 64 << 10);
		ssize_t count = room ? read(fd, room, 64 << 10) : 0;

		if (!room)
			return buf_error(text);
		if (count < 0 && errno != EINTR)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (count == 0)
			return 0;
		text->length += count > 0 ? (size_t)count : 0;
		if (clock_monotonic_ms() > until)
			return -ETIMEDOUT;
	}
}

static int talk(int fd, const char *path, struct buf *out, int *ret_status)
{
	struct buf text = BUF_INIT;
	int error;

	/* Not HTTP/1.0, which Envoy does not serve. */
	buf_printf(&text, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
	error = file_write_all(fd, text.data, text.length);
	buf_reset(&text);
	if (!error)
		error = read_answer(fd, &text);
	if (!error)
		error = http_answer_parse(buf_slice(&text), out, ret_status);
	buf_fini(&text);
	return error;
}

int http_get(const char *address, const char *path, struct buf *out, int *ret_status,
	struct buf *problem)
{
	bool is_unix = strncmp(address, "unix:", 5) == 0;
	int fd = is_unix ? connect_unix(address + 5) : connect_tcp(address);
	int error;

	if (fd < 0) {
		if (fd == -EINVAL)
			buf_printf(problem, "%s is no address: host:port, [v6]:port or unix:/path",
				address);
		else
			buf_printf(problem, "no daemon answers at %s: %s", address, strerror(-fd));
		return fd;
	}
	error = talk(fd, path, out, ret_status);
	close(fd);
	if (error)
		buf_printf(problem, "no good answer from %s: %s", address, strerror(-error));
	return error;
}
