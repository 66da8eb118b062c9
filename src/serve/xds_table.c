/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_table.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

void xds_registry_init(struct xds_registry *registry)
{
	hash_init(&registry->names);
	hash_init(&registry->tables);
	LIST_INIT(&registry->memos);
}

void xds_registry_fini(struct xds_registry *registry)
{
	assert(LIST_EMPTY(&registry->memos));
	assert(registry->tables.count == 0);
	assert(registry->names.count == 0);
	hash_fini(&registry->tables);
	hash_fini(&registry->names);
}

struct xds_name *xds_name_get(struct xds_registry *registry, struct slice text)
{
	struct xds_name *name = hash_get(&registry->names, text);

	if (name)
		return xds_name_ref(name);
	name = xmalloc(sizeof(*name) + text.length);
	name->references = 1;
	name->length = (uint32_t)text.length;
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

static struct slice table_key(const struct xds_table *table)
{
	return (struct slice){(const char *)&table->kind,
		sizeof(table->kind) + table->count * sizeof(table->entries[0])};
}

struct xds_table *xds_table_ref(struct xds_table *table)
{
	table->references++;
	return table;
}

/* A table leads to few others (see struct xds_memo), and those of former snapshots are forgotten:
 * this nests a handful of times at most. */
void xds_table_unref(struct xds_registry *registry, struct xds_table *table)
{
	if (!table)
		return;
	assert(table->references > 0);
	if (--table->references > 0)
		return;
	hash_remove(&registry->tables, table_key(table));
	if (table->memo)
		xds_memo_drop(registry, table->memo);
	xds_table_unref(registry, table->after_ack);
	xds_table_unref(registry, table->after_nack);
	for (size_t i = 0; i < table->count; i++)
		xds_name_unref(registry, table->entries[i].name);
	free(table);
}

const struct xds_entry *xds_table_find(const struct xds_table *table, struct slice name)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = slice_compare(xds_name_slice(table->entries[middle].name), name);

		if (order == 0)
			return &table->entries[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
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
	xds_answer_unref(memo->refresh);
	for (size_t i = 0; i < 2; i++) {
		xds_answer_unref(memo->answers[i]);
		xds_table_unref(registry, memo->tables[i]);
	}
	free(memo);
}

void xds_draft_init(struct xds_draft *draft, struct xds_registry *registry, struct xds_kind kind,
	size_t expected)
{
	struct xds_table *table = xcalloc(1, sizeof(*table) + expected * sizeof(table->entries[0]));

	table->references = 1;
	table->ttl_ms = -1;
	table->kind = kind;
	*draft = (struct xds_draft){registry, table, expected};
}

void xds_draft_add(
	struct xds_draft *draft, struct xds_name *name, const struct digest *digest, uint64_t flags)
{
	struct xds_table *table = draft->table;
	struct xds_entry *entry;

	if (table->count == draft->capacity) {
		draft->capacity = draft->capacity ? 2 * draft->capacity : 4;
		table = xrealloc(
			table, sizeof(*table) + draft->capacity * sizeof(table->entries[0]));
		draft->table = table;
	}
	assert(table->count == 0 ||
		slice_compare(xds_name_slice(table->entries[table->count - 1].name),
			xds_name_slice(name)) < 0);
	entry = &table->entries[table->count++];
	*entry = (struct xds_entry){.name = xds_name_ref(name), .flags = flags};
	if (digest)
		entry->digest = *digest;
	table->subscribed += (flags & XDS_SUBSCRIBED) != 0;
}

void xds_draft_add_text(
	struct xds_draft *draft, struct slice text, const struct digest *digest, uint64_t flags)
{
	struct xds_name *name = xds_name_get(draft->registry, text);

	xds_draft_add(draft, name, digest, flags);
	xds_name_unref(draft->registry, name);
}

struct xds_table *xds_draft_finish(struct xds_draft *draft)
{
	struct xds_registry *registry = draft->registry;
	struct xds_table *table = TAKE(draft->table);
	struct xds_table *known = hash_get(&registry->tables, table_key(table));

	if (known) {
		for (size_t i = 0; i < table->count; i++)
			xds_name_unref(registry, table->entries[i].name);
		free(table);
		return xds_table_ref(known);
	}
	if (draft->capacity > table->count)
		table = xrealloc(table, sizeof(*table) + table->count * sizeof(table->entries[0]));
	hash_put(&registry->tables, table_key(table), table);
	return table;
}
