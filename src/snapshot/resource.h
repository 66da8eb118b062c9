/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One xDS resource, encoded: name, deterministic protobuf bytes, version digest and where it came
 * from. Immutable, reference-counted, shared by snapshots; one block of memory. Threads: any.
 */
#ifndef XDSPUB_SNAPSHOT_RESOURCE_H
#define XDSPUB_SNAPSHOT_RESOURCE_H

#include <stdatomic.h>

#include "base/diag.h"
#include "base/digest.h"
#include "base/rcstr.h"
#include "snapshot/types.h"

struct resource {
	atomic_uint references;
	enum xds_type type;
	struct digest digest; /* the resource's version, see version.h */
	struct slice name;
	struct slice body; /* the message itself, not an Any */
	int64_t ttl_ms;	   /* -1: none; sub-millisecond TTLs are refused at compile time */
	const struct slice *aliases; /* sorted, unique */
	size_t aliases_count;
	struct rcstr *path; /* source file relative to the tree; NULL when unknown */
	struct position at;
};

struct resource_spec {
	enum xds_type type;
	struct slice name;
	struct slice body;
	int64_t ttl_ms;
	const struct slice *aliases; /* any order, duplicates allowed */
	size_t aliases_count;
	struct rcstr *path; /* a reference is taken */
	struct position at;
};

/* Copies everything and computes the digest. */
struct resource *resource_new(const struct resource_spec *spec);
struct resource *resource_ref(struct resource *resource);
void resource_unref(struct resource *resource); /* NULL is fine */

#endif
