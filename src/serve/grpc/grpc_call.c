/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "serve/grpc/grpc_core.h"

#define FRAME_HEAD 9
#define ASSEMBLING_MIN                                                                             \
	(8u << 20) /* of incomplete messages on a connection; more with larger ones */
#define ASSEMBLING_IN_ALL (256u << 20) /* on a loop */

/* Names and values that nghttp2 need not copy. */
#define HEADER(name_, value_)                                                                      \
	{                                                                                          \
		.name = (uint8_t *)(uintptr_t)(name_), .value = (uint8_t *)(uintptr_t)(value_),    \
		.namelen = sizeof(name_) - 1, .valuelen = sizeof(value_) - 1,                      \
		.flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE              \
	}
static const nghttp2_nv http_status[] = {
	[GRPC_HTTP_OK] = HEADER(":status", "200"),
	[GRPC_HTTP_BAD_METHOD] = HEADER(":status", "405"),
	[GRPC_HTTP_BAD_TYPE] = HEADER(":status", "415"),
};
static const nghttp2_nv content_type = HEADER("content-type", "application/grpc");
static const nghttp2_nv accept_encoding = HEADER("grpc-accept-encoding", "identity");

/* ---- what goes out ---- */

static void outgoing_free(struct grpc_call *call)
{
	if (!call->outgoing)
		return;
	grpc_body_unref(call->outgoing->body);
	grpc_body_unref(call->outgoing->tail);
	free(call->outgoing);
	call->outgoing = NULL;
}

/* nghttp2 fails for want of memory, or because the stream is on its way out already. */
static void check_submitted(struct grpc_call *call, int rc)
{
	if (rc == 0)
		grpc_loop_mark_dirty(call->connection->loop, call->connection);
	else if (rc == NGHTTP2_ERR_NOMEM)
		abort();
}

static void submit_headers(struct grpc_call *call)
{
	const nghttp2_nv headers[] = {http_status[GRPC_HTTP_OK], content_type, accept_encoding};

	call->has_headers = true;
	check_submitted(call, nghttp2_submit_headers(call->connection->session, NGHTTP2_FLAG_NONE,
				      call->stream_id, NULL, headers, 3, call));
}

static void submit_trailers(struct grpc_call *call)
{
	nghttp2_session *session = call->connection->session;
	nghttp2_nv headers[5];
	struct buf text = BUF_INIT;
	char number[8];
	size_t count = 0;

	if (!call->has_headers) {
		headers[count++] = http_status[call->http];
		headers[count++] = content_type;
		headers[count++] = accept_encoding;
	}
	snprintf(number, sizeof(number), "%u", call->status);
	headers[count++] = (nghttp2_nv){.name = (uint8_t *)(uintptr_t) "grpc-status",
		.value = (uint8_t *)number,
		.namelen = 11,
		.valuelen = strlen(number),
		.flags = NGHTTP2_NV_FLAG_NO_COPY_NAME};
	if (call->text) {
		grpc_metadata_encode(&text, slice_of(call->text));
		headers[count++] = (nghttp2_nv){.name = (uint8_t *)(uintptr_t) "grpc-message",
			.value = (uint8_t *)(uintptr_t)buf_cstr(&text),
			.namelen = 12,
			.valuelen = text.length,
			.flags = NGHTTP2_NV_FLAG_NO_COPY_NAME};
	}
	call->has_trailers = true;
	check_submitted(call,
		call->has_headers
			? nghttp2_submit_trailer(session, call->stream_id, headers, count)
			: nghttp2_submit_response(session, call->stream_id, headers, count, NULL));
	call->has_headers = true;
	buf_fini(&text);
}

static ssize_t on_read(nghttp2_session *session, int32_t stream_id, uint8_t *bytes, size_t length,
	uint32_t *flags, nghttp2_data_source *source, void *user_data)
{
	const struct grpc_call *call = source->ptr;
	size_t left = call->outgoing->length - call->outgoing->offset;

	(void)session;
	(void)stream_id;
	(void)bytes;
	(void)user_data;
	*flags |= NGHTTP2_DATA_FLAG_NO_COPY;
	if (left <= length)
		*flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
	return (ssize_t)(left < length ? left : length);
}

/* Takes the part of [*offset, *offset + *length) that lies in the next `size` bytes of the message;
 * *offset becomes relative to what comes behind them. */
static size_t take_part(size_t *offset, size_t *length, size_t size, size_t *ret_offset)
{
	size_t part = 0;

	if (*offset >= size) {
		*offset -= size;
		return 0;
	}
	*ret_offset = *offset;
	part = size - *offset < *length ? size - *offset : *length;
	*offset = 0;
	*length -= part;
	return part;
}

void grpc_call_write(struct grpc_call *call, const uint8_t *head, size_t length)
{
	struct grpc_output *output = &call->connection->loop->output;
	struct grpc_outgoing *outgoing = call->outgoing;
	size_t offset = outgoing->offset, left = length, start, part;

	grpc_output_copy(output, head, FRAME_HEAD);
	if ((part = take_part(&offset, &left, GRPC_FRAME_HEAD, &start)))
		grpc_output_copy(output, outgoing->head + start, part);
	if (outgoing->body && (part = take_part(&offset, &left, outgoing->body->length, &start)))
		grpc_output_share(output, outgoing->body, start, part);
	if (outgoing->tail && (part = take_part(&offset, &left, outgoing->tail->length, &start)))
		grpc_output_share(output, outgoing->tail, start, part);
	assert(left == 0);
	outgoing->offset += length;
	if (outgoing->offset < outgoing->length)
		return;
	outgoing_free(call);
	call->connection->loop->counters.messages_sent++;
	grpc_call_queue(call);
}

bool grpc_call_can_send(const struct grpc_call *call)
{
	return !call->is_finished && !call->is_gone && !call->outgoing;
}

void grpc_call_send(struct grpc_call *call, struct grpc_body *body, struct slice tail)
{
	struct grpc_outgoing *outgoing = xcalloc(1, sizeof(*outgoing));
	nghttp2_data_provider provider = {.source.ptr = call, .read_callback = on_read};
	size_t length = (body ? body->length : 0) + tail.length;

	assert(grpc_call_can_send(call));
	assert(length <= UINT32_MAX);
	grpc_frame_put_head(outgoing->head, (uint32_t)length);
	outgoing->length = GRPC_FRAME_HEAD + length;
	outgoing->body = body ? grpc_body_ref(body) : NULL;
	if (tail.length) {
		outgoing->tail = grpc_body_new(tail.length);
		memcpy(outgoing->tail->bytes, tail.data, tail.length);
	}
	call->outgoing = outgoing;
	if (!call->has_headers)
		submit_headers(call);
	check_submitted(call, nghttp2_submit_data(call->connection->session, NGHTTP2_FLAG_NONE,
				      call->stream_id, &provider));
}

void grpc_call_on_ended(struct grpc_call *call)
{
	if (!call->is_half_closed)
		nghttp2_submit_rst_stream(call->connection->session, NGHTTP2_FLAG_NONE,
			call->stream_id, NGHTTP2_NO_ERROR);
}

/* ---- what the service asks for ---- */

struct grpc_loop *grpc_call_loop(const struct grpc_call *call)
{
	return call->connection->loop;
}

const char *grpc_call_peer(const struct grpc_call *call)
{
	return call->connection->peer;
}

int64_t grpc_call_began_ms(const struct grpc_call *call)
{
	return clock_wall_ms() - (call->connection->loop->now_ms - call->opened_ms);
}

void grpc_call_queue(struct grpc_call *call)
{
	if (call->is_ready)
		return;
	call->is_ready = true;
	STAILQ_INSERT_TAIL(&call->connection->loop->ready, call, ready_link);
}

void grpc_call_wake(struct grpc_call *call)
{
	if (!call->is_finished && !call->is_gone)
		grpc_call_queue(call);
}

void grpc_call_set_deadline(struct grpc_call *call, int64_t at_ms)
{
	struct deadline_heap *heap = &call->connection->loop->call_deadlines;

	if (at_ms < 0 || call->is_finished || call->is_gone)
		deadline_clear(heap, &call->deadline);
	else if (!call->deadline.place || call->deadline.at_ms != at_ms)
		deadline_set(heap, &call->deadline, at_ms);
}

static void timeout_free(struct grpc_call *call)
{
	if (!call->timeout)
		return;
	deadline_clear(&call->connection->loop->timeouts, &call->timeout->deadline);
	free(call->timeout);
	call->timeout = NULL;
}

static void frame_free(struct grpc_call *call)
{
	if (!call->frame)
		return;
	call->connection->assembling -= call->frame->capacity;
	call->connection->loop->assembling -= call->frame->capacity;
	grpc_frame_fini(call->frame);
	free(call->frame);
	call->frame = NULL;
}

void grpc_call_finish(struct grpc_call *call, enum grpc_status status, const char *text)
{
	if (call->is_finished || call->is_gone)
		return;
	call->is_finished = true;
	call->status = (uint8_t)status;
	call->text = text && *text ? xstrdup(text) : NULL;
	grpc_call_set_deadline(call, -1);
	timeout_free(call);
	grpc_call_queue(call);
}

/* ---- what comes in ---- */

void grpc_call_open(
	struct grpc_connection *connection, int32_t stream_id, const struct grpc_metadata *metadata)
{
	/* Round robin, whatever the client says: a large answer must not hold up the others. */
	static const nghttp2_extpri priority = {
		.urgency = NGHTTP2_EXTPRI_DEFAULT_URGENCY, .inc = 1};
	struct grpc_loop *loop = connection->loop;
	struct grpc_call *call = xcalloc(1, sizeof(*call));
	const struct grpc_handler *handler;
	enum grpc_status status = GRPC_UNIMPLEMENTED;
	enum grpc_http http = GRPC_HTTP_OK;
	char problem[512] = "";
	const char *text = problem;
	void *state;

	call->connection = connection;
	call->stream_id = stream_id;
	call->opened_ms = loop->now_ms;
	call->is_encoded = metadata->is_encoded;
	LIST_INSERT_HEAD(&connection->calls, call, link);
	connection->calls_count++;
	loop->counters.calls++;
	loop->counters.calls_opened++;
	nghttp2_session_set_stream_user_data(connection->session, stream_id, call);
	nghttp2_session_change_extpri_stream_priority(connection->session, stream_id, &priority, 1);
	grpc_call_queue(call);

	if (!grpc_metadata_check(metadata, &http, &status, &text)) {
		call->http = (uint8_t)http;
		grpc_call_finish(call, status, text);
	} else if (connection->state >= GRPC_CONNECTION_ENDING || loop->is_stopping) {
		grpc_call_finish(call, GRPC_UNAVAILABLE, connection->end_text);
	} else if (!grpc_dispatch_open(loop->dispatch, grpc_metadata_path(metadata), call, &handler,
			   &state, problem, sizeof(problem))) {
		loop->counters.calls_unknown++;
		grpc_call_finish(call, GRPC_UNIMPLEMENTED, problem);
	} else {
		call->handler = handler;
		call->state = state;
		if (metadata->timeout_ms >= 0 && !call->is_finished) {
			call->timeout = xcalloc(1, sizeof(*call->timeout));
			call->timeout->call = call;
			deadline_set(&loop->timeouts, &call->timeout->deadline,
				loop->now_ms + metadata->timeout_ms);
		}
	}
}

static uint64_t assembling_limit(const struct grpc_loop *loop)
{
	uint64_t limit = 2 * loop->options->limits.grpc_message_bytes;

	return limit > ASSEMBLING_MIN ? limit : ASSEMBLING_MIN;
}

/* False: there is no room for more incomplete messages. */
static bool account(struct grpc_call *call, uint32_t before)
{
	struct grpc_connection *connection = call->connection;
	struct grpc_loop *loop = connection->loop;

	connection->assembling += call->frame->capacity;
	connection->assembling -= before;
	loop->assembling += call->frame->capacity;
	loop->assembling -= before;
	return connection->assembling <= assembling_limit(loop) &&
	       loop->assembling <= ASSEMBLING_IN_ALL;
}

/* The next message, borrowed. False: there is none yet, or the call was finished. */
static bool next_message(struct grpc_call *call, struct slice *chunk, struct slice *ret_message)
{
	uint64_t limit = call->connection->loop->options->limits.grpc_message_bytes;
	uint32_t before = call->frame->capacity;
	enum grpc_frame_outcome outcome = grpc_frame_read(call->frame, chunk, limit, ret_message);
	bool has_room = account(call, before);
	char text[128];

	switch (outcome) {
	case GRPC_FRAME_MESSAGE:
		return true;
	case GRPC_FRAME_MORE:
		if (!has_room)
			grpc_call_finish(call, GRPC_RESOURCE_EXHAUSTED,
				"too many incomplete requests at once");
		break;
	case GRPC_FRAME_COMPRESSED:
		if (call->is_encoded)
			grpc_call_finish(call, GRPC_UNIMPLEMENTED,
				"compressed messages are not supported, see grpc-accept-encoding");
		else
			grpc_call_finish(call, GRPC_INTERNAL,
				"a message is marked as compressed, but there is no grpc-encoding");
		break;
	case GRPC_FRAME_TOO_LARGE:
		snprintf(text, sizeof(text),
			"the request has %" PRIu32 " bytes, the limit is %" PRIu64,
			grpc_frame_length(call->frame), limit);
		grpc_call_finish(call, GRPC_RESOURCE_EXHAUSTED, text);
		break;
	}
	return false;
}

void grpc_call_on_data(struct grpc_call *call, struct slice chunk)
{
	struct slice message;

	if (call->is_finished || call->is_gone)
		return;
	if (!call->frame)
		call->frame = xcalloc(1, sizeof(*call->frame));
	while (next_message(call, &chunk, &message)) {
		call->connection->loop->counters.messages_received++;
		call->handler->message(call->state, message);
		if (call->is_finished)
			break;
		grpc_call_queue(call);
	}
	if (call->is_finished || !grpc_frame_is_partial(call->frame))
		frame_free(call);
}

void grpc_call_on_half_close(struct grpc_call *call)
{
	if (call->is_half_closed)
		return;
	call->is_half_closed = true;
	if (call->is_finished || call->is_gone)
		return;
	if (call->frame && grpc_frame_is_partial(call->frame)) {
		grpc_call_finish(
			call, GRPC_INTERNAL, "the request ended in the middle of a message");
		return;
	}
	if (call->handler->half_closed)
		call->handler->half_closed(call->state);
	else
		call->ends_when_quiet = true;
	grpc_call_queue(call);
}

/* ---- the end ---- */

void grpc_call_on_gone(struct grpc_call *call)
{
	if (call->is_gone)
		return;
	grpc_call_set_deadline(call, -1);
	timeout_free(call);
	frame_free(call);
	outgoing_free(call);
	LIST_REMOVE(call, link);
	call->is_gone = true;
	grpc_call_queue(call);
}

static void end_service(struct grpc_call *call)
{
	const struct grpc_handler *handler = call->handler;

	call->handler = NULL;
	if (handler)
		handler->closed(call->state);
}

static void call_free(struct grpc_call *call)
{
	struct grpc_connection *connection = call->connection;

	end_service(call);
	assert(!call->is_ready && call->is_gone);
	connection->loop->counters.calls--;
	if (--connection->calls_count == 0)
		connection->idle_ms = connection->loop->now_ms;
	free(call->text);
	free(call);
}

void grpc_call_run(struct grpc_call *call)
{
	struct grpc_loop *loop = call->connection->loop;

	assert(STAILQ_FIRST(&loop->ready) == call);
	STAILQ_REMOVE_HEAD(&loop->ready, ready_link);
	call->is_ready = false;
	if (call->is_gone) {
		call_free(call);
		return;
	}
	if (!call->is_finished) {
		if (!call->has_headers)
			submit_headers(call);
		if (grpc_call_can_send(call))
			call->handler->ready(call->state, loop->now_ms);
		if (call->ends_when_quiet && grpc_call_can_send(call))
			grpc_call_finish(call, GRPC_OK, NULL);
	}
	if (call->is_finished) {
		end_service(call);
		frame_free(call);
		if (!call->outgoing && !call->has_trailers)
			submit_trailers(call);
	}
}
