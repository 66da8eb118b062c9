/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a long poll gets and when, as functions of values: no sockets, no clocks. Also the
 * inference of a rejection, because a REST client that refuses a version only repeats its old one.
 * Threads: any. Times are milliseconds of one monotonic clock.
 */
#ifndef XDSPUB_SERVE_LONGPOLL_H
#define XDSPUB_SERVE_LONGPOLL_H

#include "snapshot/version.h"

#define LONGPOLL_DEFAULT_TIMEOUT_MS 1000 /* Envoy's request_timeout unless configured (S.40) */
#define LONGPOLL_VERSIONLESS_MS	    1000 /* longest wait of a client that has nothing (S.45, S.48) */
#define LONGPOLL_OFFER_AGAIN_MS	    300000 /* a rejected version is offered again after this */

/* The version a client says it has, small enough to be kept for each parked client. */
struct held {
	uint8_t kind; /* enum held_kind */
	struct digest digest;
};
enum held_kind {
	HELD_NONE,   /* it has nothing yet */
	HELD_OURS,   /* a version in our text form */
	HELD_FOREIGN /* anything else: equals only itself */
};
struct held held_parse(struct slice version_info);
struct held held_of(const struct version *version);
bool held_equal(const struct held *a, const struct held *b);
/* The version's text; "" for none, "(foreign)" for one that is not ours. */
struct version held_text(const struct held *held);

/* How long a poll may be held: the text of x-envoy-expected-rq-timeout-ms (data NULL or useless:
 * the default) less a tenth, at least 200 ms, and never more than max_ms (S.40). */
int64_t longpoll_hold_ms(struct slice expected_timeout, int64_t max_ms);

/* The last answer with content to one (connection, node, type, names). */
struct longpoll_delivery {
	struct held before;    /* what the client had when it asked */
	struct held delivered; /* what it was sent */
	bool is_complete;      /* every byte left; otherwise it says nothing */
	int64_t at_ms;
};
/* Does asking with `held` now mean that the delivered version was refused? (S.48) */
bool longpoll_is_rejection(
	const struct longpoll_delivery *delivery, const struct held *held, int64_t now_ms);

struct longpoll_question {
	struct held held;
	struct held rejected; /* by inference; HELD_NONE: nothing */
	int64_t arrived_ms;
	int64_t hold_ms;
};
struct longpoll_state {
	int64_t news_after_ms; /* until then who has something waits (route_delay.h); 0: nobody */
	bool has_snapshot;     /* its group serves something */
	bool is_missing;       /* none of the names exists; never for a wildcard */
	bool missing_is_empty; /* see struct xds_type_row */
	struct held current;   /* version of exactly what would be sent */
};
enum longpoll_action {
	LONGPOLL_REPLY,	       /* 200 with what there is, even nothing */
	LONGPOLL_PARK,	       /* ask again on a change and at until_ms */
	LONGPOLL_NOT_MODIFIED, /* 304 */
	LONGPOLL_NOT_FOUND,    /* 404 */
	LONGPOLL_UNAVAILABLE   /* 503 */
};
struct longpoll_decision {
	enum longpoll_action action;
	int64_t until_ms; /* PARK only */
};
struct longpoll_decision longpoll_decide(const struct longpoll_question *question,
	const struct longpoll_state *state, int64_t now_ms);

#endif
