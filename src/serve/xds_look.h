/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is there anything to tell the clients that share a table? Only pages whose part of the set
 * changed are looked at. Used by the protocol core alone. The feed has a snapshot.
 */
#ifndef XDSPUB_SERVE_XDS_LOOK_H
#define XDSPUB_SERVE_XDS_LOOK_H

#include "serve/xds_core.h"
#include "serve/xds_judge.h"

/* Brings `look` of the table and its pages up to date. */
void xds_look(struct xds_feed *feed, struct xds_table *table);
/* What there is for the entry of a table of this kind. */
struct xds_case xds_look_up(
	struct xds_feed *feed, const struct xds_kind *kind, const struct xds_entry *entry);

/* The resources of a page's buckets that the page, of a wildcard table, has no entry for; start
 * with *cursor 0; NULL at the end. */
struct resource *xds_look_new(
	const struct xds_feed *feed, const struct xds_page *page, size_t number, uint64_t *cursor);

#endif
