/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_feeds.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

static struct slice name_of(const struct grpc_feed *feed)
{
	const struct rcstr *group = xds_feed_group(feed->xds);

	return (struct slice){group->text, group->length};
}

void grpc_feeds_init(
	struct grpc_feeds *feeds, struct store *store, const struct xds_settings *settings)
{
	*feeds = (struct grpc_feeds){.store = store, .hub = xds_hub_new(settings)};
	hash_init(&feeds->by_group);
}

static void feed_free(struct grpc_feed *feed)
{
	assert(LIST_EMPTY(&feed->members));
	xds_feed_free(feed->xds);
	free(feed);
}

void grpc_feeds_fini(struct grpc_feeds *feeds)
{
	const struct hash_entry *entry;
	size_t cursor = 0;

	while ((entry = hash_next(&feeds->by_group, &cursor)))
		feed_free(entry->value);
	hash_fini(&feeds->by_group);
	xds_hub_free(feeds->hub);
}

/* True when the feed has another snapshot by that. */
static bool update(struct grpc_feeds *feeds, struct grpc_feed *feed)
{
	struct snapshot *snapshot = store_acquire(feeds->store, name_of(feed));
	bool is_new = snapshot != xds_feed_snapshot(feed->xds);

	if (is_new)
		xds_feed_set(feed->xds, snapshot);
	snapshot_unref(snapshot);
	return is_new;
}

struct grpc_feed *grpc_feeds_get(struct grpc_feeds *feeds, struct rcstr *group)
{
	struct slice name = {group->text, group->length};
	struct grpc_feed *feed = hash_get(&feeds->by_group, name);

	if (feed)
		return feed;
	feed = xcalloc(1, sizeof(*feed));
	feed->xds = xds_feed_new(feeds->hub, group);
	hash_put(&feeds->by_group, name_of(feed), feed);
	(void)update(feeds, feed);
	return feed;
}

void grpc_feed_join(struct grpc_feed *feed, struct grpc_feed_member *member)
{
	assert(!member->feed);
	member->feed = feed;
	LIST_INSERT_HEAD(&feed->members, member, link);
}

void grpc_feed_leave(struct grpc_feed_member *member)
{
	if (!member->feed)
		return;
	LIST_REMOVE(member, link);
	member->feed = NULL;
}

static struct grpc_feed *next_feed(const struct grpc_feeds *feeds, size_t *cursor)
{
	struct hash_entry *entry = hash_next(&feeds->by_group, cursor);

	return entry ? entry->value : NULL;
}

/* A feed without streams must not keep a group's snapshot alive once there is a newer one. */
static void drop_unused(struct grpc_feeds *feeds)
{
	struct grpc_feed **unused = xcalloc(feeds->by_group.count + 1, sizeof(*unused));
	struct grpc_feed *feed;
	size_t cursor = 0, count = 0;

	while ((feed = next_feed(feeds, &cursor)))
		if (LIST_EMPTY(&feed->members))
			unused[count++] = feed;
	for (size_t i = 0; i < count; i++) {
		hash_remove(&feeds->by_group, name_of(unused[i]));
		feed_free(unused[i]);
	}
	free(unused);
}

void grpc_feeds_refresh(struct grpc_feeds *feeds)
{
	struct grpc_feed_member *member;
	struct grpc_feed *feed;
	size_t cursor = 0;

	drop_unused(feeds);
	while ((feed = next_feed(feeds, &cursor))) {
		if (!update(feeds, feed))
			continue;
		LIST_FOREACH(member, &feed->members, link)
		grpc_call_wake(member->call);
	}
}
