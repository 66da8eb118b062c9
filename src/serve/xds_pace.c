/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_pace.h"

#include "serve/longpoll.h"
#include "serve/xds_lane.h"
#include "serve/xds_look.h"
#include "serve/xds_step.h"
#include "serve/xds_warm.h"

#define REFRESH_LEAST_MS 100
#define DRAINS_MOST	 10

static bool has_news(const struct xds_lane *lane)
{
	const struct xds_page *whole = &lane->table->whole;

	return whole->look.has_news ||
	       (!whole->kind.is_delta && lane->is_rejected && whole->look.has_again);
}

/* A request waits, and there is something to say to it. */
static bool has_reply(const struct xds_lane *lane)
{
	return lane->is_owed && (lane->must_answer || has_news(lane));
}

static bool has_gone(const struct xds_lane *lane)
{
	return lane->table->whole.look.gone > 0;
}

static int64_t ttl_of(const struct xds_lane *lane)
{
	return lane->table->whole.look.ttl_ms;
}

/* The client has everything there is and said so. */
static bool is_settled(const struct xds_lane *lane)
{
	return xds_lane_is_idle(lane) ||
	       (!has_news(lane) && !has_gone(lane) && !lane->is_outstanding && !lane->is_rejected &&
		       !lane->must_answer);
}

/* When it is removed whether or not the client still uses it. What went last has its time, too,
 * though something else waited longer already; but not for ever. */
static int64_t remove_at_ms(const struct xds_stream *stream, const struct xds_lane *lane)
{
	int64_t drain_ms = stream->feed->hub->settings.drain_ms;
	int64_t at_ms = lane->gone_ms + drain_ms;
	int64_t most_ms = lane->gone_since_ms + DRAINS_MOST * drain_ms;

	return at_ms < most_ms ? at_ms : most_ms;
}

/* Notes since when something waits to be removed. */
static void watch_gone(struct xds_lane *lane, int64_t now_ms)
{
	uint32_t gone = lane->table->whole.look.gone;

	if (gone == 0)
		lane->gone_ms = lane->gone_since_ms = -1;
	else if (gone > lane->gone || lane->gone_ms < 0)
		lane->gone_ms = now_ms;
	if (gone && lane->gone_since_ms < 0)
		lane->gone_since_ms = now_ms;
	lane->gone = gone;
}

/* Nothing that the client still uses would be taken away (S.111). */
static bool may_remove(const struct xds_stream *stream, const struct xds_lane *lane, int64_t now_ms)
{
	uint16_t used_by = xds_lane_row(lane)->used_by;

	if (stream->row || now_ms >= remove_at_ms(stream, lane))
		return true;
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		const struct xds_lane *user;

		if (!(used_by & 1u << type))
			continue;
		user = xds_lane_find(stream, (enum xds_type)type);
		/* One that came back with state has not asked for its other types yet. */
		if (user ? !is_settled(user) : lane->is_resumed)
			return false;
	}
	return true;
}

/* Envoy gives its ACK of clusters only when none is warming any more: what they wait for must not
 * wait for that. It is behind them on the same stream, so it can't come too early. */
static bool is_waited_for(const struct xds_lane *lane, const struct xds_lane *former)
{
	return former->type == XDS_CDS && xds_lane_row(lane)->used_by & 1u << XDS_CDS;
}

/* Until when a push of the lane waits for answers to earlier responses; -1: it need not. What uses
 * clusters waits for the load assignments of new ones, too, which the client may ask for only after
 * its ACK. */
static int64_t push_after(const struct xds_stream *stream, const struct xds_lane *lane)
{
	int64_t pace_ms = stream->feed->hub->settings.pace_ms;
	int64_t until = lane->is_outstanding ? lane->sent_ms + pace_ms : -1;
	bool uses_clusters = xds_type_row(XDS_CDS)->used_by & 1u << lane->type;
	int64_t after_clusters = route_delay_until(&stream->feed->delay, (enum xds_type)lane->type);

	if (stream->row && after_clusters > until)
		until = after_clusters;

	for (const struct xds_lane *former = stream->lanes; former < lane; former++) {
		if (uses_clusters && former->awaited_ms >= 0 &&
			former->awaited_ms + pace_ms > until)
			until = former->awaited_ms + pace_ms;
		if ((!former->is_outstanding && !former->is_rejected) ||
			is_waited_for(lane, former))
			continue;
		if (!xds_lane_is_idle(former) && former->sent_ms + pace_ms > until)
			until = former->sent_ms + pace_ms;
	}
	return until;
}

static void wait_until(struct xds_stream *stream, int64_t at_ms)
{
	if (stream->deadline_ms < 0 || at_ms < stream->deadline_ms)
		stream->deadline_ms = at_ms;
}

static void plan_refresh(
	const struct xds_stream *stream, struct xds_lane *lane, int64_t ttl_ms, int64_t now_ms)
{
	int64_t at_ms = now_ms + (ttl_ms / 2 > REFRESH_LEAST_MS ? ttl_ms / 2 : REFRESH_LEAST_MS);

	if (ttl_ms < 0)
		lane->refresh_ms = -1;
	/* A delta push says nothing about the resources that are not in it. */
	else if (!stream->is_delta || lane->refresh_ms < 0 || at_ms < lane->refresh_ms)
		lane->refresh_ms = at_ms;
}

/* What the resources of the answer name may have to be sent again (S.70, S.101), or sent soon. */
static void owe_dependents(struct xds_stream *stream, const struct xds_lane *lane,
	struct xds_answer *answer, int64_t now_ms)
{
	struct xds_hub *hub = stream->feed->hub;

	for (size_t i = 0; i < stream->lanes_count; i++) {
		struct xds_lane *other = &stream->lanes[i];

		if (!(xds_lane_row(other)->used_by & 1u << lane->type))
			continue;
		other->may_repeat = true;
		if (lane->type == XDS_CDS && other->type == XDS_EDS && !xds_lane_is_idle(other) &&
			xds_warm_awaits(hub, other->table, answer))
			other->awaited_ms = now_ms;
		if (stream->is_delta && (other->type == XDS_EDS || other->type == XDS_SDS))
			xds_lane_set_table(stream, other, xds_warm_owe(hub, other->table, answer));
	}
}

/* From now on it counts as sent. */
static void hand_out(struct xds_stream *stream, struct xds_lane *lane, struct xds_answer *answer,
	struct xds_table *after, int64_t now_ms)
{
	stream->answer = xds_answer_ref(answer);
	xds_lane_set_table(stream, lane, xds_table_ref(after));
	xds_look(stream->feed, lane->table);
	lane->nonce = ++stream->nonce;
	lane->sent = held_of(&answer->version).digest;
	lane->sent_ms = now_ms;
	lane->is_outstanding = true;
	lane->is_rejected = false;
	lane->responses++;
}

/* The client has the clusters that it is served, so the version of a load assignment may say so:
 * it accepted them, or else it could not name what it did not name before. Once it refused some,
 * what it has is too hard to tell. */
static bool has_clusters(const struct xds_stream *stream, const struct xds_lane *lane)
{
	const struct xds_lane *clusters = xds_lane_find(stream, XDS_CDS);

	return clusters && clusters->nacks == 0 &&
	       (lane->is_naming || !(clusters->table->whole.flags & (XDS_PENDING | XDS_EARLIER)));
}

static bool send_step(
	struct xds_stream *stream, struct xds_lane *lane, bool with_gone, int64_t now_ms)
{
	/* What a client refused, or may yet refuse, can be news to it when it comes again. */
	bool is_news = has_news(lane) || lane->is_rejected || lane->is_outstanding;
	unsigned form = with_gone ? XDS_STEP_WITH_GONE : 0;
	struct xds_answer *answer;
	struct xds_table *after;

	if (lane->table->whole.kind.is_tagged && has_clusters(stream, lane))
		form |= XDS_STEP_TAGGED;
	answer = xds_step_take(stream->feed, lane->table, form, &after);
	hand_out(stream, lane, answer, after, now_ms);
	lane->is_owed = lane->must_answer = lane->is_naming = false;
	lane->may_repeat = false;
	if (with_gone)
		lane->gone_ms = lane->gone_since_ms = -1;
	plan_refresh(stream, lane, ttl_of(lane), now_ms);
	if (is_news)
		owe_dependents(stream, lane, answer, now_ms);
	return true;
}

/* True: sent. A refused response is not repeated for its TTL's sake. */
static bool send_refresh(struct xds_stream *stream, struct xds_lane *lane, int64_t now_ms)
{
	struct xds_answer *answer;
	struct xds_table *after;

	lane->refresh_ms = -1;
	plan_refresh(stream, lane, ttl_of(lane), now_ms);
	if (ttl_of(lane) < 0 || (!stream->is_delta && lane->is_rejected))
		return false;
	/* What a SotW client has is said with what is new to it: better out of order than that it
	 * drops everything. */
	if (!stream->is_delta && has_news(lane))
		return send_step(stream, lane, false, now_ms);
	answer = xds_step_refresh(stream->feed, lane->table, &after);
	if (answer->items_count == 0)
		return false;
	hand_out(stream, lane, answer, after, now_ms);
	return true;
}

/* True: sent. *is_held: an earlier type waits, so that no later one may be pushed. */
static bool serve_lane(struct xds_stream *stream, struct xds_lane *lane, bool before_reply,
	int64_t now_ms, bool *is_held)
{
	bool is_gone = has_gone(lane) && may_remove(stream, lane, now_ms);
	int64_t until;

	if (has_reply(lane))
		return send_step(stream, lane, is_gone, now_ms);
	lane->is_owed = false;
	if (has_news(lane) && !*is_held) {
		until = push_after(stream, lane);
		/* In front of a reply that may need it nothing waits. */
		if (before_reply || now_ms >= until)
			return send_step(stream, lane, is_gone, now_ms);
		wait_until(stream, until);
	}
	*is_held |= has_news(lane);
	if (is_gone && !has_news(lane)) {
		until = lane->is_outstanding ? push_after(stream, lane) : -1;
		if (now_ms >= until)
			return send_step(stream, lane, true, now_ms);
		wait_until(stream, until);
	} else if (has_gone(lane) && !is_gone) {
		wait_until(stream, remove_at_ms(stream, lane));
	}
	if (lane->refresh_ms >= 0 && now_ms >= lane->refresh_ms &&
		send_refresh(stream, lane, now_ms))
		return true;
	if (lane->refresh_ms >= 0)
		wait_until(stream, lane->refresh_ms);
	return false;
}

bool xds_pace_next(
	struct xds_stream *stream, int64_t now_ms, struct xds_lane **ret_lane, bool *ret_is_push)
{
	size_t replies = 0; /* lanes up to the last that has one */
	struct xds_feed *feed = stream->feed;
	bool is_held = false;

	if (feed->has_new_clusters) {
		route_delay_begin(&feed->delay, now_ms, feed->hub->settings.route_delay_ms);
		feed->has_new_clusters = false;
	}
	stream->deadline_ms = -1;
	if (!feed->snapshot)
		return false;
	for (size_t i = 0; i < stream->lanes_count; i++) {
		struct xds_lane *lane = &stream->lanes[i];

		xds_look(feed, lane->table);
		watch_gone(lane, now_ms);
		if (has_reply(lane))
			replies = i + 1;
	}
	for (size_t i = 0; i < stream->lanes_count; i++) {
		struct xds_lane *lane = &stream->lanes[i];
		bool is_reply = has_reply(lane);

		if (!serve_lane(stream, lane, i < replies, now_ms, &is_held))
			continue;
		*ret_lane = lane;
		*ret_is_push = !is_reply;
		return true;
	}
	return false;
}
