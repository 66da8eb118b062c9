/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One discovery stream, state of the world or delta, of one type or aggregated: every decision of
 * the protocol, without sockets, clocks or threads. A transport
 *   - makes a stream when the first message, which has the node, is there and its group is known,
 *   - gives each message (the first, too) to xds_stream_on_request(),
 *   - calls xds_stream_next() whenever it can write: after a request, after xds_feed_set(), at the
 *     deadline and when the former response has left; true means "send this, now", so ask again.
 * A client that cannot take more is not asked and gets the newest state later (S.115).
 * A unary Fetch is a stream that ends after the first response; with none, reply UNAVAILABLE.
 * Threads: the hub's. Times: milliseconds of one monotonic clock.
 */
#ifndef XDSPUB_SERVE_XDS_STREAM_H
#define XDSPUB_SERVE_XDS_STREAM_H

#include "serve/xds_answer.h"
#include "serve/xds_hub.h"
#include "serve/xds_method.h"

#define XDS_NONCE_SIZE 21 /* with the NUL */

/* Values of grpc-status that are used here. */
enum xds_status {
	XDS_STATUS_OK = 0,
	XDS_STATUS_INVALID_ARGUMENT = 3,
	XDS_STATUS_PERMISSION_DENIED = 7,
	XDS_STATUS_RESOURCE_EXHAUSTED = 8,
	XDS_STATUS_UNAVAILABLE = 14
};

struct xds_version_pair {
	struct slice name;
	struct slice version;
};

/* A DiscoveryRequest or DeltaDiscoveryRequest; everything is borrowed for the call. */
struct xds_request {
	struct slice type_url;
	struct slice nonce; /* response_nonce */
	bool has_error;	    /* error_detail is there */
	int32_t error_code;
	struct slice error_message;
	const struct slice *names; /* resource_names; delta: resource_names_subscribe */
	size_t names_count;
	struct slice version_info;	 /* SotW */
	const struct slice *unsubscribe; /* delta */
	size_t unsubscribe_count;
	const struct xds_version_pair *versions; /* delta: initial_resource_versions */
	size_t versions_count;
};

enum xds_event {
	XDS_EVENT_REQUEST,	/* first of its type, or a changed subscription */
	XDS_EVENT_ACK,		/* may also have changed the subscription */
	XDS_EVENT_NACK,		/* see xds_type_report for the text */
	XDS_EVENT_STALE,	/* SotW: for an older nonce, nothing done (S.66) */
	XDS_EVENT_REPEAT,	/* asks again for what it has (S.70), or says nothing new */
	XDS_EVENT_UNKNOWN_TYPE, /* ignored (S.127): log it once */
	XDS_EVENT_REFUSED	/* end the stream with status and problem */
};

/* What a request amounted to. */
struct xds_outcome {
	enum xds_event event;
	const struct xds_type_row *row; /* NULL when unknown */
	enum xds_status status;		/* not OK only when refused */
	char problem[256];		/* for grpc-message: valid UTF-8, no control characters */
};

/* What the client is known to understand, from its first node (S.83, S.84). */
struct xds_client {
	bool unwraps_resources; /* may get Resource around a SotW resource, for its TTL */
};
/* user_agent_name and client_features of the node; "" and NULL when absent. */
struct xds_client xds_client_of(
	struct slice user_agent_name, const struct slice *features, size_t features_count);

struct xds_stream;
struct xds_stream *xds_stream_new(
	struct xds_feed *feed, struct xds_method method, struct xds_client client);
void xds_stream_free(struct xds_stream *stream);
/* The node belongs to another group now. Ask for xds_stream_next() afterwards. */
void xds_stream_move(struct xds_stream *stream, struct xds_feed *feed);
struct xds_feed *xds_stream_feed(const struct xds_stream *stream);

void xds_stream_on_request(struct xds_stream *stream, const struct xds_request *request,
	int64_t now_ms, struct xds_outcome *ret_outcome);

struct xds_response {
	struct xds_answer *answer; /* borrowed until the next call with this stream: take a
				      reference to keep it */
	char nonce[XDS_NONCE_SIZE];
	struct rcstr *source; /* control_plane.identifier; borrowed from the snapshot, or NULL */
	bool is_push;	      /* nobody asked: news, a refresh or a re-warming */
};
/* The next response, if one is due now; from then on it counts as sent. */
bool xds_stream_next(struct xds_stream *stream, int64_t now_ms, struct xds_response *ret_response);
/* When to ask again though nothing else happens; -1: never. Valid after xds_stream_next() said
 * false. */
int64_t xds_stream_deadline(const struct xds_stream *stream);

/* For the status document and CSDS. */
struct xds_type_report {
	bool is_wildcard;
	size_t names;		     /* subscribed by name */
	struct version sent;	     /* "" before the first */
	struct version acknowledged; /* "" before the first */
	struct version rejected;     /* "" unless the last response was refused */
	bool is_outstanding;	     /* the last response has neither ACK nor NACK yet */
	int64_t sent_ms;	     /* -1: never */
	int64_t acknowledged_ms;     /* -1: never */
	int64_t rejected_ms;	     /* -1: never */
	uint64_t responses, acks, nacks;
	const char *last_nack; /* text of the last NACK, cut to 1,024 bytes; NULL: never one */
	int32_t last_nack_code;
};
/* False: the client never asked for the type on this stream. */
bool xds_stream_report(
	const struct xds_stream *stream, enum xds_type type, struct xds_type_report *ret_report);
/* One name that the stream subscribes to or holds. */
struct xds_name_report {
	struct slice name;
	bool is_subscribed; /* by name */
	bool is_held;	    /* `digest` was sent to it */
	struct digest digest;
	bool is_rejected; /* delta: it was in a refused response */
};
/* Next name of the type, in no particular order; start with *cursor 0; false at the end. */
bool xds_stream_next_name(const struct xds_stream *stream, enum xds_type type, size_t *cursor,
	struct xds_name_report *ret_name);

#endif
