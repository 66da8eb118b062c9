/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Make before break as a function of values: from what is published and what should be, what to
 * publish now. Removed resources of bridged types stay in a bridge until the grace period, which
 * every further change restarts, is over. No clocks: times come in as arguments.
 */
#ifndef XDSPUB_SNAPSHOT_BRIDGE_H
#define XDSPUB_SNAPSHOT_BRIDGE_H

#include "snapshot/snapshot.h"

/* The union of target and what published has beyond it (bridged types only), marked is_bridge;
 * or a reference to target itself when nothing has to wait. published may be NULL. */
struct snapshot *bridge_make(const struct snapshot *published, struct snapshot *target);

/* One group's progress from published to target. */
struct bridge {
	struct snapshot *published; /* what everyone sees now; NULL before the first */
	struct snapshot *target;    /* where it should end; NULL before the first */
	int64_t final_at_ms;	    /* when a bridge ends; -1: none is open */
};
void bridge_fini(struct bridge *bridge);
/* A new target; returns a reference to what must be published now, NULL when nothing changes.
 * A target with the content of the former one does not restart the grace period. After a restart
 * set `published` to what was published last and final_at_ms to -1. grace_ms 0: no bridges. */
struct snapshot *bridge_on_target(
	struct bridge *bridge, struct snapshot *target, int64_t now_ms, int64_t grace_ms);
/* Time has passed; returns a reference to the final snapshot when the grace period is over. */
struct snapshot *bridge_on_time(struct bridge *bridge, int64_t now_ms);

#endif
