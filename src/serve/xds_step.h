/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what a client holds and what its group serves now to what it must be sent. A step depends
 * on nothing but the table and the snapshot, so it is computed once for all streams that share
 * the table. Threads: one at a time. Used by the protocol core alone. The feed has a snapshot.
 */
#ifndef XDSPUB_SERVE_XDS_STEP_H
#define XDSPUB_SERVE_XDS_STEP_H

#include "serve/xds_core.h"

/* Brings has_news, has_gone and ttl_ms of the table up to date. */
void xds_step_look(struct xds_feed *feed, struct xds_table *table);
/* The answer that brings the client up to date; delta leaves out what is gone unless with_gone.
 * Both are borrowed from the table's memo. */
struct xds_answer *xds_step_take(struct xds_feed *feed, struct xds_table *table, bool with_gone,
	struct xds_table **ret_after);
/* What keeps the TTLs of the held resources from running out; borrowed. */
struct xds_answer *xds_step_refresh(struct xds_feed *feed, struct xds_table *table);
enum xds_answered {
	XDS_ACCEPTED,	    /* the last response, and so all before it have been answered */
	XDS_REFUSED,	    /* the last response */
	XDS_REFUSED_SHRUNK, /* the same, but the client wants less by now */
	XDS_REFUSED_EARLIER /* one before the last */
};
/* The table after the client answered a delta response; a reference. */
struct xds_table *xds_step_settle(
	struct xds_hub *hub, struct xds_table *table, enum xds_answered answered);

#endif
