/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The `match` of a group in groups.yaml, in the shape of Envoy's Node, to a condition tree.
 * Known fields of Node are checked; metadata is free. Threads: any, one arena per call.
 */
#ifndef XDSPUB_COMPILE_MATCH_READ_H
#define XDSPUB_COMPILE_MATCH_READ_H

#include "base/diag.h"
#include "message/node.h"
#include "snapshot/selector.h"

enum match_shape {
	MATCH_SHAPE_TEXT, /* or a list of texts in the node: then any of them may fit */
	MATCH_SHAPE_NUMBER,
	MATCH_SHAPE_FREE, /* a Struct */
	MATCH_SHAPE_FIELDS,
};

struct match_shape_field {
	const char *name, *camel_name;
	enum match_shape shape;
	const struct match_shape_field *fields; /* ends with a NULL name */
};

/* The fields of Node that can be matched; the end has a NULL name. */
const struct match_shape_field *match_fields(void);
/* NULL when there are errors (they are in `diags`). */
struct match *match_read(
	const struct node *node, const char *path, struct arena *arena, struct diag_list *diags);
/* The condition on a single text: a scalar, a mapping of exact, prefix, suffix, contains and
 * ignore_case, or a list of these. NULL when there are errors. */
struct match *match_read_text(
	const struct node *node, const char *path, struct arena *arena, struct diag_list *diags);

#endif
