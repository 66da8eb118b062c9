/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is left of an imported bootstrap: it has to keep what only a bootstrap can say (admin, node,
 * runtime, overload manager ...) and the clusters and secrets that are needed before there is a
 * control plane; and it gets the dynamic_resources that bring the tree.
 */
#ifndef XDSPUB_AUTHOR_IMPORT_REST_H
#define XDSPUB_AUTHOR_IMPORT_REST_H

#include "author/bootstrap_text.h"
#include "author/import_plan.h"

/* Marks (is_kept) the static clusters and secrets that stay, and says so. With `moves_secrets` the
 * static secrets go, but for those that what stays needs. Before import_split. */
void import_rest_keep(struct import_plan *plan, bool moves_secrets);
/* The bootstrap to `out`; spec->cluster is replaced when that name is taken. False: it cannot be
 * made (see diags). Only for plans with a bootstrap. */
bool import_rest_write(
	struct import_plan *plan, const struct bootstrap_spec *spec, struct buf *out);

#endif
