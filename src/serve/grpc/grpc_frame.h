/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gRPC's length-prefixed messages out of a stream of bytes that is cut anywhere. A frame of zeroes
 * is a new one. A message that one chunk holds whole is not copied; of any other no more is
 * allocated than twice what has arrived. Threads: one at a time.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_FRAME_H
#define XDSPUB_SERVE_GRPC_GRPC_FRAME_H

#include "base/slice.h"

#define GRPC_FRAME_HEAD 5 /* one byte of flags, four of length, big-endian */

struct grpc_frame {
	uint8_t head[GRPC_FRAME_HEAD];
	uint8_t head_length; /* of it are there */
	uint32_t arrived;    /* bytes of the message that are in `bytes` */
	uint32_t capacity;
	char *bytes; /* NULL between messages */
};

enum grpc_frame_outcome {
	GRPC_FRAME_MORE,       /* the chunk is used up */
	GRPC_FRAME_MESSAGE,    /* there is one; the chunk may hold more */
	GRPC_FRAME_COMPRESSED, /* a flag is set: UNIMPLEMENTED, nobody negotiated it (S.55) */
	GRPC_FRAME_TOO_LARGE   /* longer than the limit: RESOURCE_EXHAUSTED */
};

/*
 * Takes what it can use from *chunk and advances it. Call until it says MORE. A message is borrowed
 * until the next call with the frame and as long as the chunk. After the last two outcomes it stays
 * at them.
 */
enum grpc_frame_outcome grpc_frame_read(struct grpc_frame *frame, struct slice *chunk,
	uint64_t limit_bytes, struct slice *ret_message);
/* The stream must not end here: a message has begun. */
bool grpc_frame_is_partial(const struct grpc_frame *frame);
/* What the head announces, when it is too large. */
uint32_t grpc_frame_length(const struct grpc_frame *frame);
void grpc_frame_fini(struct grpc_frame *frame);

void grpc_frame_put_head(uint8_t head[GRPC_FRAME_HEAD], uint32_t length);

#endif
