/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_feed.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "serve/xds_core.h"
#include "serve/xds_warm.h"

struct xds_feed *xds_feed_new(struct xds_hub *hub, struct rcstr *group)
{
	struct xds_feed *feed = xcalloc(1, sizeof(*feed));

	feed->hub = hub;
	feed->number = ++hub->last_feed;
	feed->group = rcstr_ref(group);
	return feed;
}

/* Whatever was made of the set that is about to go. */
static void forget_set(struct xds_feed *feed, enum xds_type type)
{
	free(TAKE(feed->sorted[type]));
	if (type == XDS_VHDS)
		xds_hosts_free(TAKE(feed->hosts));
	if (type == XDS_CDS)
		xds_waiters_free(TAKE(feed->waiters));
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
		const struct xds_kind *kind = &memo->owner->whole.kind;

		/* Versions of load assignments may say for which clusters they are sent. */
		if (kind->feed != feed->number ||
			!(changed & (1u << kind->type | (kind->is_tagged ? 1u << XDS_CDS : 0))))
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
	feed->has_new_clusters |= route_delay_is_due(former, snapshot);
	feed->snapshot = snapshot ? snapshot_ref(snapshot) : NULL;
	if (changed) {
		xds_hub_forget_recent(feed->hub);
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

struct resource *xds_feed_target(struct xds_feed *feed, enum xds_type type, struct slice name)
{
	if (type != XDS_VHDS)
		return NULL;
	if (!feed->hosts)
		feed->hosts = xds_hosts_new(feed->snapshot->sets[type]);
	return xds_hosts_find(feed->hosts, name);
}

const struct xds_waiter *xds_feed_waiter(struct xds_feed *feed, struct slice name)
{
	if (!feed->waiters)
		feed->waiters = xds_waiters_new(feed->snapshot->sets[XDS_CDS]);
	return xds_waiters_find(feed->waiters, name);
}
