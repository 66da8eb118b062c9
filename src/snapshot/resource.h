/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One xDS resource, encoded: name, deterministic protobuf bytes, version digest and where it came
 * from. Immutable, reference-counted, shared by snapshots. Threads: any.
 *
 * A resource with open config sources is bound to what stands in them for a group before it is
 * served: then what is sent depends on the transport, and resource_body() says what it is.
 */
#ifndef XDSPUB_SNAPSHOT_RESOURCE_H
#define XDSPUB_SNAPSHOT_RESOURCE_H

#include <stdatomic.h>

#include "base/diag.h"
#include "base/digest.h"
#include "base/rcstr.h"
#include "snapshot/open_body.h"
#include "snapshot/types.h"

struct resource_binding;

struct resource {
	atomic_uint references;
	enum xds_type type;
	struct digest digest; /* the resource's version, see version.h */
	struct slice name;
	/* The message itself, not an Any; open config sources are `self`. To look into it; for
	 * sending see resource_body(). */
	struct slice body;
	int64_t ttl_ms; /* -1: none; sub-millisecond TTLs are refused at compile time */
	const struct slice *aliases; /* sorted, unique */
	size_t aliases_count;
	struct rcstr *path; /* source file relative to the tree; NULL when unknown */
	struct position at;
	struct open_body *open;		  /* NULL: no open config sources */
	struct resource_binding *binding; /* NULL: not bound, or nothing to bind */
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
	struct open_body *open;		/* a reference is taken; NULL: no open config sources */
	struct config_sources *sources; /* what it is bound to; NULL: not yet, or nothing to bind */
};

/* Copies everything and computes the digest. */
struct resource *resource_new(const struct resource_spec *spec);
/* The same resource, which has open config sources, bound to other ones; shares its bytes. Takes
 * references. */
struct resource *resource_bind(struct resource *base, struct config_sources *sources);
/* NULL: it is not bound. Borrowed. */
struct config_sources *resource_sources(const struct resource *resource);
/* The message as it is sent, not to files. Made on the first call and kept with the resource. */
struct slice resource_body(const struct resource *resource, enum source_transport transport);
/* Appends the message as it is written to files. Errors are sticky in `out`. */
void resource_file_body(
	const struct resource *resource, open_path_cb path, void *ctx, struct buf *out);
/* Whether that has paths of other files in it. */
bool resource_has_path(const struct resource *resource);
struct resource *resource_ref(struct resource *resource);
void resource_unref(struct resource *resource); /* NULL is fine */

#endif
