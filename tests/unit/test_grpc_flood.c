/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_flood.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void lets_bursts_pass_once(void **state)
{
	struct grpc_flood flood = {.refilled_ms = 1000};

	(void)state;
	for (int i = 0; i < GRPC_FLOOD_FRAMES; i++)
		assert_true(grpc_flood_frame(&flood, 1000));
	assert_false(grpc_flood_frame(&flood, 1000));
	assert_false(grpc_flood_frame(&flood, 1099));
	for (int i = 0; i < GRPC_FLOOD_FRAMES_PER_SECOND / 10; i++)
		assert_true(grpc_flood_frame(&flood, 1100));
	assert_false(grpc_flood_frame(&flood, 1100));
	/* What we send may be answered. */
	grpc_flood_sent(&flood);
	for (int i = 0; i < GRPC_FLOOD_FRAMES_PER_SENT; i++)
		assert_true(grpc_flood_frame(&flood, 1100));
	assert_false(grpc_flood_frame(&flood, 1100));
	/* Nothing of this is about streams. */
	assert_true(grpc_flood_reset(&flood, 1100));
}

/* S.58: for ever, ten in a second do not matter. */
static void lets_the_steady_pass(void **state)
{
	struct grpc_flood flood = {.refilled_ms = 0};

	(void)state;
	for (int64_t now_ms = 0; now_ms < 3600000; now_ms += 100) {
		assert_true(grpc_flood_frame(&flood, now_ms));
		assert_true(grpc_flood_reset(&flood, now_ms));
	}
	assert_true(flood.frames <= 1 && flood.resets <= 1);
}

static void stops_those_who_go_on(void **state)
{
	struct grpc_flood flood = {.refilled_ms = 0};
	int64_t resets = 0;

	(void)state;
	/* Twenty thousand in a second for a minute: what passes is the burst and the rate. */
	for (int64_t i = 0; i < 1200000; i++)
		resets += grpc_flood_reset(&flood, i / 20);
	assert_true(resets >= GRPC_FLOOD_RESETS + 59 * GRPC_FLOOD_RESETS_PER_SECOND);
	assert_true(resets <= GRPC_FLOOD_RESETS + 60 * GRPC_FLOOD_RESETS_PER_SECOND);
	/* A clock that stands still for a year fills it once. */
	for (int i = 0; i < GRPC_FLOOD_RESETS; i++)
		assert_true(grpc_flood_reset(&flood, INT64_C(32000000000)));
	assert_false(grpc_flood_reset(&flood, INT64_C(32000000000)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lets_bursts_pass_once),
		cmocka_unit_test(lets_the_steady_pass),
		cmocka_unit_test(stops_those_who_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
