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

/* NULL when there are errors (they are in `diags`). */
struct match *match_read(
	const struct node *node, const char *path, struct arena *arena, struct diag_list *diags);

#endif
