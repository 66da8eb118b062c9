/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/http_server.h"

#include <poll.h>
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

#include "base/clock.h"
#include "base/mem.h"

#define WAIT_MS 20000

/* Paths: /now answers, /park parks (again once, when its time is over), /big answers 8 MB. */
struct fixture {
	struct http_server *server;
	struct log log;
	char folder[32];
	char *address;
	struct http_reply *reply;
	uint64_t parked; /* while the other thread waits */
	atomic_int woken, expired, left, sent, complete, closed, stopping;
};

static void on_request(void *ctx, struct http_client *client, const struct http_request *request)
{
	struct fixture *fixture = ctx;
	struct buf big = BUF_INIT;

	if (strcmp(request->path, "/park") == 0) {
		http_client_park(client, clock_monotonic_ms() + 50);
	} else if (strcmp(request->path, "/hold") == 0) {
		http_client_park(client, clock_monotonic_ms() + WAIT_MS);
	} else if (strcmp(request->path, "/big") == 0) {
		buf_fill(&big, 'x', 8000000);
		http_client_answer_new(client, http_reply_new(200, NULL, &big));
	} else {
		http_client_answer(client, fixture->reply);
	}
}

static void on_expired(void *ctx, struct http_client *client)
{
	struct fixture *fixture = ctx;

	if (atomic_fetch_add(&fixture->expired, 1) == 0)
		http_client_park(client, clock_monotonic_ms() + 50);
	else
		http_client_answer(client, fixture->reply);
}

static void on_left(void *ctx, struct http_client *client)
{
	(void)client;
	atomic_fetch_add(&((struct fixture *)ctx)->left, 1);
}

static void on_sent(void *ctx, struct http_client *client, bool is_complete)
{
	(void)client;
	atomic_fetch_add(&((struct fixture *)ctx)->sent, 1);
	atomic_fetch_add(&((struct fixture *)ctx)->complete, is_complete);
}

static void on_closed(void *ctx, struct http_client *client)
{
	(void)client;
	atomic_fetch_add(&((struct fixture *)ctx)->closed, 1);
}

static void on_woken(void *ctx)
{
	atomic_fetch_add(&((struct fixture *)ctx)->woken, 1);
}

static void on_stopping(void *ctx)
{
	atomic_fetch_add(&((struct fixture *)ctx)->stopping, 1);
}

static const struct http_handlers handlers = {
	.request = on_request,
	.expired = on_expired,
	.left = on_left,
	.sent = on_sent,
	.closed = on_closed,
	.woken = on_woken,
	.stopping = on_stopping,
};

static int set_up(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));
	struct http_options options = {.name = "test",
		.handlers = &handlers,
		.ctx = fixture,
		.log = &fixture->log,
		.body_bytes = 1000,
		.slow_ms = 200};
	struct buf text = BUF_INIT;
	const char *address;
	char *problem;

	log_init(&fixture->log, STDERR_FILENO, LOG_LEVEL_ERROR);
	strcpy(fixture->folder, "/tmp/test_http.XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	fixture->address = xasprintf("unix:%s/s", fixture->folder);
	buf_puts(&text, "hello");
	fixture->reply = http_reply_new(200, "text/plain", &text);
	assert_int_equal(http_server_start(&options, &fixture->server), 0);
	address = fixture->address;
	assert_int_equal(http_server_listen(fixture->server, &address, 1, &problem), 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	if (fixture->server)
		http_server_stop(fixture->server);
	assert_int_equal(fixture->stopping, 1);
	http_reply_unref(fixture->reply);
	assert_int_equal(rmdir(fixture->folder), 0);
	free(fixture->address);
	free(fixture);
	return 0;
}

static int connect_to(const struct fixture *fixture)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, fixture->address + 5);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void ask(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void get(int fd, const char *path)
{
	char request[200];

	snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
	ask(fd, request);
}

/* Reads until the text ends with `end`; NULL: until the end of the stream. */
static char *read_until(int fd, const char *end)
{
	static char text[4096];
	size_t length = 0;

	for (;;) {
		struct pollfd pollfd = {.fd = fd, .events = POLLIN};
		ssize_t got;

		assert_int_equal(poll(&pollfd, 1, WAIT_MS), 1);
		if (length > sizeof(text) / 2)
			length = 0;
		got = read(fd, text + length, sizeof(text) - 1 - length);
		if (got <= 0) {
			assert_null(end);
			return text;
		}
		length += (size_t)got;
		text[length] = '\0';
		if (end && length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0)
			return text;
	}
}

static void wait_for(atomic_int *counter, int value)
{
	int64_t end_ms = clock_monotonic_ms() + WAIT_MS;

	while (atomic_load(counter) != value && clock_monotonic_ms() < end_ms)
		usleep(1000);
	assert_int_equal(atomic_load(counter), value);
}

static void count_parked(void *arg)
{
	struct fixture *fixture = arg;

	fixture->parked = http_server_counters(fixture->server).parked;
}

static void wait_for_parked(struct fixture *fixture, uint64_t count)
{
	int64_t end_ms = clock_monotonic_ms() + WAIT_MS;

	do {
		http_server_call(fixture->server, count_parked, fixture);
	} while (fixture->parked != count && clock_monotonic_ms() < end_ms);
	assert_int_equal(fixture->parked, count);
}

static void answers_and_counts(void **state)
{
	struct fixture *fixture = *state;
	int fd = connect_to(fixture);

	for (int i = 1; i <= 3; i++) {
		get(fd, "/now");
		assert_non_null(strstr(read_until(fd, "hello"), "HTTP/1.1 200"));
		wait_for(&fixture->complete, i);
	}
	close(fd);
	wait_for(&fixture->closed, 1);
}

static void parks_and_parks_again(void **state)
{
	struct fixture *fixture = *state;
	int fd = connect_to(fixture);
	int64_t start_ms = clock_monotonic_ms();

	get(fd, "/park");
	read_until(fd, "hello");
	assert_int_equal(fixture->expired, 2);
	/* Deadlines may be early by their grain, never by more. */
	assert_true(clock_monotonic_ms() - start_ms >= 60);
	close(fd);
}

static void notices_who_leaves(void **state)
{
	struct fixture *fixture = *state;
	int fds[20];

	for (int i = 0; i < 20; i++) {
		fds[i] = connect_to(fixture);
		get(fds[i], "/hold");
	}
	wait_for_parked(fixture, 20);
	for (int i = 0; i < 20; i++)
		close(fds[i]);
	wait_for(&fixture->left, 20);
	wait_for(&fixture->closed, 20);
	assert_int_equal(fixture->sent, 0);
}

static void cuts_off_slow_senders(void **state)
{
	struct fixture *fixture = *state;
	int fd = connect_to(fixture);

	ask(fd, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf");
	read_until(fd, NULL);
	wait_for(&fixture->closed, 1);
	assert_int_equal(fixture->sent, 0);
	close(fd);
}

static void cuts_off_who_says_nothing(void **state)
{
	struct fixture *fixture = *state;
	int silent = connect_to(fixture), half = connect_to(fixture), idle = connect_to(fixture);

	ask(half, "GET /now HT");
	get(idle, "/now");
	read_until(idle, "hello");
	read_until(silent, NULL);
	read_until(half, NULL);
	wait_for(&fixture->closed, 2);
	/* Who has asked once may be silent for longer. */
	get(idle, "/now");
	read_until(idle, "hello");
	close(silent);
	close(half);
	close(idle);
}

static void cuts_off_slow_readers(void **state)
{
	struct fixture *fixture = *state;
	int fd = connect_to(fixture);

	get(fd, "/big");
	wait_for(&fixture->closed, 1);
	assert_int_equal(fixture->sent, 1);
	assert_int_equal(fixture->complete, 0);
	close(fd);
}

static void count_connections(void *arg)
{
	struct fixture *fixture = arg;
	struct http_client *client = NULL;
	struct http_counters counters = http_server_counters(fixture->server);
	uint64_t count = 0;

	while ((client = http_server_next(fixture->server, client)))
		count++;
	assert_int_equal(count, counters.connections);
	assert_int_equal(count, 1);
}

static void wakes_and_calls(void **state)
{
	struct fixture *fixture = *state;
	int fd = connect_to(fixture);

	get(fd, "/now");
	read_until(fd, "hello");
	http_server_call(fixture->server, count_connections, fixture);
	http_server_wake(fixture->server);
	wait_for(&fixture->woken, 1);
	http_server_wake(fixture->server);
	wait_for(&fixture->woken, 2);
	close(fd);
}

/* libmicrohttpd aborts when it is stopped with suspended connections; nobody answers these. */
static void stops_with_parked_clients(void **state)
{
	struct fixture *fixture = *state;
	int fd = connect_to(fixture);

	get(fd, "/hold");
	get(fd, "/now");
	wait_for_parked(fixture, 1);
	http_server_stop(fixture->server);
	fixture->server = NULL;
	read_until(fd, NULL);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers_and_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(parks_and_parks_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(notices_who_leaves, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cuts_off_slow_senders, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cuts_off_who_says_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cuts_off_slow_readers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wakes_and_calls, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stops_with_parked_clients, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
