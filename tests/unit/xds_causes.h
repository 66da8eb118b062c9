/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a client of the model test said and was told, and whether each response had a cause: a
 * reply has a question, an ACK or a NACK being none (S.67, S.68); a push has something that was not
 * sent before, or that somebody needs again (S.70, S.101); what was refused is not sent again
 * before the set has changed (S.68, S.100).
 */
#ifndef XDSPUB_TESTS_UNIT_XDS_CAUSES_H
#define XDSPUB_TESTS_UNIT_XDS_CAUSES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/queue.h>

#include "serve/xds_stream.h"
#include "xds_world.h"

/* What a client holds of one resource; a value of its body. */
struct copy {
	bool is_there;
	bool is_pushed; /* nobody asked for it */
	char value[16];
	struct version version;
};

struct request {
	STAILQ_ENTRY(request) link;
	int64_t due_ms;
	enum xds_type type;
	char nonce[XDS_NONCE_SIZE];
	struct version version;
	bool has_error;
	unsigned answered; /* what was in the response that it accepts or refuses */
	struct version answered_version;
	bool is_question; /* even if it says the same as before */
	unsigned names;	  /* bits */
	unsigned dropped;
	bool star;
	bool drops_star;
	unsigned known; /* initial versions */
	struct version versions[NAMES];
};

struct response {
	STAILQ_ENTRY(response) link;
	int64_t due_ms;
	enum xds_type type;
	char nonce[XDS_NONCE_SIZE];
	struct version version;
	unsigned items;
	unsigned removed;
	struct copy copies[NAMES];
};

STAILQ_HEAD(requests, request);
STAILQ_HEAD(responses, response);

struct subject { /* one type of one client */
	bool is_asked;
	bool is_wildcard;
	bool has_named;
	bool is_legacy; /* the wildcard in its old form: without a star */
	unsigned names;
	struct copy held[NAMES];
	struct version accepted; /* SotW */
	char nonce[XDS_NONCE_SIZE];
	/* what the server was seen to send, to tell repetitions */
	struct copy last[NAMES];
	unsigned excused; /* may be sent again: asked for, or used by something new */
	unsigned refused; /* may be sent again, but not with this version of the set */
	struct version refused_version;
	struct version last_version;
	char last_nonce[XDS_NONCE_SIZE];
	/* what the server was told last */
	bool is_heard;
	unsigned heard_names;
	bool heard_star;
	bool is_open;	/* a question was not answered yet */
	bool may_retry; /* what was refused */
	unsigned warming;
	unsigned endpoints; /* EDS: Envoy uses what it had though it is told of a removal */
};

struct client {
	bool is_delta;
	bool is_envoy;
	bool is_picky;
	bool is_lame;	    /* answers late, sleeps */
	bool accepts_first; /* then asks for what that leads to; Envoy does not, others do */
	int single;	    /* type of its only service; -1: aggregated */
	int64_t asleep_ms;
	bool is_clean; /* no dangling references expected at the moment */
	struct xds_stream *stream;
	struct requests up;
	struct responses down;
	unsigned down_count;
	uint64_t responses; /* seen */
	int64_t up_ms;
	int64_t down_ms;
	struct subject subjects[XDS_TYPE_COUNT];
};

/* Of a name such as "n7", or the star. */
static unsigned index_of(struct slice name)
{
	assert_int_equal(name.length, 2);
	return (unsigned)(name.data[1] - '0');
}

static bool sets_by_absence(enum xds_type type)
{
	return type == XDS_CDS || type == XDS_LDS;
}

/* SotW: has something that was not in the last one, or lacks what was; and is the last from now. */
static bool has_changed(struct subject *subject, const struct xds_answer *sent)
{
	struct copy now[NAMES] = {{.is_there = false}};
	bool has_changed = false;

	for (size_t i = 0; i < sent->items_count; i++) {
		struct copy *copy = &now[index_of(sent->items[i].name)];

		copy->is_there = true;
		copy->version = xds_item_version(&sent->items[i]);
	}
	for (unsigned i = 0; i < NAMES; i++) {
		const struct copy *last = &subject->last[i];

		has_changed |= now[i].is_there &&
			       !(last->is_there && version_equal(&last->version, &now[i].version));
		/* What was refused may be right with less in it. */
		has_changed |= (sets_by_absence(sent->type) || subject->refused) &&
			       last->is_there && !now[i].is_there;
	}
	memcpy(subject->last, now, sizeof(now));
	return has_changed;
}

/* Delta: what is sent though it was sent before. */
static unsigned find_repeated(
	struct subject *subject, const struct xds_answer *sent, unsigned *ret_all)
{
	unsigned repeated = 0, all = 0;

	for (size_t i = 0; i < sent->items_count; i++) {
		unsigned index = index_of(sent->items[i].name);
		struct version version = xds_item_version(&sent->items[i]);
		struct copy *last = &subject->last[index];

		if (last->is_there && version_equal(&last->version, &version))
			repeated |= 1u << index;
		last->is_there = true;
		last->version = version;
		all |= 1u << index;
	}
	for (size_t i = 0; i < sent->removed_count; i++) {
		unsigned index = index_of(sent->removed[i]);

		assert_false(all & 1u << index); /* S.97 */
		subject->last[index].is_there = false;
		all |= 1u << index;
	}
	*ret_all = all;
	return repeated;
}

/* What the client has of what there is no more. */
static unsigned find_gone(
	const struct world *world, enum xds_type type, const struct subject *subject)
{
	const struct resource_set *set = xds_feed_snapshot(world->feed)->sets[type];
	unsigned gone = 0;

	for (unsigned i = 0; i < NAMES; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%u", i);
		if (subject->last[i].is_there && !resource_set_find(set, slice_of(name)))
			gone |= 1u << i;
	}
	return gone;
}

static void check_delta(
	struct world *world, struct client *client, const struct xds_answer *sent, bool is_push)
{
	struct subject *subject = &client->subjects[sent->type];
	unsigned all, repeated, gone = find_gone(world, sent->type, subject), cause;

	repeated = find_repeated(subject, sent, &all);
	if (all == 0 && is_push)
		fail_msg("%lld ms: empty delta response", (long long)world->now_ms);
	cause = subject->refused & ((all & subject->excused) | gone);
	repeated &= ~subject->excused;
	if (repeated & ~subject->refused)
		fail_msg("%lld ms: %s 0x%x was sent again", (long long)world->now_ms,
			xds_type_row(sent->type)->name, repeated);
	/* What was refused together is tried again together when some of it is sent for a reason,
	 * or is gone: who knows which of it was minded. */
	if (repeated && !cause && is_push &&
		version_equal(&sent->version, &subject->refused_version))
		fail_msg("%lld ms: %s 0x%x was refused, and comes again though nothing changed",
			(long long)world->now_ms, xds_type_row(sent->type)->name, repeated);
	subject->excused &= ~all;
	subject->refused &= ~all;
	/* S.101: what hangs on a cluster that is sent may follow. */
	if (sent->type == XDS_CDS)
		client->subjects[XDS_EDS].excused |= all;
	if (sent->type == XDS_CDS || sent->type == XDS_LDS)
		client->subjects[XDS_SDS].excused = ~0u;
}

/* Every response needs a reason. */
static void check_cause(
	struct world *world, struct client *client, const struct xds_response *seen, bool is_quiet)
{
	const struct xds_answer *sent = seen->answer;
	struct subject *subject = &client->subjects[sent->type];

	assert_false(is_quiet);
	memcpy(subject->last_nonce, seen->nonce, XDS_NONCE_SIZE);
	if (!seen->is_push && !subject->is_open)
		fail_msg("%lld ms: a %s reply without a question", (long long)world->now_ms,
			client->is_delta ? "delta" : "SotW");
	subject->is_open = false;
	client->responses++;
	if (client->is_delta) {
		check_delta(world, client, sent, seen->is_push);
	} else {
		if (!has_changed(subject, sent) && seen->is_push)
			fail_msg("%lld ms: a SotW push of %s without news",
				(long long)world->now_ms, xds_type_row(sent->type)->name);
		if (seen->is_push && version_equal(&sent->version, &subject->last_version))
			fail_msg("%lld ms: a SotW push of the version that was sent last",
				(long long)world->now_ms);
	}
	subject->refused &= client->is_delta ? ~0u : 0;
	subject->last_version = sent->version;
}

/* What the server knows by a request, and owes for it. */
static void note(struct client *client, const struct request *request, enum xds_event event)
{
	struct subject *subject = &client->subjects[request->type];
	bool says_more =
		request->names & ~subject->heard_names || (request->star && !subject->heard_star);
	bool says_less =
		subject->heard_names & ~request->names || (subject->heard_star && !request->star);
	bool is_last;

	if (event == XDS_EVENT_STALE)
		return;
	/* What the client minded may be what it let go of since, or what was replaced. Which of
	 * several unanswered responses held what is not kept (they were sent because an ACK took
	 * too long), so all that was refused may come again, once, when all is answered. */
	is_last = strcmp(request->nonce, subject->last_nonce) == 0;
	subject->may_retry |=
		request->dropped || request->drops_star || (request->has_error && !is_last);
	if (request->has_error) {
		subject->refused |= is_last ? request->answered : ~0u;
		subject->refused_version = request->answered_version;
	}
	if (is_last && subject->may_retry) {
		subject->excused = ~0u;
		subject->may_retry = false;
	}
	subject->is_open |= request->is_question || !subject->is_heard || says_more;
	/* SotW: less than what was refused may be right. */
	subject->is_open |= !client->is_delta && says_less && subject->refused;
	subject->is_heard = true;
	subject->heard_star = request->star;
	/* Delta requests say what changes; there each change is a question of its own. */
	subject->heard_names = client->is_delta ? ~0u : request->names;
}

#endif
