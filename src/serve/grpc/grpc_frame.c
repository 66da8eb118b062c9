/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_frame.h"

#include <stdlib.h>

#include "base/mem.h"

#define CAPACITY_LEAST 256

static void take(struct slice *chunk, size_t length)
{
	chunk->data += length;
	chunk->length -= length;
}

static void forget(struct grpc_frame *frame)
{
	free(frame->bytes);
	*frame = (struct grpc_frame){0};
}

uint32_t grpc_frame_length(const struct grpc_frame *frame)
{
	return (uint32_t)frame->head[1] << 24 | (uint32_t)frame->head[2] << 16 |
	       (uint32_t)frame->head[3] << 8 | frame->head[4];
}

void grpc_frame_put_head(uint8_t head[GRPC_FRAME_HEAD], uint32_t length)
{
	head[0] = 0;
	head[1] = (uint8_t)(length >> 24);
	head[2] = (uint8_t)(length >> 16);
	head[3] = (uint8_t)(length >> 8);
	head[4] = (uint8_t)length;
}

/* A kept message was handed out. */
static bool is_used(const struct grpc_frame *frame)
{
	return frame->bytes && frame->arrived == grpc_frame_length(frame);
}

bool grpc_frame_is_partial(const struct grpc_frame *frame)
{
	return frame->head_length > 0 && !is_used(frame);
}

void grpc_frame_fini(struct grpc_frame *frame)
{
	forget(frame);
}

/* A peer pays for memory with bytes: an announced length alone costs nothing. */
static void keep(struct grpc_frame *frame, struct slice *chunk, uint32_t length)
{
	uint32_t missing = length - frame->arrived;
	uint32_t more = chunk->length < missing ? (uint32_t)chunk->length : missing;

	if (more > frame->capacity - frame->arrived) {
		uint64_t wanted = (uint64_t)(frame->arrived + more) * 2;

		if (wanted < CAPACITY_LEAST)
			wanted = CAPACITY_LEAST;
		frame->capacity = wanted < length ? (uint32_t)wanted : length;
		frame->bytes = xrealloc(frame->bytes, frame->capacity);
	}
	memcpy(frame->bytes + frame->arrived, chunk->data, more);
	frame->arrived += more;
	take(chunk, more);
}

enum grpc_frame_outcome grpc_frame_read(struct grpc_frame *frame, struct slice *chunk,
	uint64_t limit_bytes, struct slice *ret_message)
{
	uint32_t length;

	if (is_used(frame))
		forget(frame);
	while (frame->head_length < GRPC_FRAME_HEAD && chunk->length) {
		frame->head[frame->head_length++] = (uint8_t)*chunk->data;
		take(chunk, 1);
	}
	if (frame->head_length && frame->head[0])
		return GRPC_FRAME_COMPRESSED;
	if (frame->head_length < GRPC_FRAME_HEAD)
		return GRPC_FRAME_MORE;
	length = grpc_frame_length(frame);
	if (length > limit_bytes)
		return GRPC_FRAME_TOO_LARGE;
	if (frame->arrived == 0 && chunk->length >= length) {
		*ret_message = (struct slice){length ? chunk->data : "", length};
		take(chunk, length);
		forget(frame);
		return GRPC_FRAME_MESSAGE;
	}
	if (chunk->length)
		keep(frame, chunk, length);
	if (frame->arrived < length)
		return GRPC_FRAME_MORE;
	*ret_message = (struct slice){frame->bytes, length};
	return GRPC_FRAME_MESSAGE;
}
