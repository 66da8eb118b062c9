/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notices that something below some roots may have changed (libinotifytools; the only file that
 * uses it). Events are hints: a path to look at again, or "look at everything" after an overflow, a
 * moved or swapped root, or whatever else makes single events unreliable. One instance per process;
 * owns a thread for all library calls, with a descriptor table of its own: the library uses
 * select, so its descriptor must stay small however many clients the process has.
 * The callback runs on the watch thread and must only hand the hint on.
 */
#ifndef XDSPUB_SOURCE_WATCH_H
#define XDSPUB_SOURCE_WATCH_H

#include "base/log.h"

/* path NULL: look at everything below this root (its number). Else relative to it, valid during the
 * call. Hidden files and folders are left out, except for WATCH_HOLD in the root. */
typedef void (*watch_hint_cb)(void *ctx, size_t root, const char *path);

#define WATCH_HOLD ".xdspub-hold"

struct watch;

/* The roots need not exist, and may lie in each other. The first hint, "everything" for each of
 * them, comes once the watches are in place. */
int watch_start(const char *const *roots, size_t count, const struct log *log,
	watch_hint_cb callback, void *ctx, struct watch **ret_watch);
void watch_stop(struct watch *watch); /* NULL is fine; no callback runs afterwards */
/* False while events about this root cannot be had (no inotify, watch limit, network file system, a
 * file system that does not answer): the caller then relies on its periodic scan alone.
 * `*ret_reason` is a static text, NULL when it works. Any thread. */
bool watch_is_working(const struct watch *watch, size_t root, const char **ret_reason);

#endif
