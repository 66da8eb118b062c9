/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_lane.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "serve/xds_draft.h"

#define NACK_TEXT_BYTES 1024

static struct xds_kind kind_of(const struct xds_stream *stream, enum xds_type type)
{
	struct xds_kind kind;

	memset(&kind, 0, sizeof(kind)); /* it is compared as bytes */
	kind.feed = stream->feed->number;
	kind.type = (uint8_t)type;
	kind.is_delta = stream->is_delta;
	kind.is_wrapping = !stream->is_delta && stream->client.unwraps_resources;
	/* Only where clusters and their load assignments are sent in order. */
	kind.is_tagged = stream->is_delta && type == XDS_EDS && xds_lane_find(stream, XDS_CDS);
	return kind;
}

struct xds_lane *xds_lane_add(struct xds_stream *stream, enum xds_type type)
{
	struct xds_registry *registry = &stream->feed->hub->registry;
	struct xds_kind kind = kind_of(stream, type);
	struct xds_lane *lane;
	size_t place = 0;

	while (place < stream->lanes_count &&
		xds_lane_row(&stream->lanes[place])->stream_rank < xds_type_row(type)->stream_rank)
		place++;
	/* The stream of a single type has room for it (xds_stream_new()). */
	if (!stream->row)
		stream->lanes = xreallocarray(
			stream->lanes, stream->lanes_count + 1, sizeof(stream->lanes[0]));
	lane = &stream->lanes[place];
	memmove(lane + 1, lane, (stream->lanes_count - place) * sizeof(*lane));
	stream->lanes_count++;
	*lane = (struct xds_lane){.type = (uint8_t)type};
	lane->sent_ms = lane->acknowledged_ms = lane->rejected_ms = -1;
	lane->gone_ms = lane->gone_since_ms = lane->awaited_ms = lane->refresh_ms = -1;
	lane->table = xds_table_empty(registry, kind);
	return lane;
}

struct xds_lane *xds_lane_find(const struct xds_stream *stream, enum xds_type type)
{
	for (size_t i = 0; i < stream->lanes_count; i++)
		if (stream->lanes[i].type == type)
			return &stream->lanes[i];
	return NULL;
}

void xds_lane_fini(struct xds_stream *stream, struct xds_lane *lane)
{
	xds_table_unref(&stream->feed->hub->registry, lane->table);
	free(lane->nack);
}

void xds_lane_set_table(struct xds_stream *stream, struct xds_lane *lane, struct xds_table *table)
{
	struct xds_table *former = lane->table;

	lane->table = table;
	xds_table_unref(&stream->feed->hub->registry, former);
}

void xds_lane_move(struct xds_stream *stream, struct xds_lane *lane)
{
	struct xds_kind kind = lane->table->whole.kind;
	struct xds_draft draft;

	kind.feed = stream->feed->number;
	xds_draft_begin(&draft, &stream->feed->hub->registry, lane->table, kind);
	xds_lane_set_table(stream, lane, xds_draft_finish(&draft));
}

bool xds_lane_is_idle(const struct xds_lane *lane)
{
	return !lane->table->whole.kind.is_wildcard && lane->table->whole.subscribed == 0;
}

void xds_nonce_write(uint64_t nonce, char out[static XDS_NONCE_SIZE])
{
	snprintf(out, XDS_NONCE_SIZE, "%" PRIu64, nonce);
}

bool xds_lane_has_nonce(const struct xds_lane *lane, struct slice nonce)
{
	char text[XDS_NONCE_SIZE];

	xds_nonce_write(lane->nonce, text);
	return lane->nonce && slice_is(nonce, text);
}

void xds_lane_acknowledge(struct xds_lane *lane, int64_t now_ms)
{
	lane->is_outstanding = false;
	lane->is_rejected = false;
	lane->acknowledged = lane->sent;
	lane->acknowledged_ms = now_ms;
	lane->acks++;
}

void xds_lane_reject(struct xds_lane *lane, int32_t code, struct slice message, int64_t now_ms)
{
	struct buf text = BUF_INIT;

	text_quote(&text, message, NACK_TEXT_BYTES);
	free(lane->nack);
	lane->nack = xmalloc(sizeof(*lane->nack) + text.length + 1);
	lane->nack->code = code;
	memcpy(lane->nack->text, buf_cstr(&text), text.length + 1);
	buf_fini(&text);
	lane->is_outstanding = false;
	lane->is_rejected = true;
	lane->rejected_ms = now_ms;
	lane->nacks++;
}
