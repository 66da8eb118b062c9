/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_table.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "serve/xds_draft.h"

void xds_registry_init(struct xds_registry *registry)
{
	hash_init(&registry->names);
	hash_init(&registry->pages);
	hash_init(&registry->tables);
	LIST_INIT(&registry->memos);
}

void xds_registry_fini(struct xds_registry *registry)
{
	assert(LIST_EMPTY(&registry->memos));
	assert(registry->tables.count == 0);
	assert(registry->pages.count == 0);
	assert(registry->names.count == 0);
	hash_fini(&registry->tables);
	hash_fini(&registry->pages);
	hash_fini(&registry->names);
}

struct xds_name *xds_name_get(struct xds_registry *registry, struct slice text)
{
	struct xds_name *name = hash_get(&registry->names, text);

	if (name)
		return xds_name_ref(name);
	name = xmalloc(offsetof(struct xds_name, text) + text.length);
	name->references = 1;
	name->length = (uint32_t)text.length;
	name->bucket = (uint8_t)version_bucket(text);
	if (text.length)
		memcpy(name->text, text.data, text.length);
	hash_put(&registry->names, xds_name_slice(name), name);
	return name;
}

struct xds_name *xds_name_ref(struct xds_name *name)
{
	name->references++;
	return name;
}

void xds_name_unref(struct xds_registry *registry, struct xds_name *name)
{
	assert(name->references > 0);
	if (--name->references > 0)
		return;
	hash_remove(&registry->names, xds_name_slice(name));
	free(name);
}

struct xds_table *xds_table_ref(struct xds_table *table)
{
	table->whole.references++;
	return table;
}

static void free_entries(struct xds_registry *registry, struct xds_page *page)
{
	for (uint32_t i = 0; i < page->count; i++)
		xds_name_unref(registry, page->entries[i].name);
}

void xds_page_unref(struct xds_registry *registry, struct xds_page *page)
{
	assert(page->references > 0);
	if (--page->references > 0)
		return;
	hash_remove(&registry->pages, xds_page_key(page));
	free_entries(registry, page);
	free(page);
}

/* A table leads to few others (see struct xds_memo), and those of former snapshots are forgotten:
 * this nests a handful of times at most. */
void xds_table_unref(struct xds_registry *registry, struct xds_table *table)
{
	if (!table)
		return;
	assert(table->whole.references > 0);
	if (--table->whole.references > 0)
		return;
	hash_remove(&registry->tables, xds_table_key(table));
	if (table->memo)
		xds_memo_drop(registry, table->memo);
	if (xds_table_is_alone(table)) {
		free_entries(registry, &table->whole);
	} else {
		for (size_t i = 0; i < xds_table_pages(table); i++)
			xds_page_unref(registry, table->pages[i]);
		free(table->pages);
	}
	free(table);
}

static const struct xds_entry *find(const struct xds_page *page, unsigned bucket, struct slice name)
{
	size_t low = 0, high = page->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct xds_name *other = page->entries[middle].name;
		int order = (int)other->bucket - (int)bucket;

		if (order == 0)
			order = slice_compare(xds_name_slice(other), name);
		if (order == 0)
			return &page->entries[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static const struct xds_page *page_of(const struct xds_table *table, unsigned bucket)
{
	if (xds_table_is_alone(table))
		return &table->whole;
	return table->pages[xds_page_number(&table->whole.kind, bucket)];
}

const struct xds_entry *xds_page_find(const struct xds_page *page, struct slice name)
{
	return page->count ? find(page, version_bucket(name), name) : NULL;
}

const struct xds_entry *xds_table_find(const struct xds_table *table, struct slice name)
{
	unsigned bucket;

	if (table->whole.count == 0)
		return NULL;
	bucket = version_bucket(name);
	return find(page_of(table, bucket), bucket, name);
}

const struct xds_entry *xds_table_find_name(
	const struct xds_table *table, const struct xds_name *name)
{
	return find(page_of(table, name->bucket), name->bucket, xds_name_slice(name));
}

#define CURSOR_BITS 9 /* of a page's number, or one beyond the last */

const struct xds_entry *xds_table_next(const struct xds_table *table, size_t *cursor)
{
	size_t number = *cursor & ((1u << CURSOR_BITS) - 1), index = *cursor >> CURSOR_BITS;

	for (; number < xds_table_pages(table); number++, index = 0) {
		const struct xds_page *page = table->pages ? table->pages[number] : &table->whole;

		if (index >= page->count)
			continue;
		*cursor = (index + 1) << CURSOR_BITS | number;
		return &page->entries[index];
	}
	*cursor = number;
	return NULL;
}

struct xds_memo *xds_table_memo(struct xds_registry *registry, struct xds_table *table)
{
	if (!table->memo) {
		table->memo = xcalloc(1, sizeof(*table->memo));
		table->memo->owner = table;
		LIST_INSERT_HEAD(&registry->memos, table->memo, link);
	}
	return table->memo;
}

void xds_memo_drop(struct xds_registry *registry, struct xds_memo *memo)
{
	memo->owner->memo = NULL;
	LIST_REMOVE(memo, link);
	for (size_t i = 0; i < XDS_STEP_FORMS; i++) {
		xds_answer_unref(memo->answers[i]);
		xds_table_unref(registry, memo->tables[i]);
	}
	xds_answer_unref(memo->refresh);
	xds_table_unref(registry, memo->after_refresh);
	xds_table_unref(registry, memo->after_ack);
	xds_table_unref(registry, memo->after_nack);
	free(memo);
}
