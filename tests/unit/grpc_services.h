/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Services for tests of the transport, in the place of grpc_dispatch.c. Include it once in a
 * program. What a request message makes them do:
 *   /test/Echo   sends it back        /test/Big    sends a message of so many bytes (decimal)
 *   /test/Push   sends a message for each change of the store, one after the other
 *   /test/Quiet  nothing              /test/Fail   INVALID_ARGUMENT
 *   /test/Later  sends "late" after 20 ms
 *   /test/Now    NOT_FOUND at once, without a request
 */
#ifndef XDSPUB_TESTS_GRPC_SERVICES_H
#define XDSPUB_TESTS_GRPC_SERVICES_H

#include <stdatomic.h>

#include "base/mem.h"
#include "serve/grpc/grpc_dispatch.h"
#include "serve/grpc/grpc_loop.h"

#define PUSH_BYTES 300000
#ifndef BIG_MAX
#define BIG_MAX 100000000 /* a larger number counts as this one */
#endif

enum test_kind {
	TEST_ECHO,
	TEST_BIG,
	TEST_PUSH,
	TEST_QUIET,
	TEST_FAIL,
	TEST_LATER,
	TEST_KINDS
};

static struct test_counts {
	atomic_int opened, closed, half_closed, ready, changed, messages, stopped, late_jobs;
} test_counts;

struct test_call {
	struct grpc_call *call;
	struct grpc_dispatch *dispatch;
	enum test_kind kind;
	struct buf queue; /* messages to be sent: length and bytes */
	size_t queue_offset;
	unsigned pushed;
	bool has_request;
	struct test_call *next, **place;
};

struct grpc_dispatch {
	struct grpc_loop *loop;
	struct test_call *calls;
	unsigned generation;
	struct grpc_body *body;
};

static void test_on_message(void *state, struct slice message)
{
	struct test_call *call = state;

	atomic_fetch_add(&test_counts.messages, 1);
	call->has_request = true;
	if (call->kind == TEST_ECHO || call->kind == TEST_BIG) {
		buf_append(&call->queue, &message.length, sizeof(message.length));
		buf_append_slice(&call->queue, message);
	} else if (call->kind == TEST_FAIL) {
		grpc_call_finish(call->call, GRPC_INVALID_ARGUMENT, "100% wr\303\266ng\n");
	} else if (call->kind == TEST_LATER) {
		grpc_call_set_deadline(call->call, grpc_loop_now_ms(call->dispatch->loop) + 20);
	}
}

static void test_send_big(struct test_call *call, struct slice digits)
{
	AUTO_FREE char *text = xstrndup(digits.data, digits.length);
	size_t length = strtoul(text, NULL, 10);
	struct grpc_body *body = grpc_body_new(length < BIG_MAX ? length : BIG_MAX);

	length = body->length;
	for (size_t i = 0; i < length; i++)
		body->bytes[i] = (uint8_t)(i * 7 + i / 251);
	grpc_call_send(call->call, body, SLICE("the tail"));
	grpc_body_unref(body);
}

static void test_on_ready(void *state, int64_t now_ms)
{
	struct test_call *call = state;
	struct slice message;

	(void)now_ms;
	assert(grpc_call_can_send(call->call));
	atomic_fetch_add(&test_counts.ready, 1);
	if (call->queue_offset < call->queue.length) {
		memcpy(&message.length, call->queue.data + call->queue_offset,
			sizeof(message.length));
		message.data = call->queue.data + call->queue_offset + sizeof(message.length);
		call->queue_offset += sizeof(message.length) + message.length;
		if (call->kind == TEST_BIG)
			test_send_big(call, message);
		else
			grpc_call_send(call->call, NULL, message);
	} else if (call->kind == TEST_PUSH && call->has_request &&
		   call->pushed < call->dispatch->generation) {
		call->pushed++;
		grpc_call_send(call->call, call->dispatch->body, SLICE("nonce"));
	} else if (call->kind == TEST_LATER && call->has_request) {
		grpc_call_send(call->call, NULL, SLICE("late"));
		call->has_request = false;
	}
}

static void test_on_half_closed(void *state)
{
	struct test_call *call = state;

	atomic_fetch_add(&test_counts.half_closed, 1);
	if (call->kind == TEST_LATER)
		grpc_call_finish(call->call, GRPC_OK, NULL);
}

static void test_on_closed(void *state)
{
	struct test_call *call = state;

	atomic_fetch_add(&test_counts.closed, 1);
	*call->place = call->next;
	if (call->next)
		call->next->place = call->place;
	buf_fini(&call->queue);
	free(call);
}

static const struct grpc_handler test_handlers[TEST_KINDS] = {
	[TEST_ECHO] = {test_on_message, NULL, test_on_ready, test_on_closed},
	[TEST_BIG] = {test_on_message, NULL, test_on_ready, test_on_closed},
	[TEST_PUSH] = {test_on_message, NULL, test_on_ready, test_on_closed},
	[TEST_QUIET] = {test_on_message, NULL, test_on_ready, test_on_closed},
	[TEST_FAIL] = {test_on_message, test_on_half_closed, test_on_ready, test_on_closed},
	[TEST_LATER] = {test_on_message, test_on_half_closed, test_on_ready, test_on_closed},
};

struct grpc_dispatch *grpc_dispatch_new(const struct grpc_options *options, struct grpc_loop *loop)
{
	struct grpc_dispatch *dispatch = xcalloc(1, sizeof(*dispatch));

	(void)options;
	dispatch->loop = loop;
	dispatch->body = grpc_body_new(PUSH_BYTES);
	memset(dispatch->body->bytes, 'b', PUSH_BYTES);
	return dispatch;
}

void grpc_dispatch_free(struct grpc_dispatch *dispatch)
{
	assert(!dispatch->calls);
	assert(dispatch->body->references == 1);
	grpc_body_unref(dispatch->body);
	free(dispatch);
}

bool grpc_dispatch_open(struct grpc_dispatch *dispatch, struct slice path, struct grpc_call *call,
	const struct grpc_handler **ret_handler, void **ret_state, char *problem,
	size_t problem_size)
{
	static const char *const paths[TEST_KINDS] = {"/test/Echo", "/test/Big", "/test/Push",
		"/test/Quiet", "/test/Fail", "/test/Later"};
	enum test_kind kind = 0;
	struct test_call *state;

	if (slice_is(path, "/test/Now")) {
		kind = TEST_QUIET;
		grpc_call_finish(call, GRPC_NOT_FOUND, "not here");
	} else {
		while (kind < TEST_KINDS && !slice_is(path, paths[kind]))
			kind++;
	}
	if (kind == TEST_KINDS) {
		snprintf(problem, problem_size, "no method %.*s", SLICE_ARG(path));
		return false;
	}
	state = xcalloc(1, sizeof(*state));
	state->call = call;
	state->dispatch = dispatch;
	state->kind = kind;
	state->next = dispatch->calls;
	state->place = &dispatch->calls;
	if (state->next)
		state->next->place = &state->next;
	dispatch->calls = state;
	atomic_fetch_add(&test_counts.opened, 1);
	*ret_handler = &test_handlers[kind];
	*ret_state = state;
	return true;
}

void grpc_dispatch_store_changed(struct grpc_dispatch *dispatch, int64_t now_ms)
{
	(void)now_ms;
	atomic_fetch_add(&test_counts.changed, 1);
	dispatch->generation++;
	for (struct test_call *call = dispatch->calls; call; call = call->next)
		grpc_call_wake(call->call);
}

static void test_late_job(struct grpc_dispatch *dispatch, void *arg)
{
	(void)dispatch;
	(void)arg;
	atomic_fetch_add(&test_counts.late_jobs, 1);
}

void grpc_dispatch_stop(struct grpc_dispatch *dispatch)
{
	for (struct test_call *call = dispatch->calls; call; call = call->next)
		grpc_call_finish(call->call, GRPC_UNAVAILABLE, "stopping");
	atomic_fetch_add(&test_counts.stopped, 1);
	grpc_loop_post_each(dispatch->loop, test_late_job, NULL);
}

int64_t grpc_dispatch_turn(struct grpc_dispatch *dispatch, int64_t now_ms)
{
	(void)dispatch;
	(void)now_ms;
	return -1;
}

void grpc_dispatch_status(struct grpc_dispatch *dispatch, json_t *clients, size_t limit,
	json_t *counters, int64_t now_ms)
{
	(void)dispatch;
	(void)limit;
	(void)now_ms;
	json_array_append_new(clients, json_string("loop"));
	json_object_set_new(counters, "test", json_true());
}

#endif
