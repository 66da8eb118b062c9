/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What has come from each source of the tree, the root and its mounts, and when to look at it: each
 * settles by itself, may be on hold by itself, and is looked at again by itself.
 * Threads: all but arrivals_ask and arrivals_locate under the owner's lock; these two on the build
 * thread, without it, since they may wait for a file system.
 */
#ifndef XDSPUB_DAEMON_ARRIVALS_H
#define XDSPUB_DAEMON_ARRIVALS_H

#include "compile/compile.h"
#include "daemon/hints.h"
#include "daemon/options.h"
#include "source/hold.h"
#include "source/probe.h"
#include "source/watch.h"

struct arrival {
	char *at, *path; /* "": the root */
	struct settle settle;
	struct hints hints;
	bool must_look; /* the last look failed: at everything, next time */
	bool was_held;	/* by .xdspub-hold, when last looked at */
	int64_t rescan_at_ms, retry_ms;
	const char *pending; /* what it waits for, a static text; NULL: nothing */

	/* Build thread. */
	struct hold hold;
	struct probe *probe; /* NULL: nobody else is to be protected from it */
	bool is_asked;
	struct settle_facts facts;
	int error; /* it does not answer */
};

struct arrivals {
	struct arrival *items; /* [0]: the root */
	size_t count;
};

void arrivals_init(struct arrivals *arrivals, const struct options *options);
void arrivals_fini(struct arrivals *arrivals);
/* Other times; the sources are the same. */
void arrivals_retime(struct arrivals *arrivals, const struct options *options);

/* path NULL: everything. Relative to the source. */
void arrivals_hint(struct arrivals *arrivals, size_t index, const char *path, int64_t now_ms);
/* Everything, of each. `at_once`: without settling. */
void arrivals_hint_all(struct arrivals *arrivals, int64_t now_ms, bool at_once);

/* Which are pending; then what holds them; then which are due. */
bool arrivals_begin(struct arrivals *arrivals);
void arrivals_ask(struct arrivals *arrivals);
/* due[i] for each; `with_root`: all that are not on hold come with the root, and nothing without
 * it. Milliseconds until it is worth asking again, -1: nothing is pending or all of it held. */
int64_t arrivals_due(struct arrivals *arrivals, int64_t now_ms, bool with_root, bool *due);
/* What a person reads about all of them; NULL: nothing is pending. */
const char *arrivals_pending(const struct arrivals *arrivals);

/* Takes what came from a source: a malloc'ed list of paths of the whole tree, malloc'ed, too, or
 * NULL for everything. */
char **arrivals_take(struct arrival *arrival, size_t *ret_count);
/* What came of the look: a negative errno is tried again soon, and then less and less often. */
void arrivals_note(struct arrival *arrival, int error, int64_t now_ms);

/* Hints each source that is due for its periodic look; true when one was. `watch` NULL: no events
 * come at all. */
bool arrivals_rescan(struct arrivals *arrivals, const struct watch *watch,
	const struct options *options, int64_t now_ms, int64_t *ret_next_ms);
/* Looks for repositories again. */
void arrivals_locate(struct arrivals *arrivals);

#endif
