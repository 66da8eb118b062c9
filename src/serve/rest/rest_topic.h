/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Topics: what the clients of one group that ask for the same type and names share, so that one
 * change costs one version and one body however many wait. A hub holds the topics of all groups,
 * each with the snapshot that its group serves now. Threads: one at a time.
 */
#ifndef XDSPUB_SERVE_REST_REST_TOPIC_H
#define XDSPUB_SERVE_REST_REST_TOPIC_H

#include <sys/queue.h>

#include "base/hash.h"
#include "serve/http_reply.h"
#include "serve/longpoll.h"
#include "serve/rest/rest_server.h"
#include "serve/subscription.h"

struct rest_waiter; /* the server's; linked here */
LIST_HEAD(rest_waiters, rest_waiter);

struct rest_feed; /* one group */

struct rest_topic {
	unsigned references;
	struct rest_feed *feed;
	struct buf key;			  /* of the subscription */
	struct subscription subscription; /* names point into the key */
	struct held reported;		  /* the version whose rejection was last logged */
	struct held version;		  /* of what the group's snapshot has of it */
	size_t found;			  /* resources of it that exist */
	struct http_reply *reply; /* the body for `version`; NULL until asked for, or dropped */
	int64_t reply_used_ms;
	struct rest_waiters waiters; /* parked */
	size_t waiters_count;
	LIST_ENTRY(rest_topic) by_type; /* topics that are not one name */
	TAILQ_ENTRY(rest_topic) by_use; /* topics with a reply */
};

struct rest_hub;

/* Called for a topic whose content changed; it may answer waiters and drop references. */
typedef void (*rest_topic_changed_cb)(void *ctx, struct rest_topic *topic);

struct rest_hub *rest_hub_new(
	const struct rest_options *options, rest_topic_changed_cb changed, void *ctx);
void rest_hub_free(struct rest_hub *hub); /* all topics must be gone */
/* Looks at the store again; calls back for what changed. */
void rest_hub_refresh(struct rest_hub *hub, int64_t now_ms);
/* Forgets bodies that nobody asked for in the last seconds, and beyond a total of bytes. */
void rest_hub_expire(struct rest_hub *hub, int64_t now_ms);

/* A new reference; copies names. NULL: clients ask for too many names, all of them together. */
struct rest_topic *rest_topic_get(
	struct rest_hub *hub, struct rcstr *group, const struct subscription *subscription);
struct rest_topic *rest_topic_ref(struct rest_topic *topic);
void rest_topic_unref(struct rest_hub *hub, struct rest_topic *topic); /* NULL is fine */

const struct rcstr *rest_topic_group(const struct rest_topic *topic);
struct longpoll_state rest_topic_state(const struct rest_topic *topic);
/* The answer with the topic's content, encoded once per version when several clients share the
 * topic. A new reference; NULL when encoding failed. */
struct http_reply *rest_topic_reply(struct rest_hub *hub, struct rest_topic *topic, int64_t now_ms);
/* How many bodies were encoded, for the status. */
uint64_t rest_hub_encoded(const struct rest_hub *hub);

#endif
