/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_sotw_request.h"

#include "serve/xds_draft.h"
#include "serve/xds_lane.h"

/* Whether the lane asks for the very same already, as an ACK does. In any order, so that a
 * thousand names need not be sorted for it. */
static bool has_same_names(const struct xds_lane *lane, const struct xds_request *request)
{
	const struct xds_page *whole = &lane->table->whole;
	bool can_be_wildcard = xds_lane_row(lane)->is_wildcard;
	bool is_wildcard = can_be_wildcard && !lane->has_named && request->names_count == 0;
	size_t count = 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < request->names_count; i++) {
		if (can_be_wildcard && slice_is(request->names[i], "*")) {
			is_wildcard = true;
		} else {
			sum += xds_name_sum(request->names[i]);
			count++;
		}
	}
	return whole->kind.is_wildcard == is_wildcard && whole->subscribed == count &&
	       whole->names_sum == sum;
}

/* Makes the table that asks for the names and still knows what was sent. True: it asks for
 * something that was not asked for before. */
static bool set_names(
	struct xds_stream *stream, struct xds_lane *lane, const struct xds_request *request)
{
	struct xds_table *table = lane->table;
	struct xds_kind kind = table->whole.kind;
	bool can_be_wildcard = xds_lane_row(lane)->is_wildcard, is_more;
	const struct xds_entry *entry;
	struct xds_draft draft;
	size_t cursor = 0;

	kind.is_wildcard = can_be_wildcard && !lane->has_named && request->names_count == 0;
	for (size_t i = 0; can_be_wildcard && i < request->names_count; i++)
		kind.is_wildcard |= slice_is(request->names[i], "*");
	is_more = kind.is_wildcard && !table->whole.kind.is_wildcard;
	xds_draft_begin(&draft, &stream->feed->hub->registry, table, kind);
	/* First without any names, and then what is named: the last word counts. */
	while ((entry = xds_table_next(table, &cursor)))
		xds_draft_put(&draft, entry->name, entry->flags & XDS_HELD ? &entry->digest : NULL,
			kind.is_wildcard ? entry->flags & XDS_HELD : 0);
	for (size_t i = 0; i < request->names_count; i++) {
		struct slice name = request->names[i];

		if (can_be_wildcard && slice_is(name, "*"))
			continue;
		entry = xds_table_find(table, name);
		if (!entry)
			xds_draft_put_text(&draft, name, NULL, XDS_SUBSCRIBED);
		else
			xds_draft_put(&draft, entry->name,
				entry->flags & XDS_HELD ? &entry->digest : NULL,
				(entry->flags & XDS_HELD) | XDS_SUBSCRIBED);
		/* What was part of the wildcard alone is unknown to the client's new wish. */
		is_more |= !entry || !(entry->flags & XDS_SUBSCRIBED);
	}
	xds_lane_set_table(stream, lane, xds_draft_finish(&draft));
	return is_more;
}

/* True: a changed subscription asks for something. */
static bool change_names(struct xds_stream *stream, struct xds_lane *lane,
	const struct xds_request *request, bool *ret_is_changed)
{
	struct xds_table *before = xds_table_ref(lane->table);
	bool is_more = set_names(stream, lane, request);

	*ret_is_changed = lane->table != before;
	xds_table_unref(&stream->feed->hub->registry, before);
	return is_more;
}

/* ACK, NACK or neither, from a request that has the nonce of the last response (S.68). */
static enum xds_event read_verdict(
	struct xds_lane *lane, const struct xds_request *request, int64_t now_ms)
{
	struct version sent = version_text(&lane->sent);

	if (request->has_error) {
		xds_lane_reject(lane, request->error_code, request->error_message, now_ms);
		return XDS_EVENT_NACK;
	}
	if (!lane->is_outstanding)
		return XDS_EVENT_REPEAT;
	if (slice_is(request->version_info, sent.text)) {
		xds_lane_acknowledge(lane, now_ms);
		return XDS_EVENT_ACK;
	}
	/* Envoy answers like this, too, when it lost interest meanwhile: no complaint. */
	if (request->names_count == 0 && !lane->table->whole.kind.is_wildcard) {
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
	bool is_question, is_changed;

	/* Before the first response of the type on this stream a nonce is some other stream's. */
	if (lane->nonce) {
		if (!xds_lane_has_nonce(lane, request->nonce))
			return XDS_EVENT_STALE;
		event = read_verdict(lane, request, now_ms);
	}
	/* Not the answer to a response, and what names this type was sent since: the client asks
	 * again for what it needs to warm up, perhaps with other names at the same time. */
	is_question = is_first || (event == XDS_EVENT_REPEAT && lane->may_repeat);
	if (!has_same_names(lane, request)) {
		is_question |= change_names(stream, lane, request, &is_changed);
		/* Less than what was refused may be right: to shrink is a question then, too. */
		is_question |= is_changed && lane->is_rejected;
		if (is_changed && event == XDS_EVENT_REPEAT)
			event = XDS_EVENT_REQUEST;
		if (is_changed)
			lane->awaited_ms = -1;
	}
	lane->has_named |= request->names_count > 0;
	if (is_question)
		lane->is_owed = lane->must_answer = true;
	if (xds_lane_is_idle(lane))
		lane->is_owed = lane->must_answer = false; /* S.74, S.76 */
	return event;
}
