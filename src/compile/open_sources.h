/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open config sources in a resource: each envoy.config.core.v3.ConfigSource that says `self: {}` or
 * nothing about where it leads, at any depth, in Any contents too. Finds them with what they lead
 * to, and gives them all one form. Cluster.lrs_server is none: there `self` is an answer.
 * Threads: one finder each.
 */
#ifndef XDSPUB_COMPILE_OPEN_SOURCES_H
#define XDSPUB_COMPILE_OPEN_SOURCES_H

#include "message/message.h"
#include "message/wire_write.h"
#include "snapshot/open_body.h"

#define OPEN_SOURCES_MESSAGE "envoy.config.core.v3.ConfigSource"

struct open_sources {
	/* set by the caller */
	const struct schema *schema;
	struct arena *arena; /* of the messages */

	/* The outcome, in the order of the encoded message. Names are borrowed from it. */
	struct message **found;
	struct open_place *places;
	size_t count, found_capacity, places_capacity;

	/* private */
	const struct schema_message *type; /* ConfigSource; NULL: not in the schema */
	struct wire_trace trace;
};

void open_sources_init(
	struct open_sources *sources, const struct schema *schema, struct arena *arena);
void open_sources_fini(struct open_sources *sources);
/* Anew for each message, whose open sources become {self: {}, resource_api_version: V3}. */
void open_sources_find(struct open_sources *sources, struct message *message);
/* Appends the message that was looked at last, encoded; *ret_open is the caller's reference, NULL
 * when it has no open sources. Errors are sticky in `out`. */
void open_sources_write(struct open_sources *sources, struct message *message, struct buf *out,
	struct open_body **ret_open);

#endif
