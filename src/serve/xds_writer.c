/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_writer.h"

#include <stdlib.h>

#include "base/mem.h"

void xds_writer_begin(struct xds_writer *writer, struct xds_feed *feed, struct xds_table *table)
{
	const struct xds_kind *kind = &table->whole.kind;

	*writer = (struct xds_writer){.feed = feed, .table = table};
	writer->answer = xds_answer_new(feed->hub, (enum xds_type)kind->type, kind->is_delta);
	xds_draft_begin(&writer->draft, &feed->hub->registry, table, *kind);
}

static struct xds_item *add(struct xds_writer *writer)
{
	struct xds_answer *answer = writer->answer;

	array_reserve(answer->items, writer->items_capacity, answer->items_count + 1);
	answer->items[answer->items_count] = (struct xds_item){.resource = NULL};
	return &answer->items[answer->items_count++];
}

struct xds_item *xds_writer_add(struct xds_writer *writer, struct resource *resource)
{
	struct xds_item *item = add(writer);

	item->resource = resource_ref(resource);
	item->name = resource->name;
	writer->answer->body_bytes += resource->body.length;
	writer->answer->has_open |= resource->binding != NULL;
	return item;
}

struct xds_item *xds_writer_add_unresolved(struct xds_writer *writer, struct xds_name *name)
{
	struct xds_item *item = add(writer);

	item->name = xds_answer_keep(writer->answer, name);
	return item;
}

void xds_writer_add_removed(struct xds_writer *writer, struct xds_name *name)
{
	struct xds_answer *answer = writer->answer;

	array_reserve(answer->removed, writer->removed_capacity, answer->removed_count + 1);
	answer->removed[answer->removed_count++] = xds_answer_keep(answer, name);
}

void xds_writer_hold(struct xds_writer *writer, const struct xds_entry *entry,
	const struct resource *resource, uint64_t flags)
{
	flags |= XDS_HELD;
	if (entry)
		xds_draft_put(&writer->draft, entry->name, &resource->digest, flags);
	else
		xds_draft_put_text(&writer->draft, resource->name, &resource->digest, flags);
}

static int compare_items(const void *a, const void *b)
{
	const struct xds_item *x = a, *y = b;

	return slice_compare(x->name, y->name);
}

static int compare_names(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	return slice_compare(*x, *y);
}

void xds_writer_sort(struct xds_writer *writer)
{
	struct xds_answer *answer = writer->answer;

	if (answer->items_count > 1)
		qsort(answer->items, answer->items_count, sizeof(answer->items[0]), compare_items);
	if (answer->removed_count > 1)
		qsort(answer->removed, answer->removed_count, sizeof(answer->removed[0]),
			compare_names);
}
