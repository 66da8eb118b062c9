/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a request asks for: the whole set of a type or some names of it. Values only, no sockets;
 * every transport uses it. Names are borrowed from whoever made the subscription. Threads: any.
 */
#ifndef XDSPUB_SERVE_SUBSCRIPTION_H
#define XDSPUB_SERVE_SUBSCRIPTION_H

#include "snapshot/resource_set.h"

struct subscription {
	enum xds_type type;
	bool is_wildcard;	   /* everything; names are not looked at */
	const struct slice *names; /* in byte order, unique */
	size_t count;
};

/* Sorts and uniques `names` in place and makes a subscription of it: no names, or "*", mean the
 * whole set where the type has a wildcard. -ENOENT: no names and no wildcard either. */
int subscription_make(enum xds_type type, struct slice *names, size_t count,
	struct subscription *ret_subscription);
bool subscription_has(const struct subscription *subscription, struct slice name);
/* Appends bytes that are equal exactly for equal subscriptions. */
void subscription_key(const struct subscription *subscription, struct buf *out);
/* The subscription that has this key; names point into it, their array is malloc'ed. */
struct subscription subscription_from_key(struct slice key);

/* The resources of the set that are asked for, by name; malloc'ed array, resources borrowed. */
struct resource **subscription_select(
	const struct subscription *subscription, const struct resource_set *set, size_t *ret_count);
/* The set version of what subscription_select() gives; *ret_count: how many resources that is. */
struct version subscription_version(
	const struct subscription *subscription, const struct resource_set *set, size_t *ret_count);

#endif
