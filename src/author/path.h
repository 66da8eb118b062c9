/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths into a schema as people write them: "cluster.lb_policy",
 * "Listener.filterChains[0].filters.typed_config:HttpConnectionManager.route_config",
 * "envoy.config.cluster.v3.Cluster.LbPolicy.MAGLEV". A path begins with a type (names.h), goes
 * through fields in either spelling, oneofs, types inside of types and enum values; [..] behind a
 * field is passed over, and ":Type" says what an Any holds. Pure. Threads: as names.
 * Limit: 4 KiB.
 */
#ifndef XDSPUB_AUTHOR_PATH_H
#define XDSPUB_AUTHOR_PATH_H

#include "author/names.h"

enum path_kind {
	PATH_MESSAGE,
	PATH_FIELD,
	PATH_ONEOF,
	PATH_ENUM,
	PATH_VALUE /* of an enum */
};

struct path {
	enum path_kind kind;
	/* MESSAGE: it. FIELD: the type of its message or of the values of its map, else NULL. */
	const struct schema_message *message;
	const struct schema_field *field; /* FIELD: it. Else the field passed last, or NULL. */
	const struct schema_field *outer; /* the field passed before it, or NULL */
	const struct schema_oneof *oneof;
	const struct schema_enum *enumeration; /* ENUM, VALUE; FIELD of such a type */
	const struct schema_enum_value *value;
};

/* 0, or -EINVAL with a sentence in `problem`. */
int path_resolve(struct names *names, const struct schema *schema, struct slice text,
	struct path *ret_path, struct buf *problem);
/* What may stand at the end of an unfinished path, each as the whole path. */
typedef void (*path_cb)(void *ctx, const char *path);
void path_complete(struct names *names, const struct schema *schema, struct slice text,
	path_cb tell, void *ctx);
/* The types that go into the Any at the end of the path, one blank-separated list of short names,
 * at most `limit` of them; how many there are. */
size_t path_fitting(struct names *names, const struct schema *schema, const struct path *path,
	size_t limit, struct buf *out);
/* The value type of a map's values, the message of any other field, or NULL. */
const struct schema_message *path_message_of(const struct schema_field *field);
const struct schema_enum *path_enum_of(const struct schema_field *field);

#endif
