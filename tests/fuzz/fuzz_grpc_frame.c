/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two bytes for how the rest is cut and how long a message may be. Any cut gives the same messages
 * and the same end as one chunk, and never more memory than twice what has come.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"
#include "serve/grpc/grpc_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All messages, each after its length, in `out`. */
static enum grpc_frame_outcome read_all(
	struct slice bytes, unsigned seed, uint64_t limit, struct buf *out)
{
	struct grpc_frame frame = {0};
	enum grpc_frame_outcome outcome = GRPC_FRAME_MORE;
	size_t at = 0;

	while (at < bytes.length && outcome == GRPC_FRAME_MORE) {
		size_t step = seed ? 1 + (size_t)rand_r(&seed) % (seed % 3 ? 3 : 64) : bytes.length;
		struct slice chunk = {bytes.data + at, step}, message;

		if (step > bytes.length - at)
			chunk.length = step = bytes.length - at;
		at += step;
		while ((outcome = grpc_frame_read(&frame, &chunk, limit, &message)) ==
			GRPC_FRAME_MESSAGE) {
			assert(message.length <= limit);
			buf_append(out, &message.length, sizeof(message.length));
			buf_append_slice(out, message);
			assert(!grpc_frame_is_partial(&frame));
		}
		assert(frame.capacity <= 2 * at || frame.capacity <= 256);
		assert(outcome != GRPC_FRAME_MORE || chunk.length == 0);
	}
	buf_putc(out, (char)grpc_frame_is_partial(&frame));
	grpc_frame_fini(&frame);
	return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = BUF_INIT, cut = BUF_INIT;
	struct slice bytes;
	uint64_t limit;

	if (size < 2)
		return 0;
	limit = 1u << (data[1] % 24);
	bytes = (struct slice){(const char *)data + 2, size - 2};
	assert(read_all(bytes, 0, limit, &whole) == read_all(bytes, data[0] + 1u, limit, &cut));
	assert(slice_equal(buf_slice(&whole), buf_slice(&cut)));
	buf_fini(&whole);
	buf_fini(&cut);
	return 0;
}
