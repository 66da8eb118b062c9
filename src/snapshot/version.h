/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Versions: content digests, the same on every transport, replica and restart.
 *
 * digest = first 16 bytes of SHA-256. u64 = 8 bytes big-endian. part(x) = u64 length of x, then x.
 * A domain is its text with the terminating NUL.
 *
 * resource: domain "xdspub resource 1", part(type URL), part(name), u64 TTL in ms or 2^64-1 for
 *           none, u64 number of aliases, part(alias) each in byte order, part(body).
 * resource with open config sources: domain "xdspub open resource 1", the same up to part(body),
 *           where the open ones are self {} with resource_api_version V3, u64 number of them, then
 *           for each in the order of the body, for files, REST, aggregated streams, streams of one
 *           type, and delta streams of one type: part(what groups.yaml or the preset puts there,
 *           an encoded ConfigSource; empty: the published path). Paths are not part of it.
 * bucket:   domain "xdspub bucket 1", for each resource of the bucket by name in byte order:
 *           part(name), the 16 bytes of its digest. A resource is in bucket
 *           FNV-1a-64(name) mod 256.
 * set:      domain "xdspub set 1", part(type URL), for each bucket that is not empty, ascending:
 *           one byte bucket number, the 16 bytes of the bucket digest.
 * text:     'a' and 32 lower-case hex digits of the set digest.
 *
 * version_info is always the set version of exactly the resources in the response.
 */
#ifndef XDSPUB_SNAPSHOT_VERSION_H
#define XDSPUB_SNAPSHOT_VERSION_H

#include "snapshot/resource.h"

#define VERSION_TEXT_LENGTH 33 /* without the NUL */
#define VERSION_BUCKETS	    256

struct version {
	char text[VERSION_TEXT_LENGTH + 1];
};

/* Aliases sorted and unique, as in struct resource. */
struct digest version_resource_digest(const struct resource_spec *spec);
unsigned version_bucket(struct slice name);
struct digest version_bucket_digest(const struct resource *const *by_name, size_t count);
/* buckets: 256 digests, `used` tells which buckets are not empty. */
struct digest version_set_digest(
	enum xds_type type, const struct digest *buckets, const bool *used);
struct version version_text(const struct digest *digest);
/* The set version of the given resources of one type (any order, unique names). */
struct version version_of(enum xds_type type, struct resource *const *resources, size_t count);
bool version_equal(const struct version *a, const struct version *b);

#endif
