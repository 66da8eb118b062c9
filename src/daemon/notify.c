/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"

#define STATUS_LENGTH 512

struct notify {
	int fd; /* -1: nobody listens */
	struct sockaddr_un address;
	socklen_t address_length;
	uint64_t watchdog_ms;
	char status[STATUS_LENGTH];
};

static uint64_t read_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t value = 0;
	int64_t wanted;

	if (!usec || text_parse_u64(slice_of(usec), &value) < 0)
		return 0;
	if (pid && (text_parse_i64(slice_of(pid), &wanted) < 0 || wanted != getpid()))
		return 0;
	/* Twice as often as asked for; never zero. */
	return value < 4000 ? (value > 0) : value / 2000;
}

static void open_socket(struct notify *notify, const char *path)
{
	const struct timeval patience = {.tv_sec = 1};
	size_t length = strlen(path);

	if ((path[0] != '/' && path[0] != '@') || path[1] == '\0' ||
		length >= sizeof(notify->address.sun_path))
		return;
	notify->address.sun_family = AF_UNIX;
	memcpy(notify->address.sun_path, path, length);
	if (path[0] == '@')
		notify->address.sun_path[0] = '\0';
	notify->address_length =
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] == '/'));
	notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* A manager that does not read must not stop us. */
	if (notify->fd >= 0)
		(void)setsockopt(notify->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

struct notify *notify_new(void)
{
	struct notify *notify = xcalloc(1, sizeof(*notify));
	const char *path = getenv("NOTIFY_SOCKET");

	notify->fd = -1;
	if (path) {
		notify->watchdog_ms = read_watchdog();
		open_socket(notify, path);
	}
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return notify;
}

void notify_free(struct notify *notify)
{
	if (notify->fd >= 0)
		close(notify->fd);
	free(notify);
}

static void send_text(struct notify *notify, const char *text)
{
	if (notify->fd < 0)
		return;
	while (sendto(notify->fd, text, strlen(text), MSG_NOSIGNAL,
		       (const struct sockaddr *)&notify->address, notify->address_length) < 0 &&
		errno == EINTR)
		;
}

/* Keeps the status; true when it differs from the last one. */
static bool keep_status(struct notify *notify, const char *status)
{
	char line[STATUS_LENGTH];
	size_t length = 0;

	if (!status)
		return false;
	for (; status[length] && length < sizeof(line) - 1; length++)
		line[length] = (unsigned char)status[length] < ' ' ? ' ' : status[length];
	line[length] = '\0';
	if (strcmp(line, notify->status) == 0)
		return false;
	strcpy(notify->status, line);
	return true;
}

void notify_ready(struct notify *notify, const char *status)
{
	AUTO_FREE char *text = NULL;

	(void)keep_status(notify, status);
	text = xasprintf("READY=1\nSTATUS=%s", notify->status);
	send_text(notify, text);
}

void notify_status(struct notify *notify, const char *status)
{
	AUTO_FREE char *text = NULL;

	if (!keep_status(notify, status))
		return;
	text = xasprintf("STATUS=%s", notify->status);
	send_text(notify, text);
}

void notify_reloading(struct notify *notify)
{
	AUTO_FREE char *text =
		xasprintf("RELOADING=1\nMONOTONIC_USEC=%" PRId64, clock_monotonic_us());

	send_text(notify, text);
}

void notify_stopping(struct notify *notify)
{
	send_text(notify, "STOPPING=1\nSTATUS=stopping");
}

void notify_watchdog(struct notify *notify)
{
	send_text(notify, "WATCHDOG=1");
}

uint64_t notify_watchdog_ms(const struct notify *notify)
{
	return notify->watchdog_ms;
}
