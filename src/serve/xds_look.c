/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_look.h"

#include <assert.h>

struct xds_case xds_look_up(
	struct xds_feed *feed, const struct xds_kind *kind, const struct xds_entry *entry)
{
	struct xds_case one = {.entry = entry};
	struct slice name = xds_name_slice(entry->name);

	one.resource =
		resource_set_find_in(feed->snapshot->sets[kind->type], entry->name->bucket, name);
	if (!one.resource && (entry->flags & XDS_SUBSCRIBED))
		one.target = xds_feed_target(feed, (enum xds_type)kind->type, name);
	return one;
}

/* The cursor is the bucket in the upper and the index in the lower half. */
struct resource *xds_look_new(
	const struct xds_feed *feed, const struct xds_page *page, size_t number, uint64_t *cursor)
{
	const struct resource_set *set = feed->snapshot->sets[page->kind.type];
	uint64_t buckets = VERSION_BUCKETS >> page->kind.page_bits;
	uint64_t bucket = *cursor >> 32, index = *cursor & UINT32_MAX;

	for (; bucket < buckets; bucket++, index = 0) {
		size_t count;
		struct resource *const *resources =
			resource_set_bucket(set, (unsigned)(number * buckets + bucket), &count);

		for (; index < count; index++) {
			if (xds_page_find(page, resources[index]->name))
				continue;
			*cursor = bucket << 32 | (index + 1);
			return resources[index];
		}
	}
	*cursor = bucket << 32;
	return NULL;
}

static void look_at_delta(
	struct xds_look *look, const struct xds_kind *kind, const struct xds_case *one)
{
	look->has_again |= xds_judge_is_outdated(one);
	look->has_refused |= xds_judge_is_refused(one);
	switch (xds_judge(kind, one, false)) {
	case XDS_SEND:
	case XDS_FOLLOW:
	case XDS_TELL_GONE:
	case XDS_TELL_UNRESOLVED:
		look->has_news = look->has_changes = true;
		break;
	case XDS_REMOVE:
		look->gone++;
		look->has_changes = true;
		break;
	case XDS_DROP:
		look->has_changes = true;
		break;
	case XDS_KEEP:
		break;
	}
}

static void look_at_sotw(
	struct xds_look *look, const struct xds_type_row *row, const struct xds_case *one)
{
	if (one->resource) {
		look->has_news |= !xds_judge_is_same(one->entry, one->resource);
	} else if (one->entry->flags & XDS_HELD) {
		/* Of other types a client cannot be told by leaving out (S.72, S.106), but if it
		 * refused the last response, one with less in it is worth a try. */
		look->gone += row->is_wildcard;
		look->has_again |= !row->is_wildcard;
	}
}

static void look_at_page(
	struct xds_feed *feed, struct xds_page *page, size_t number, struct xds_look *look)
{
	const struct xds_type_row *row = xds_type_row((enum xds_type)page->kind.type);
	uint64_t cursor = 0;

	for (uint32_t i = 0; i < page->count; i++) {
		struct xds_case one = xds_look_up(feed, &page->kind, &page->entries[i]);
		int64_t ttl_ms = one.resource ? one.resource->ttl_ms : -1;

		if (page->kind.is_delta)
			look_at_delta(look, &page->kind, &one);
		else
			look_at_sotw(look, row, &one);
		if (ttl_ms >= 0 && (page->kind.is_delta || page->kind.is_wrapping) &&
			(look->ttl_ms < 0 || ttl_ms < look->ttl_ms))
			look->ttl_ms = ttl_ms;
	}
	if (page->kind.is_wildcard && xds_look_new(feed, page, number, &cursor))
		look->has_news = look->has_changes = true;
}

static void add_up(struct xds_look *whole, const struct xds_look *page)
{
	whole->has_news |= page->has_news;
	whole->gone += page->gone;
	whole->has_again |= page->has_again;
	whole->has_refused |= page->has_refused;
	whole->has_changes |= page->has_changes;
	if (page->ttl_ms >= 0 && (whole->ttl_ms < 0 || page->ttl_ms < whole->ttl_ms))
		whole->ttl_ms = page->ttl_ms;
}

/* Names that lead to others may depend on any part of the set. */
static uint64_t stamp_of(const struct xds_feed *feed, const struct xds_table *table, size_t number)
{
	enum xds_type type = (enum xds_type)table->whole.kind.type;
	unsigned buckets = VERSION_BUCKETS >> table->whole.kind.page_bits;

	if (type == XDS_VHDS)
		return feed->generations[type];
	return resource_set_stamp(feed->snapshot->sets[type], (unsigned)number * buckets, buckets);
}

void xds_look(struct xds_feed *feed, struct xds_table *table)
{
	const struct xds_kind *kind = &table->whole.kind;
	struct xds_look whole = {.stamp = feed->generations[kind->type], .ttl_ms = -1};

	assert(kind->feed == feed->number);
	if (table->whole.look.stamp == whole.stamp)
		return;
	if (xds_table_is_alone(table))
		look_at_page(feed, &table->whole, 0, &whole);
	for (size_t i = 0; !xds_table_is_alone(table) && i < xds_table_pages(table); i++) {
		struct xds_page *page = table->pages[i];
		struct xds_look look = {.stamp = stamp_of(feed, table, i), .ttl_ms = -1};

		if (page->look.stamp != look.stamp) {
			look_at_page(feed, page, i, &look);
			page->look = look;
		}
		add_up(&whole, &page->look);
	}
	whole.has_news |= kind->is_delta && whole.has_again && whole.has_refused;
	table->whole.look = whole;
}
