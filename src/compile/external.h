/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `external` of groups.yaml: names that are not in the tree, but in the bootstrap of the nodes, or
 * that the bootstrap uses. `{clusters: [xds, "otel-*", {prefix: local-}], secrets: [...]}`.
 * Immutable, in the arena it was read into. Threads: any.
 */
#ifndef XDSPUB_COMPILE_EXTERNAL_H
#define XDSPUB_COMPILE_EXTERNAL_H

#include "base/diag.h"
#include "message/node.h"
#include "snapshot/selector.h"
#include "snapshot/types.h"

struct external {
	bool says[XDS_TYPE_COUNT];		   /* the type is there, be it with an empty list */
	const struct match *names[XDS_TYPE_COUNT]; /* NULL: none */
};

/* NULL when there are errors (they are in `diags`). */
const struct external *external_read(
	const struct node *node, const char *path, struct arena *arena, struct diag_list *diags);
/* Whether a name is among them; NULL has none. */
bool external_has(const struct external *external, enum xds_type type, struct slice name);
/* Whether it is said what there is of this type. */
bool external_says(const struct external *external, enum xds_type type);

#endif
