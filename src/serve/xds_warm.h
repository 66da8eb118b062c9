/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Warming. An Envoy whose cluster was replaced waits for the cluster's load assignment, which it
 * holds already and, on a delta stream, does not ask for again (S.101; S.102 for secrets): what the
 * resources that are sent name is owed once more.
 *
 * Such a client may lose its stream in between and come back with current versions of both: the
 * version of a load assignment alone does not tell whether the cluster still waits for it. So on an
 * aggregated delta stream that version says for which clusters it was sent, too:
 *   'b', 24 hex digits: the first of the digest of the load assignment,
 *   8 hex digits: the tag, from the digests of the clusters that wait for it
 * and one that comes back with the very same version, and with the clusters as they are, needs
 * neither (xds_resume.h). Only a client that is known to have the clusters gets such versions. What
 * is left: a cluster that changes and changes back, accepted twice, before its load assignment is
 * sent, and the stream breaks just then. On the stream of a single type each cluster has a
 * subscription of its own, which has nothing before its first load assignment: versions are those
 * of the content.
 *
 * Names are found in the encoded resources (xds_wire.h). Threads: one at a time. Used by the
 * protocol core alone.
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

/* The answer has clusters whose load assignments the table does not subscribe to: the client will
 * ask for them. */
bool xds_warm_awaits(struct xds_hub *hub, struct xds_table *table, struct xds_answer *answer);

/* Which clusters of a set wait for which load assignment. */
struct xds_waiters;
struct xds_waiter {
	const struct resource *cluster; /* borrowed from the set */
	const struct xds_waiter *next;	/* another one that waits for the same */
};
struct xds_waiters *xds_waiters_new(const struct resource_set *clusters); /* outlived by the set */
void xds_waiters_free(struct xds_waiters *waiters);			  /* NULL is fine */
const struct xds_waiter *xds_waiters_find(const struct xds_waiters *waiters, struct slice name);
/* What the version of a load assignment says about them; 0: there are none. */
uint32_t xds_waiters_tag(const struct xds_waiter *first);

/* The text of a version with a tag. */
struct version xds_warm_version(const struct digest *digest, uint32_t tag);

#endif
