/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_draft.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

#define PAGE_ENTRIES 16 /* at the least, on the average, of a table with several pages */
#define ALONE_MOST   48 /* entries of a table with one page */

struct xds_change {
	struct xds_entry entry; /* holds a reference to the name */
	size_t order;		/* the later one counts */
};

struct slice xds_page_key(const struct xds_page *page)
{
	return (struct slice){(const char *)&page->kind,
		sizeof(page->kind) + page->count * sizeof(page->entries[0])};
}

/* The entries of the only page, or which pages these are: they tell the kind, too. The lengths of
 * the two are never the same. */
struct slice xds_table_key(const struct xds_table *table)
{
	if (xds_table_is_alone(table))
		return xds_page_key(&table->whole);
	return (struct slice){
		(const char *)table->pages, xds_table_pages(table) * sizeof(table->pages[0])};
}

static uint8_t page_bits_for(size_t count)
{
	uint8_t bits = 0;

	if (count <= ALONE_MOST)
		return 0;
	while (bits < 8 && ((size_t)PAGE_ENTRIES << (bits + 1)) <= count)
		bits++;
	return bits;
}

/* Kinds are compared as bytes: no padding of somebody else's making. */
static void set_kind(struct xds_kind *to, const struct xds_kind *from)
{
	memset(to, 0, sizeof(*to));
	to->feed = from->feed;
	to->type = from->type;
	to->page_bits = from->page_bits;
	to->is_delta = from->is_delta;
	to->is_wildcard = from->is_wildcard;
	to->is_wrapping = from->is_wrapping;
	to->is_tagged = from->is_tagged;
}

void xds_draft_begin(struct xds_draft *draft, struct xds_registry *registry, struct xds_table *base,
	struct xds_kind kind)
{
	kind.page_bits = base->whole.kind.page_bits;
	*draft = (struct xds_draft){.registry = registry, .base = base};
	set_kind(&draft->kind, &kind);
}

void xds_draft_put(
	struct xds_draft *draft, struct xds_name *name, const struct digest *digest, uint64_t flags)
{
	struct xds_change *change;

	array_reserve(draft->changes, draft->capacity, draft->count + 1);
	change = &draft->changes[draft->count];
	*change = (struct xds_change){
		.entry = {.name = xds_name_ref(name), .flags = flags}, .order = draft->count++};
	if (digest)
		change->entry.digest = *digest;
}

void xds_draft_put_text(
	struct xds_draft *draft, struct slice text, const struct digest *digest, uint64_t flags)
{
	struct xds_name *name = xds_name_get(draft->registry, text);

	xds_draft_put(draft, name, digest, flags);
	xds_name_unref(draft->registry, name);
}

/* The order of entries: by bucket, then by name. So pages are runs of it, however many. */
static int compare_entries(const struct xds_entry *a, const struct xds_entry *b)
{
	if (a->name == b->name)
		return 0;
	if (a->name->bucket != b->name->bucket)
		return (int)a->name->bucket - (int)b->name->bucket;
	return slice_compare(xds_name_slice(a->name), xds_name_slice(b->name));
}

static int compare_changes(const void *a, const void *b)
{
	const struct xds_change *x = a, *y = b;
	int order = compare_entries(&x->entry, &y->entry);

	return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* By bucket at one go, and then what few are in each. */
static void sort_changes(struct xds_draft *draft)
{
	struct xds_change *sorted = xmalloc(draft->count * sizeof(*sorted));
	size_t ends[VERSION_BUCKETS + 1] = {0}, from = 0;

	for (size_t i = 0; i < draft->count; i++)
		ends[draft->changes[i].entry.name->bucket + 1]++;
	for (size_t i = 1; i <= VERSION_BUCKETS; i++)
		ends[i] += ends[i - 1];
	for (size_t i = 0; i < draft->count; i++)
		sorted[ends[draft->changes[i].entry.name->bucket]++] = draft->changes[i];
	for (size_t i = 0; i < VERSION_BUCKETS; from = ends[i++])
		if (ends[i] - from > 1)
			qsort(sorted + from, ends[i] - from, sizeof(*sorted), compare_changes);
	free(draft->changes);
	draft->changes = sorted;
}

static bool equal(const struct xds_entry *a, const struct xds_entry *b)
{
	return a->flags == b->flags && digest_equal(&a->digest, &b->digest);
}

/* Sorts; keeps the last change of each name, and those that are any. Returns how many entries the
 * table will have. */
static size_t reduce(struct xds_draft *draft)
{
	size_t kept = 0, count = draft->base->whole.count;

	if (draft->count > 1)
		sort_changes(draft);
	for (size_t i = 0; i < draft->count; i++) {
		struct xds_change *change = &draft->changes[i];
		const struct xds_entry *entry;
		bool is_last = i + 1 == draft->count ||
			       draft->changes[i + 1].entry.name != change->entry.name;

		entry = xds_table_find_name(draft->base, change->entry.name);
		if (!is_last || (entry ? equal(entry, &change->entry) : !change->entry.flags)) {
			xds_name_unref(draft->registry, change->entry.name);
			continue;
		}
		count += !entry;
		count -= !change->entry.flags;
		draft->changes[kept++] = *change;
	}
	draft->count = kept;
	return count;
}

/* Adds an entry behind the others; takes over the reference to its name. */
static void page_append(struct xds_page *page, const struct xds_entry *entry)
{
	page->entries[page->count++] = *entry;
	page->flags |= (uint32_t)entry->flags;
	if (entry->flags & XDS_SUBSCRIBED) {
		page->subscribed++;
		page->names_sum += xds_name_sum(xds_name_slice(entry->name));
	}
}

static void page_append_same(struct xds_page *page, const struct xds_entry *entry)
{
	xds_name_ref(entry->name);
	page_append(page, entry);
}

/* An old page's entries with changes of the same page; takes over the changes' names. `page` has
 * room for all. */
static void page_merge(struct xds_registry *registry, struct xds_page *page,
	const struct xds_page *old, const struct xds_entry *changes, size_t count)
{
	size_t at = 0, next = 0;

	while (at < old->count || next < count) {
		int order = at == old->count ? 1 : -1;

		if (at < old->count && next < count)
			order = compare_entries(&old->entries[at], &changes[next]);
		if (order < 0)
			page_append_same(page, &old->entries[at]);
		else if (changes[next].flags)
			page_append(page, &changes[next]);
		else
			xds_name_unref(registry, changes[next].name);
		at += order <= 0;
		next += order >= 0;
	}
}

static struct xds_page *page_new(struct xds_kind kind, size_t room)
{
	struct xds_page *page = xcalloc(1, sizeof(*page) + room * sizeof(page->entries[0]));

	page->references = 1;
	page->look.ttl_ms = -1;
	set_kind(&page->kind, &kind);
	return page;
}

static void drop_names(struct xds_registry *registry, struct xds_page *page)
{
	for (uint32_t i = 0; i < page->count; i++)
		xds_name_unref(registry, page->entries[i].name);
}

/* The one page with this content; consumes the given one. */
static struct xds_page *page_register(
	struct xds_registry *registry, struct xds_page *page, size_t room)
{
	struct xds_page *known = hash_get(&registry->pages, xds_page_key(page));

	if (known) {
		drop_names(registry, page);
		free(page);
		known->references++;
		return known;
	}
	if (room > page->count)
		page = xrealloc(page, sizeof(*page) + page->count * sizeof(page->entries[0]));
	hash_put(&registry->pages, xds_page_key(page), page);
	return page;
}

static struct xds_table *table_new(struct xds_kind kind, size_t room)
{
	struct xds_table *table = xcalloc(1, sizeof(*table) + room * sizeof(struct xds_entry));

	table->whole.references = 1;
	table->whole.look.ttl_ms = -1;
	set_kind(&table->whole.kind, &kind);
	return table;
}

/* The one table with this content; consumes the given one. */
static struct xds_table *table_register(struct xds_registry *registry, struct xds_table *table)
{
	struct xds_table *known = hash_get(&registry->tables, xds_table_key(table));

	if (!known) {
		hash_put(&registry->tables, xds_table_key(table), table);
		return table;
	}
	if (xds_table_is_alone(table)) {
		drop_names(registry, &table->whole);
	} else {
		for (size_t i = 0; i < xds_table_pages(table); i++)
			xds_page_unref(registry, table->pages[i]);
		free(table->pages);
	}
	free(table);
	return xds_table_ref(known);
}

static void sum_up(struct xds_table *table)
{
	struct xds_page *whole = &table->whole;

	for (size_t i = 0; i < xds_table_pages(table); i++) {
		const struct xds_page *page = table->pages[i];

		whole->count += page->count;
		whole->subscribed += page->subscribed;
		whole->flags |= page->flags;
		whole->names_sum += page->names_sum;
	}
}

/* Entries cut into pages; takes over their names. */
static struct xds_table *table_of_pages(struct xds_registry *registry, struct xds_kind kind,
	const struct xds_entry *entries, size_t count)
{
	struct xds_table *table = table_new(kind, 0);
	size_t pages = xds_table_pages(table), from = 0;

	table->pages = xmalloc(pages * sizeof(table->pages[0]));
	for (size_t i = 0; i < pages; i++) {
		size_t to = from;
		struct xds_page *page;

		while (to < count && xds_page_number(&kind, entries[to].name->bucket) == i)
			to++;
		page = page_new(kind, to - from);
		for (; from < to; from++)
			page_append(page, &entries[from]);
		table->pages[i] = page_register(registry, page, page->count);
	}
	sum_up(table);
	return table;
}

static struct xds_table *table_alone(
	struct xds_kind kind, const struct xds_entry *entries, size_t count)
{
	struct xds_table *table = table_new(kind, count);

	for (size_t i = 0; i < count; i++)
		page_append(&table->whole, &entries[i]);
	return table;
}

/* All entries anew: the number of pages is another one, or the kind. */
static struct xds_table *rebuild(struct xds_draft *draft, size_t count)
{
	struct xds_entry *entries = xmalloc((count + 1) * sizeof(*entries));
	const struct xds_entry *entry;
	size_t cursor = 0, kept = 0, next = 0;
	struct xds_table *table;

	entry = xds_table_next(draft->base, &cursor);
	while (entry || next < draft->count) {
		const struct xds_entry *change =
			next < draft->count ? &draft->changes[next].entry : NULL;
		int order = entry ? -1 : 1;

		if (entry && change)
			order = compare_entries(entry, change);
		if (order >= 0 && change->flags)
			entries[kept++] = *change;
		else if (order >= 0)
			xds_name_unref(draft->registry, change->name);
		next += order >= 0;
		if (order < 0) {
			xds_name_ref(entry->name);
			entries[kept++] = *entry;
		}
		if (order <= 0)
			entry = xds_table_next(draft->base, &cursor);
	}
	assert(kept == count);
	if (draft->kind.page_bits == 0)
		table = table_alone(draft->kind, entries, count);
	else
		table = table_of_pages(draft->registry, draft->kind, entries, count);
	free(entries);
	return table;
}

/* The changed pages anew, the others as they are. */
static struct xds_table *amend(struct xds_draft *draft)
{
	struct xds_registry *registry = draft->registry;
	struct xds_table *base = draft->base, *table = table_new(draft->kind, 0);
	struct xds_entry *entries = xmalloc(draft->count * sizeof(*entries));
	size_t pages = xds_table_pages(base), from = 0;

	for (size_t i = 0; i < draft->count; i++)
		entries[i] = draft->changes[i].entry;
	table->pages = xmalloc(pages * sizeof(table->pages[0]));
	for (size_t i = 0; i < pages; i++) {
		struct xds_page *old = base->pages[i], *page;
		size_t to = from;

		while (to < draft->count &&
			xds_page_number(&draft->kind, entries[to].name->bucket) == i)
			to++;
		if (from == to) {
			old->references++;
			table->pages[i] = old;
			continue;
		}
		page = page_new(draft->kind, old->count + (to - from));
		page_merge(registry, page, old, entries + from, to - from);
		table->pages[i] = page_register(registry, page, old->count + (to - from));
		from = to;
	}
	sum_up(table);
	free(entries);
	return table;
}

static bool is_kind(const struct xds_kind *a, const struct xds_kind *b)
{
	return a->feed == b->feed && a->type == b->type && a->page_bits == b->page_bits &&
	       a->is_delta == b->is_delta && a->is_wildcard == b->is_wildcard &&
	       a->is_wrapping == b->is_wrapping && a->is_tagged == b->is_tagged;
}

struct xds_table *xds_draft_finish(struct xds_draft *draft)
{
	struct xds_table *base = draft->base;
	size_t count = reduce(draft);
	bool is_same_kind = is_kind(&draft->kind, &base->whole.kind);
	struct xds_table *table;

	draft->kind.page_bits = page_bits_for(count);
	if (draft->count == 0 && is_same_kind) {
		table = xds_table_ref(base);
	} else {
		if (is_same_kind && draft->kind.page_bits == base->whole.kind.page_bits &&
			!xds_table_is_alone(base))
			table = amend(draft);
		else
			table = rebuild(draft, count);
		table = table_register(draft->registry, table);
	}
	free(draft->changes);
	*draft = (struct xds_draft){.registry = NULL};
	return table;
}

struct xds_table *xds_table_empty(struct xds_registry *registry, struct xds_kind kind)
{
	struct xds_table *table;

	kind.page_bits = 0;
	table = table_alone(kind, NULL, 0);
	return table_register(registry, table);
}
