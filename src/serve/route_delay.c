/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/route_delay.h"

#include "snapshot/types.h"

#define WAITS_IN_A_ROW 4

static int stop_at_new(void *ctx, struct resource *old_resource, struct resource *new_resource)
{
	(void)ctx;
	return !old_resource && new_resource;
}

bool route_delay_is_due(const struct snapshot *old, const struct snapshot *now)
{
	return old && now &&
	       resource_set_diff(old->sets[XDS_CDS], now->sets[XDS_CDS], stop_at_new, NULL) != 0;
}

void route_delay_begin(struct route_delay *delay, int64_t now_ms, int64_t wait_ms)
{
	int64_t last_ms;

	if (now_ms >= delay->until_ms)
		delay->since_ms = now_ms;
	last_ms = delay->since_ms + WAITS_IN_A_ROW * wait_ms;
	delay->until_ms = now_ms + wait_ms < last_ms ? now_ms + wait_ms : last_ms;
}

int64_t route_delay_until(const struct route_delay *delay, enum xds_type type)
{
	return xds_type_row(XDS_CDS)->used_by & 1u << type ? delay->until_ms : 0;
}
