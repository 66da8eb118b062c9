/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/notify.h"

static int listen_at(const char *path, const char *shown)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	size_t length = strlen(shown);

	memcpy(address.sun_path, path, length);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
		0);
	setenv("NOTIFY_SOCKET", shown, 1);
	return fd;
}

static const char *receive(int fd)
{
	static char text[1024];
	ssize_t length = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (length < 0)
		return "(nothing)";
	text[length] = '\0';
	return text;
}

static void check_dialogue(int fd)
{
	struct notify *notify = notify_new();
	const char *text;

	assert_null(getenv("NOTIFY_SOCKET"));
	notify_status(notify, "compiling\nnow");
	assert_string_equal(receive(fd), "STATUS=compiling now");
	notify_status(notify, "compiling\nnow");
	assert_string_equal(receive(fd), "(nothing)");
	notify_ready(notify, "1 group");
	assert_string_equal(receive(fd), "READY=1\nSTATUS=1 group");
	notify_reloading(notify);
	text = receive(fd); /* one datagram */
	assert_ptr_equal(strstr(text, "RELOADING=1\nMONOTONIC_USEC="), text);
	assert_true(strtoll(strrchr(text, '=') + 1, NULL, 10) > 0);
	notify_ready(notify, NULL);
	assert_string_equal(receive(fd), "READY=1\nSTATUS=1 group");
	notify_watchdog(notify);
	assert_string_equal(receive(fd), "WATCHDOG=1");
	notify_stopping(notify);
	assert_string_equal(receive(fd), "STOPPING=1\nSTATUS=stopping");
	notify_free(notify);
}

static void test_path(void **state)
{
	char path[64];
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test_notify.%d", (int)getpid());
	fd = listen_at(path, path);
	check_dialogue(fd);
	close(fd);
	unlink(path);
}

static void test_abstract(void **state)
{
	char shown[64], path[64] = "";
	int fd;

	(void)state;
	snprintf(shown, sizeof(shown), "@test_notify.%d", (int)getpid());
	memcpy(path + 1, shown + 1, strlen(shown + 1));
	fd = listen_at(path, shown);
	check_dialogue(fd);
	close(fd);
}

static void test_nobody(void **state)
{
	static const char *const paths[] = {NULL, "", "relative", "/", "/nowhere/socket"};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct notify *notify;

		if (paths[i])
			setenv("NOTIFY_SOCKET", paths[i], 1);
		notify = notify_new();
		notify_ready(notify, "x");
		notify_watchdog(notify);
		assert_int_equal(notify_watchdog_ms(notify), 0);
		notify_free(notify);
	}
}

static void test_watchdog(void **state)
{
	static const struct {
		const char *usec;
		int pid_offset;
		uint64_t want_ms;
	} rows[] = {{"30000000", 0, 15000}, {"30000000", 1, 0}, {"2000", 0, 1}, {"x", 0, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct notify *notify;
		char pid[32];

		snprintf(pid, sizeof(pid), "%d", (int)getpid() + rows[i].pid_offset);
		setenv("NOTIFY_SOCKET", "/nowhere/socket", 1);
		setenv("WATCHDOG_USEC", rows[i].usec, 1);
		setenv("WATCHDOG_PID", pid, 1);
		notify = notify_new();
		assert_int_equal(notify_watchdog_ms(notify), rows[i].want_ms);
		notify_free(notify);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_abstract),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_watchdog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
