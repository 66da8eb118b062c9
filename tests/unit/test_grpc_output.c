/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_output.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

struct fixture {
	struct grpc_output output;
	int ends[2];
	struct grpc_body *body;
	struct buf sent, received;
};

static int set_up(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));
	int tiny = 1;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fixture->ends), 0);
	setsockopt(fixture->ends[0], SOL_SOCKET, SO_SNDBUF, &tiny, sizeof(tiny));
	fixture->body = grpc_body_new(100000);
	for (size_t i = 0; i < fixture->body->length; i++)
		fixture->body->bytes[i] = (uint8_t)(i % 251);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(fixture->body->references, 1);
	grpc_body_unref(fixture->body);
	close(fixture->ends[0]);
	if (fixture->ends[1] >= 0)
		close(fixture->ends[1]);
	buf_fini(&fixture->sent);
	buf_fini(&fixture->received);
	free(fixture);
	return 0;
}

static void put_copy(struct fixture *fixture, const char *text)
{
	grpc_output_copy(&fixture->output, text, strlen(text));
	buf_puts(&fixture->sent, text);
}

static void put_share(struct fixture *fixture, size_t offset, size_t length)
{
	grpc_output_share(&fixture->output, fixture->body, offset, length);
	buf_append(&fixture->sent, fixture->body->bytes + offset, length);
}

static void receive(struct fixture *fixture, size_t most)
{
	char bytes[4096];
	ssize_t got;

	while (most && (got = recv(fixture->ends[1], bytes,
				most < sizeof(bytes) ? most : sizeof(bytes), 0)) > 0) {
		buf_append(&fixture->received, bytes, (size_t)got);
		most -= (size_t)got;
	}
}

/* Whatever the socket takes at a time, every byte comes once and in order. */
static void parks_what_does_not_fit(void **state)
{
	struct fixture *fixture = *state;
	struct grpc_parked *parked = NULL;
	size_t total = 0, bytes;
	int rc, waits = 0;

	put_copy(fixture, "head");
	put_copy(fixture, "+prefix");
	put_share(fixture, 0, 60000);
	put_copy(fixture, "a trailer between");
	put_share(fixture, 60000, 40000);
	put_share(fixture, 10, 0);
	put_copy(fixture, "end");
	assert_int_equal(fixture->output.count, 5);
	assert_int_equal(fixture->output.bytes, fixture->sent.length);
	rc = grpc_output_write(&fixture->output, fixture->ends[0], &parked, &total);
	assert_int_equal(fixture->output.count, 0);
	while (rc == -EAGAIN) {
		assert_non_null(parked);
		waits++;
		receive(fixture, 1 + (size_t)waits * 313);
		rc = grpc_parked_write(&parked, fixture->ends[0], &bytes);
		total += bytes;
	}
	assert_int_equal(rc, 0);
	assert_null(parked);
	assert_true(waits > 3);
	assert_int_equal(total, fixture->sent.length);
	receive(fixture, SIZE_MAX);
	assert_true(slice_equal(buf_slice(&fixture->received), buf_slice(&fixture->sent)));
}

static void frees_what_nobody_reads(void **state)
{
	struct fixture *fixture = *state;
	struct grpc_parked *parked = NULL;
	size_t bytes;

	put_share(fixture, 0, 100000);
	put_copy(fixture, "tail");
	assert_int_equal(
		grpc_output_write(&fixture->output, fixture->ends[0], &parked, &bytes), -EAGAIN);
	assert_int_equal(fixture->body->references, 2);
	close(fixture->ends[1]);
	fixture->ends[1] = -1;
	assert_int_equal(grpc_parked_write(&parked, fixture->ends[0], &bytes), -EPIPE);
	grpc_parked_free(parked);
	parked = NULL;
	put_share(fixture, 0, 10);
	assert_int_equal(
		grpc_output_write(&fixture->output, fixture->ends[0], &parked, &bytes), -EPIPE);
	assert_null(parked);
	assert_int_equal(fixture->output.count, 0);
}

static void has_room_for_so_much(void **state)
{
	struct fixture *fixture = *state;
	struct grpc_output *output = &fixture->output;
	struct grpc_parked *parked = NULL;
	size_t bytes;

	assert_true(grpc_output_has_room(output, GRPC_OUTPUT_PIECES, GRPC_OUTPUT_COPIES));
	assert_false(grpc_output_has_room(output, GRPC_OUTPUT_PIECES + 1, 0));
	assert_false(grpc_output_has_room(output, 1, GRPC_OUTPUT_COPIES + 1));
	while (grpc_output_has_room(output, 1, 0))
		put_share(fixture, 0, 100000);
	assert_true(output->bytes >= GRPC_OUTPUT_BYTES);
	assert_true(output->bytes < GRPC_OUTPUT_BYTES + 100000);
	grpc_output_write(output, fixture->ends[0], &parked, &bytes);
	grpc_parked_free(parked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(parks_what_does_not_fit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(frees_what_nobody_reads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(has_room_for_so_much, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
