/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One static bootstrap that holds everything a group is served, for `envoy --mode validate`, which
 * does not look at dynamic configuration: routes stand in their listeners, load assignments in
 * their clusters, secrets beside them. What is not in the group, and secrets in files of the Envoy
 * host, are left to ADS, which validation does not ask; listeners for gRPC programs are left out.
 * Threads: any.
 */
#ifndef XDSPUB_AUTHOR_ENVOY_BOOTSTRAP_H
#define XDSPUB_AUTHOR_ENVOY_BOOTSTRAP_H

#include "base/hash.h"
#include "schema/schema.h"
#include "snapshot/snapshot.h"

struct envoy_bootstrap {
	const struct schema *schema;
	const struct snapshot *snapshot;
	const char *const *clusters; /* others that the group may name */
	size_t clusters_count;
	const struct hash *left_out; /* resources by envoy_bootstrap_key, not to be part of it */
	size_t first;		     /* only so many resources, in the order of writing; 0: none */
};

/* Appends JSON. Resources are written in the order in which Envoy takes them: secrets, clusters,
 * listeners. *ret_last is the last one of them, or NULL. 0, -EBADMSG: something has no form in
 * JSON, or the schema lacks what it takes. */
int envoy_bootstrap_write(
	const struct envoy_bootstrap *options, struct buf *out, const struct resource **ret_last);

/* The key of a resource in left_out. */
void envoy_bootstrap_key(const struct resource *resource, struct buf *out);

#endif
