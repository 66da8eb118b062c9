/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_inbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

static void in_order(void **state)
{
	struct grpc_inbox inbox = GRPC_INBOX_INIT;
	unsigned put = 0, taken = 0;
	struct slice message;
	char text[16];

	(void)state;
	assert_false(grpc_inbox_take(&inbox, &message));
	srand(1);
	while (taken < 5000) {
		if (rand() % 2 && put < taken + GRPC_INBOX_COUNT) {
			snprintf(text, sizeof(text), "%u", put++);
			assert_true(grpc_inbox_put(&inbox, slice_of(text)));
		} else if (grpc_inbox_take(&inbox, &message)) {
			snprintf(text, sizeof(text), "%u", taken++);
			assert_true(slice_is(message, text));
		} else {
			assert_int_equal(put, taken);
		}
	}
	assert_true(inbox.bytes.capacity < 16384);
	grpc_inbox_fini(&inbox);
}

static void empty_messages(void **state)
{
	struct grpc_inbox inbox = GRPC_INBOX_INIT;
	struct slice message;

	(void)state;
	for (unsigned i = 0; i < GRPC_INBOX_COUNT; i++)
		assert_true(grpc_inbox_put(&inbox, SLICE("")));
	assert_false(grpc_inbox_put(&inbox, SLICE("")));
	for (unsigned i = 0; i < GRPC_INBOX_COUNT; i++) {
		assert_true(grpc_inbox_take(&inbox, &message));
		assert_int_equal(message.length, 0);
	}
	assert_false(grpc_inbox_take(&inbox, &message));
	grpc_inbox_fini(&inbox);
}

static void bounded(void **state)
{
	struct grpc_inbox inbox = GRPC_INBOX_INIT;
	size_t length = 4u << 20;
	AUTO_FREE char *bytes = xcalloc(1, length);
	struct slice large = {bytes, length}, message;

	(void)state;
	/* One of any size; but nothing waits behind a large one. */
	assert_true(grpc_inbox_put(&inbox, large));
	assert_false(grpc_inbox_put(&inbox, SLICE("x")));
	assert_true(grpc_inbox_take(&inbox, &message));
	assert_int_equal(message.length, length);
	assert_true(grpc_inbox_put(&inbox, SLICE("x")));
	assert_true(inbox.bytes.capacity < 4096); /* its room was given back */
	assert_false(grpc_inbox_put(&inbox, large));
	grpc_inbox_fini(&inbox);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(empty_messages),
		cmocka_unit_test(bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
