/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_discovery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "serve/grpc/grpc_clients.h"
#include "serve/grpc/grpc_request.h"
#include "serve/grpc/grpc_response.h"

#define NO_NODE                                                                                    \
	"the first message of a stream must have a node, because its group depends on it "         \
	"(in Envoy's bootstrap: node: {id: ..., cluster: ...})"

void *grpc_discovery_open(
	struct grpc_dispatch *dispatch, struct grpc_call *call, struct xds_method method)
{
	struct grpc_stream *stream = xcalloc(1, sizeof(*stream));

	grpc_service_call_init(&stream->base, dispatch, call);
	stream->member.call = call;
	stream->row = method.row;
	stream->form = (uint8_t)method.form;
	return stream;
}

static void end(struct grpc_stream *stream, enum grpc_status status, const char *text)
{
	stream->is_ended = true;
	grpc_service_call_refuse(&stream->base, status, text);
}

static void finish(struct grpc_stream *stream)
{
	stream->is_ended = true;
	grpc_call_finish(stream->base.call, GRPC_OK, NULL);
}

/* ---- the first message ---- */

/* What to do about it, for whoever reads the client's log. */
static void explain(const struct xds_admission *admission, bool has_node, char *out, size_t size)
{
	if (admission->status == XDS_STATUS_INVALID_ARGUMENT && !has_node)
		snprintf(out, size, "%s", NO_NODE);
	else if (admission->status == XDS_STATUS_PERMISSION_DENIED)
		snprintf(out, size, "%s; add a group for it to groups.yaml", admission->problem);
	else
		snprintf(out, size, "%s", admission->problem);
}

static bool admit(struct grpc_stream *stream, const struct grpc_request *request, int64_t now_ms)
{
	struct grpc_dispatch *dispatch = stream->base.dispatch;
	struct slice node = {NULL, 0};
	struct grpc_node_names names;
	struct xds_admission admission;
	struct grpc_feed *feed;
	char text[512];

	if (request->has_node)
		node = request->node.data ? request->node : SLICE("");
	admission = grpc_node_admit(&dispatch->nodes, node, &stream->node, &names);
	if (admission.status != XDS_STATUS_OK) {
		explain(&admission, request->has_node, text, sizeof(text));
		if (admission.status == XDS_STATUS_PERMISSION_DENIED)
			grpc_clients_unmatched(
				dispatch, &names, grpc_call_peer(stream->base.call), now_ms);
		end(stream, (enum grpc_status)admission.status, text);
		return false;
	}
	feed = grpc_feeds_get(&dispatch->feeds, stream->node->group);
	stream->stream = xds_stream_new(feed->xds,
		(struct xds_method){.form = stream->form, .row = stream->row}, admission.client);
	grpc_feed_join(feed, &stream->member);
	LIST_INSERT_HEAD(&dispatch->streams, stream, link);
	dispatch->streams_count++;
	grpc_clients_joined(stream, now_ms);
	return true;
}

/* ---- messages ---- */

static void take_outcome(
	struct grpc_stream *stream, const struct xds_outcome *outcome, int64_t now_ms)
{
	struct grpc_counters *counters = &stream->base.dispatch->counters;

	switch (outcome->event) {
	case XDS_EVENT_ACK:
		counters->acks++;
		break;
	case XDS_EVENT_NACK:
		counters->nacks++;
		grpc_clients_rejected(stream, outcome->row->type, now_ms);
		break;
	case XDS_EVENT_STALE:
		counters->stale++;
		break;
	case XDS_EVENT_UNKNOWN_TYPE:
		counters->unknown_types++;
		if (!stream->has_unknown_type)
			grpc_clients_unknown_type(stream, outcome->problem, now_ms);
		stream->has_unknown_type = true;
		break;
	case XDS_EVENT_REFUSED:
		grpc_clients_refused(stream, outcome->problem, now_ms);
		end(stream, (enum grpc_status)outcome->status, outcome->problem);
		break;
	case XDS_EVENT_REQUEST:
	case XDS_EVENT_REPEAT:
		break;
	}
}

static void on_message(void *state, struct slice message)
{
	struct grpc_stream *stream = state;
	struct grpc_dispatch *dispatch = stream->base.dispatch;
	int64_t now_ms = grpc_loop_now_ms(dispatch->loop);
	struct grpc_request request;
	struct xds_outcome outcome;
	char problem[256];
	int error;

	if (stream->is_ended)
		return;
	dispatch->counters.requests++;
	if (stream->form == XDS_FETCH && stream->stream) {
		end(stream, GRPC_INVALID_ARGUMENT, "a Fetch is one request");
		return;
	}
	error = grpc_request_read(message, stream->form == XDS_DELTA, &dispatch->options->limits,
		&request, problem, sizeof(problem));
	if (error) {
		grpc_clients_refused(stream, problem, now_ms);
		end(stream, error == -E2BIG ? GRPC_RESOURCE_EXHAUSTED : GRPC_INVALID_ARGUMENT,
			problem);
		return;
	}
	if (stream->stream || admit(stream, &request, now_ms)) {
		xds_stream_on_request(stream->stream, &request.xds, now_ms, &outcome);
		take_outcome(stream, &outcome, now_ms);
	}
	grpc_request_fini(&request);
}

static void on_half_closed(void *state)
{
	struct grpc_stream *stream = state;

	if (stream->is_ended)
		return;
	stream->is_half_closed = true;
	if (stream->form == XDS_FETCH && !stream->stream)
		end(stream, GRPC_INVALID_ARGUMENT, "a Fetch needs a request");
	else
		grpc_call_wake(stream->base.call);
}

/* ---- responses ---- */

static bool send(struct grpc_stream *stream, const struct xds_response *response, int64_t now_ms)
{
	struct grpc_counters *counters = &stream->base.dispatch->counters;
	struct grpc_body *body = grpc_response_body(response->answer, !stream->row);
	struct buf tail = BUF_INIT;

	if (!body) {
		end(stream, GRPC_RESOURCE_EXHAUSTED,
			"the response is larger than gRPC can carry; ask for fewer resources");
		return false;
	}
	grpc_response_tail(response, &tail);
	grpc_call_send(stream->base.call, body, buf_slice(&tail));
	grpc_clients_sent(stream, response->answer->type, body->length + tail.length, now_ms);
	buf_fini(&tail);
	counters->responses++;
	counters->pushes += response->is_push;
	return true;
}

/* One response, or the reason why there is none. */
static void answer_fetch(struct grpc_stream *stream, int64_t now_ms)
{
	struct xds_response response;
	char text[256];

	if (!xds_feed_snapshot(stream->member.feed->xds)) {
		snprintf(text, sizeof(text), "group %s serves nothing yet, try again",
			stream->node->group->text);
		end(stream, GRPC_UNAVAILABLE, text);
	} else if (!xds_stream_next(stream->stream, now_ms, &response)) {
		end(stream, GRPC_UNAVAILABLE,
			"there is nothing to answer with: no names, or none that exists");
	} else if (send(stream, &response, now_ms)) {
		finish(stream);
	}
}

static void on_ready(void *state, int64_t now_ms)
{
	struct grpc_stream *stream = state;
	struct xds_response response;

	if (stream->is_ended || !grpc_call_can_send(stream->base.call))
		return;
	if (!stream->stream) {
		if (stream->is_half_closed)
			finish(stream);
	} else if (stream->form == XDS_FETCH) {
		answer_fetch(stream, now_ms);
	} else if (xds_stream_next(stream->stream, now_ms, &response)) {
		(void)send(stream, &response, now_ms);
	} else if (stream->is_half_closed) {
		/* It has the answer to what it asked (S.60). */
		finish(stream);
	} else {
		grpc_call_set_deadline(stream->base.call, xds_stream_deadline(stream->stream));
	}
}

static void on_closed(void *state)
{
	struct grpc_stream *stream = state;
	struct grpc_dispatch *dispatch = stream->base.dispatch;

	if (stream->stream) {
		grpc_clients_left(stream, grpc_loop_now_ms(dispatch->loop));
		LIST_REMOVE(stream, link);
		dispatch->streams_count--;
		xds_stream_free(stream->stream);
		grpc_feed_leave(&stream->member);
	}
	grpc_node_unref(&dispatch->nodes, stream->node);
	grpc_service_call_fini(&stream->base);
	free(stream);
}

const struct grpc_handler grpc_discovery_handler = {
	.message = on_message,
	.half_closed = on_half_closed,
	.ready = on_ready,
	.closed = on_closed,
};

/* ---- other groups ---- */

static void move(struct grpc_stream *stream, int64_t now_ms)
{
	struct grpc_feed *feed = grpc_feeds_get(&stream->base.dispatch->feeds, stream->node->group);

	if (feed == stream->member.feed)
		return;
	grpc_clients_moved(stream, now_ms);
	xds_stream_move(stream->stream, feed->xds);
	grpc_feed_leave(&stream->member);
	grpc_feed_join(feed, &stream->member);
	grpc_call_wake(stream->base.call);
}

void grpc_discovery_admit_again(struct grpc_dispatch *dispatch, int64_t now_ms)
{
	struct grpc_stream *stream;

	LIST_FOREACH(stream, &dispatch->streams, link)
	{
		struct xds_admission admission = {.status = XDS_STATUS_OK};
		struct grpc_node_names names = {.id = ""};
		char text[512];

		if (stream->is_ended)
			continue;
		if (stream->node->generation != dispatch->nodes.generation || !stream->node->group)
			admission = grpc_node_admit_again(&dispatch->nodes, stream->node);
		if (stream->node->group) {
			move(stream, now_ms);
			continue;
		}
		snprintf(names.id, sizeof(names.id), "%s", stream->node->id);
		snprintf(names.cluster, sizeof(names.cluster), "%s", stream->node->cluster);
		grpc_clients_unmatched(dispatch, &names, grpc_call_peer(stream->base.call), now_ms);
		snprintf(text, sizeof(text), "groups.yaml has changed: %s", admission.problem);
		end(stream, (enum grpc_status)admission.status, text);
	}
}
