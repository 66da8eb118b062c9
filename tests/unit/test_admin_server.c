/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/admin/admin_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static json_t *status(void *ctx)
{
	return json_pack("{s:b}", "ready", atomic_load((atomic_bool *)ctx));
}

static bool is_ready(void *ctx, char **ret_reason)
{
	if (atomic_load((atomic_bool *)ctx))
		return true;
	*ret_reason = xstrdup("group \"edge\" serves nothing yet");
	return false;
}

/* One request on a connection of its own; *ret_status and the JSON of the body. */
static json_t *request(const char *path, const char *head, const char *what, int *ret_status)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char text[4096];
	size_t length = 0;
	ssize_t got;
	char *body;
	json_t *document;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	length = (size_t)snprintf(text, sizeof(text),
		"%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", head, what);
	assert_int_equal(write(fd, text, length), length);
	length = 0;
	while ((got = read(fd, text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)got;
	close(fd);
	text[length] = '\0';
	assert_int_equal(sscanf(text, "HTTP/1.1 %d", ret_status), 1);
	body = strstr(text, "\r\n\r\n");
	assert_non_null(body);
	assert_non_null(strstr(text, "application/json"));
	document = json_loads(body + 4, 0, NULL);
	return document;
}

static const char *text_of(json_t *document, const char *name)
{
	return json_string_value(json_object_get(document, name));
}

static void answers(void **state)
{
	char folder[] = "/tmp/test_admin.XXXXXX";
	atomic_bool ready = false;
	struct admin_source source = {.ctx = &ready, .status = status, .is_ready = is_ready};
	struct admin_server *server;
	struct log log;
	char *address, *problem;
	const char *path;
	json_t *document;
	int code;

	(void)state;
	assert_non_null(mkdtemp(folder));
	address = xasprintf("unix:%s/admin.sock", folder);
	path = address + 5;
	log_init(&log, STDERR_FILENO, LOG_LEVEL_ERROR);
	assert_int_equal(admin_server_start(&source, &log, &server), 0);
	assert_int_equal(
		admin_server_listen(server, (const char *const *)&address, 1, &problem), 0);

	document = request(path, "GET", "/healthz", &code);
	assert_int_equal(code, 200);
	assert_string_equal(text_of(document, "status"), "alive");
	json_decref(document);

	document = request(path, "GET", "/readyz", &code);
	assert_int_equal(code, 503);
	assert_string_equal(text_of(document, "reason"), "group \"edge\" serves nothing yet");
	json_decref(document);
	atomic_store(&ready, true);
	document = request(path, "GET", "/readyz", &code);
	assert_int_equal(code, 200);
	assert_string_equal(text_of(document, "status"), "ready");
	json_decref(document);

	document = request(path, "GET", "/status", &code);
	assert_int_equal(code, 200);
	assert_true(json_is_true(json_object_get(document, "ready")));
	json_decref(document);

	json_decref(request(path, "HEAD", "/healthz", &code));
	assert_int_equal(code, 200);
	json_decref(request(path, "POST", "/healthz", &code));
	assert_int_equal(code, 405);
	json_decref(request(path, "GET", "/", &code));
	assert_int_equal(code, 404);

	admin_server_stop(server);
	assert_int_equal(rmdir(folder), 0);
	free(address);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(answers)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
