/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_flood.h"

static void give(int32_t *used, int64_t tokens)
{
	*used = *used > tokens ? (int32_t)(*used - tokens) : 0;
}

/* In steps of a tenth of a second, so that nothing is lost to rounding. */
static void refill(struct grpc_flood *flood, int64_t now_ms)
{
	int64_t steps = (now_ms - flood->refilled_ms) / 100;

	if (steps <= 0)
		return;
	flood->refilled_ms += steps * 100;
	if (steps > GRPC_FLOOD_FRAMES)
		steps = GRPC_FLOOD_FRAMES;
	give(&flood->frames, steps * GRPC_FLOOD_FRAMES_PER_SECOND / 10);
	give(&flood->resets, steps * GRPC_FLOOD_RESETS_PER_SECOND / 10);
}

bool grpc_flood_frame(struct grpc_flood *flood, int64_t now_ms)
{
	refill(flood, now_ms);
	if (flood->frames >= GRPC_FLOOD_FRAMES)
		return false;
	flood->frames++;
	return true;
}

bool grpc_flood_reset(struct grpc_flood *flood, int64_t now_ms)
{
	refill(flood, now_ms);
	if (flood->resets >= GRPC_FLOOD_RESETS)
		return false;
	flood->resets++;
	return true;
}

void grpc_flood_sent(struct grpc_flood *flood)
{
	give(&flood->frames, GRPC_FLOOD_FRAMES_PER_SENT);
}
