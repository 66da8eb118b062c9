/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the transport's files share: loop, connection and call from inside; not for the services. */
#ifndef XDSPUB_SERVE_GRPC_GRPC_CORE_H
#define XDSPUB_SERVE_GRPC_GRPC_CORE_H

#include <nghttp2/nghttp2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "serve/deadline.h"
#include "serve/grpc/grpc_call.h"
#include "serve/grpc/grpc_dispatch.h"
#include "serve/grpc/grpc_flood.h"
#include "serve/grpc/grpc_frame.h"
#include "serve/grpc/grpc_loop.h"
#include "serve/grpc/grpc_metadata.h"
#include "serve/grpc/grpc_output.h"
#include "serve/grpc/grpc_server.h"

#define GRPC_STREAMS	    10000u /* at once on a connection (S.57) */
#define GRPC_READ_BYTES	    16384  /* fed to nghttp2 at once: bounds the answers it causes */
#define GRPC_READS_PER_TURN 4
#define GRPC_WRITE_PER_TURN (2u << 20)
#define GRPC_OUTBOUND_MAX   256 /* frames nghttp2 holds for us before we read no more */

/* First member of everything that epoll's data points to. */
enum grpc_source {
	GRPC_SOURCE_WAKE,
	GRPC_SOURCE_LISTENER,
	GRPC_SOURCE_CONNECTION
};

enum grpc_connection_state {
	GRPC_CONNECTION_OPEN,
	GRPC_CONNECTION_NOTICED, /* GOAWAY without a last stream is sent, its PING not answered */
	GRPC_CONNECTION_LEAVING, /* the real GOAWAY is sent; streams may go on for a while */
	GRPC_CONNECTION_ENDING,	 /* every call was ended; they are on their way out */
	GRPC_CONNECTION_LINGER,	 /* we have said everything; waits for the peer to close */
	GRPC_CONNECTION_CLOSED	 /* freed at the end of the turn, or of its last call */
};

struct grpc_connection {
	enum grpc_source source;
	int fd; /* -1: closed */
	struct grpc_loop *loop;
	nghttp2_session *session;      /* NULL from LINGER on */
	struct grpc_parked *parked;    /* what the socket did not take */
	struct grpc_metadata *opening; /* of the header block that is coming in */
	int32_t opening_id;
	uint32_t calls_count;
	LIST_HEAD(, grpc_call) calls; /* those that have a stream */
	LIST_ENTRY(grpc_connection) link;
	TAILQ_ENTRY(grpc_connection) dirty_link;
	struct deadline deadline;
	uint64_t listener;   /* number of the one that accepted it */
	int64_t heard_ms;    /* when bytes came last */
	int64_t idle_ms;     /* since when there is no call; at first: when it was accepted */
	int64_t ping_ms;     /* when our unanswered PING was sent; -1: there is none */
	int64_t stuck_ms;    /* since when the socket takes nothing; -1: it does */
	int64_t end_ms;	     /* when its calls are ended; from NOTICED on */
	uint64_t assembling; /* bytes of incomplete messages */
	struct grpc_flood flood;
	const char *end_text;	/* static: what its calls are told, and the log */
	const char *misbehaved; /* static: why it is thrown out */
	uint8_t state;
	bool has_settings; /* the peer's first frame was there */
	bool is_dirty;
	bool wants_output; /* epoll watches for room in the socket */
	bool is_deaf;	   /* epoll does not watch for input: too much waits to be sent */
	char *peer;
};

TAILQ_HEAD(grpc_dirty_list, grpc_connection);

/* A message that is on its way. */
struct grpc_outgoing {
	struct grpc_body *body, *tail;
	uint8_t head[GRPC_FRAME_HEAD];
	size_t length, offset; /* head and all; how much was handed to the output */
};

struct grpc_timeout {
	struct deadline deadline;
	struct grpc_call *call;
};

struct grpc_call {
	struct grpc_connection *connection;
	const struct grpc_handler *handler; /* NULL: none yet, or `closed` was called */
	void *state;
	struct grpc_outgoing *outgoing;
	struct grpc_frame *frame;     /* an incomplete request message */
	struct grpc_timeout *timeout; /* of grpc-timeout */
	char *text;		      /* grpc-message */
	int64_t opened_ms;	      /* on the monotonic clock */
	LIST_ENTRY(grpc_call) link;
	STAILQ_ENTRY(grpc_call) ready_link;
	struct deadline deadline;
	int32_t stream_id;
	uint8_t status;		  /* once it is finished */
	uint8_t http;		  /* enum grpc_http of what was refused */
	bool is_ready : 1;	  /* in the loop's queue */
	bool has_headers : 1;	  /* ours are sent */
	bool has_trailers : 1;	  /* ours are sent */
	bool is_half_closed : 1;  /* the client sends no more */
	bool ends_when_quiet : 1; /* half-closed, and the service does not care */
	bool is_finished : 1;
	bool is_gone : 1; /* its stream is closed */
	bool is_encoded : 1;
};

struct grpc_job {
	void (*run)(struct grpc_loop *loop, void *arg);		     /* either this */
	void (*function)(struct grpc_dispatch *dispatch, void *arg); /* or this */
	void *arg;
	bool *is_done; /* somebody waits; guarded by the loop's lock */
	STAILQ_ENTRY(grpc_job) link;
};
STAILQ_HEAD(grpc_job_list, grpc_job);

/* Written on the loop's thread. */
struct grpc_counters {
	uint64_t accepted;
	uint64_t refused; /* connections that were closed because of the limit or a failure */
	uint64_t calls;	  /* open now */
	uint64_t calls_opened, calls_unknown;
	uint64_t messages_received, messages_sent;
	uint64_t goaways;      /* connections that we asked to leave */
	uint64_t unresponsive; /* closed: did not answer a PING, did not read, sent no preface */
	uint64_t misbehaved;   /* closed: floods and protocol errors */
};

struct grpc_listeners;

struct grpc_loop {
	const struct grpc_options *options;
	struct grpc_dispatch *dispatch;
	struct grpc_loop **peers; /* all of the server's, this one too */
	size_t peers_count;
	pthread_t thread;
	int epoll_fd, wake_fd;
	enum grpc_source wake_source;
	int64_t now_ms;
	struct deadline_heap call_deadlines, timeouts, connection_deadlines;
	LIST_HEAD(, grpc_connection) connections;
	LIST_HEAD(, grpc_connection) graveyard;
	struct grpc_dirty_list dirty;
	STAILQ_HEAD(, grpc_call) ready;
	struct grpc_output output;
	uint8_t input[GRPC_READ_BYTES];
	nghttp2_session_callbacks *callbacks;
	nghttp2_option *session_options;
	struct grpc_counters counters;
	uint64_t assembling; /* bytes of incomplete messages, all connections */
	int64_t log_window_ms;
	unsigned logged, log_suppressed;
	struct grpc_listeners *listeners; /* of the server; also counts connections */
	bool is_acceptor;
	bool is_stopping;
	int64_t stop_ms;		 /* when what is left is closed; -1: it runs */
	atomic_size_t connections_count; /* also those on their way here */

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t job_done;
	struct grpc_job_list jobs;
	bool is_store_changed;
};

/* ---- grpc_loop.c ---- */
int grpc_loop_new(const struct grpc_options *options, struct grpc_loop **ret_loop);
/* The first of them accepts. */
void grpc_loop_set_peers(struct grpc_loop *loop, struct grpc_loop **peers, size_t count,
	struct grpc_listeners *listeners);
/* One turn of the loop that has no thread; returns when the next is due, -1: with an event. */
int64_t grpc_loop_turn(struct grpc_loop *loop, int timeout_ms);
int grpc_loop_start(struct grpc_loop *loop);
/* Every connection leaves within about this time; the thread ends. Does not wait. */
void grpc_loop_stop(struct grpc_loop *loop, int64_t drain_ms);
void grpc_loop_join(struct grpc_loop *loop);
/* After all have ended: runs what was posted; true when there was anything. */
bool grpc_loop_run_jobs(struct grpc_loop *loop);
void grpc_loop_free(struct grpc_loop *loop);
void grpc_loop_store_changed(struct grpc_loop *loop); /* any thread */
void grpc_loop_post_run(struct grpc_loop *loop, void (*run)(struct grpc_loop *loop, void *arg),
	void *arg); /* any thread */
/* Runs it on the loop's thread and waits. Any thread but a loop's. */
void grpc_loop_call(
	struct grpc_loop *loop, void (*run)(struct grpc_loop *loop, void *arg), void *arg);
/* May a line about one client be written now? Few in a while; *ret_suppressed: dropped before. */
bool grpc_loop_may_log(struct grpc_loop *loop, unsigned *ret_suppressed);
void grpc_loop_mark_dirty(struct grpc_loop *loop, struct grpc_connection *connection);

/* ---- grpc_connection.c ---- */
nghttp2_session_callbacks *grpc_connection_callbacks(void);
nghttp2_option *grpc_connection_options(void);
/* Takes fd and peer. NULL: bad luck, both are gone. */
struct grpc_connection *grpc_connection_new(
	struct grpc_loop *loop, int fd, char *peer, uint64_t listener);
void grpc_connection_on_event(struct grpc_connection *connection, uint32_t events);
/* Sends what there is, a bounded part of it. */
void grpc_connection_flush(struct grpc_connection *connection);
/* Now, without a word. */
void grpc_connection_close(struct grpc_connection *connection);
/* GOAWAY with ENHANCE_YOUR_CALM or the like, then closes. Not from inside nghttp2. */
void grpc_connection_throw_out(
	struct grpc_connection *connection, uint32_t error_code, const char *reason);
void grpc_connection_watch(struct grpc_connection *connection);
void grpc_connection_log(struct grpc_connection *connection, enum log_level level,
	const char *event, const char *reason);
void grpc_connection_free(struct grpc_connection *connection);

/* ---- grpc_drain.c: keepalive, idleness and the way out ---- */
void grpc_drain_arm(struct grpc_connection *connection); /* first deadline of a new connection */
void grpc_drain_on_deadline(struct grpc_connection *connection);
void grpc_drain_on_ping_ack(struct grpc_connection *connection, const uint8_t opaque[8]);
/* Two GOAWAYs; calls are ended `grace_ms` from now with the (static) text. */
void grpc_drain_start(struct grpc_connection *connection, int64_t grace_ms, const char *text);

/* ---- grpc_call.c ---- */
/* A request's headers are complete. Inside nghttp2. */
void grpc_call_open(struct grpc_connection *connection, int32_t stream_id,
	const struct grpc_metadata *metadata);
void grpc_call_on_data(struct grpc_call *call, struct slice chunk);
void grpc_call_on_half_close(struct grpc_call *call);
/* The stream is closed, or the connection: no more bytes, but `closed` is still to come. */
void grpc_call_on_gone(struct grpc_call *call);
/* Takes it from the ready queue and does what is due; may free it. */
void grpc_call_run(struct grpc_call *call);
void grpc_call_queue(struct grpc_call *call);
/* The head of a DATA frame and its part of the message to the output, which has room. */
void grpc_call_write(struct grpc_call *call, const uint8_t *head, size_t length);
/* Our headers with END_STREAM have left: what the client still sends is not wanted. */
void grpc_call_on_ended(struct grpc_call *call);

/* ---- grpc_listener.c ---- */
struct grpc_listeners *grpc_listeners_new(struct grpc_loop *acceptor, uint64_t connections_limit);
void grpc_listeners_free(struct grpc_listeners *listeners); /* all must be closed */
int grpc_listeners_set(struct grpc_listeners *listeners, const char *const *addresses, size_t count,
	char **ret_problem);
void grpc_listeners_close(struct grpc_listeners *listeners); /* acceptor's thread */
void grpc_listeners_accept(void *listener);
/* Once per turn; returns when it wants another one, -1: only with an event. */
int64_t grpc_listeners_balance(struct grpc_listeners *listeners, int64_t now_ms);
json_t *grpc_listeners_status(const struct grpc_listeners *listeners);
void grpc_listeners_left(struct grpc_listeners *listeners); /* a connection; any thread */
uint64_t grpc_listeners_connections(const struct grpc_listeners *listeners, uint64_t *ret_limit);

#endif
