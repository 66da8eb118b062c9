/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goes out next on a stream, and when: replies at once; pushes in the order of the types,
 * each after the ACK of the former or a bounded time (S.110), listeners and routes also after the
 * load assignments of new clusters, which a client may ask for only after its ACK; removals after
 * what used them (S.111); refreshes before a TTL runs out. Used by the protocol core alone.
 */
#ifndef XDSPUB_SERVE_XDS_PACE_H
#define XDSPUB_SERVE_XDS_PACE_H

#include "serve/xds_core.h"

/* Chooses, updates lane and table, leaves the answer in stream->answer; false: nothing now, and
 * stream->deadline_ms says when to look again. */
bool xds_pace_next(
	struct xds_stream *stream, int64_t now_ms, struct xds_lane **ret_lane, bool *ret_is_push);

#endif
