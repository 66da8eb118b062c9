/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

struct capture {
	struct log log;
	int fds[2];
};

static void capture_open(struct capture *capture)
{
	assert_int_equal(pipe(capture->fds), 0);
	log_init(&capture->log, capture->fds[1], LOG_LEVEL_INFO);
}

/* How many of the lines have the text; the pipe is closed. */
static unsigned capture_count(struct capture *capture, const char *text)
{
	char bytes[65536];
	unsigned count = 0;
	ssize_t length;

	close(capture->fds[1]);
	length = read(capture->fds[0], bytes, sizeof(bytes) - 1);
	close(capture->fds[0]);
	bytes[length > 0 ? length : 0] = '\0';
	for (char *line = strtok(bytes, "\n"); line; line = strtok(NULL, "\n"))
		count += strstr(line, text) != NULL;
	return count;
}

static void write_many(struct grpc_log *state, int64_t now_ms, enum grpc_log_kind kind, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		grpc_log_event(state, now_ms, kind, LOG_TEXT("node", "n"));
}

static void few_lines(void **state)
{
	struct capture capture;
	struct grpc_log log;

	(void)state;
	capture_open(&capture);
	grpc_log_init(&log, &capture.log);
	write_many(&log, 100, GRPC_LOG_JOINED, GRPC_LOG_LINES);
	/* Nothing was left out: nothing to sum up, no timer. */
	assert_int_equal(grpc_log_turn(&log, 100), -1);
	grpc_log_end(&log);
	assert_int_equal(capture_count(&capture, "event=client-joined"), GRPC_LOG_LINES);
}

static void sums_up(void **state)
{
	struct capture capture;
	struct grpc_log log;

	(void)state;
	capture_open(&capture);
	grpc_log_init(&log, &capture.log);
	write_many(&log, 100, GRPC_LOG_JOINED, 1000);
	write_many(&log, 200, GRPC_LOG_REJECTED, 1); /* a budget of its own */
	assert_int_equal(grpc_log_turn(&log, 300), 100 + GRPC_LOG_WINDOW_MS);
	assert_int_equal(grpc_log_turn(&log, 100 + GRPC_LOG_WINDOW_MS), -1);
	/* Once; and the next window has its own lines. */
	assert_int_equal(grpc_log_turn(&log, 101 + GRPC_LOG_WINDOW_MS), -1);
	write_many(&log, 200 + GRPC_LOG_WINDOW_MS, GRPC_LOG_JOINED, 1);
	grpc_log_end(&log);
	assert_int_equal(capture_count(&capture, "event=client-joined transport=grpc node=n"),
		GRPC_LOG_LINES + 1);
}

static void sum_line(void **state)
{
	struct capture capture;
	struct grpc_log log;

	(void)state;
	capture_open(&capture);
	grpc_log_init(&log, &capture.log);
	write_many(&log, 100, GRPC_LOG_REJECTED, 12);
	grpc_log_count(&log, 100, GRPC_LOG_REJECTED);
	/* The first event after a window closes it, too. */
	write_many(&log, 100 + 2 * GRPC_LOG_WINDOW_MS, GRPC_LOG_LEFT, 1);
	assert_int_equal(
		capture_count(&capture, "level=warning event=rejected transport=grpc more=8"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_lines),
		cmocka_unit_test(sums_up),
		cmocka_unit_test(sum_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
