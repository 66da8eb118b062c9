/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One RPC as the services see it; grpc_connection.c carries it over HTTP/2. A message goes out as
 * the shared body and a tail of the call's own, one message at a time. Threads: the loop's.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_CALL_H
#define XDSPUB_SERVE_GRPC_GRPC_CALL_H

#include "base/buf.h"
#include "base/slice.h"
#include "serve/grpc/grpc_body.h"
#include "serve/grpc/grpc_status.h"

struct grpc_call;

/* A service's side of a call. `state` is what `open` returned. None of these is called from inside
 * a function of this header, except by grpc_dispatch_open(). */
struct grpc_handler {
	/* A whole request message, borrowed for the call. */
	void (*message)(void *state, struct slice message);
	/* The client sends no more. NULL: the call ends with OK when it has nothing to send. */
	void (*half_closed)(void *state);
	/* The call can send now: after a message, after grpc_call_wake(), at the deadline, and when
	 * the former message has left. Send one message, finish, or do nothing. */
	void (*ready)(void *state, int64_t now_ms);
	/* The call is over, whoever ended it: free the state. The last thing called. */
	void (*closed)(void *state);
};

/* Which loop's services it belongs to: see grpc_loop_services(). */
struct grpc_loop *grpc_call_loop(const struct grpc_call *call);
/* Nothing of it is on its way; false also once it is finished. */
bool grpc_call_can_send(const struct grpc_call *call);
/* One message; only when grpc_call_can_send(). Takes its own reference, copies the tail.
 * body NULL: the tail alone. -ENOMEM never: bad luck there aborts as everywhere. */
void grpc_call_send(struct grpc_call *call, struct grpc_body *body, struct slice tail);
/* Trailers after what is on its way; text may be NULL and is percent-encoded. No callback but
 * `closed` comes afterwards. */
void grpc_call_finish(struct grpc_call *call, enum grpc_status status, const char *text);
/* Calls `ready` at the end of the loop's turn. */
void grpc_call_wake(struct grpc_call *call);
/* Calls `ready` at that time (milliseconds, CLOCK_MONOTONIC); -1: no more. */
void grpc_call_set_deadline(struct grpc_call *call, int64_t at_ms);
/* For the status: "127.0.0.1:4711" or "unix", and when the call began (wall clock). */
const char *grpc_call_peer(const struct grpc_call *call);
int64_t grpc_call_began_ms(const struct grpc_call *call);

#endif
