/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last good snapshots on disk (mode 0600), so that a restart with a broken tree serves what
 * was served before, with the same versions. A journal of changes: one changed resource costs one
 * append; compacted when more than half of it is dead. Also keeps the selector's JSON text so
 * that node matching works before the first good compile. Threads: build. May block.
 */
#ifndef XDSPUB_SNAPSHOT_STATE_H
#define XDSPUB_SNAPSHOT_STATE_H

#include "snapshot/snapshot.h"

struct state;

/* Opens or creates the folder. -EBUSY: another instance has it. A damaged journal keeps what is
 * whole up to the damage; *ret_problem (a static text or NULL) says so. */
int state_open(const char *path, struct state **ret_state, const char **ret_problem);
void state_close(struct state *state);

size_t state_count(const struct state *state);
struct snapshot *state_snapshot(const struct state *state, size_t index);   /* borrowed */
struct snapshot *state_find(const struct state *state, struct slice group); /* borrowed or NULL */
/* Records that this snapshot is what its group serves: appends the difference and syncs. On error
 * the state on disk is the former one; call again later with the newest snapshot. */
int state_save(struct state *state, struct snapshot *snapshot);
/* The same for many snapshots: each is written, then one sync makes all of them safe. */
int state_write(struct state *state, struct snapshot *snapshot);
int state_sync(struct state *state);
int state_forget(struct state *state, struct slice group);
/* Free-form text kept beside, e.g. the group configuration; empty slice when there is none. */
int state_save_groups(struct state *state, struct slice text);
struct slice state_groups(const struct state *state);

#endif
