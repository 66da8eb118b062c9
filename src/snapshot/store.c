/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/store.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

struct store_subscription {
	store_changed_cb callback;
	void *ctx;
	struct store_subscription *next;
};

struct entry {
	struct rcstr *group; /* owns the key */
	struct snapshot *snapshot;
};

struct store {
	pthread_mutex_t mutex; /* groups, selector */
	struct hash groups;    /* struct entry by group name */
	struct selector *selector;
	atomic_uint_fast64_t generation;
	/* Taken before `mutex`, held while callbacks run, so that unsubscribing waits for them. */
	pthread_mutex_t subscribers_mutex;
	struct store_subscription *subscriptions;
};

struct store *store_new(void)
{
	struct store *store = xcalloc(1, sizeof(*store));

	pthread_mutex_init(&store->mutex, NULL);
	pthread_mutex_init(&store->subscribers_mutex, NULL);
	hash_init(&store->groups);
	atomic_init(&store->generation, 0);
	return store;
}

static void entry_free(struct entry *entry)
{
	rcstr_unref(entry->group);
	snapshot_unref(entry->snapshot);
	free(entry);
}

void store_free(struct store *store)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	if (!store)
		return;
	assert(!store->subscriptions);
	while ((slot = hash_next(&store->groups, &cursor)))
		entry_free(slot->value);
	hash_fini(&store->groups);
	selector_unref(store->selector);
	pthread_mutex_destroy(&store->mutex);
	pthread_mutex_destroy(&store->subscribers_mutex);
	free(store);
}

uint64_t store_generation(const struct store *store)
{
	return atomic_load_explicit(&store->generation, memory_order_acquire);
}

static void tell(struct store *store)
{
	atomic_fetch_add_explicit(&store->generation, 1, memory_order_acq_rel);
	pthread_mutex_lock(&store->subscribers_mutex);
	for (struct store_subscription *s = store->subscriptions; s; s = s->next)
		s->callback(s->ctx);
	pthread_mutex_unlock(&store->subscribers_mutex);
}

void store_set_selector(struct store *store, struct selector *selector)
{
	struct selector *former;

	pthread_mutex_lock(&store->mutex);
	former = store->selector;
	store->selector = selector_ref(selector);
	pthread_mutex_unlock(&store->mutex);
	selector_unref(former);
	tell(store);
}

struct selector *store_selector(struct store *store)
{
	struct selector *selector;

	pthread_mutex_lock(&store->mutex);
	selector = store->selector ? selector_ref(store->selector) : NULL;
	pthread_mutex_unlock(&store->mutex);
	return selector;
}

/* Frees what it replaces outside the mutex: a snapshot's last reference can be a lot of work. */
void store_publish(struct store *store, struct slice group, struct snapshot *snapshot)
{
	struct entry *fresh = NULL, *former;

	if (snapshot) {
		fresh = xmalloc(sizeof(*fresh));
		fresh->group = rcstr_new(group.data, group.length);
		fresh->snapshot = snapshot_ref(snapshot);
	}
	pthread_mutex_lock(&store->mutex);
	/* Remove first: the key must be the new entry's own text. */
	former = hash_remove(&store->groups, group);
	if (fresh)
		hash_put(&store->groups, (struct slice){fresh->group->text, fresh->group->length},
			fresh);
	pthread_mutex_unlock(&store->mutex);
	if (former)
		entry_free(former);
	if (fresh || former)
		tell(store);
}

struct snapshot *store_acquire(struct store *store, struct slice group)
{
	struct snapshot *snapshot = NULL;
	struct entry *entry;

	pthread_mutex_lock(&store->mutex);
	entry = hash_get(&store->groups, group);
	if (entry)
		snapshot = snapshot_ref(entry->snapshot);
	pthread_mutex_unlock(&store->mutex);
	return snapshot;
}

struct store_subscription *store_subscribe(
	struct store *store, store_changed_cb callback, void *ctx)
{
	struct store_subscription *subscription = xmalloc(sizeof(*subscription));

	subscription->callback = callback;
	subscription->ctx = ctx;
	pthread_mutex_lock(&store->subscribers_mutex);
	subscription->next = store->subscriptions;
	store->subscriptions = subscription;
	pthread_mutex_unlock(&store->subscribers_mutex);
	return subscription;
}

void store_unsubscribe(struct store *store, struct store_subscription *subscription)
{
	if (!subscription)
		return;
	pthread_mutex_lock(&store->subscribers_mutex);
	for (struct store_subscription **at = &store->subscriptions; *at; at = &(*at)->next) {
		if (*at == subscription) {
			*at = subscription->next;
			break;
		}
	}
	pthread_mutex_unlock(&store->subscribers_mutex);
	free(subscription);
}
