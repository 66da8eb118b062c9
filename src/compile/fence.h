/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a mount may define: `only: [{type: EDS}, {type: CDS, name: {prefix: pay-}}]`. A resource is
 * inside when one entry allows its type and its name; names are compared as in groups.yaml.
 * Immutable once read; threads: any.
 */
#ifndef XDSPUB_COMPILE_FENCE_H
#define XDSPUB_COMPILE_FENCE_H

#include "base/diag.h"
#include "message/node.h"
#include "snapshot/selector.h"
#include "snapshot/types.h"

struct fence;

/* The value of `only`. NULL when there are errors (they are in `diags`, about `path`). */
struct fence *fence_read(const struct node *node, const char *path, struct diag_list *diags);
void fence_free(struct fence *fence); /* NULL is fine */
/* A NULL fence allows everything. */
bool fence_allows(const struct fence *fence, enum xds_type type, struct slice name);
/* "EDS; CDS with name prefix "pay-"": for messages; cut where it is long. */
const char *fence_text(const struct fence *fence);
/* The same, whole: equal for fences that say the same in the same order. */
const char *fence_whole_text(const struct fence *fence);

#endif
