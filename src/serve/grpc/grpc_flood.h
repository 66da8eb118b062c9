/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much work a peer may cause with frames that carry nothing. Token buckets: what a client does
 * for itself (PINGs to measure the round trip, window updates for what we sent, a thousand streams
 * closed at once) passes, what goes on without end does not. Pure. Threads: one at a time.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_FLOOD_H
#define XDSPUB_SERVE_GRPC_GRPC_FLOOD_H

#include <stdbool.h>
#include <stdint.h>

#define GRPC_FLOOD_FRAMES	     10000 /* at once */
#define GRPC_FLOOD_FRAMES_PER_SECOND 1000
#define GRPC_FLOOD_FRAMES_PER_SENT   4	   /* for each DATA frame that we sent */
#define GRPC_FLOOD_RESETS	     10000 /* as many as there may be streams */
#define GRPC_FLOOD_RESETS_PER_SECOND 200
#define GRPC_FLOOD_RESET_AGE_MS	     1000 /* a stream that was older costs nothing */

/* Zero is a new one that has used nothing. */
struct grpc_flood {
	int64_t refilled_ms;
	int32_t frames; /* used of the bucket */
	int32_t resets;
};

/* False: too many. */
bool grpc_flood_frame(struct grpc_flood *flood, int64_t now_ms);
bool grpc_flood_reset(struct grpc_flood *flood, int64_t now_ms);
void grpc_flood_sent(struct grpc_flood *flood);

#endif
