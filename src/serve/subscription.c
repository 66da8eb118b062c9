/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/subscription.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"

static int by_name(const void *a, const void *b)
{
	return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

int subscription_make(enum xds_type type, struct slice *names, size_t count,
	struct subscription *ret_subscription)
{
	const struct xds_type_row *row = xds_type_row(type);
	struct subscription subscription = {.type = type, .names = names};

	if (count > 1)
		qsort(names, count, sizeof(*names), by_name);
	for (size_t i = 0; i < count; i++) {
		if (row->is_wildcard && slice_is(names[i], "*"))
			subscription.is_wildcard = true;
		if (i > 0 && slice_equal(names[i], names[subscription.count - 1]))
			continue;
		names[subscription.count++] = names[i];
	}
	if (count == 0) {
		if (!row->is_wildcard)
			return -ENOENT;
		subscription.is_wildcard = true;
	}
	if (subscription.is_wildcard) {
		subscription.names = NULL;
		subscription.count = 0;
	}
	*ret_subscription = subscription;
	return 0;
}

bool subscription_has(const struct subscription *subscription, struct slice name)
{
	if (subscription->is_wildcard)
		return true;
	return subscription->count &&
	       bsearch(&name, subscription->names, subscription->count, sizeof(name), by_name);
}

void subscription_key(const struct subscription *subscription, struct buf *out)
{
	buf_putc(out, (char)subscription->type);
	buf_putc(out, subscription->is_wildcard);
	for (size_t i = 0; i < subscription->count; i++) {
		uint32_t length = (uint32_t)subscription->names[i].length;

		buf_append(out, &length, sizeof(length));
		buf_append_slice(out, subscription->names[i]);
	}
}

struct subscription subscription_from_key(struct slice key)
{
	struct subscription subscription = {
		.type = (enum xds_type)key.data[0], .is_wildcard = key.data[1] != 0};
	struct slice *names = NULL;
	size_t capacity = 0;
	uint32_t length;

	for (size_t at = 2; at < key.length; at += length) {
		memcpy(&length, key.data + at, sizeof(length));
		at += sizeof(length);
		/* Nearly always there is one name, and ten thousand of these are kept. */
		if (subscription.count == capacity) {
			capacity = capacity ? 2 * capacity : 1;
			names = xrealloc(names, capacity * sizeof(*names));
		}
		names[subscription.count++] = (struct slice){key.data + at, length};
	}
	subscription.names = names;
	return subscription;
}

struct resource **subscription_select(
	const struct subscription *subscription, const struct resource_set *set, size_t *ret_count)
{
	struct resource **found;
	size_t count = 0;

	assert(resource_set_type(set) == subscription->type);
	if (subscription->is_wildcard)
		return resource_set_sorted(set, ret_count);
	found = xcalloc(subscription->count ? subscription->count : 1, sizeof(struct resource *));
	for (size_t i = 0; i < subscription->count; i++) {
		found[count] = resource_set_find(set, subscription->names[i]);
		count += found[count] != NULL;
	}
	*ret_count = count;
	return found;
}

struct version subscription_version(
	const struct subscription *subscription, const struct resource_set *set, size_t *ret_count)
{
	struct resource **found;
	struct version version;

	if (subscription->is_wildcard) {
		*ret_count = resource_set_count(set);
		return *resource_set_version(set);
	}
	if (subscription->count == 1) {
		struct resource *one = resource_set_find(set, subscription->names[0]);

		*ret_count = one != NULL;
		return version_of(subscription->type, &one, *ret_count);
	}
	found = subscription_select(subscription, set, ret_count);
	version = version_of(subscription->type, found, *ret_count);
	free(found);
	return version;
}
