/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resources to DiscoveryResponse bytes in every format, for files and for REST: fields by number,
 * names as declared, a resource with TTL or aliases inside envoy.service.discovery.v3.Resource.
 * Threads: one at a time for an encoder; make one per thread. The schema is borrowed.
 */
#ifndef XDSPUB_DAEMON_ENCODER_H
#define XDSPUB_DAEMON_ENCODER_H

#include "publish/publisher.h"
#include "schema/schema.h"

struct encoder;

/* -EINVAL: the schema lacks google.protobuf.Any or envoy.service.discovery.v3.Resource. */
int encoder_new(const struct schema *schema, struct encoder **ret_encoder);
void encoder_free(struct encoder *encoder); /* NULL is fine */

/* For struct publisher_options. The encoder must outlive the publisher. */
struct publish_encoder encoder_for_files(struct encoder *encoder);

enum encoder_style {
	ENCODER_LINE,  /* JSON on one line, as REST answers it */
	ENCODER_PRETTY /* JSON for people */
};

/* Appends a whole DiscoveryResponse as JSON, as REST answers it: open config sources are those of
 * REST. 0 or negative errno. */
int encoder_json(struct encoder *encoder, enum encoder_style style, enum xds_type type,
	const struct version *version, struct resource *const *resources, size_t count,
	struct slice source, struct buf *out);
/* One resource as pretty JSON with its @type: for people. */
int encoder_resource_json(
	struct encoder *encoder, const struct resource *resource, struct buf *out);

#endif
