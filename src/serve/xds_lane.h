/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What SotW and delta do alike to one type of a stream. Used by the protocol core alone. */
#ifndef XDSPUB_SERVE_XDS_LANE_H
#define XDSPUB_SERVE_XDS_LANE_H

#include "serve/xds_core.h"

/* The nonce as text. */
void xds_nonce_write(uint64_t nonce, char out[static XDS_NONCE_SIZE]);
/* A new lane in its place by stream_rank, with an empty table. */
struct xds_lane *xds_lane_add(struct xds_stream *stream, enum xds_type type);
struct xds_lane *xds_lane_find(const struct xds_stream *stream, enum xds_type type);
void xds_lane_fini(struct xds_stream *stream, struct xds_lane *lane);
/* Puts another table in place; takes over the reference. */
void xds_lane_set_table(struct xds_stream *stream, struct xds_lane *lane, struct xds_table *table);
/* The same table for the stream's present feed. */
void xds_lane_move(struct xds_stream *stream, struct xds_lane *lane);
bool xds_lane_is_idle(const struct xds_lane *lane); /* it subscribes to nothing */

/* The nonce of the last response of the lane. */
bool xds_lane_has_nonce(const struct xds_lane *lane, struct slice nonce);
void xds_lane_acknowledge(struct xds_lane *lane, int64_t now_ms);
void xds_lane_reject(struct xds_lane *lane, int32_t code, struct slice message, int64_t now_ms);

#endif
