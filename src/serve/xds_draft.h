/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table in the making: another one and what is different about it. The cost is that of the pages
 * with a difference; only when the number of pages changes, which it does at every doubling, or
 * the kind, are all entries gone through. Used by the protocol core alone.
 */
#ifndef XDSPUB_SERVE_XDS_DRAFT_H
#define XDSPUB_SERVE_XDS_DRAFT_H

#include "serve/xds_table.h"

struct xds_draft {
	struct xds_registry *registry;
	struct xds_table *base;
	struct xds_kind kind;
	struct xds_change *changes;
	size_t count;
	size_t capacity;
};

/* base: borrowed until the draft is finished. kind: as the base's, or another one; its page_bits
 * are not looked at. */
void xds_draft_begin(struct xds_draft *draft, struct xds_registry *registry, struct xds_table *base,
	struct xds_kind kind);
/* Sets the entry of a name; flags 0: takes it out. digest NULL: not held. Takes its own reference
 * to the name. The last of several for one name counts. */
void xds_draft_put(struct xds_draft *draft, struct xds_name *name, const struct digest *digest,
	uint64_t flags);
/* Same with the text of the name. */
void xds_draft_put_text(
	struct xds_draft *draft, struct slice text, const struct digest *digest, uint64_t flags);
/* A reference to the one table with this content; the base, when nothing is different. Ends the
 * draft. */
struct xds_table *xds_draft_finish(struct xds_draft *draft);

/* A reference to the table of a kind with nothing in it. */
struct xds_table *xds_table_empty(struct xds_registry *registry, struct xds_kind kind);

/* What tables and pages are registered by. */
struct slice xds_page_key(const struct xds_page *page);
struct slice xds_table_key(const struct xds_table *table);

#endif
