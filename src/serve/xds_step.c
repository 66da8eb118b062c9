/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_step.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

#define RECENT_ITEMS 2 /* answers with as many items, or bytes, are kept for the next stream */
#define RECENT_BYTES 4096

/* A requested name that is only an alias of some resource. */
struct hit {
	struct resource *target;
	const struct xds_entry *entry;
	bool is_wanted; /* the client lacks it in its present form */
};

/* Goes through the names of a table and those of the set that matter to it, in order. */
struct walk {
	struct xds_feed *feed;
	const struct xds_table *table;
	const struct xds_type_row *row;
	struct resource_set *set;
	struct resource **others; /* by name: the whole set, or the targets of aliases */
	size_t others_count;
	size_t other;
	size_t entry;
	struct hit *hits;     /* by name of the target */
	struct hit *by_entry; /* the same in the order of the table */
	size_t hits_count;
	struct resource **targets; /* owned */
};

static int compare_hits(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;
	int order = slice_compare(x->target->name, y->target->name);

	return order ? order
		     : slice_compare(
			       xds_name_slice(x->entry->name), xds_name_slice(y->entry->name));
}

static bool is_same(const struct xds_entry *entry, const struct resource *resource)
{
	return (entry->flags & XDS_HELD) && digest_equal(&entry->digest, &resource->digest);
}

static void find_hits(struct walk *walk)
{
	size_t capacity = 0, count = 0;

	for (size_t i = 0; i < walk->table->count; i++) {
		const struct xds_entry *entry = &walk->table->entries[i];
		struct slice name = xds_name_slice(entry->name);
		struct resource *target;

		if (!(entry->flags & XDS_SUBSCRIBED) || resource_set_find(walk->set, name))
			continue;
		target = xds_feed_alias(walk->feed, walk->row->type, name);
		if (!target)
			continue;
		array_reserve(walk->hits, capacity, walk->hits_count + 1);
		walk->hits[walk->hits_count++] = (struct hit){
			target, entry, (entry->flags & XDS_OWED) || !is_same(entry, target)};
	}
	if (walk->hits_count == 0)
		return;
	walk->by_entry = xmalloc(walk->hits_count * sizeof(*walk->hits));
	memcpy(walk->by_entry, walk->hits, walk->hits_count * sizeof(*walk->hits));
	qsort(walk->hits, walk->hits_count, sizeof(*walk->hits), compare_hits);
	walk->targets = xmalloc(walk->hits_count * sizeof(struct resource *));
	for (size_t i = 0; i < walk->hits_count; i++)
		if (i == 0 || walk->hits[i].target != walk->hits[i - 1].target)
			walk->targets[count++] = walk->hits[i].target;
	walk->others = walk->targets;
	walk->others_count = count;
}

static void walk_begin(struct walk *walk, struct xds_feed *feed, const struct xds_table *table)
{
	*walk = (struct walk){.feed = feed, .table = table};
	walk->row = xds_type_row((enum xds_type)table->kind.type);
	walk->set = feed->snapshot->sets[table->kind.type];
	if (walk->row->removal == XDS_REMOVAL_UNRESOLVED)
		find_hits(walk);
	if (table->kind.is_wildcard)
		walk->others = xds_feed_sorted(feed, walk->row->type, &walk->others_count);
}

static void walk_end(struct walk *walk)
{
	free(walk->hits);
	free(walk->by_entry);
	free(walk->targets);
}

static bool walk_next(
	struct walk *walk, const struct xds_entry **ret_entry, struct resource **ret_resource)
{
	const struct xds_entry *entry = NULL;
	struct resource *other = NULL;
	int order;

	if (walk->entry < walk->table->count)
		entry = &walk->table->entries[walk->entry];
	if (walk->other < walk->others_count)
		other = walk->others[walk->other];
	if (!entry && !other)
		return false;
	if (entry && other)
		order = slice_compare(xds_name_slice(entry->name), other->name);
	else
		order = entry ? -1 : 1;
	*ret_entry = order <= 0 ? entry : NULL;
	*ret_resource = order >= 0 ? other : NULL;
	walk->entry += order <= 0;
	walk->other += order >= 0;
	if (order < 0 && !walk->table->kind.is_wildcard)
		*ret_resource = resource_set_find(walk->set, xds_name_slice(entry->name));
	return true;
}

/* The aliases that lead to a resource: a range of hits. */
static const struct hit *hits_of(
	const struct walk *walk, const struct resource *resource, size_t *ret_count)
{
	size_t low = 0, high = walk->hits_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (slice_compare(walk->hits[middle].target->name, resource->name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low; high < walk->hits_count && walk->hits[high].target == resource; high++)
		;
	*ret_count = high - low;
	return walk->hits + low;
}

static int compare_entries(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	return (x->entry > y->entry) - (x->entry < y->entry);
}

/* The target of a name that is only an alias; NULL: it is none. */
static const struct hit *hit_of(const struct walk *walk, const struct xds_entry *entry)
{
	struct hit key = {.entry = entry};

	if (walk->hits_count == 0)
		return NULL;
	return bsearch(&key, walk->by_entry, walk->hits_count, sizeof(key), compare_entries);
}

enum verdict {
	KEEP,
	SEND,
	FOLLOW,		 /* an alias whose target exists: goes with it */
	TELL_GONE,	 /* an answer: there is nothing of that name */
	TELL_UNRESOLVED, /* the same for names asked for on demand */
	REMOVE,		 /* it was there and is gone */
	DROP		 /* nobody wants it any more */
};

static enum verdict judge_missing(const struct walk *walk, const struct xds_entry *entry)
{
	enum xds_removal removal = walk->row->removal;
	uint64_t flags = entry->flags;

	if (hit_of(walk, entry))
		return FOLLOW;
	if (flags & XDS_HELD) {
		if (removal == XDS_REMOVAL_NEVER)
			return KEEP;
		if (flags & XDS_ALIAS)
			return TELL_UNRESOLVED;
		return (flags & XDS_OWED) ? TELL_GONE : REMOVE;
	}
	if (flags & XDS_GONE) {
		bool is_again = (flags & XDS_REJECTED) && walk->table->has_again;

		return is_again || (flags & XDS_OWED) ? TELL_GONE : KEEP;
	}
	if (!(flags & XDS_SUBSCRIBED))
		return (flags & XDS_OWED) ? TELL_GONE : DROP;
	if ((flags & XDS_MISSING) && !(flags & XDS_OWED))
		return KEEP;
	if (removal == XDS_REMOVAL_TOLD)
		return TELL_GONE;
	return removal == XDS_REMOVAL_UNRESOLVED ? TELL_UNRESOLVED : KEEP;
}

static enum verdict judge(
	const struct walk *walk, const struct xds_entry *entry, const struct resource *resource)
{
	size_t hits = 0;

	assert(entry || resource);
	if (!resource)
		return judge_missing(walk, entry);
	if (walk->hits_count) {
		const struct hit *hit = hits_of(walk, resource, &hits);

		for (size_t i = 0; i < hits; i++)
			if (hit[i].is_wanted)
				return SEND;
	}
	if (!entry || (entry->flags & XDS_OWED) || !is_same(entry, resource))
		return entry && (entry->flags & XDS_TARGET) && !hits &&
				       !(entry->flags & XDS_SUBSCRIBED) &&
				       !walk->table->kind.is_wildcard
			       ? DROP
			       : SEND;
	if ((entry->flags & XDS_REJECTED) && walk->table->has_again)
		return SEND;
	return KEEP;
}

/* It was refused, and now it is sent for some reason or has gone. */
static bool is_outdated_refusal(const struct xds_entry *entry, const struct resource *resource)
{
	if (!entry || !(entry->flags & XDS_REJECTED))
		return false;
	if (entry->flags & XDS_OWED)
		return true;
	if (entry->flags & XDS_GONE)
		return resource != NULL;
	return !resource || !is_same(entry, resource);
}

static void look_at_delta(struct xds_feed *feed, struct xds_table *table)
{
	const struct xds_entry *entry;
	struct resource *resource;
	struct walk walk;

	/* What was refused together is offered again when one of it changed: no way to know
	 * which of it the client minded. */
	walk_begin(&walk, feed, table);
	while (walk_next(&walk, &entry, &resource))
		table->has_again |= is_outdated_refusal(entry, resource);
	walk.entry = walk.other = 0;
	while (walk_next(&walk, &entry, &resource)) {
		switch (judge(&walk, entry, resource)) {
		case SEND:
		case TELL_GONE:
		case TELL_UNRESOLVED:
			table->has_news = true;
			break;
		case REMOVE:
			table->has_gone = true;
			break;
		case FOLLOW:
		case KEEP:
		case DROP:
			break;
		}
		if (resource && resource->ttl_ms >= 0 &&
			(table->ttl_ms < 0 || resource->ttl_ms < table->ttl_ms))
			table->ttl_ms = resource->ttl_ms;
	}
	walk_end(&walk);
}

static void look_at_sotw(struct xds_feed *feed, struct xds_table *table)
{
	const struct xds_entry *entry;
	struct resource *resource;
	struct walk walk;

	walk_begin(&walk, feed, table);
	while (walk_next(&walk, &entry, &resource)) {
		if (resource && (!entry || !is_same(entry, resource)))
			table->has_news = true;
		/* Of other types a client cannot be told by leaving out (S.72, S.106), but if it
		 * refused the last response, one with less in it is worth a try. */
		if (!resource && (entry->flags & XDS_HELD)) {
			table->has_gone |= walk.row->is_wildcard;
			table->has_again |= !walk.row->is_wildcard;
		}
		if (resource && resource->ttl_ms >= 0 && table->kind.is_wrapping &&
			(table->ttl_ms < 0 || resource->ttl_ms < table->ttl_ms))
			table->ttl_ms = resource->ttl_ms;
	}
	walk_end(&walk);
}

void xds_step_look(struct xds_feed *feed, struct xds_table *table)
{
	uint64_t generation = feed->generations[table->kind.type];

	assert(table->kind.feed == feed->number);
	if (table->generation == generation)
		return;
	table->generation = generation;
	table->has_news = table->has_gone = table->has_again = false;
	table->ttl_ms = -1;
	if (table->kind.is_delta)
		look_at_delta(feed, table);
	else
		look_at_sotw(feed, table);
}

/* An answer being written, with the table that follows from it. */
struct writer {
	struct xds_answer *answer;
	struct xds_draft draft;
	size_t items_capacity;
	size_t removed_capacity;
	size_t aliases_count;
	struct resource **present; /* everything the client has in the end; for the version */
	size_t present_count;
	size_t present_capacity;
};

static struct xds_item *add_item(struct writer *writer, struct resource *resource)
{
	struct xds_answer *answer = writer->answer;
	struct xds_item *item;

	array_reserve(answer->items, writer->items_capacity, answer->items_count + 1);
	item = &answer->items[answer->items_count++];
	*item = (struct xds_item){.resource = resource};
	if (resource) {
		resource_ref(resource);
		item->name = resource->name;
		answer->body_bytes += resource->body.length;
	}
	return item;
}

static void add_removed(struct writer *writer, struct xds_name *name)
{
	struct xds_answer *answer = writer->answer;

	array_reserve(answer->removed, writer->removed_capacity, answer->removed_count + 1);
	answer->removed[answer->removed_count++] = xds_answer_keep(answer, name);
}

static void add_present(struct writer *writer, struct resource *resource)
{
	array_reserve(writer->present, writer->present_capacity, writer->present_count + 1);
	writer->present[writer->present_count++] = resource;
}

static void set_version(struct writer *writer, const struct walk *walk)
{
	struct version *version = &writer->answer->version;

	if (walk->table->kind.is_wildcard)
		*version = *resource_set_version(walk->set);
	else
		*version = version_of(walk->row->type, writer->present, writer->present_count);
}

/* The entry of a resource that the client has or gets. */
static void draft_present(struct writer *writer, const struct xds_entry *entry,
	const struct resource *resource, uint64_t flags)
{
	if (entry)
		xds_draft_add(&writer->draft, entry->name, &resource->digest, flags);
	else
		xds_draft_add_text(&writer->draft, resource->name, &resource->digest, flags);
}

static void send_item(struct writer *writer, const struct walk *walk, struct resource *resource)
{
	struct xds_answer_private *private = writer->answer->private;
	struct xds_item *item = add_item(writer, resource);
	size_t count = 0;
	const struct hit *hits;

	if (walk->hits_count == 0)
		return;
	hits = hits_of(walk, resource, &count);
	item->aliases = private->aliases + writer->aliases_count;
	item->aliases_count = count;
	for (size_t i = 0; i < count; i++)
	private->aliases[writer->aliases_count++] =
		xds_answer_keep(writer->answer, hits[i].entry->name);
}

static void send_unresolved(struct writer *writer, const struct xds_entry *entry)
{
	struct xds_answer_private *private = writer->answer->private;
	struct xds_item *item = add_item(writer, NULL);

	item->name = xds_answer_keep(writer->answer, entry->name);
	item->aliases = private->aliases + writer->aliases_count;
	item->aliases_count = 1;
	private->aliases[writer->aliases_count++] = item->name;
}

/* There is a newer response now. */
static uint64_t age(uint64_t flags)
{
	return flags & XDS_PENDING ? (flags & ~(uint64_t)XDS_PENDING) | XDS_EARLIER : flags;
}

static void write_delta_entry(struct writer *writer, const struct walk *walk,
	const struct xds_entry *entry, struct resource *resource, bool with_gone)
{
	enum verdict verdict = judge(walk, entry, resource);
	uint64_t kept = entry ? entry->flags & (XDS_SUBSCRIBED | XDS_TARGET) : 0;
	const struct hit *hit;

	if (resource && verdict != DROP)
		add_present(writer, resource);
	switch (verdict) {
	case SEND:
		assert(resource);
		send_item(writer, walk, resource);
		if (walk->hits_count && !walk->table->kind.is_wildcard) {
			size_t hits;

			hits_of(walk, resource, &hits);
			kept |= hits ? XDS_TARGET : 0;
		}
		draft_present(writer, entry, resource, kept | XDS_HELD | XDS_PENDING);
		break;
	case FOLLOW:
		assert(entry);
		hit = hit_of(walk, entry);
		assert(hit);
		xds_draft_add(&writer->draft, entry->name, &hit->target->digest,
			kept | XDS_HELD | XDS_ALIAS);
		break;
	case TELL_UNRESOLVED:
		assert(entry);
		send_unresolved(writer, entry);
		if (kept & XDS_SUBSCRIBED)
			xds_draft_add(&writer->draft, entry->name, NULL, kept | XDS_MISSING);
		break;
	case REMOVE:
		assert(entry);
		if (!with_gone) {
			xds_draft_add(&writer->draft, entry->name, &entry->digest,
				age(entry->flags) & ~(uint64_t)XDS_REJECTED);
			break;
		}
		/* fall through */
	case TELL_GONE:
		assert(entry);
		add_removed(writer, entry->name);
		kept |= kept & XDS_SUBSCRIBED ? XDS_MISSING : 0;
		xds_draft_add(&writer->draft, entry->name, NULL, kept | XDS_GONE | XDS_PENDING);
		break;
	case KEEP:
		assert(entry);
		xds_draft_add(&writer->draft, entry->name,
			entry->flags & XDS_HELD ? &entry->digest : NULL, age(entry->flags));
		break;
	case DROP:
		break;
	}
}

static void write_delta(
	struct writer *writer, struct xds_feed *feed, struct xds_table *table, bool with_gone)
{
	const struct xds_entry *entry;
	struct resource *resource;
	struct walk walk;

	walk_begin(&walk, feed, table);
	if (walk.row->removal == XDS_REMOVAL_UNRESOLVED)
		writer->answer->private->aliases =
			xmalloc((table->count + 1) * sizeof(struct slice));
	while (walk_next(&walk, &entry, &resource))
		write_delta_entry(writer, &walk, entry, resource, with_gone);
	set_version(writer, &walk);
	walk_end(&walk);
}

static void write_sotw(struct writer *writer, struct xds_feed *feed, struct xds_table *table)
{
	const struct xds_entry *entry;
	struct resource *resource;
	struct walk walk;

	walk_begin(&walk, feed, table);
	while (walk_next(&walk, &entry, &resource)) {
		uint64_t kept = entry ? entry->flags & XDS_SUBSCRIBED : 0;

		if (resource) {
			struct xds_item *item = add_item(writer, resource);

			item->is_wrapped = table->kind.is_wrapping && resource->ttl_ms >= 0;
			add_present(writer, resource);
			draft_present(writer, entry, resource, kept | XDS_HELD);
		} else if (kept) {
			xds_draft_add(&writer->draft, entry->name, NULL, kept);
		}
	}
	set_version(writer, &walk);
	walk_end(&walk);
}

/* Equal versions mean equal content: the bytes that one client got do for all. */
static struct xds_answer *share_sotw(
	struct xds_hub *hub, struct xds_answer *answer, bool is_wrapping)
{
	struct xds_answer_private *private = answer->private;
	struct slice key = {private->key, sizeof(private->key)};
	struct xds_answer *known;

	private->key[0] = (char)(1 + answer->type);
	private->key[1] = is_wrapping;
	memcpy(private->key + 2, answer->version.text, VERSION_TEXT_LENGTH);
	known = hash_get(&hub->answers, key);
	if (!known) {
		hash_put(&hub->answers, key, answer);
		return answer;
	}
	private->key[0] = 0;
	xds_answer_unref(answer);
	return xds_answer_ref(known);
}

static void remember(struct xds_hub *hub, struct xds_table *table, const struct xds_answer *answer)
{
	struct xds_table *former = hub->recent[hub->recent_next];

	if (answer->items_count < RECENT_ITEMS && answer->body_bytes < RECENT_BYTES)
		return;
	hub->recent[hub->recent_next] = xds_table_ref(table);
	hub->recent_next = (hub->recent_next + 1) % XDS_RECENT;
	xds_table_unref(&hub->registry, former);
}

struct xds_answer *xds_step_take(struct xds_feed *feed, struct xds_table *table, bool with_gone,
	struct xds_table **ret_after)
{
	struct xds_hub *hub = feed->hub;
	struct xds_memo *memo = xds_table_memo(&hub->registry, table);

	xds_step_look(feed, table);
	with_gone = with_gone && table->kind.is_delta;
	if (!memo->answers[with_gone]) {
		struct writer writer = {0};

		writer.answer =
			xds_answer_new(hub, (enum xds_type)table->kind.type, table->kind.is_delta);
		xds_draft_init(&writer.draft, &hub->registry, table->kind, table->count);
		if (table->kind.is_delta)
			write_delta(&writer, feed, table, with_gone);
		else
			write_sotw(&writer, feed, table);
		if (!table->kind.is_delta)
			writer.answer = share_sotw(hub, writer.answer, table->kind.is_wrapping);
		memo->answers[with_gone] = writer.answer;
		memo->tables[with_gone] = xds_draft_finish(&writer.draft);
		free(writer.present);
		remember(hub, table, memo->answers[with_gone]);
		if (memo->tables[with_gone] == table) { /* no reference to itself */
			xds_table_unref(&hub->registry, table);
			memo->tables[with_gone] = NULL;
		}
	}
	*ret_after = memo->tables[with_gone] ? memo->tables[with_gone] : table;
	return memo->answers[with_gone];
}

static struct xds_answer *write_heartbeats(struct xds_feed *feed, struct xds_table *table)
{
	const struct xds_entry *entry;
	struct resource *resource;
	struct writer writer = {0};
	struct walk walk;

	writer.answer = xds_answer_new(feed->hub, (enum xds_type)table->kind.type, true);
	walk_begin(&walk, feed, table);
	while (walk_next(&walk, &entry, &resource)) {
		if (!resource)
			continue;
		add_present(&writer, resource);
		/* On demand there are no heartbeats: such a resource is sent again as a whole. */
		if (resource->ttl_ms >= 0 && entry && is_same(entry, resource) &&
			!(entry->flags & XDS_REJECTED))
			add_item(&writer, resource)->is_heartbeat =
				walk.row->removal != XDS_REMOVAL_UNRESOLVED;
	}
	set_version(&writer, &walk);
	walk_end(&walk);
	free(writer.present);
	return writer.answer;
}

struct xds_answer *xds_step_refresh(struct xds_feed *feed, struct xds_table *table)
{
	struct xds_memo *memo = xds_table_memo(&feed->hub->registry, table);
	struct xds_table *after;

	if (!memo->refresh) {
		if (table->kind.is_delta)
			memo->refresh = write_heartbeats(feed, table);
		else
			memo->refresh = xds_answer_ref(xds_step_take(feed, table, true, &after));
	}
	return memo->refresh;
}

static uint64_t settle_flags(uint64_t flags, enum xds_answered answered)
{
	uint64_t refused = 0, settled = XDS_PENDING | XDS_EARLIER;

	if (answered == XDS_REFUSED || answered == XDS_REFUSED_SHRUNK)
		refused = XDS_PENDING;
	else if (answered == XDS_REFUSED_EARLIER)
		refused = settled = XDS_EARLIER;
	/* What the client minded may have been replaced or dropped since: try again. */
	if (flags & refused)
		return (flags & ~settled) | (answered == XDS_REFUSED ? XDS_REJECTED : XDS_OWED);
	if (flags & settled)
		return flags & ~(settled | XDS_GONE);
	return flags;
}

struct xds_table *xds_step_settle(
	struct xds_hub *hub, struct xds_table *table, enum xds_answered answered)
{
	struct xds_table *after;
	struct xds_draft draft;
	bool is_pending = false;

	if (answered == XDS_ACCEPTED && table->after_ack)
		return xds_table_ref(table->after_ack);
	if (answered == XDS_REFUSED && table->after_nack)
		return xds_table_ref(table->after_nack);
	for (size_t i = 0; i < table->count && !is_pending; i++)
		is_pending = (table->entries[i].flags & (XDS_PENDING | XDS_EARLIER)) != 0;
	if (!is_pending)
		return xds_table_ref(table);
	xds_draft_init(&draft, &hub->registry, table->kind, table->count);
	for (size_t i = 0; i < table->count; i++) {
		const struct xds_entry *entry = &table->entries[i];
		uint64_t flags = settle_flags(entry->flags, answered);

		if (flags)
			xds_draft_add(&draft, entry->name, flags & XDS_HELD ? &entry->digest : NULL,
				flags);
	}
	after = xds_draft_finish(&draft);
	if (after != table && answered == XDS_ACCEPTED)
		table->after_ack = xds_table_ref(after);
	if (after != table && answered == XDS_REFUSED)
		table->after_nack = xds_table_ref(after);
	return after;
}
