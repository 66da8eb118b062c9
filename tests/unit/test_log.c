/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
	int ends[2];
	struct log log;
	char line[70000];
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	unsetenv("JOURNAL_STREAM");
	if (!fixture || pipe(fixture->ends) < 0)
		return -1;
	log_init(&fixture->log, fixture->ends[1], LOG_LEVEL_INFO);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	close(fixture->ends[0]);
	close(fixture->ends[1]);
	free(fixture);
	return 0;
}

/* What one read(2) finds: a line is written at once. */
static const char *next_line(struct fixture *fixture)
{
	ssize_t got = read(fixture->ends[0], fixture->line, sizeof(fixture->line) - 1);

	assert_true(got > 0);
	fixture->line[got] = '\0';
	assert_ptr_equal(strchr(fixture->line, '\n'), fixture->line + got - 1);
	fixture->line[got - 1] = '\0';
	return fixture->line;
}

static void one_line_per_event(void **state)
{
	struct fixture *fixture = *state;
	const char *line;

	errno = EXDEV;
	log_event(&fixture->log, LOG_LEVEL_INFO, "published", LOG_TEXT("group", "edge"),
		LOG_NUMBER("files", -3), LOG_SLICE("type", SLICE("cds")));
	assert_int_equal(errno, EXDEV);
	line = next_line(fixture);
	assert_int_equal(line[10], 'T');
	assert_int_equal(line[23], 'Z');
	assert_string_equal(line + 24, " level=info event=published group=edge files=-3 type=cds");
	log_write(&fixture->log, LOG_LEVEL_ERROR, "bare", NULL, 0);
	assert_string_equal(next_line(fixture) + 24, " level=error event=bare");
}

static void levels_filter(void **state)
{
	struct fixture *fixture = *state;
	enum log_level level = LOG_LEVEL_INFO;

	log_write(&fixture->log, LOG_LEVEL_DEBUG, "dropped", NULL, 0);
	log_write(&fixture->log, LOG_LEVEL_WARNING, "kept", NULL, 0);
	assert_string_equal(next_line(fixture) + 24, " level=warning event=kept");
	assert_int_equal(log_level_parse(SLICE("debug"), &level), 0);
	assert_int_equal(level, LOG_LEVEL_DEBUG);
	assert_int_equal(log_level_parse(SLICE("error"), &level), 0);
	assert_int_equal(level, LOG_LEVEL_ERROR);
	assert_int_equal(log_level_parse(SLICE("Error"), &level), -EINVAL);
	assert_int_equal(log_level_parse(SLICE(""), &level), -EINVAL);
	assert_int_equal(level, LOG_LEVEL_ERROR);
}

static void assert_value(struct fixture *fixture, struct slice value, const char *want)
{
	log_event(&fixture->log, LOG_LEVEL_INFO, "e", LOG_SLICE("k", value));
	assert_string_equal(next_line(fixture) + 24 + strlen(" level=info event=e k="), want);
}

/* A value can neither end its line nor pass for another key. */
static void values_are_quoted(void **state)
{
	struct fixture *fixture = *state;

	assert_value(fixture, SLICE("a/b-c:1,2"), "a/b-c:1,2");
	assert_value(fixture, SLICE(""), "\"\"");
	assert_value(fixture, SLICE("a b"), "\"a b\"");
	assert_value(fixture, SLICE("a=b"), "\"a=b\"");
	assert_value(fixture, SLICE("say \"x\\y\""), "\"say \\\"x\\\\y\\\"\"");
	assert_value(fixture, SLICE("a\nlevel=error\r\t\0"), "\"a\\nlevel=error\\r\\t\\x00\"");
	assert_value(fixture, SLICE("\x1b[2J\x7f\xff"), "\"\\x1b[2J\\x7f\\xff\"");
	assert_value(fixture, SLICE("\xc3\xa9"), "\"\xc3\xa9\"");
	assert_value(fixture, SLICE("\xe2\x80\xae"), "\"\\u202e\"");
}

static void long_values_are_cut(void **state)
{
	struct fixture *fixture = *state;
	static char text[20000];
	const char *line;

	memset(text, 'x', sizeof(text) - 1);
	log_event(&fixture->log, LOG_LEVEL_INFO, "e", LOG_TEXT("k", text), LOG_NUMBER("n", 1));
	line = next_line(fixture);
	assert_true(strlen(line) < 4200);
	assert_string_equal(line + strlen(line) - 9, "x...\" n=1");
}

static void systemd_prefix(void **state)
{
	struct fixture *fixture = *state;
	char stream[64];
	struct stat st;

	assert_int_equal(fstat(fixture->ends[1], &st), 0);
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_init(&fixture->log, fixture->ends[1], LOG_LEVEL_DEBUG);
	log_write(&fixture->log, LOG_LEVEL_DEBUG, "a", NULL, 0);
	assert_string_equal(next_line(fixture), "<7>level=debug event=a");
	log_write(&fixture->log, LOG_LEVEL_ERROR, "a", NULL, 0);
	assert_string_equal(next_line(fixture), "<3>level=error event=a");
	/* Redirected elsewhere: the variable is about another descriptor. */
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino + 1);
	setenv("JOURNAL_STREAM", stream, 1);
	log_init(&fixture->log, fixture->ends[1], LOG_LEVEL_DEBUG);
	assert_false(fixture->log.journal);
	setenv("JOURNAL_STREAM", "nonsense", 1);
	log_init(&fixture->log, fixture->ends[1], LOG_LEVEL_DEBUG);
	assert_false(fixture->log.journal);
	unsetenv("JOURNAL_STREAM");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_line_per_event, set_up, tear_down),
		cmocka_unit_test_setup_teardown(levels_filter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(values_are_quoted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(long_values_are_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(systemd_prefix, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
