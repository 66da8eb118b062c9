/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each group serves: takes targets from builds, makes bridges of removals and brings every new
 * snapshot out in one order: state folder, store (REST), files. A sink that fails is tried again
 * with growing pauses and holds nothing else back, except that a group's bridge stays open while
 * its files are behind, for at most FILES_PATIENCE_MS. Threads: build only. May block on disks.
 */
#ifndef XDSPUB_DAEMON_SERVED_H
#define XDSPUB_DAEMON_SERVED_H

#include "base/log.h"
#include "compile/compile.h"
#include "daemon/options.h"
#include "daemon/overview.h"
#include "publish/publisher.h"
#include "snapshot/state.h"
#include "snapshot/store.h"

struct served_options {
	struct store *store;
	struct state *state;	     /* NULL: none */
	struct publisher *publisher; /* NULL: none */
	struct overview *report;
	const struct log *log;
};

struct served;

/* Everything is borrowed. */
struct served *served_new(const struct served_options *options);
void served_free(struct served *served);

/* Brings the last good snapshots of the state folder into the store; groups that are in `only`, or
 * all when it is empty. Returns how many. Before any thread runs. */
size_t served_load(struct served *served, const struct texts *only);
/* Makes the files equal to what was loaded. */
void served_publish_loaded(struct served *served, int64_t now_ms);
/* Returns how many groups got something new. */
size_t served_apply(
	struct served *served, const struct build *build, int64_t now_ms, int64_t grace_ms);
/* When served_on_time has something to do, -1: never. */
int64_t served_next_ms(const struct served *served);
/* Ends bridges that are due and tries failed sinks again. */
void served_on_time(struct served *served, int64_t now_ms, int64_t grace_ms);
/* Looks for published files that others changed. */
void served_check_files(struct served *served);

#endif
