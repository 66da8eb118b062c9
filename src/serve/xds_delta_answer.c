/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_delta_answer.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "serve/xds_look.h"
#include "serve/xds_warm.h"
#include "serve/xds_writer.h"

/* A name to which a resource is sent that has another one. */
struct lead {
	struct resource *target;
	struct xds_name *name;
};

struct delta_writer {
	struct xds_writer base;
	unsigned form;
	struct lead *leads;
	size_t leads_count;
	size_t leads_capacity;
};

/* There is a newer response now. */
static uint64_t age(uint64_t flags)
{
	return flags & XDS_PENDING ? (flags & ~(uint64_t)XDS_PENDING) | XDS_EARLIER : flags;
}

static void put_aged(struct xds_writer *writer, const struct xds_entry *entry, uint64_t dropped)
{
	assert(entry);
	xds_draft_put(&writer->draft, entry->name, entry->flags & XDS_HELD ? &entry->digest : NULL,
		age(entry->flags) & ~dropped);
}

static void write_removed(struct xds_writer *writer, const struct xds_entry *entry, uint64_t kept)
{
	assert(entry);
	xds_writer_add_removed(writer, entry->name);
	if (kept & XDS_SUBSCRIBED)
		kept |= XDS_MISSING;
	/* A client that refuses to let go of something is told again, when that makes sense. */
	if (entry->flags & (XDS_HELD | XDS_GONE))
		kept |= XDS_GONE | XDS_PENDING;
	xds_draft_put(&writer->draft, entry->name, NULL, kept);
}

static void write_case(struct delta_writer *writer, const struct xds_case *one)
{
	const struct xds_kind *kind = &writer->base.table->whole.kind;
	const struct xds_entry *entry = one->entry;
	uint64_t kept = entry ? entry->flags & (XDS_SUBSCRIBED | XDS_TARGET) : 0;

	switch (xds_judge(kind, one, writer->base.table->whole.look.has_again)) {
	case XDS_SEND:
		assert(one->resource);
		xds_writer_add(&writer->base, one->resource);
		xds_writer_hold(&writer->base, entry, one->resource, kept | XDS_PENDING);
		break;
	case XDS_FOLLOW:
		assert(entry && one->target);
		array_reserve(writer->leads, writer->leads_capacity, writer->leads_count + 1);
		writer->leads[writer->leads_count++] = (struct lead){one->target, entry->name};
		xds_writer_hold(&writer->base, entry, one->target, kept | XDS_ALIAS | XDS_PENDING);
		break;
	case XDS_TELL_UNRESOLVED:
		assert(entry);
		xds_writer_add_unresolved(&writer->base, entry->name);
		kept |= kept & XDS_SUBSCRIBED ? XDS_MISSING : 0;
		xds_draft_put(&writer->base.draft, entry->name, NULL, kept);
		break;
	case XDS_REMOVE:
		assert(entry);
		if (writer->form & XDS_STEP_WITH_GONE)
			write_removed(&writer->base, entry, kept);
		else
			put_aged(&writer->base, entry, XDS_REJECTED);
		break;
	case XDS_TELL_GONE:
		assert(entry);
		write_removed(&writer->base, entry, kept);
		break;
	case XDS_KEEP:
		put_aged(&writer->base, entry, 0);
		break;
	case XDS_DROP:
		assert(entry);
		xds_draft_put(&writer->base.draft, entry->name, NULL, 0);
		break;
	}
}

static void write_page(struct delta_writer *writer, struct xds_page *page, size_t number)
{
	struct xds_feed *feed = writer->base.feed;
	struct xds_case one = {.entry = NULL};
	uint64_t cursor = 0;

	for (uint32_t i = 0; i < page->count; i++) {
		struct xds_case known = xds_look_up(feed, &page->kind, &page->entries[i]);

		write_case(writer, &known);
	}
	while (page->kind.is_wildcard && (one.resource = xds_look_new(feed, page, number, &cursor)))
		write_case(writer, &one);
}

/* Nothing is said about it, and no response before is about it. */
static bool stays(const struct xds_table *table, const struct xds_page *page)
{
	const struct xds_look *look = &page->look;

	if (xds_table_is_alone(table))
		return false;
	return !look->has_changes && !(table->whole.look.has_again && look->has_refused) &&
	       !(page->flags & XDS_PENDING);
}

static int compare_leads(const void *a, const void *b)
{
	const struct lead *x = a, *y = b;
	int order = slice_compare(x->target->name, y->target->name);

	return order ? order : slice_compare(xds_name_slice(x->name), xds_name_slice(y->name));
}

/* Sends what names lead to, unless it is sent anyway. The leads are sorted. */
static void follow_leads(struct delta_writer *writer)
{
	const struct xds_table *table = writer->base.table;
	bool is_wildcard = table->whole.kind.is_wildcard;
	struct resource *former = NULL;

	for (size_t i = 0; i < writer->leads_count; i++) {
		struct xds_case one = {.resource = writer->leads[i].target};
		uint64_t kept = is_wildcard ? 0 : XDS_TARGET;

		if (one.resource == former)
			continue;
		former = one.resource;
		one.entry = xds_table_find(table, one.resource->name);
		if (one.entry || is_wildcard) {
			bool is_again = table->whole.look.has_again;

			if (xds_judge(&table->whole.kind, &one, is_again) == XDS_SEND)
				continue;
			assert(one.entry); /* a wildcard sends what the client has not */
			kept |= one.entry->flags & XDS_SUBSCRIBED;
		}
		xds_writer_add(&writer->base, one.resource);
		xds_writer_hold(&writer->base, one.entry, one.resource, kept | XDS_PENDING);
	}
}

/* Each item has the requested names that it answers. Items and leads are sorted. */
static void write_aliases(struct delta_writer *writer)
{
	struct xds_answer *answer = writer->base.answer;
	struct slice *aliases = xmalloc((writer->leads_count + 1) * sizeof(*aliases));
	size_t at = 0;

	answer->private->aliases = aliases;
	for (size_t i = 0; i < answer->items_count; i++) {
		struct xds_item *item = &answer->items[i];

		item->aliases = aliases + at;
		while (item->resource && at < writer->leads_count &&
			writer->leads[at].target == item->resource) {
			aliases[at] = xds_answer_keep(answer, writer->leads[at].name);
			item->aliases_count++;
			at++;
		}
		if (!item->resource) {
			item->aliases = &item->name;
			item->aliases_count = 1;
		}
	}
	assert(at == writer->leads_count);
}

static void finish(struct xds_writer *writer, bool is_tagged)
{
	const struct xds_kind *kind = &writer->table->whole.kind;
	struct xds_answer *answer = writer->answer;

	xds_writer_sort(writer);
	answer->version = *resource_set_version(writer->feed->snapshot->sets[kind->type]);
	for (size_t i = 0; is_tagged && i < answer->items_count; i++) {
		struct xds_item *item = &answer->items[i];

		item->is_tagged = true;
		item->tag = xds_waiters_tag(xds_feed_waiter(writer->feed, item->name));
	}
}

struct xds_answer *xds_delta_answer(
	struct xds_feed *feed, struct xds_table *table, unsigned form, struct xds_table **ret_after)
{
	struct delta_writer writer = {.form = form};

	xds_writer_begin(&writer.base, feed, table);
	for (size_t i = 0; i < xds_table_pages(table); i++)
		if (!stays(table, xds_table_page(table, i)))
			write_page(&writer, xds_table_page(table, i), i);
	if (writer.leads_count > 1)
		qsort(writer.leads, writer.leads_count, sizeof(writer.leads[0]), compare_leads);
	follow_leads(&writer);
	finish(&writer.base, form & XDS_STEP_TAGGED);
	if (table->whole.kind.type == XDS_VHDS)
		write_aliases(&writer);
	free(writer.leads);
	*ret_after = xds_draft_finish(&writer.base.draft);
	return writer.base.answer;
}

static void write_heartbeat(struct xds_writer *writer, const struct xds_case *one)
{
	const struct xds_kind *kind = &writer->table->whole.kind;
	enum xds_removal removal = xds_type_row((enum xds_type)kind->type)->removal;

	if (!one->resource || one->resource->ttl_ms < 0 || (one->entry->flags & XDS_REJECTED) ||
		!xds_judge_is_same(one->entry, one->resource))
		return;
	/* What is asked for on demand is sent as a whole; so is what has another version by now
	 * than the client was told, which a heartbeat must repeat. */
	if (removal == XDS_REMOVAL_UNRESOLVED || kind->is_tagged) {
		xds_writer_add(writer, one->resource);
	} else {
		xds_writer_add(writer, one->resource)->is_heartbeat = true;
		writer->answer->body_bytes -= one->resource->body.length;
	}
}

struct xds_answer *xds_delta_refresh(
	struct xds_feed *feed, struct xds_table *table, struct xds_table **ret_after)
{
	const struct xds_entry *entry;
	struct xds_writer writer;
	size_t cursor = 0;

	xds_writer_begin(&writer, feed, table);
	while ((entry = xds_table_next(table, &cursor))) {
		struct xds_case one = xds_look_up(feed, &table->whole.kind, entry);

		write_heartbeat(&writer, &one);
		if (entry->flags & XDS_PENDING)
			put_aged(&writer, entry, 0);
	}
	finish(&writer, false);
	*ret_after = xds_draft_finish(&writer.draft);
	return writer.answer;
}
