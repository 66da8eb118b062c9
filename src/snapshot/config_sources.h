/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands in open config sources: for each transport and type an encoded
 * envoy.config.core.v3.ConfigSource, as groups.yaml says it, or the preset. Immutable,
 * reference-counted, any thread.
 */
#ifndef XDSPUB_SNAPSHOT_CONFIG_SOURCES_H
#define XDSPUB_SNAPSHOT_CONFIG_SOURCES_H

#include <stdatomic.h>

#include "base/digest.h"
#include "snapshot/types.h"

/* The order is part of versions, see version.h. */
enum source_transport {
	SOURCE_FILES,
	SOURCE_REST,
	SOURCE_ADS,	  /* aggregated streams, state of the world and delta */
	SOURCE_GRPC,	  /* a stream of one type, state of the world */
	SOURCE_DELTA_GRPC /* the same, delta */
};
#define SOURCE_TRANSPORTS 5

/* In place of a type: the source leads to nothing that is published. */
#define SOURCE_NO_TYPE XDS_TYPE_COUNT
#define SOURCE_TYPES   (XDS_TYPE_COUNT + 1)

/* Empty, for files only: the published path of what the source leads to. */
typedef struct slice source_table[SOURCE_TRANSPORTS][SOURCE_TYPES];

struct config_sources {
	atomic_uint references;
	struct digest digest; /* equal ones have equal digests */
	source_table table;
	struct slice text; /* all of it, for the state folder */
};

/* Copies. */
struct config_sources *config_sources_new(const source_table table);
/* -EBADMSG: this is no text of another one's. */
int config_sources_parse(struct slice text, struct config_sources **ret_sources);
struct config_sources *config_sources_ref(struct config_sources *sources);
void config_sources_unref(struct config_sources *sources); /* NULL is fine */

/* Where groups.yaml says nothing: `ads` on aggregated streams, the published path in files, else
 * (also in files for what is not published as a file) `self`, by which no server is named. */
void config_sources_preset(source_table out);

#endif
