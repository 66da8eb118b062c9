/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "serve/http_core.h"

#define LINGER_MS	2000
#define LINGER_BYTES	(64u << 20)
#define LINGER_FINISHED UINT64_MAX

void http_linger_start(struct http_server *server, int fd, int64_t now_ms)
{
	struct http_linger *linger = xcalloc(1, sizeof(*linger));
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = linger};

	linger->source = HTTP_SOURCE_LINGER;
	linger->fd = fd;
	linger->until_ms = now_ms + LINGER_MS;
	LIST_INSERT_HEAD(&server->lingering, linger, link);
	shutdown(fd, SHUT_WR);
	if (epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		linger->drained = LINGER_FINISHED;
}

void http_linger_on_event(struct http_linger *linger)
{
	char waste[65536];
	ssize_t got;

	if (linger->drained == LINGER_FINISHED)
		return;
	do {
		got = recv(linger->fd, waste, sizeof(waste), MSG_DONTWAIT);
		if (got > 0)
			linger->drained += (uint64_t)got;
	} while (got == sizeof(waste) && linger->drained < LINGER_BYTES);
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR) ||
		linger->drained >= LINGER_BYTES)
		linger->drained = LINGER_FINISHED;
}

int64_t http_linger_expire(struct http_server *server, int64_t now_ms, bool all)
{
	struct http_linger *linger = LIST_FIRST(&server->lingering);
	int64_t next = -1;

	while (linger) {
		struct http_linger *following = LIST_NEXT(linger, link);

		if (all || linger->drained == LINGER_FINISHED || linger->until_ms <= now_ms) {
			LIST_REMOVE(linger, link);
			close(linger->fd);
			free(linger);
		} else if (next < 0 || linger->until_ms - now_ms < next) {
			next = linger->until_ms - now_ms;
		}
		linger = following;
	}
	return next;
}
