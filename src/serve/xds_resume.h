/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A delta client that comes back says what it still holds (initial_resource_versions) and names
 * everything again. What it holds in the present version is not sent again (S.88), unless it may
 * be waiting for it: an EDS cluster that was replaced just before the former stream broke waits for
 * a load assignment that the client holds, and would go without endpoints. So on an aggregated
 * stream a load assignment is skipped only when its version says that it was sent for the clusters
 * as they are now (xds_warm.h) and the client came with those clusters, too, on this stream. In
 * doubt it is sent. Routes and secrets need no such care: what replaces their users shares their
 * subscription, which has them. Used by the protocol core alone.
 */
#ifndef XDSPUB_SERVE_XDS_RESUME_H
#define XDSPUB_SERVE_XDS_RESUME_H

#include "serve/xds_core.h"

/* *ret_digest: what the client holds of the name, from the version that it says it has. True: it
 * needs no more, even if it asks for the name. */
bool xds_resume_read(struct xds_stream *stream, const struct xds_lane *lane, struct slice name,
	struct slice version, struct digest *ret_digest);

#endif
