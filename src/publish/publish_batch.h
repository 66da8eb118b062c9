/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Publishes of many groups that wait for the disk together: two syncs however many there are. A
 * group that fails does not hold back the others, except when the disk itself does (sync, journal).
 * Within a group the order is that of publish_job.h. Threads: build; may block.
 */
#ifndef XDSPUB_PUBLISH_PUBLISH_BATCH_H
#define XDSPUB_PUBLISH_PUBLISH_BATCH_H

#include "publish/publish_job.h"

struct publish_item {
	struct publish_target *target;
	struct snapshot *snapshot;
	struct publish_result result; /* out; nothing after an error */
	int error;		      /* in and out: items that have one are left out */
};

/* Takes as many of the items, from the first on, as go together well, at least one; returns how
 * many. */
size_t publish_batch_run(
	const struct publish_job_options *options, struct publish_item *items, size_t count);

#endif
