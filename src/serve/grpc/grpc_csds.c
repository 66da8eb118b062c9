/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_csds.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "serve/grpc/grpc_client_config.h"
#include "serve/grpc/grpc_inbox.h"
#include "serve/grpc/grpc_matcher.h"
#include "serve/grpc/grpc_wire.h"
#include "xdspub/client_status.pb-c.h"

#define RESPONSE_BYTES (4u << 20) /* what gRPC libraries accept unless they are told otherwise */
#define ARENA_BYTES    (16u << 20)

struct csds_call;

/* Goes to every loop and gathers; then back to the call's own. */
struct query {
	atomic_uint references; /* the call's and the jobs' */
	atomic_size_t pending;	/* loops that have not answered */
	struct grpc_loop *origin;
	struct csds_call *call; /* NULL: closed meanwhile; on the origin's thread only */
	struct grpc_matcher *matchers;
	size_t matchers_count;
	bool with_contents;
	bool is_done;
	pthread_mutex_t mutex;
	struct buf response; /* under the mutex until it is done */
};

struct csds_call {
	struct grpc_service_call base;
	struct grpc_inbox inbox;
	struct query *query; /* the one under way */
	bool is_fetch;
	bool has_request;
	bool is_half_closed;
	bool is_ended;
};

static void query_unref(struct query *query)
{
	if (atomic_fetch_sub(&query->references, 1) > 1)
		return;
	grpc_matchers_free(query->matchers, query->matchers_count);
	pthread_mutex_destroy(&query->mutex);
	buf_fini(&query->response);
	free(query);
}

/* ---- on every loop ---- */

static void bring_back(struct grpc_dispatch *dispatch, void *arg)
{
	struct query *query = arg;

	(void)dispatch;
	query->is_done = true;
	if (query->call)
		grpc_call_wake(query->call->base.call);
	query_unref(query);
}

static void gather(struct grpc_dispatch *dispatch, void *arg)
{
	struct query *query = arg;
	int64_t now_ms = grpc_loop_now_ms(dispatch->loop);
	const struct grpc_stream *stream;

	pthread_mutex_lock(&query->mutex);
	LIST_FOREACH(stream, &dispatch->streams, link)
	{
		if (buf_error(&query->response))
			break;
		if (grpc_matchers_match(query->matchers, query->matchers_count,
			    (struct slice){stream->node->bytes, stream->node->length}))
			grpc_client_config_write(
				stream, query->with_contents, now_ms, &query->response);
	}
	pthread_mutex_unlock(&query->mutex);
	if (atomic_fetch_sub(&query->pending, 1) == 1)
		grpc_loop_post(query->origin, bring_back, query);
}

/* ---- the call ---- */

static struct csds_call *open_call(
	struct grpc_dispatch *dispatch, struct grpc_call *call, bool is_fetch)
{
	struct csds_call *csds = xcalloc(1, sizeof(*csds));

	grpc_service_call_init(&csds->base, dispatch, call);
	csds->is_fetch = is_fetch;
	dispatch->heavy_count++;
	return csds;
}

void *grpc_csds_open_stream(struct grpc_dispatch *dispatch, struct grpc_call *call)
{
	return open_call(dispatch, call, false);
}

void *grpc_csds_open_fetch(struct grpc_dispatch *dispatch, struct grpc_call *call)
{
	return open_call(dispatch, call, true);
}

static void refuse(struct csds_call *csds, enum grpc_status status, const char *text)
{
	csds->is_ended = true;
	grpc_service_call_refuse(&csds->base, status, text);
}

static void on_message(void *state, struct slice message)
{
	struct csds_call *csds = state;

	if (csds->is_ended)
		return;
	if (csds->base.dispatch->heavy_count > GRPC_HEAVY_MAX)
		refuse(csds, GRPC_RESOURCE_EXHAUSTED, GRPC_TOO_MANY_HEAVY);
	else if (csds->is_fetch && csds->has_request)
		refuse(csds, GRPC_INVALID_ARGUMENT, "a Fetch is one request");
	else if (!grpc_inbox_put(&csds->inbox, message))
		refuse(csds, GRPC_RESOURCE_EXHAUSTED,
			"too many requests wait for their answer; read the answers first");
	csds->has_request = true;
}

static void on_half_closed(void *state)
{
	struct csds_call *csds = state;

	csds->is_half_closed = true;
	if (csds->is_ended)
		return;
	if (csds->is_fetch && !csds->has_request)
		refuse(csds, GRPC_INVALID_ARGUMENT, "a Fetch needs a request");
	else
		grpc_call_wake(csds->base.call);
}

static int read_request(struct slice message, const struct limits *limits, struct query *query,
	char *problem, size_t problem_size)
{
	struct arena *arena = arena_new(ARENA_BYTES);
	Xds__ClientStatusRequest *request;
	int error = grpc_wire_unpack(&xds__client_status_request__descriptor, message, limits,
		arena, (ProtobufCMessage **)&request, problem, problem_size);

	if (error == 0) {
		query->with_contents = !request->exclude_resource_contents;
		query->matchers = xcalloc(request->n_node_matchers + 1, sizeof(*query->matchers));
		for (size_t i = 0; i < request->n_node_matchers && error == 0; i++) {
			const ProtobufCBinaryData *bytes = &request->node_matchers[i];

			error = grpc_matcher_read(
				(struct slice){(const char *)bytes->data, bytes->len},
				&query->matchers[i], problem, problem_size);
			query->matchers_count += error == 0;
		}
	}
	arena_free(arena);
	return error;
}

static void ask(struct csds_call *csds, struct slice message)
{
	struct grpc_loop *loop = csds->base.dispatch->loop;
	struct query *query = xcalloc(1, sizeof(*query));
	char problem[256];
	int error;

	atomic_init(&query->references, 1);
	atomic_init(&query->pending, grpc_loop_count(loop));
	pthread_mutex_init(&query->mutex, NULL);
	query->origin = loop;
	query->call = csds;
	query->response.limit_bytes = RESPONSE_BYTES;
	error = read_request(
		message, &csds->base.dispatch->options->limits, query, problem, sizeof(problem));
	if (error) {
		query_unref(query);
		refuse(csds,
			error == -E2BIG	    ? GRPC_RESOURCE_EXHAUSTED
			: error == -ENOTSUP ? GRPC_UNIMPLEMENTED
					    : GRPC_INVALID_ARGUMENT,
			problem);
		return;
	}
	csds->query = query;
	atomic_fetch_add(&query->references, 1);
	grpc_loop_post_each(loop, gather, query);
}

static void answer(struct csds_call *csds)
{
	struct query *query = TAKE(csds->query);

	if (buf_error(&query->response)) {
		refuse(csds, GRPC_RESOURCE_EXHAUSTED,
			"the answer is larger than 4 MiB: set exclude_resource_contents, or "
			"node_matchers for some of the clients");
	} else {
		struct grpc_body *body = grpc_body_new(query->response.length);

		if (query->response.length)
			memcpy(body->bytes, query->response.data, query->response.length);
		grpc_call_send(csds->base.call, body, SLICE(""));
		grpc_body_unref(body);
	}
	query_unref(query);
}

static void finish(struct csds_call *csds)
{
	csds->is_ended = true;
	grpc_call_finish(csds->base.call, GRPC_OK, NULL);
}

static void on_ready(void *state, int64_t now_ms)
{
	struct csds_call *csds = state;
	struct slice message;

	(void)now_ms;
	if (csds->is_ended || !grpc_call_can_send(csds->base.call))
		return;
	if (csds->query) {
		if (!csds->query->is_done)
			return;
		answer(csds);
		if (csds->is_fetch && !csds->is_ended)
			finish(csds);
	} else if (grpc_inbox_take(&csds->inbox, &message)) {
		ask(csds, message);
	} else if (csds->is_half_closed) {
		finish(csds);
	}
}

static void on_closed(void *state)
{
	struct csds_call *csds = state;

	csds->base.dispatch->heavy_count--;
	if (csds->query) {
		csds->query->call = NULL;
		query_unref(csds->query);
	}
	grpc_inbox_fini(&csds->inbox);
	grpc_service_call_fini(&csds->base);
	free(csds);
}

const struct grpc_handler grpc_csds_handler = {
	.message = on_message,
	.half_closed = on_half_closed,
	.ready = on_ready,
	.closed = on_closed,
};
