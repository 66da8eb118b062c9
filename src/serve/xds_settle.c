/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_settle.h"

#include "serve/xds_draft.h"

static uint64_t settle_flags(uint64_t flags, enum xds_answered answered)
{
	uint64_t refused = 0, settled = XDS_PENDING | XDS_EARLIER;

	if (answered == XDS_REFUSED)
		refused = XDS_PENDING;
	else if (answered == XDS_REFUSED_EARLIER)
		refused = settled = XDS_EARLIER;
	if (flags & XDS_LEFT)
		return flags & ~settled & (XDS_PENDING | XDS_EARLIER) ? flags & ~settled : 0;
	if (flags & refused)
		return (flags & ~settled) | XDS_REJECTED;
	if (flags & settled)
		return flags & ~(settled | XDS_GONE);
	return flags;
}

static void settle_page(
	struct xds_draft *draft, const struct xds_page *page, enum xds_answered answered)
{
	for (uint32_t i = 0; i < page->count; i++) {
		const struct xds_entry *entry = &page->entries[i];
		uint64_t flags = settle_flags(entry->flags, answered);

		if (flags != entry->flags)
			xds_draft_put(draft, entry->name, flags & XDS_HELD ? &entry->digest : NULL,
				flags);
	}
}

/* Where the outcome is kept for the next stream in the same state; NULL: nowhere. */
static struct xds_table **memo_of(
	struct xds_hub *hub, struct xds_table *table, enum xds_answered answered)
{
	if (answered == XDS_ACCEPTED)
		return &xds_table_memo(&hub->registry, table)->after_ack;
	if (answered == XDS_REFUSED)
		return &xds_table_memo(&hub->registry, table)->after_nack;
	return NULL;
}

struct xds_table *xds_settle(
	struct xds_hub *hub, struct xds_table *table, enum xds_answered answered)
{
	struct xds_table **memo, *after;
	struct xds_draft draft;

	if (!(table->whole.flags & (XDS_PENDING | XDS_EARLIER)))
		return xds_table_ref(table);
	memo = memo_of(hub, table, answered);
	if (memo && *memo)
		return xds_table_ref(*memo);
	xds_draft_begin(&draft, &hub->registry, table, table->whole.kind);
	for (size_t i = 0; i < xds_table_pages(table); i++) {
		const struct xds_page *page = xds_table_page(table, i);

		if (page->flags & (XDS_PENDING | XDS_EARLIER))
			settle_page(&draft, page, answered);
	}
	after = xds_draft_finish(&draft);
	if (memo && after != table)
		*memo = xds_table_ref(after);
	return after;
}
