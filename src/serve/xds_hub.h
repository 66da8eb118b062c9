/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the streams of one loop share: names (stored once however many subscribe to them), what
 * clients hold (tables, equal ones stored once), answers, and per group a feed with the snapshot
 * that it serves now. Streams keep digests, never a snapshot. Threads: one at a time; each loop
 * has a hub of its own.
 */
#ifndef XDSPUB_SERVE_XDS_HUB_H
#define XDSPUB_SERVE_XDS_HUB_H

#include "serve/route_delay.h"

struct xds_settings {
	int64_t pace_ms;	/* longest wait of a push for the ACK of an earlier one (S.110) */
	int64_t drain_ms;	/* longest wait of a removal for the ACK of its users (S.111) */
	int64_t route_delay_ms; /* streams of a single type: routes after new clusters */
	uint64_t names;		/* per type of a stream */
	uint64_t name_bytes;
};
#define XDS_SETTINGS_DEFAULT                                                                       \
	((struct xds_settings){.pace_ms = 5000,                                                    \
		.drain_ms = 30000,                                                                 \
		.route_delay_ms = ROUTE_DELAY_DEFAULT_MS,                                          \
		.names = 100000,                                                                   \
		.name_bytes = 1024})

struct xds_hub;
struct xds_hub *xds_hub_new(const struct xds_settings *settings);
void xds_hub_free(struct xds_hub *hub); /* all streams, feeds and answers must be gone */

struct xds_feed;
struct xds_feed *xds_feed_new(struct xds_hub *hub, struct rcstr *group);
void xds_feed_free(struct xds_feed *feed); /* all its streams must be gone or moved */
/* What the group serves now; takes a reference. NULL: nothing, its streams stay silent. Ask every
 * stream of the feed for xds_stream_next() afterwards. */
void xds_feed_set(struct xds_feed *feed, struct snapshot *snapshot);
struct snapshot *xds_feed_snapshot(const struct xds_feed *feed); /* borrowed or NULL */
struct rcstr *xds_feed_group(const struct xds_feed *feed);	 /* borrowed */

/* For the status: what is stored now. */
struct xds_hub_counts {
	size_t names;
	size_t tables;
	size_t answers;
	uint64_t computed; /* answers computed since the start; sharing keeps it low */
};
struct xds_hub_counts xds_hub_count(const struct xds_hub *hub);

#endif
