/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void copies(void **state)
{
	AUTO_FREE char *whole = xstrdup("text");
	AUTO_FREE char *cut = xstrndup("text", 2);
	AUTO_FREE char *empty = xstrndup("", 0);
	AUTO_FREE char *printed = xasprintf("%s-%d", "a", 7);
	AUTO_FREE char *zeroed = xcalloc(3, 5);
	AUTO_FREE void *nothing = xcalloc(0, 8);

	(void)state;
	assert_string_equal(whole, "text");
	assert_string_equal(cut, "te");
	assert_string_equal(empty, "");
	assert_string_equal(printed, "a-7");
	for (int i = 0; i < 15; i++)
		assert_int_equal(zeroed[i], 0);
	assert_non_null(nothing);
}

static void array_grows(void **state)
{
	int *numbers = NULL;
	size_t capacity = 0;

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		array_reserve(numbers, capacity, i + 1);
		assert_true(capacity > i);
		numbers[i] = (int)i;
	}
	array_reserve(numbers, capacity, 100000);
	assert_true(capacity >= 100000);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(numbers[i], i);
	free(numbers);
}

static char *hand_out(const char *text)
{
	AUTO_FREE char *copy = xstrdup(text);

	return TAKE(copy);
}

static void scope_bound(void **state)
{
	char *text = hand_out("kept");
	int seen;

	(void)state;
	assert_string_equal(text, "kept");
	free(text);
	{
		AUTO_CLOSE int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		AUTO_CLOSE int none = -1;

		assert_true(fd >= 0);
		(void)none;
		seen = fd;
	}
	assert_int_equal(fcntl(seen, F_GETFD), -1);
	assert_int_equal(errno, EBADF);
}

static void overflow_aborts(void **state)
{
	volatile size_t huge = SIZE_MAX / 4;
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		signal(SIGABRT, SIG_DFL);
		close(STDERR_FILENO);
		free(xreallocarray(NULL, huge, 16));
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies),
		cmocka_unit_test(array_grows),
		cmocka_unit_test(scope_bound),
		cmocka_unit_test(overflow_aborts),
	};

	return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
