/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/http_answer.h"

static const struct {
	const char *text;
	const char *body; /* NULL: refused */
	int status;
} cases[] = {
	{"HTTP/1.1 200 OK\r\n\r\nabc", "abc", 200},
	{"HTTP/1.0 404 Not Found\r\nContent-Length: 2\r\n\r\nabc", "ab", 404},
	{"HTTP/1.1 200 OK\r\nA: b\r\ntransfer-encoding:chunked "
	 "\r\n\r\n2\r\nab\r\nA;x\r\n0123456789\r\n"
	 "0\r\n\r\n",
		"ab0123456789", 200},
	{"HTTP/1.1 304 x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", 304},
	{"", NULL, 0},
	{"HTTP/1.1 200 OK\r\n", NULL, 0},
	{"HTTP/2 200 OK\r\n\r\n", NULL, 0},
	{"HTTP/1.1 2x0 OK\r\n\r\n", NULL, 0},
	{"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", NULL, 0},
	{"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nabc", NULL, 0},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc", NULL, 0},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", NULL, 0},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab", NULL, 0},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\nab\r\n", NULL, 0},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\nab\r\n", NULL, 0},
};

static void test_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buf out = BUF_INIT;
		int status = 0;
		int rc = http_answer_parse(slice_of(cases[i].text), &out, &status);

		if (rc != (cases[i].body ? 0 : -EPROTO))
			fail_msg("%d: %s", rc, cases[i].text);
		if (cases[i].body) {
			assert_string_equal(buf_cstr(&out), cases[i].body);
			assert_int_equal(status, cases[i].status);
		}
		buf_fini(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers)};

	return cmocka_run_group_tests_name("http_answer", tests, NULL, NULL);
}
