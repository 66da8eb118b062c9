/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A loop's hub and its feeds, one for each group that has streams here: made on demand, brought up
 * to the store's snapshots, dropped when nobody uses them. Threads: the loop's.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_FEEDS_H
#define XDSPUB_SERVE_GRPC_GRPC_FEEDS_H

#include <sys/queue.h>

#include "base/hash.h"
#include "serve/grpc/grpc_call.h"
#include "serve/xds_hub.h"
#include "snapshot/store.h"

struct grpc_feed;

/* In each stream. */
struct grpc_feed_member {
	struct grpc_call *call;
	struct grpc_feed *feed; /* NULL: of none */
	LIST_ENTRY(grpc_feed_member) link;
};
LIST_HEAD(grpc_feed_members, grpc_feed_member);

struct grpc_feed {
	struct xds_feed *xds;
	struct grpc_feed_members members;
	/* Logged; once is enough: */
	struct version reported[XDS_TYPE_COUNT]; /* was refused */
	bool is_large[XDS_TYPE_COUNT];		 /* of responses that gRPC libraries do not take */
};

struct grpc_feeds {
	struct store *store;
	struct xds_hub *hub;
	struct hash by_group; /* of struct grpc_feed */
};

void grpc_feeds_init(
	struct grpc_feeds *feeds, struct store *store, const struct xds_settings *settings);
void grpc_feeds_fini(struct grpc_feeds *feeds); /* all members must have left */
/* Made if there is none; borrowed until the next grpc_feeds_refresh() unless it has members. */
struct grpc_feed *grpc_feeds_get(struct grpc_feeds *feeds, struct rcstr *group);
void grpc_feed_join(struct grpc_feed *feed, struct grpc_feed_member *member);
/* Its stream must be gone or moved before the next grpc_feeds_refresh(). */
void grpc_feed_leave(struct grpc_feed_member *member);
/* Takes over the store's snapshots, wakes the calls of each feed that has another one by that, and
 * drops the feeds without members. */
void grpc_feeds_refresh(struct grpc_feeds *feeds);

#endif
