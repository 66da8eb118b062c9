/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All resources of one type in one snapshot, by name. Immutable and reference-counted; a changed
 * set shares its 256 buckets with the one it was made from, so a change costs its buckets.
 * Threads: any once finished; a builder one at a time.
 */
#ifndef XDSPUB_SNAPSHOT_RESOURCE_SET_H
#define XDSPUB_SNAPSHOT_RESOURCE_SET_H

#include "snapshot/version.h"

struct resource_set;

struct resource_set *resource_set_empty(enum xds_type type); /* a new reference */
struct resource_set *resource_set_ref(struct resource_set *set);
void resource_set_unref(struct resource_set *set);

enum xds_type resource_set_type(const struct resource_set *set);
size_t resource_set_count(const struct resource_set *set);
/* Bytes of all bodies, for size estimates. */
uint64_t resource_set_bytes(const struct resource_set *set);
/* Whether a file of the set has paths of other files in it. */
bool resource_set_has_path(const struct resource_set *set);
const struct version *resource_set_version(const struct resource_set *set); /* of the whole set */
struct resource *resource_set_find(
	const struct resource_set *set, struct slice name); /* borrowed */
/* The same, when the bucket of the name (see version.h) is known. */
struct resource *resource_set_find_in(
	const struct resource_set *set, unsigned bucket, struct slice name);
/* The resources of one bucket by name; borrowed. */
struct resource *const *resource_set_bucket(
	const struct resource_set *set, unsigned bucket, size_t *ret_count);
/* A number for what `count` buckets from `first` on contain: another one when that changes, never
 * 0. For comparing within one process only. */
uint64_t resource_set_stamp(const struct resource_set *set, unsigned first, unsigned count);
/* Next in bucket order; start with *cursor 0; NULL at the end. Borrowed. */
struct resource *resource_set_next(const struct resource_set *set, uint64_t *cursor);
/* malloc'ed array by name in byte order; the resources are borrowed from the set. */
struct resource **resource_set_sorted(const struct resource_set *set, size_t *ret_count);
/* The same, from the sorted array of an older set: sorts only what is in buckets they don't share.
 */
struct resource **resource_set_sorted_from(const struct resource_set *set,
	const struct resource_set *old_set, struct resource *const *old_sorted, size_t *ret_count);

struct resource_set_builder;
struct resource_set_builder *resource_set_edit(struct resource_set *base); /* base is kept alive */
/* Adds or replaces by name; takes its own reference. */
void resource_set_put(struct resource_set_builder *builder, struct resource *resource);
bool resource_set_remove(struct resource_set_builder *builder, struct slice name);
/* Consumes the builder. Returns a reference to `base` itself when no digest changed and
 * no resource object was replaced. */
struct resource_set *resource_set_finish(struct resource_set_builder *builder);

/* For a set that nobody else has seen yet: takes the buckets of `like` that hold the very same
 * resources instead of its own. Consumes `set`; returns a reference to `like` itself when nothing
 * differs. */
struct resource_set *resource_set_share(struct resource_set *set, struct resource_set *like);

/* Each name whose digest differs: old or new is NULL when added or removed. Shared buckets are
 * skipped. Non-zero from the callback stops and is returned. */
typedef int (*resource_set_diff_cb)(
	void *ctx, struct resource *old_resource, struct resource *new_resource);
int resource_set_diff(const struct resource_set *old_set, const struct resource_set *new_set,
	resource_set_diff_cb callback, void *ctx);

#endif
