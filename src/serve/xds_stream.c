/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_stream.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "serve/xds_delta_request.h"
#include "serve/xds_lane.h"
#include "serve/xds_pace.h"
#include "serve/xds_sotw_request.h"

#define SHOWN_BYTES 80 /* of a name or type URL in a message */

struct xds_client xds_client_of(
	struct slice user_agent_name, const struct slice *features, size_t features_count)
{
	/* The protocol's texts have more than one spelling. */
	static const char *const spellings[] = {
		"xds.config.resource-in-sotw",
		"envoy.config.resource-in-sotw",
		"xds.config.supports-resource-in-sotw",
	};
	struct xds_client client = {.unwraps_resources = slice_is(user_agent_name, "envoy")};

	for (size_t i = 0; i < features_count; i++)
		for (size_t k = 0; k < sizeof(spellings) / sizeof(spellings[0]); k++)
			client.unwraps_resources |= slice_is(features[i], spellings[k]);
	return client;
}

struct xds_stream *xds_stream_new(
	struct xds_feed *feed, struct xds_method method, struct xds_client client)
{
	struct xds_stream *stream =
		xcalloc(1, sizeof(*stream) + (method.row ? sizeof(struct xds_lane) : 0));

	stream->feed = feed;
	stream->row = method.row;
	stream->is_delta = method.form == XDS_DELTA;
	stream->client = client;
	stream->deadline_ms = -1;
	if (method.row)
		stream->lanes = (struct xds_lane *)(stream + 1);
	feed->streams++;
	return stream;
}

void xds_stream_free(struct xds_stream *stream)
{
	if (!stream)
		return;
	xds_answer_unref(stream->answer);
	for (size_t i = 0; i < stream->lanes_count; i++)
		xds_lane_fini(stream, &stream->lanes[i]);
	stream->feed->streams--;
	if (!stream->row)
		free(stream->lanes);
	free(stream);
}

void xds_stream_move(struct xds_stream *stream, struct xds_feed *feed)
{
	assert(feed->hub == stream->feed->hub);
	if (feed == stream->feed)
		return;
	stream->feed->streams--;
	feed->streams++;
	stream->feed = feed;
	for (size_t i = 0; i < stream->lanes_count; i++)
		xds_lane_move(stream, &stream->lanes[i]);
}

struct xds_feed *xds_stream_feed(const struct xds_stream *stream)
{
	return stream->feed;
}

static void refuse(struct xds_outcome *outcome, enum xds_status status)
{
	outcome->event = XDS_EVENT_REFUSED;
	outcome->status = status;
}

static void explain(struct xds_outcome *outcome, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void explain(struct xds_outcome *outcome, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(outcome->problem, sizeof(outcome->problem), format, arguments);
	va_end(arguments);
}

/* The type that the request is about, or NULL with event and problem set (S.63, S.127). */
static const struct xds_type_row *read_type(const struct xds_stream *stream,
	const struct xds_request *request, struct xds_outcome *outcome)
{
	const struct xds_type_row *row = xds_type_by_url(request->type_url);
	struct buf shown = BUF_INIT;

	text_quote(&shown, request->type_url, SHOWN_BYTES);
	if (stream->row) {
		outcome->row = stream->row;
		if (request->type_url.length && row != stream->row) {
			refuse(outcome, XDS_STATUS_INVALID_ARGUMENT);
			explain(outcome, "type_url is \"%s\"; this service has only \"%s\"",
				buf_cstr(&shown), stream->row->type_url);
		}
	} else if (request->type_url.length == 0) {
		refuse(outcome, XDS_STATUS_INVALID_ARGUMENT);
		explain(outcome, "type_url is missing; an aggregated stream needs it");
	} else if (!row || (row->is_delta_only && !stream->is_delta)) {
		outcome->event = XDS_EVENT_UNKNOWN_TYPE;
		explain(outcome,
			row ? "\"%s\" is served by delta only: no answer"
			    : "\"%s\" is no type that is served: no answer",
			buf_cstr(&shown));
	} else {
		outcome->row = row;
	}
	buf_fini(&shown);
	return outcome->event == XDS_EVENT_REQUEST ? outcome->row : NULL;
}

/* How many names the lane will have at the most. Usually there is room whatever they are. */
static uint64_t count_after(const struct xds_stream *stream, const struct xds_lane *lane,
	const struct xds_request *request)
{
	uint64_t limit = stream->feed->hub->settings.names, count = request->names_count;

	if (!stream->is_delta || !lane)
		return count;
	count += lane->table->whole.subscribed;
	for (size_t i = 0; count > limit && i < request->names_count; i++) {
		const struct xds_entry *entry = xds_table_find(lane->table, request->names[i]);

		count -= entry && (entry->flags & XDS_SUBSCRIBED);
	}
	return count;
}

static bool names_fit(const struct xds_settings *settings, const struct slice *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (names[i].length > settings->name_bytes)
			return false;
	return true;
}

/* Before anything is changed: a client without limits shall not make us run out of memory. */
static bool fits(const struct xds_stream *stream, const struct xds_lane *lane,
	const struct xds_request *request, struct xds_outcome *outcome)
{
	const struct xds_settings *settings = &stream->feed->hub->settings;
	bool are_short = names_fit(settings, request->names, request->names_count) &&
			 names_fit(settings, request->unsubscribe, request->unsubscribe_count);

	if (count_after(stream, lane, request) > settings->names ||
		request->unsubscribe_count > settings->names ||
		request->versions_count > settings->names) {
		refuse(outcome, XDS_STATUS_RESOURCE_EXHAUSTED);
		explain(outcome, "more than %llu names of type %s on one stream",
			(unsigned long long)settings->names, outcome->row->name);
		return false;
	}
	for (size_t i = 0; i < request->versions_count; i++)
		are_short &= names_fit(settings, &request->versions[i].name, 1);
	if (!are_short) {
		refuse(outcome, XDS_STATUS_INVALID_ARGUMENT);
		explain(outcome, "a resource name of type %s is longer than %llu bytes",
			outcome->row->name, (unsigned long long)settings->name_bytes);
		return false;
	}
	return true;
}

void xds_stream_on_request(struct xds_stream *stream, const struct xds_request *request,
	int64_t now_ms, struct xds_outcome *ret_outcome)
{
	const struct xds_type_row *row;
	struct xds_lane *lane;
	bool is_first;

	xds_answer_unref(TAKE(stream->answer));
	*ret_outcome = (struct xds_outcome){.event = XDS_EVENT_REQUEST};
	row = read_type(stream, request, ret_outcome);
	if (!row)
		return;
	lane = xds_lane_find(stream, row->type);
	is_first = !lane;
	if (!fits(stream, lane, request, ret_outcome))
		return;
	if (is_first)
		lane = xds_lane_add(stream, row->type);
	if (stream->is_delta)
		ret_outcome->event = xds_delta_apply(stream, lane, request, is_first, now_ms);
	else
		ret_outcome->event = xds_sotw_apply(stream, lane, request, is_first, now_ms);
}

bool xds_stream_next(struct xds_stream *stream, int64_t now_ms, struct xds_response *ret_response)
{
	struct xds_lane *lane;

	xds_answer_unref(TAKE(stream->answer));
	*ret_response = (struct xds_response){.answer = NULL};
	if (!xds_pace_next(stream, now_ms, &lane, &ret_response->is_push))
		return false;
	ret_response->answer = stream->answer;
	ret_response->source = stream->feed->snapshot->source;
	xds_nonce_write(lane->nonce, ret_response->nonce);
	return true;
}

int64_t xds_stream_deadline(const struct xds_stream *stream)
{
	return stream->deadline_ms;
}

bool xds_stream_report(
	const struct xds_stream *stream, enum xds_type type, struct xds_type_report *ret_report)
{
	const struct xds_lane *lane = xds_lane_find(stream, type);

	*ret_report = (struct xds_type_report){.sent_ms = -1};
	if (!lane)
		return false;
	*ret_report = (struct xds_type_report){
		.is_wildcard = lane->table->whole.kind.is_wildcard,
		.names = lane->table->whole.subscribed,
		.is_outstanding = lane->is_outstanding,
		.sent_ms = lane->sent_ms,
		.acknowledged_ms = lane->acknowledged_ms,
		.rejected_ms = lane->rejected_ms,
		.responses = lane->responses,
		.acks = lane->acks,
		.nacks = lane->nacks,
	};
	if (lane->sent_ms >= 0)
		ret_report->sent = version_text(&lane->sent);
	if (lane->acknowledged_ms >= 0)
		ret_report->acknowledged = version_text(&lane->acknowledged);
	if (lane->is_rejected)
		ret_report->rejected = ret_report->sent;
	if (lane->nack) {
		ret_report->last_nack = lane->nack->text;
		ret_report->last_nack_code = lane->nack->code;
	}
	return true;
}

bool xds_stream_next_name(const struct xds_stream *stream, enum xds_type type, size_t *cursor,
	struct xds_name_report *ret_name)
{
	const struct xds_lane *lane = xds_lane_find(stream, type);
	const struct xds_entry *entry;

	if (!lane)
		return false;
	do {
		entry = xds_table_next(lane->table, cursor);
		if (!entry)
			return false;
	} while (!(entry->flags & (XDS_SUBSCRIBED | XDS_HELD)));
	*ret_name = (struct xds_name_report){
		.name = xds_name_slice(entry->name),
		.is_subscribed = (entry->flags & XDS_SUBSCRIBED) != 0,
		.is_held = (entry->flags & XDS_HELD) != 0,
		.digest = entry->digest,
		.is_rejected = (entry->flags & XDS_REJECTED) != 0,
	};
	return true;
}
