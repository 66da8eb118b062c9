/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_hub.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "serve/xds_core.h"

struct xds_hub *xds_hub_new(const struct xds_settings *settings)
{
	struct xds_hub *hub = xcalloc(1, sizeof(*hub));

	hub->settings = *settings;
	xds_registry_init(&hub->registry);
	hash_init(&hub->answers);
	return hub;
}

static void forget_recent(struct xds_hub *hub)
{
	for (size_t i = 0; i < XDS_RECENT; i++) {
		xds_table_unref(&hub->registry, hub->recent[i]);
		hub->recent[i] = NULL;
	}
}

void xds_hub_free(struct xds_hub *hub)
{
	if (!hub)
		return;
	forget_recent(hub);
	assert(hub->answers_count == 0);
	xds_registry_fini(&hub->registry);
	hash_fini(&hub->answers);
	free(hub);
}

struct xds_feed *xds_feed_new(struct xds_hub *hub, struct rcstr *group)
{
	struct xds_feed *feed = xcalloc(1, sizeof(*feed));

	feed->hub = hub;
	feed->number = ++hub->last_feed;
	feed->group = rcstr_ref(group);
	hash_init(&feed->aliases);
	return feed;
}

/* Whatever was made of the set that is about to go. */
static void forget_set(struct xds_feed *feed, enum xds_type type)
{
	free(feed->sorted[type]);
	feed->sorted[type] = NULL;
	if (type == XDS_VHDS) {
		hash_fini(&feed->aliases);
		hash_init(&feed->aliases);
		feed->has_aliases = false;
	}
}

static void forget_memos(struct xds_feed *feed, unsigned changed)
{
	struct xds_registry *registry = &feed->hub->registry;
	struct xds_table **owners = NULL;
	size_t count = 0, capacity = 0;
	struct xds_memo *memo;

	/* Dropping one may take others with it, so hold on to all of them first. */
	LIST_FOREACH(memo, &registry->memos, link)
	{
		const struct xds_kind *kind = &memo->owner->kind;

		if (kind->feed != feed->number || !(changed & 1u << kind->type))
			continue;
		array_reserve(owners, capacity, count + 1);
		owners[count++] = xds_table_ref(memo->owner);
	}
	for (size_t i = 0; i < count; i++)
		if (owners[i]->memo)
			xds_memo_drop(registry, owners[i]->memo);
	for (size_t i = 0; i < count; i++)
		xds_table_unref(registry, owners[i]);
	free(owners);
}

void xds_feed_free(struct xds_feed *feed)
{
	if (!feed)
		return;
	assert(feed->streams == 0);
	xds_feed_set(feed, NULL);
	rcstr_unref(feed->group);
	hash_fini(&feed->aliases);
	free(feed);
}

void xds_feed_set(struct xds_feed *feed, struct snapshot *snapshot)
{
	struct snapshot *former = feed->snapshot;
	unsigned changed = 0;

	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		struct resource_set *old_set = former ? former->sets[type] : NULL;
		struct resource_set *new_set = snapshot ? snapshot->sets[type] : NULL;

		if (old_set == new_set)
			continue;
		forget_set(feed, (enum xds_type)type);
		if (old_set && new_set &&
			version_equal(resource_set_version(old_set), resource_set_version(new_set)))
			continue;
		changed |= 1u << type;
		feed->generations[type] = ++feed->hub->generation;
	}
	feed->snapshot = snapshot ? snapshot_ref(snapshot) : NULL;
	if (changed) {
		forget_recent(feed->hub);
		forget_memos(feed, changed);
	}
	snapshot_unref(former);
}

struct snapshot *xds_feed_snapshot(const struct xds_feed *feed)
{
	return feed->snapshot;
}

struct rcstr *xds_feed_group(const struct xds_feed *feed)
{
	return feed->group;
}

struct resource **xds_feed_sorted(struct xds_feed *feed, enum xds_type type, size_t *ret_count)
{
	struct resource_set *set = feed->snapshot->sets[type];

	*ret_count = resource_set_count(set);
	if (!feed->sorted[type])
		feed->sorted[type] = resource_set_sorted(set, ret_count);
	return feed->sorted[type];
}

struct resource *xds_feed_alias(struct xds_feed *feed, enum xds_type type, struct slice alias)
{
	struct resource *resource;
	uint64_t cursor = 0;

	if (type != XDS_VHDS)
		return NULL;
	if (!feed->has_aliases) {
		struct resource_set *set = feed->snapshot->sets[type];

		feed->has_aliases = true;
		/* Of two that claim one alias the first in byte order has it, on every replica. */
		while ((resource = resource_set_next(set, &cursor))) {
			for (size_t i = 0; i < resource->aliases_count; i++) {
				struct resource *rival =
					hash_get(&feed->aliases, resource->aliases[i]);

				if (!rival || slice_compare(resource->name, rival->name) < 0)
					hash_put(&feed->aliases, resource->aliases[i], resource);
			}
		}
	}
	return hash_get(&feed->aliases, alias);
}

struct xds_hub_counts xds_hub_count(const struct xds_hub *hub)
{
	return (struct xds_hub_counts){
		.names = hub->registry.names.count,
		.tables = hub->registry.tables.count,
		.answers = hub->answers_count,
		.computed = hub->computed,
	};
}
