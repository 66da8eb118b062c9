/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routes after clusters where nothing keeps an order: REST polls and gRPC streams of a single type
 * reach a client independently, and a route to a cluster that the client has not heard of, or that
 * is still warming, answers 503. So when a snapshot brings new clusters, news of the types that
 * name clusters are held back for a moment. Aggregated streams have an order and files are written
 * in one; they don't need this. Values only. Threads: one at a time. Times are milliseconds of one
 * monotonic clock.
 */
#ifndef XDSPUB_SERVE_ROUTE_DELAY_H
#define XDSPUB_SERVE_ROUTE_DELAY_H

#include "snapshot/snapshot.h"

#define ROUTE_DELAY_DEFAULT_MS 1000

/* Of one group; zero: nothing waits. */
struct route_delay {
	int64_t since_ms; /* of the first snapshot in a row */
	int64_t until_ms;
};

/* A cluster that is not in `old` at all. Either may be NULL: then there is nothing to wait for. */
bool route_delay_is_due(const struct snapshot *old, const struct snapshot *now);
/* Begins, or goes on because of another snapshot: at most four times `wait_ms` in a row. */
void route_delay_begin(struct route_delay *delay, int64_t now_ms, int64_t wait_ms);
/* Until when news of the type wait; 0: they need not. */
int64_t route_delay_until(const struct route_delay *delay, enum xds_type type);

#endif
