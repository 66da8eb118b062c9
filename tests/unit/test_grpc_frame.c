/* SPDX-License-Identifier: GPL-2.0-or-later */
/* S.55, S.56: messages out of chunks that are cut anywhere. */
#include "serve/grpc/grpc_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/buf.h"

#define LIMIT (4u << 20)

/* Five messages: of 3, 0, 1, 300 and 5,000 bytes. */
static const size_t lengths[] = {3, 0, 1, 300, 5000};
#define COUNT (sizeof(lengths) / sizeof(lengths[0]))

static void put_message(struct buf *out, size_t length, char first)
{
	uint8_t head[GRPC_FRAME_HEAD];

	grpc_frame_put_head(head, (uint32_t)length);
	buf_append(out, head, sizeof(head));
	for (size_t i = 0; i < length; i++)
		buf_putc(out, (char)(first + (char)(i % 50)));
}

static void put_all(struct buf *out)
{
	for (size_t i = 0; i < COUNT; i++)
		put_message(out, lengths[i], (char)i);
}

static void check_message(size_t index, struct slice message)
{
	assert_true(index < COUNT);
	assert_int_equal(message.length, lengths[index]);
	for (size_t i = 0; i < message.length; i++)
		assert_int_equal(message.data[i], (char)((char)index + (char)(i % 50)));
}

/* Each chunk is a copy of its own, freed at once, so that nothing of it can be kept by mistake. */
static void feed(struct grpc_frame *frame, struct slice bytes, size_t *seen)
{
	char *copy = malloc(bytes.length + 1);
	struct slice chunk = {copy, bytes.length}, message;
	enum grpc_frame_outcome outcome;

	if (bytes.length)
		memcpy(copy, bytes.data, bytes.length);
	while ((outcome = grpc_frame_read(frame, &chunk, LIMIT, &message)) == GRPC_FRAME_MESSAGE)
		check_message((*seen)++, message);
	assert_int_equal(outcome, GRPC_FRAME_MORE);
	assert_int_equal(chunk.length, 0);
	free(copy);
}

static void test_every_chunk_length(void **state)
{
	struct buf all = BUF_INIT;

	(void)state;
	put_all(&all);
	for (size_t step = 1; step <= all.length; step = step < 400 ? step + 1 : step * 2) {
		struct grpc_frame frame = {0};
		size_t seen = 0;

		for (size_t at = 0; at < all.length; at += step)
			feed(&frame,
				(struct slice){all.data + at,
					all.length - at < step ? all.length - at : step},
				&seen);
		assert_int_equal(seen, COUNT);
		assert_false(grpc_frame_is_partial(&frame));
		grpc_frame_fini(&frame);
	}
	buf_fini(&all);
}

static void test_random_chunks(void **state)
{
	struct grpc_frame frame = {0};
	struct buf all = BUF_INIT;
	unsigned seed = 1;

	(void)state;
	put_all(&all);
	for (int round = 0; round < 200; round++) {
		size_t seen = 0;

		for (size_t at = 0; at < all.length;) {
			size_t step = (size_t)rand_r(&seed) % (round % 2 ? 9 : 900);

			if (step > all.length - at)
				step = all.length - at;
			feed(&frame, (struct slice){all.data + at, step}, &seen);
			at += step;
		}
		assert_int_equal(seen, COUNT);
	}
	grpc_frame_fini(&frame);
	buf_fini(&all);
}

static void test_whole_message_is_not_copied(void **state)
{
	struct grpc_frame frame = {0};
	struct buf all = BUF_INIT;
	struct slice chunk, message;

	(void)state;
	put_message(&all, 1000, 'a');
	chunk = buf_slice(&all);
	assert_int_equal(grpc_frame_read(&frame, &chunk, LIMIT, &message), GRPC_FRAME_MESSAGE);
	assert_ptr_equal(message.data, all.data + GRPC_FRAME_HEAD);
	assert_null(frame.bytes);
	buf_fini(&all);
}

static void test_partial(void **state)
{
	struct grpc_frame frame = {0};
	struct buf all = BUF_INIT;
	struct slice message;

	(void)state;
	put_message(&all, 10, 'a');
	assert_false(grpc_frame_is_partial(&frame));
	for (size_t i = 0; i < all.length; i++) {
		struct slice chunk = {all.data + i, 1};
		bool is_last = i + 1 == all.length;

		assert_int_equal(grpc_frame_read(&frame, &chunk, LIMIT, &message),
			is_last ? GRPC_FRAME_MESSAGE : GRPC_FRAME_MORE);
		assert_int_equal(grpc_frame_is_partial(&frame), !is_last);
	}
	grpc_frame_fini(&frame);
	buf_fini(&all);
}

/* What a peer announces costs nothing until it comes; an idle frame holds nothing. */
static void test_memory(void **state)
{
	struct grpc_frame frame = {0};
	uint8_t head[GRPC_FRAME_HEAD];
	struct slice chunk = {(const char *)head, sizeof(head)}, message;
	char bytes[4096] = {0};
	size_t sent = 10;

	(void)state;
	grpc_frame_put_head(head, LIMIT);
	assert_int_equal(grpc_frame_read(&frame, &chunk, LIMIT, &message), GRPC_FRAME_MORE);
	assert_null(frame.bytes);
	chunk = (struct slice){bytes, sent};
	assert_int_equal(grpc_frame_read(&frame, &chunk, LIMIT, &message), GRPC_FRAME_MORE);
	assert_true(frame.capacity <= 256);
	while (sent < LIMIT) {
		size_t step = LIMIT - sent < sizeof(bytes) ? LIMIT - sent : sizeof(bytes);

		chunk = (struct slice){bytes, step};
		sent += step;
		assert_int_equal(grpc_frame_read(&frame, &chunk, LIMIT, &message),
			sent == LIMIT ? GRPC_FRAME_MESSAGE : GRPC_FRAME_MORE);
		assert_true(frame.capacity <= 2 * sent || frame.capacity <= 256);
		assert_true(frame.capacity <= LIMIT);
	}
	assert_int_equal(message.length, LIMIT);
	chunk = (struct slice){bytes, 0};
	assert_int_equal(grpc_frame_read(&frame, &chunk, LIMIT, &message), GRPC_FRAME_MORE);
	assert_null(frame.bytes);
	assert_int_equal(frame.capacity, 0);
}

static void test_refusals_stay(void **state)
{
	struct grpc_frame compressed = {0}, large = {0};
	struct slice chunk = SLICE("\1\0\0\0\2ab\0\0\0\0\0"), message;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(grpc_frame_read(&compressed, &chunk, LIMIT, &message),
			GRPC_FRAME_COMPRESSED);
	chunk = SLICE("\1");
	grpc_frame_fini(&compressed);
	assert_int_equal(
		grpc_frame_read(&compressed, &chunk, LIMIT, &message), GRPC_FRAME_COMPRESSED);
	chunk = SLICE("\0\0\0\1\1ab\0\0\0\0\0");
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			grpc_frame_read(&large, &chunk, 256, &message), GRPC_FRAME_TOO_LARGE);
	assert_int_equal(grpc_frame_length(&large), 257);
	chunk = SLICE("\0\xff\xff\xff\xff");
	grpc_frame_fini(&large);
	assert_int_equal(grpc_frame_read(&large, &chunk, LIMIT, &message), GRPC_FRAME_TOO_LARGE);
	assert_int_equal(grpc_frame_length(&large), UINT32_MAX);
	assert_null(large.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_chunk_length),
		cmocka_unit_test(test_random_chunks),
		cmocka_unit_test(test_whole_message_is_not_copied),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_refusals_stay),
	};

	return cmocka_run_group_tests_name("grpc_frame", tests, NULL, NULL);
}
