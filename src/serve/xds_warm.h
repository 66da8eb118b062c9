/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A delta client whose cluster or listener was replaced waits for what it names, but does not ask
 * for it again (S.101, S.102): find the names in the encoded resources and owe them once more.
 * Threads: one at a time. Used by the protocol core alone.
 */
#ifndef XDSPUB_SERVE_XDS_WARM_H
#define XDSPUB_SERVE_XDS_WARM_H

#include "serve/xds_core.h"

/* The load assignment that an encoded Cluster waits for; false: none. Borrowed from the cluster
 * or its name. */
bool xds_warm_eds_name(const struct resource *cluster, struct slice *ret_name);
/* The table of a type after the client was sent the answer: what the answer's resources name, and
 * the client holds, is owed. A reference; the same table when there is nothing. */
struct xds_table *xds_warm_owe(
	struct xds_hub *hub, struct xds_table *table, struct xds_answer *answer);

#endif
