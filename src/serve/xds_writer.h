/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An answer being written, with the table that follows from it: what SotW and delta do alike.
 * Used by the protocol core alone.
 */
#ifndef XDSPUB_SERVE_XDS_WRITER_H
#define XDSPUB_SERVE_XDS_WRITER_H

#include "serve/xds_core.h"
#include "serve/xds_draft.h"

struct xds_writer {
	struct xds_feed *feed;
	struct xds_table *table; /* what the clients have before */
	struct xds_answer *answer;
	struct xds_draft draft; /* what they have afterwards */
	size_t items_capacity;
	size_t removed_capacity;
};

void xds_writer_begin(struct xds_writer *writer, struct xds_feed *feed, struct xds_table *table);
/* Takes its own reference; valid until the next call. */
struct xds_item *xds_writer_add(struct xds_writer *writer, struct resource *resource);
/* An item without a resource, and removed_resources. */
struct xds_item *xds_writer_add_unresolved(struct xds_writer *writer, struct xds_name *name);
void xds_writer_add_removed(struct xds_writer *writer, struct xds_name *name);
/* The client gets or has the resource. entry NULL: it had no entry. */
void xds_writer_hold(struct xds_writer *writer, const struct xds_entry *entry,
	const struct resource *resource, uint64_t flags);
/* Everything by name. */
void xds_writer_sort(struct xds_writer *writer);

#endif
