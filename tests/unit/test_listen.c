/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/listen.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void bad_addresses(void **state)
{
	static const char *const rows[] = {"", "18001", ":18001", "127.0.0.1",
		"127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1", "::1:18001",
		"[::1]", "[::1:18001", "unix:", "localhost:http", "256.0.0.1:1x"};
	struct listen_socket listening;
	const char *problem;
	char path[200];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (listen_open(rows[i], &listening, &problem) != -EINVAL)
			fail_msg("%s", rows[i]);
		assert_non_null(problem);
	}
	memset(path, 'x', sizeof(path));
	memcpy(path, "unix:/", 6);
	path[199] = '\0';
	assert_int_equal(listen_open(path, &listening, &problem), -EINVAL);
	assert_non_null(problem);
	assert_int_equal(listen_open("unix:/nowhere/at/all", &listening, &problem), -ENOENT);
	assert_non_null(problem);
}

static void tcp(void **state)
{
	struct listen_socket first, second;
	struct buf name = BUF_INIT;
	const char *problem;
	int on = 0;
	socklen_t length = sizeof(on);

	(void)state;
	assert_int_equal(listen_open("127.0.0.1:0", &first, &problem), 0);
	listen_name(&first, &name);
	assert_true(strncmp(buf_cstr(&name), "127.0.0.1:", 10) == 0);
	assert_string_not_equal(buf_cstr(&name), "127.0.0.1:0");
	getsockopt(first.fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &length);
	assert_int_equal(on, 1);
	assert_int_equal(listen_open(buf_cstr(&name), &second, &problem), -EADDRINUSE);
	assert_non_null(problem);
	listen_close(&first);
	assert_int_equal(first.fd, -1);
	assert_int_equal(listen_open(buf_cstr(&name), &second, &problem), 0);
	listen_close(&second);
	buf_fini(&name);
}

static void unix_files(void **state)
{
	char folder[] = "/tmp/test_listen.XXXXXX";
	struct listen_socket first, second;
	struct buf address = BUF_INIT, name = BUF_INIT;
	struct stat status;
	const char *problem, *path;
	mode_t mask = umask(077);
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	buf_printf(&address, "unix:%s/s.sock", folder);
	path = buf_cstr(&address) + 5;
	assert_int_equal(listen_open(buf_cstr(&address), &first, &problem), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0660);
	listen_name(&first, &name);
	assert_string_equal(buf_cstr(&name), buf_cstr(&address));
	/* In use: refused, and the file stays. */
	assert_int_equal(listen_open(buf_cstr(&address), &second, &problem), -EADDRINUSE);
	/* Replaced by someone: the first one's file is not the second one's. */
	unlink(path);
	assert_int_equal(listen_open(buf_cstr(&address), &second, &problem), 0);
	listen_close(&first);
	assert_int_equal(stat(path, &status), 0);
	/* Stale: its owner died without removing it. */
	close(second.fd);
	free(second.path);
	assert_int_equal(listen_open(buf_cstr(&address), &second, &problem), 0);
	listen_close(&second);
	assert_int_equal(stat(path, &status), -1);
	/* Something else in the way is never removed. */
	file = fopen(path, "w");
	fclose(file);
	assert_int_equal(listen_open(buf_cstr(&address), &second, &problem), -EADDRINUSE);
	assert_int_equal(stat(path, &status), 0);
	unlink(path);
	rmdir(folder);
	umask(mask);
	buf_fini(&address);
	buf_fini(&name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_addresses),
		cmocka_unit_test(tcp),
		cmocka_unit_test(unix_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
