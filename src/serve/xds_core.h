/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What hub, streams and answers look like inside. Used by the protocol core alone. */
#ifndef XDSPUB_SERVE_XDS_CORE_H
#define XDSPUB_SERVE_XDS_CORE_H

#include "serve/xds_feed.h"
#include "serve/xds_stream.h"
#include "serve/xds_table.h"

#define XDS_RECENT 16 /* tables whose answers outlive the streams that asked */

struct xds_hub {
	struct xds_settings settings;
	struct xds_registry registry;
	struct hash answers; /* of SotW by type, form and version: equal content, equal bytes */
	uint64_t generation;
	uint32_t last_feed;
	size_t answers_count;
	uint64_t computed;
	struct xds_table *recent[XDS_RECENT]; /* so that the next stream finds the answer made */
	unsigned recent_next;
};

void xds_hub_forget_recent(struct xds_hub *hub);

struct xds_answer_private {
	struct xds_hub *hub;
	struct xds_name **names; /* kept for items without a resource, and for `removed` */
	size_t names_count;
	size_t names_capacity;
	struct slice *aliases;		   /* the items' */
	char key[2 + VERSION_TEXT_LENGTH]; /* in hub->answers; SotW only */
	struct xds_table *warm_from[2];	   /* the last step of xds_warm.h, for the next stream */
	struct xds_table *warm_to[2];
	struct xds_table *awaits_from; /* the same for xds_warm_awaits() */
	bool awaits;
};

struct xds_answer *xds_answer_new(struct xds_hub *hub, enum xds_type type, bool is_delta);
/* Keeps a reference to the name for as long as the answer lives. */
struct slice xds_answer_keep(struct xds_answer *answer, struct xds_name *name);

struct xds_nack {
	int32_t code;
	char text[];
};

/* One type of one stream. */
struct xds_lane {
	uint8_t type;
	bool has_named;	     /* names were sent once: none is no longer the wildcard (S.74) */
	bool is_resumed;     /* the client came with versions: it may use what it did not name */
	bool is_owed;	     /* a request waits for its answer, if there is one to give */
	bool must_answer;    /* even an empty one (S.77, S.87) */
	bool is_outstanding; /* the last response was not answered yet */
	bool is_rejected;    /* it was refused */
	bool must_retry;     /* delta: what is refused is offered again once nothing is on its way:
				what the client minded was replaced or let go of meanwhile */
	bool is_naming;	 /* delta: the request that waits named what it had not named before, and
			    nothing else is to be said */
	bool may_repeat; /* what uses this type was sent since: asking again means it (S.70) */
	uint32_t responses;
	uint32_t acks;
	uint32_t nacks;
	struct xds_table *table;
	uint64_t nonce;		    /* of the last response; 0: none */
	struct digest sent;	    /* version; valid with sent_ms */
	struct digest acknowledged; /* valid with acknowledged_ms */
	int64_t sent_ms;	    /* -1: never, as the others */
	int64_t acknowledged_ms;
	int64_t rejected_ms;
	uint32_t gone;	       /* what waits to be removed */
	int64_t gone_ms;       /* since when the last of it waits; -1: nothing */
	int64_t gone_since_ms; /* the first of it */
	int64_t awaited_ms; /* since when the client should ask for what new clusters wait for; -1
			     */
	int64_t refresh_ms; /* when a TTL wants the next refresh; -1: none */
	struct xds_nack *nack;
};

struct xds_stream {
	struct xds_feed *feed;
	const struct xds_type_row *row; /* NULL: aggregated */
	bool is_delta;
	struct xds_client client;
	uint64_t nonce; /* last one given out */
	int64_t deadline_ms;
	struct xds_answer *answer; /* the last, for the caller to look at */
	size_t lanes_count;
	struct xds_lane *lanes; /* by stream_rank; of a single type: behind the stream */
};

static inline const struct xds_type_row *xds_lane_row(const struct xds_lane *lane)
{
	return xds_type_row((enum xds_type)lane->type);
}

#endif
