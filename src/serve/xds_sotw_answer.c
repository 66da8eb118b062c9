/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_sotw_answer.h"

#include <stdlib.h>

#include "base/mem.h"
#include "serve/xds_look.h"
#include "serve/xds_writer.h"

static void write_item(struct xds_writer *writer, struct resource *resource)
{
	struct xds_item *item = xds_writer_add(writer, resource);

	item->is_wrapped = writer->table->whole.kind.is_wrapping && resource->ttl_ms >= 0;
}

static void write_entry(struct xds_writer *writer, const struct xds_entry *entry)
{
	struct xds_case one = xds_look_up(writer->feed, &writer->table->whole.kind, entry);
	uint64_t kept = entry->flags & XDS_SUBSCRIBED;

	if (one.resource) {
		write_item(writer, one.resource);
		xds_writer_hold(writer, entry, one.resource, kept);
	} else {
		xds_draft_put(&writer->draft, entry->name, NULL, kept);
	}
}

static void write_page(struct xds_writer *writer, const struct xds_page *page, size_t number)
{
	struct resource *resource;
	uint64_t cursor = 0;

	for (uint32_t i = 0; i < page->count; i++)
		write_entry(writer, &page->entries[i]);
	while (page->kind.is_wildcard &&
		(resource = xds_look_new(writer->feed, page, number, &cursor))) {
		write_item(writer, resource);
		xds_writer_hold(writer, NULL, resource, 0);
	}
}

/* Of exactly the resources in the response. */
static struct version version_of_items(const struct xds_answer *answer)
{
	struct resource **resources =
		xmalloc((answer->items_count + 1) * sizeof(struct resource *));
	struct version version;

	for (size_t i = 0; i < answer->items_count; i++)
		resources[i] = answer->items[i].resource;
	version = version_of(answer->type, resources, answer->items_count);
	free(resources);
	return version;
}

struct xds_answer *xds_sotw_answer(
	struct xds_feed *feed, struct xds_table *table, struct xds_table **ret_after)
{
	struct resource_set *set = feed->snapshot->sets[table->whole.kind.type];
	struct xds_writer writer;

	xds_writer_begin(&writer, feed, table);
	for (size_t i = 0; i < xds_table_pages(table); i++)
		write_page(&writer, xds_table_page(table, i), i);
	xds_writer_sort(&writer);
	if (table->whole.kind.is_wildcard)
		writer.answer->version = *resource_set_version(set);
	else
		writer.answer->version = version_of_items(writer.answer);
	*ret_after = xds_draft_finish(&writer.draft);
	return writer.answer;
}
