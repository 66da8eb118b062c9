/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a DeltaDiscoveryRequest does to one type of a stream. Used by the protocol core alone. */
#ifndef XDSPUB_SERVE_XDS_DELTA_REQUEST_H
#define XDSPUB_SERVE_XDS_DELTA_REQUEST_H

#include "serve/xds_core.h"

/* The lane has its table; is_first: this is the first request of its type. */
enum xds_event xds_delta_apply(struct xds_stream *stream, struct xds_lane *lane,
	const struct xds_request *request, bool is_first, int64_t now_ms);

#endif
