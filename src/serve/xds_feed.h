/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the streams of one group are served, and what is made of it when first asked for: the set
 * in order, virtual hosts by domain, clusters by load assignment, and the clusters that are gone
 * but may still be in use. Used by the protocol core alone; see xds_hub.h for the rest.
 */
#ifndef XDSPUB_SERVE_XDS_FEED_H
#define XDSPUB_SERVE_XDS_FEED_H

#include "serve/route_delay.h"
#include "serve/xds_hosts.h"
#include "serve/xds_hub.h"

struct xds_waiters;

struct xds_feed {
	struct xds_hub *hub;
	uint32_t number;
	struct rcstr *group;
	struct snapshot *snapshot;
	size_t streams;
	struct route_delay delay;
	bool has_new_clusters;		      /* the delay has not begun yet */
	uint64_t generations[XDS_TYPE_COUNT]; /* of the set; another one for another version */
	/* The rest is NULL until asked for, and valid as long as the set is. */
	struct resource **sorted[XDS_TYPE_COUNT];
	struct xds_hosts *hosts;
	struct xds_waiters *waiters;
};

/* The whole set by name; borrowed until the next xds_feed_set(). */
struct resource **xds_feed_sorted(struct xds_feed *feed, enum xds_type type, size_t *ret_count);
/* What another name than its own leads to; NULL: nothing. Only virtual hosts have such names. */
struct resource *xds_feed_target(struct xds_feed *feed, enum xds_type type, struct slice name);
/* The clusters that wait for the load assignment; NULL: none. */
const struct xds_waiter *xds_feed_waiter(struct xds_feed *feed, struct slice name);

#endif
