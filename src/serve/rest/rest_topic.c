/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/rest/rest_topic.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "serve/route_delay.h"

#define REPLY_KEPT_MS	5000
#define REPLIES_BYTES	(64u << 20)
#define TOPICS_BYTES	(128u << 20) /* names that clients may ask for, all of them together */
#define ENVOY_MAX_BYTES (32u << 20)  /* Envoy drops a larger answer (S.47) */

struct rest_feed {
	unsigned references; /* topics */
	struct rcstr *group;
	struct snapshot *snapshot; /* what the group serves; NULL: nothing yet */
	struct route_delay delay;
	struct hash topics;				/* by subscription_key() */
	LIST_HEAD(, rest_topic) others[XDS_TYPE_COUNT]; /* topics that are not one name */
};

struct rest_hub {
	const struct rest_options *options;
	rest_topic_changed_cb changed;
	void *ctx;
	struct hash feeds;			       /* by group */
	TAILQ_HEAD(topics_by_use, rest_topic) replies; /* least recently used first */
	uint64_t replies_bytes;
	uint64_t encoded;
	uint64_t topics_bytes; /* of all keys */
};

struct rest_hub *rest_hub_new(
	const struct rest_options *options, rest_topic_changed_cb changed, void *ctx)
{
	struct rest_hub *hub = xcalloc(1, sizeof(*hub));

	hub->options = options;
	hub->changed = changed;
	hub->ctx = ctx;
	hash_init(&hub->feeds);
	TAILQ_INIT(&hub->replies);
	return hub;
}

void rest_hub_free(struct rest_hub *hub)
{
	assert(hub->feeds.count == 0);
	hash_fini(&hub->feeds);
	free(hub);
}

uint64_t rest_hub_encoded(const struct rest_hub *hub)
{
	return hub->encoded;
}

/* ---- bodies ---- */

static void drop_reply(struct rest_hub *hub, struct rest_topic *topic)
{
	if (!topic->reply)
		return;
	TAILQ_REMOVE(&hub->replies, topic, by_use);
	hub->replies_bytes -= http_reply_length(topic->reply);
	http_reply_unref(topic->reply);
	topic->reply = NULL;
}

void rest_hub_expire(struct rest_hub *hub, int64_t now_ms)
{
	struct rest_topic *oldest;

	while ((oldest = TAILQ_FIRST(&hub->replies)) &&
		(hub->replies_bytes > REPLIES_BYTES ||
			now_ms - oldest->reply_used_ms >= REPLY_KEPT_MS))
		drop_reply(hub, oldest);
}

static struct http_reply *encode(struct rest_hub *hub, struct rest_topic *topic)
{
	const struct resource_set *set = topic->feed->snapshot->sets[topic->subscription.type];
	struct version version = held_text(&topic->version);
	struct buf body = BUF_INIT;
	size_t count;
	struct resource **resources = subscription_select(&topic->subscription, set, &count);
	int rc = hub->options->encode(hub->options->encode_ctx, topic->subscription.type, &version,
		resources, count, &body);

	free(resources);
	if (!rc)
		rc = buf_error(&body);
	if (rc || body.length > ENVOY_MAX_BYTES)
		log_event(hub->options->log, rc ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING,
			rc ? "encode-failed" : "answer-too-large-for-envoy",
			LOG_TEXT("group", topic->feed->group->text),
			LOG_TEXT("type", xds_type_row(topic->subscription.type)->name),
			LOG_NUMBER("resources", (int64_t)count),
			LOG_NUMBER("bytes", (int64_t)body.length), LOG_NUMBER("code", rc));
	hub->encoded++;
	if (!rc)
		return http_reply_new(200, "application/json", &body);
	buf_fini(&body);
	return NULL;
}

struct http_reply *rest_topic_reply(struct rest_hub *hub, struct rest_topic *topic, int64_t now_ms)
{
	struct http_reply *reply = topic->reply;

	assert(topic->feed->snapshot);
	topic->reply_used_ms = now_ms;
	if (reply) {
		TAILQ_REMOVE(&hub->replies, topic, by_use);
		TAILQ_INSERT_TAIL(&hub->replies, topic, by_use);
		return http_reply_ref(reply);
	}
	reply = encode(hub, topic);
	/* One client is its open request and its last delivery: nobody else to keep it for. */
	if (!reply || topic->references <= 2)
		return reply;
	topic->reply = http_reply_ref(reply);
	hub->replies_bytes += http_reply_length(reply);
	TAILQ_INSERT_TAIL(&hub->replies, topic, by_use);
	return reply;
}

/* ---- changes ---- */

/* Brings the topic's version up to date; true when it changed. */
static bool update(struct rest_hub *hub, struct rest_topic *topic)
{
	const struct snapshot *snapshot = topic->feed->snapshot;
	struct held before = topic->version;

	topic->version = (struct held){.kind = HELD_NONE};
	topic->found = 0;
	if (snapshot) {
		struct version version = subscription_version(&topic->subscription,
			snapshot->sets[topic->subscription.type], &topic->found);

		topic->version = held_of(&version);
	}
	if (held_equal(&before, &topic->version))
		return false;
	drop_reply(hub, topic);
	return true;
}

static void refresh(struct rest_hub *hub, struct rest_topic *topic)
{
	if (update(hub, topic))
		hub->changed(hub->ctx, topic);
}

static bool is_one_name(const struct subscription *subscription)
{
	return !subscription->is_wildcard && subscription->count == 1;
}

struct diff {
	struct rest_hub *hub;
	struct rest_feed *feed;
};

static int on_difference(void *ctx, struct resource *old_resource, struct resource *new_resource)
{
	struct diff *diff = ctx;
	struct resource *resource = new_resource ? new_resource : old_resource;
	struct subscription one = {.type = resource->type, .names = &resource->name, .count = 1};
	struct buf key = BUF_INIT;
	struct rest_topic *topic;

	subscription_key(&one, &key);
	topic = hash_get(&diff->feed->topics, buf_slice(&key));
	buf_fini(&key);
	if (topic)
		refresh(diff->hub, topic);
	return 0;
}

/* Costs the difference for topics of one name, and a look at each of the others. */
static void refresh_type(struct rest_hub *hub, struct rest_feed *feed, const struct snapshot *old,
	enum xds_type type)
{
	const struct resource_set *old_set = old->sets[type];
	const struct resource_set *new_set = feed->snapshot->sets[type];
	struct diff diff = {hub, feed};
	struct rest_topic *topic, *next;

	if (version_equal(resource_set_version(old_set), resource_set_version(new_set)))
		return;
	/* A callback may end topics; the one in hand and its successor are kept. */
	topic = LIST_FIRST(&feed->others[type]);
	if (topic)
		rest_topic_ref(topic);
	for (; topic; topic = next) {
		refresh(hub, topic);
		next = LIST_NEXT(topic, by_type);
		if (next)
			rest_topic_ref(next);
		rest_topic_unref(hub, topic);
	}
	resource_set_diff(old_set, new_set, on_difference, &diff);
}

/* The group serves something for the first time, or nothing any more. */
static void refresh_all(struct rest_hub *hub, struct rest_feed *feed)
{
	size_t count = 0, cursor = 0;
	struct rest_topic **topics = xcalloc(feed->topics.count + 1, sizeof(struct rest_topic *));
	struct hash_entry *entry;

	while ((entry = hash_next(&feed->topics, &cursor)))
		topics[count++] = rest_topic_ref(entry->value);
	for (size_t i = 0; i < count; i++) {
		refresh(hub, topics[i]);
		rest_topic_unref(hub, topics[i]);
	}
	free(topics);
}

static void refresh_feed(struct rest_hub *hub, struct rest_feed *feed, int64_t now_ms)
{
	struct snapshot *old = feed->snapshot;
	struct snapshot *now = store_acquire(
		hub->options->store, (struct slice){feed->group->text, feed->group->length});

	if (now == old) {
		snapshot_unref(now);
		return;
	}
	feed->snapshot = now;
	if (route_delay_is_due(old, now))
		route_delay_begin(&feed->delay, now_ms, hub->options->route_delay_ms);
	feed->references++; /* the last topic may go meanwhile */
	for (int type = 0; old && now && type < XDS_TYPE_COUNT; type++)
		refresh_type(hub, feed, old, type);
	if (!old || !now)
		refresh_all(hub, feed);
	feed->references--;
	snapshot_unref(old);
}

static void free_feed_if_unused(struct rest_hub *hub, struct rest_feed *feed)
{
	if (feed->references)
		return;
	hash_remove(&hub->feeds, (struct slice){feed->group->text, feed->group->length});
	hash_fini(&feed->topics);
	snapshot_unref(feed->snapshot);
	rcstr_unref(feed->group);
	free(feed);
}

void rest_hub_refresh(struct rest_hub *hub, int64_t now_ms)
{
	size_t count = 0, cursor = 0;
	struct rest_feed **feeds = xcalloc(hub->feeds.count + 1, sizeof(struct rest_feed *));
	struct hash_entry *entry;

	/* Callbacks may end topics, and with them feeds. */
	while ((entry = hash_next(&hub->feeds, &cursor))) {
		feeds[count] = entry->value;
		feeds[count++]->references++;
	}
	for (size_t i = 0; i < count; i++) {
		refresh_feed(hub, feeds[i], now_ms);
		feeds[i]->references--;
		free_feed_if_unused(hub, feeds[i]);
	}
	free(feeds);
}

/* ---- topics ---- */

static struct rest_feed *get_feed(struct rest_hub *hub, struct rcstr *group)
{
	struct slice name = {group->text, group->length};
	struct rest_feed *feed = hash_get(&hub->feeds, name);

	if (feed)
		return feed;
	feed = xcalloc(1, sizeof(*feed));
	feed->group = rcstr_ref(group);
	feed->snapshot = store_acquire(hub->options->store, name);
	hash_init(&feed->topics);
	hash_put(&hub->feeds, (struct slice){feed->group->text, feed->group->length}, feed);
	return feed;
}

struct rest_topic *rest_topic_get(
	struct rest_hub *hub, struct rcstr *group, const struct subscription *subscription)
{
	struct rest_feed *feed = get_feed(hub, group);
	struct buf key = BUF_INIT;
	struct rest_topic *topic;

	subscription_key(subscription, &key);
	topic = hash_get(&feed->topics, buf_slice(&key));
	if (topic) {
		buf_fini(&key);
		return rest_topic_ref(topic);
	}
	if (hub->topics_bytes + key.capacity > TOPICS_BYTES) {
		buf_fini(&key);
		free_feed_if_unused(hub, feed);
		return NULL;
	}
	topic = xcalloc(1, sizeof(*topic));
	topic->references = 1;
	topic->feed = feed;
	feed->references++;
	topic->key = key;
	topic->subscription = subscription_from_key(buf_slice(&topic->key));
	hub->topics_bytes += key.capacity;
	hash_put(&feed->topics, buf_slice(&topic->key), topic);
	if (!is_one_name(subscription))
		LIST_INSERT_HEAD(&feed->others[subscription->type], topic, by_type);
	update(hub, topic);
	return topic;
}

struct rest_topic *rest_topic_ref(struct rest_topic *topic)
{
	topic->references++;
	return topic;
}

void rest_topic_unref(struct rest_hub *hub, struct rest_topic *topic)
{
	struct rest_feed *feed;

	if (!topic || --topic->references)
		return;
	feed = topic->feed;
	assert(LIST_EMPTY(&topic->waiters));
	drop_reply(hub, topic);
	if (!is_one_name(&topic->subscription))
		LIST_REMOVE(topic, by_type);
	hash_remove(&feed->topics, buf_slice(&topic->key));
	hub->topics_bytes -= topic->key.capacity;
	buf_fini(&topic->key);
	free((void *)topic->subscription.names);
	free(topic);
	feed->references--;
	free_feed_if_unused(hub, feed);
}

const struct rcstr *rest_topic_group(const struct rest_topic *topic)
{
	return topic->feed->group;
}

struct longpoll_state rest_topic_state(const struct rest_topic *topic)
{
	return (struct longpoll_state){
		.news_after_ms = route_delay_until(&topic->feed->delay, topic->subscription.type),
		.has_snapshot = topic->feed->snapshot != NULL,
		.is_missing = !topic->subscription.is_wildcard && topic->found == 0,
		.missing_is_empty = xds_type_row(topic->subscription.type)->missing_is_empty,
		.current = topic->version,
	};
}
