/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one thing that threads share and that changes: the current snapshot of each group, and the
 * selector that maps nodes to groups. Serving loops acquire, use, release within one turn.
 * Threads: any; a mutex is held for a few instructions. Subscribers are called on the thread that
 * publishes, after the change is visible, and must only wake their own loop (not call the store).
 */
#ifndef XDSPUB_SNAPSHOT_STORE_H
#define XDSPUB_SNAPSHOT_STORE_H

#include "snapshot/selector.h"
#include "snapshot/snapshot.h"

struct store;

struct store *store_new(void);
void store_free(struct store *store);

/* Raised by every change; serving loops compare it to see whether there is news. */
uint64_t store_generation(const struct store *store);

void store_set_selector(struct store *store, struct selector *selector); /* takes a reference */
struct selector *store_selector(struct store *store); /* new reference, NULL before the first */

/* Replaces the group's snapshot; NULL removes the group (no longer configured). */
void store_publish(struct store *store, struct slice group, struct snapshot *snapshot);
struct snapshot *store_acquire(struct store *store, struct slice group); /* new reference or NULL */

typedef void (*store_changed_cb)(void *ctx);
struct store_subscription;
struct store_subscription *store_subscribe(
	struct store *store, store_changed_cb callback, void *ctx);
/* After it returns the callback is not running and will not be called again. */
void store_unsubscribe(struct store *store, struct store_subscription *subscription);

#endif
