/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one discovery response carries, without what differs between streams (nonce, control plane
 * identifier). One answer serves every stream that makes the same step, so a transport encodes it
 * once and keeps the bytes in `encoded`. It holds its own references to the resources: keep a
 * reference only until the response has left. Threads: the hub's.
 */
#ifndef XDSPUB_SERVE_XDS_ANSWER_H
#define XDSPUB_SERVE_XDS_ANSWER_H

#include "snapshot/version.h"

struct xds_item {
	struct resource *resource; /* NULL: nothing has that name, Resource without a body (S.103)*/
	struct slice name;	   /* Resource.name */
	const struct slice *aliases; /* Resource.aliases: requested names that lead here */
	size_t aliases_count;
	bool is_wrapped;   /* SotW: Resource around it, with the TTL; delta always wraps */
	bool is_heartbeat; /* delta: name, version and TTL only (S.105) */
	bool is_tagged;	   /* delta: its version has the tag, see xds_warm.h */
	uint32_t tag;
};

#define XDS_ENCODINGS 2 /* for aggregated streams, for streams of one type */

struct xds_answer {
	unsigned references;
	enum xds_type type;
	bool is_delta;
	/* version_info: of exactly the resources in it. Delta, system_version_info: of the whole
	 * set that the group is served (S.109). */
	struct version version;
	struct xds_item *items; /* by name, each name once (S.97) */
	size_t items_count;
	struct slice *removed; /* delta: removed_resources, by name */
	size_t removed_count;
	uint64_t body_bytes; /* of the items */
	bool has_open;	     /* some item's resource has open config sources */
	/* The transport's; freed with the answer. With open config sources in it the bytes depend
	 * on the kind of stream; without, the first one is for all. */
	void *encoded[XDS_ENCODINGS];
	void (*encoded_free)(void *encoded);
	struct xds_answer_private *private;
};

struct xds_answer *xds_answer_ref(struct xds_answer *answer);
void xds_answer_unref(struct xds_answer *answer); /* NULL is fine */
/* Resource.version: the resource's own, with the tag if it has one; a fixed text where there is
 * no resource. */
struct version xds_item_version(const struct xds_item *item);

#endif
