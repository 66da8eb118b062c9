/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_sotw.h"

#include <stdlib.h>

#include "base/mem.h"
#include "serve/xds_lane.h"

/* What a list of names asks for. */
struct wish {
	bool is_wildcard;
	struct slice *names; /* sorted, without "*" */
	size_t count;
};

static struct wish read_wish(struct xds_lane *lane, const struct xds_request *request)
{
	bool can_be_wildcard = xds_lane_row(lane)->is_wildcard;
	struct wish wish = {.is_wildcard = false};
	size_t kept = 0;

	if (request->names_count == 0)
		wish.is_wildcard = can_be_wildcard && !lane->has_named;
	else
		lane->has_named = true;
	wish.names = xds_names_sort(request->names, request->names_count, &wish.count);
	for (size_t i = 0; i < wish.count; i++) {
		if (can_be_wildcard && slice_is(wish.names[i], "*"))
			wish.is_wildcard = true;
		else
			wish.names[kept++] = wish.names[i];
	}
	wish.count = kept;
	return wish;
}

/* Whether the table asks for the very same. */
static bool is_same_wish(const struct xds_table *table, const struct wish *wish)
{
	size_t name = 0;

	if (table->kind.is_wildcard != wish->is_wildcard || table->subscribed != wish->count)
		return false;
	for (size_t i = 0; i < table->count; i++) {
		const struct xds_entry *entry = &table->entries[i];

		if (!(entry->flags & XDS_SUBSCRIBED))
			continue;
		if (!slice_equal(xds_name_slice(entry->name), wish->names[name++]))
			return false;
	}
	return true;
}

/* Makes the table that asks for the wish and still knows what was sent. True: there is something
 * in the wish that was not asked for before. */
static bool set_wish(struct xds_stream *stream, struct xds_lane *lane, const struct wish *wish)
{
	const struct xds_table *table = lane->table;
	struct xds_kind kind = table->kind;
	bool is_more = wish->is_wildcard && !kind.is_wildcard;
	struct xds_draft draft;
	size_t at = 0;

	kind.is_wildcard = wish->is_wildcard;
	xds_draft_init(&draft, &stream->feed->hub->registry, kind, wish->count);
	for (size_t i = 0; i < wish->count || at < table->count;) {
		const struct xds_entry *entry = at < table->count ? &table->entries[at] : NULL;
		int order = entry ? -1 : 1;

		if (entry && i < wish->count)
			order = slice_compare(xds_name_slice(entry->name), wish->names[i]);
		if (order > 0) {
			xds_draft_add_text(&draft, wish->names[i], NULL, XDS_SUBSCRIBED);
			is_more = true;
		} else {
			uint64_t held = entry->flags & XDS_HELD;
			uint64_t flags = held | (order == 0 ? XDS_SUBSCRIBED : 0);

			/* What was part of the wildcard alone is unknown to the client's new wish.
			 */
			is_more |= order == 0 && !(entry->flags & XDS_SUBSCRIBED);
			if (order == 0 || (wish->is_wildcard && held))
				xds_draft_add(
					&draft, entry->name, held ? &entry->digest : NULL, flags);
		}
		i += order >= 0;
		at += order <= 0;
	}
	xds_lane_set_table(stream, lane, xds_draft_finish(&draft));
	return is_more;
}

/* ACK, NACK or neither, from a request that has the nonce of the last response (S.68). */
static enum xds_event read_verdict(
	struct xds_lane *lane, const struct xds_request *request, int64_t now_ms)
{
	struct slice sent = slice_of(lane->sent.text);

	if (request->has_error) {
		xds_lane_reject(lane, request->error_code, request->error_message, now_ms);
		return XDS_EVENT_NACK;
	}
	if (!lane->is_outstanding)
		return XDS_EVENT_REPEAT;
	if (slice_equal(request->version_info, sent)) {
		xds_lane_acknowledge(lane, now_ms);
		return XDS_EVENT_ACK;
	}
	/* Envoy answers like this, too, when it lost interest meanwhile: no complaint. */
	if (request->names_count == 0 && !lane->table->kind.is_wildcard) {
		lane->is_outstanding = false;
		return XDS_EVENT_REQUEST;
	}
	xds_lane_reject(lane, 0, SLICE("refused without error_detail"), now_ms);
	return XDS_EVENT_NACK;
}

enum xds_event xds_sotw_apply(struct xds_stream *stream, struct xds_lane *lane,
	const struct xds_request *request, bool is_first, int64_t now_ms)
{
	enum xds_event event = XDS_EVENT_REQUEST;
	bool is_question;
	struct wish wish;

	/* Before the first response of the type on this stream a nonce is some other stream's. */
	if (lane->nonce) {
		if (!xds_lane_has_nonce(lane, request->nonce))
			return XDS_EVENT_STALE;
		event = read_verdict(lane, request, now_ms);
	}
	wish = read_wish(lane, request);
	/* Not the answer to a response, and what names this type was sent since: the client asks
	 * again for what it needs to warm up, perhaps with other names at the same time. */
	is_question = is_first || (event == XDS_EVENT_REPEAT && lane->may_repeat);
	if (is_first || !is_same_wish(lane->table, &wish)) {
		/* Less than what was refused may be right: to shrink is a question then, too. */
		is_question |= lane->is_rejected;
		is_question |= set_wish(stream, lane, &wish);
		if (event == XDS_EVENT_REPEAT)
			event = XDS_EVENT_REQUEST;
	}
	if (is_question)
		lane->is_owed = lane->must_answer = true;
	if (xds_lane_is_idle(lane))
		lane->is_owed = lane->must_answer = false; /* S.74, S.76 */
	free(wish.names);
	return event;
}
