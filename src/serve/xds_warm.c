/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_warm.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "serve/xds_draft.h"
#include "serve/xds_wire.h"

/* Numbers of envoy.config.cluster.v3.Cluster. */
#define CLUSTER_TYPE		   2
#define CLUSTER_EDS_CONFIG	   3
#define CLUSTER_DISCOVERY_TYPE_EDS 3
#define EDS_CONFIG_SERVICE_NAME	   2

#define CONTENT_DIGITS		   24 /* of a version with a tag */

bool xds_warm_eds_name(const struct resource *cluster, struct slice *ret_name)
{
	struct slice rest = cluster->body, config = {NULL, 0};
	bool is_eds = false;
	struct xds_field field;

	while (xds_wire_next(&rest, &field)) {
		if (field.number == CLUSTER_TYPE && field.wire == XDS_WIRE_VARINT)
			is_eds = field.value == CLUSTER_DISCOVERY_TYPE_EDS;
		else if (field.number == CLUSTER_EDS_CONFIG && field.wire == XDS_WIRE_BYTES)
			config = field.bytes;
	}
	if (!is_eds)
		return false;
	*ret_name = cluster->name;
	while (xds_wire_next(&config, &field))
		if (field.number == EDS_CONFIG_SERVICE_NAME && field.wire == XDS_WIRE_BYTES &&
			field.bytes.length)
			*ret_name = field.bytes;
	return true;
}

/* A name that what is sent uses: owed, if the client holds it by its own wish. */
static void owe(struct xds_draft *draft, struct slice name)
{
	const struct xds_entry *entry = xds_table_find(draft->base, name);

	if (!entry || !(entry->flags & XDS_SUBSCRIBED) || !(entry->flags & XDS_HELD))
		return;
	if (!(entry->flags & XDS_OWED))
		xds_draft_put(
			draft, entry->name, &entry->digest, entry->flags | XDS_OWED | XDS_WAITED);
}

/* Secrets are named somewhere in nested messages, always as a string in field 1. Whatever looks
 * like one and is a name that the client holds counts: at worst a secret is sent once more. */
static void owe_strings(struct xds_draft *draft, struct slice body)
{
	const char *at = body.data, *end = body.data + body.length;

	while (at < end && (at = memchr(at, 0x0a, (size_t)(end - at)))) {
		struct slice rest = {at + 1, (size_t)(end - at) - 1};
		uint64_t length;

		if (xds_wire_varint(&rest, &length) && length <= rest.length)
			owe(draft, (struct slice){rest.data, (size_t)length});
		at++;
	}
}

struct xds_table *xds_warm_owe(
	struct xds_hub *hub, struct xds_table *table, struct xds_answer *answer)
{
	struct xds_answer_private *memory = answer->private;
	unsigned slot = table->whole.kind.type == XDS_SDS;
	struct xds_table *after;
	struct xds_draft draft;

	if (table->whole.count == 0)
		return xds_table_ref(table);
	if (memory->warm_from[slot] == table)
		return xds_table_ref(memory->warm_to[slot]);
	xds_draft_begin(&draft, &hub->registry, table, table->whole.kind);
	for (size_t i = 0; i < answer->items_count; i++) {
		const struct xds_item *item = &answer->items[i];
		struct slice name;

		if (!item->resource || item->is_heartbeat)
			continue;
		if (table->whole.kind.type == XDS_SDS)
			owe_strings(&draft, item->resource->body);
		else if (xds_warm_eds_name(item->resource, &name))
			owe(&draft, name);
	}
	after = xds_draft_finish(&draft);
	xds_table_unref(&hub->registry, memory->warm_from[slot]);
	xds_table_unref(&hub->registry, memory->warm_to[slot]);
	memory->warm_from[slot] = xds_table_ref(table);
	memory->warm_to[slot] = xds_table_ref(after);
	return after;
}

static bool awaits(const struct xds_table *table, const struct xds_answer *answer)
{
	for (size_t i = 0; i < answer->items_count; i++) {
		const struct xds_item *item = &answer->items[i];
		const struct xds_entry *entry;
		struct slice name;

		if (!item->resource || item->is_heartbeat ||
			!xds_warm_eds_name(item->resource, &name))
			continue;
		entry = xds_table_find(table, name);
		if (!entry || !(entry->flags & XDS_SUBSCRIBED))
			return true;
	}
	return false;
}

bool xds_warm_awaits(struct xds_hub *hub, struct xds_table *table, struct xds_answer *answer)
{
	struct xds_answer_private *memory = answer->private;

	if (memory->awaits_from != table) {
		xds_table_unref(&hub->registry, memory->awaits_from);
		memory->awaits_from = xds_table_ref(table);
		memory->awaits = awaits(table, answer);
	}
	return memory->awaits;
}

struct xds_waiters {
	struct arena *arena;
	struct hash by_name; /* of the load assignment */
};

struct xds_waiters *xds_waiters_new(const struct resource_set *clusters)
{
	struct xds_waiters *waiters = xcalloc(1, sizeof(*waiters));
	struct resource *cluster;
	uint64_t cursor = 0;

	waiters->arena = arena_new(0);
	while ((cluster = resource_set_next(clusters, &cursor))) {
		struct xds_waiter *waiter;
		struct slice name;

		if (!xds_warm_eds_name(cluster, &name))
			continue;
		waiter = arena_alloc(waiters->arena, sizeof(*waiter));
		waiter->cluster = cluster;
		waiter->next = hash_put(&waiters->by_name, name, waiter);
	}
	return waiters;
}

void xds_waiters_free(struct xds_waiters *waiters)
{
	if (!waiters)
		return;
	hash_fini(&waiters->by_name);
	arena_free(waiters->arena);
	free(waiters);
}

const struct xds_waiter *xds_waiters_find(const struct xds_waiters *waiters, struct slice name)
{
	return hash_get(&waiters->by_name, name);
}

uint32_t xds_waiters_tag(const struct xds_waiter *waiter)
{
	uint32_t tag = 0;

	/* A sum: in which order they come does not matter. */
	for (; waiter; waiter = waiter->next)
		for (unsigned i = 0; i < 4; i++)
			tag += (uint32_t)waiter->cluster->digest.bytes[i] << 8 * i;
	return tag;
}

struct version xds_warm_version(const struct digest *digest, uint32_t tag)
{
	struct version version = version_text(digest);

	version.text[0] = 'b';
	snprintf(version.text + 1 + CONTENT_DIGITS, VERSION_TEXT_LENGTH - CONTENT_DIGITS,
		"%08" PRIx32, tag);
	return version;
}
