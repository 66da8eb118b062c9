/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_loop.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "serve/grpc/grpc_core.h"

#define EVENTS_PER_TURN 256
#define CALLS_PER_PASS	128
#define SETTLE_MS	20    /* of work that begets work, before the sockets are asked again */
#define LOG_WINDOW_MS	10000 /* for lines about single clients */
#define LOG_LINES	10
#define STOP_EXTRA_MS	500

struct grpc_dispatch *grpc_loop_dispatch(const struct grpc_loop *loop)
{
	return loop->dispatch;
}

int64_t grpc_loop_now_ms(const struct grpc_loop *loop)
{
	return loop->now_ms;
}

size_t grpc_loop_count(const struct grpc_loop *loop)
{
	return loop->peers_count;
}

/* ---- from other threads ---- */

static void wake(struct grpc_loop *loop)
{
	uint64_t one = 1;
	ssize_t rc = write(loop->wake_fd, &one, sizeof(one));

	(void)rc; /* a full counter wakes as well */
}

static void post(struct grpc_loop *loop, struct grpc_job *job)
{
	pthread_mutex_lock(&loop->lock);
	STAILQ_INSERT_TAIL(&loop->jobs, job, link);
	/* With the lock: the loop may end as soon as it has seen a job. */
	wake(loop);
	pthread_mutex_unlock(&loop->lock);
}

void grpc_loop_post(struct grpc_loop *loop,
	void (*function)(struct grpc_dispatch *dispatch, void *arg), void *arg)
{
	struct grpc_job *job = xcalloc(1, sizeof(*job));

	job->function = function;
	job->arg = arg;
	post(loop, job);
}

void grpc_loop_post_each(struct grpc_loop *loop,
	void (*function)(struct grpc_dispatch *dispatch, void *arg), void *arg)
{
	for (size_t i = 0; i < loop->peers_count; i++)
		grpc_loop_post(loop->peers[i], function, arg);
}

void grpc_loop_post_run(
	struct grpc_loop *loop, void (*run)(struct grpc_loop *loop, void *arg), void *arg)
{
	struct grpc_job *job = xcalloc(1, sizeof(*job));

	job->run = run;
	job->arg = arg;
	post(loop, job);
}

void grpc_loop_call(
	struct grpc_loop *loop, void (*run)(struct grpc_loop *loop, void *arg), void *arg)
{
	struct grpc_job *job = xcalloc(1, sizeof(*job));
	bool is_done = false;

	assert(!pthread_equal(pthread_self(), loop->thread));
	job->run = run;
	job->arg = arg;
	job->is_done = &is_done;
	post(loop, job);
	pthread_mutex_lock(&loop->lock);
	while (!is_done)
		pthread_cond_wait(&loop->job_done, &loop->lock);
	pthread_mutex_unlock(&loop->lock);
}

void grpc_loop_store_changed(struct grpc_loop *loop)
{
	pthread_mutex_lock(&loop->lock);
	if (!loop->is_store_changed)
		wake(loop);
	loop->is_store_changed = true;
	pthread_mutex_unlock(&loop->lock);
}

/* ---- the turn ---- */

bool grpc_loop_may_log(struct grpc_loop *loop, unsigned *ret_suppressed)
{
	if (loop->now_ms - loop->log_window_ms >= LOG_WINDOW_MS) {
		loop->log_window_ms = loop->now_ms;
		loop->logged = 0;
	}
	if (loop->logged >= LOG_LINES) {
		loop->log_suppressed++;
		return false;
	}
	loop->logged++;
	*ret_suppressed = loop->log_suppressed;
	loop->log_suppressed = 0;
	return true;
}

void grpc_loop_mark_dirty(struct grpc_loop *loop, struct grpc_connection *connection)
{
	if (connection->is_dirty || connection->state >= GRPC_CONNECTION_LINGER)
		return;
	connection->is_dirty = true;
	TAILQ_INSERT_TAIL(&loop->dirty, connection, dirty_link);
}

bool grpc_loop_run_jobs(struct grpc_loop *loop)
{
	struct grpc_job_list jobs = STAILQ_HEAD_INITIALIZER(jobs);
	struct grpc_job *job;
	bool is_store_changed, any;

	pthread_mutex_lock(&loop->lock);
	STAILQ_CONCAT(&jobs, &loop->jobs);
	is_store_changed = loop->is_store_changed;
	loop->is_store_changed = false;
	pthread_mutex_unlock(&loop->lock);

	any = !STAILQ_EMPTY(&jobs);
	while ((job = STAILQ_FIRST(&jobs))) {
		STAILQ_REMOVE_HEAD(&jobs, link);
		if (job->run)
			job->run(loop, job->arg);
		else
			job->function(loop->dispatch, job->arg);
		if (job->is_done) {
			pthread_mutex_lock(&loop->lock);
			*job->is_done = true;
			pthread_cond_broadcast(&loop->job_done);
			pthread_mutex_unlock(&loop->lock);
		}
		free(job);
	}
	if (is_store_changed && !loop->is_stopping)
		grpc_dispatch_store_changed(loop->dispatch, loop->now_ms);
	return any;
}

static void on_event(struct grpc_loop *loop, const struct epoll_event *event)
{
	uint64_t count;
	ssize_t rc;

	switch (*(enum grpc_source *)event->data.ptr) {
	case GRPC_SOURCE_WAKE:
		rc = read(loop->wake_fd, &count, sizeof(count));
		(void)rc;
		break;
	case GRPC_SOURCE_LISTENER:
		grpc_listeners_accept(event->data.ptr);
		break;
	case GRPC_SOURCE_CONNECTION:
		grpc_connection_on_event(event->data.ptr, event->events);
		break;
	}
}

static void run_deadlines(struct grpc_loop *loop)
{
	struct deadline *due;

	while ((due = deadline_pop(&loop->call_deadlines, loop->now_ms)))
		grpc_call_queue(
			(struct grpc_call *)((char *)due - offsetof(struct grpc_call, deadline)));
	while ((due = deadline_pop(&loop->timeouts, loop->now_ms)))
		grpc_call_finish(((struct grpc_timeout *)((char *)due -
							  offsetof(struct grpc_timeout, deadline)))
					 ->call,
			GRPC_DEADLINE_EXCEEDED, "the time of grpc-timeout is over");
	while ((due = deadline_pop(&loop->connection_deadlines, loop->now_ms)))
		grpc_drain_on_deadline(
			(struct grpc_connection *)((char *)due -
						   offsetof(struct grpc_connection, deadline)));
}

static bool is_busy(const struct grpc_loop *loop)
{
	return !STAILQ_EMPTY(&loop->ready) || !TAILQ_EMPTY(&loop->dirty);
}

/* Calls write, what is written makes room for calls: on until nothing is left or time is over. */
static void settle(struct grpc_loop *loop)
{
	int64_t until_ms = clock_monotonic_ms() + SETTLE_MS;
	struct grpc_connection *connection, *last;

	while (is_busy(loop)) {
		for (int i = 0; i < CALLS_PER_PASS && !STAILQ_EMPTY(&loop->ready); i++)
			grpc_call_run(STAILQ_FIRST(&loop->ready));
		last = TAILQ_LAST(&loop->dirty, grpc_dirty_list);
		while ((connection = TAILQ_FIRST(&loop->dirty))) {
			TAILQ_REMOVE(&loop->dirty, connection, dirty_link);
			connection->is_dirty = false;
			grpc_connection_flush(connection);
			if (connection == last)
				break;
		}
		if (clock_monotonic_ms() >= until_ms)
			break;
	}
}

static void bury(struct grpc_loop *loop)
{
	struct grpc_connection *connection = LIST_FIRST(&loop->graveyard);

	while (connection) {
		struct grpc_connection *next = LIST_NEXT(connection, link);

		/* Its calls have not heard of it yet otherwise. */
		if (connection->calls_count == 0)
			grpc_connection_free(connection);
		connection = next;
	}
}

static void earlier(int64_t *next_ms, int64_t at_ms)
{
	if (at_ms >= 0 && (*next_ms < 0 || at_ms < *next_ms))
		*next_ms = at_ms;
}

/* Milliseconds until something is due, at most a minute; -1: nothing will be. */
static int next_timeout(const struct grpc_loop *loop, int64_t next_ms)
{
	int64_t left_ms;

	if (is_busy(loop))
		return 0;
	earlier(&next_ms, deadline_next_ms(&loop->call_deadlines));
	earlier(&next_ms, deadline_next_ms(&loop->timeouts));
	earlier(&next_ms, deadline_next_ms(&loop->connection_deadlines));
	if (loop->is_stopping)
		earlier(&next_ms, loop->stop_ms);
	if (next_ms < 0)
		return -1;
	left_ms = next_ms - clock_monotonic_ms();
	return left_ms <= 0 ? 0 : left_ms > 60000 ? 60000 : (int)left_ms;
}

/* Connections are freed by bury() only, so that no event of the turn can point to freed memory;
 * listeners by jobs, which come after the events. Returns when the next turn is due anyway. */
int64_t grpc_loop_turn(struct grpc_loop *loop, int timeout_ms)
{
	struct epoll_event events[EVENTS_PER_TURN];
	int count = epoll_wait(loop->epoll_fd, events, EVENTS_PER_TURN, timeout_ms);
	int64_t next_ms;

	loop->now_ms = clock_monotonic_ms();
	for (int i = 0; i < count; i++)
		on_event(loop, &events[i]);
	grpc_loop_run_jobs(loop);
	run_deadlines(loop);
	settle(loop);
	next_ms = grpc_dispatch_turn(loop->dispatch, loop->now_ms);
	if (loop->is_acceptor)
		earlier(&next_ms, grpc_listeners_balance(loop->listeners, loop->now_ms));
	bury(loop);
	return next_ms;
}

static void close_all(struct grpc_loop *loop)
{
	struct grpc_connection *connection;

	while ((connection = LIST_FIRST(&loop->connections)))
		grpc_connection_close(connection);
}

static void *run(void *arg)
{
	struct grpc_loop *loop = arg;
	int64_t next_ms = -1;

	loop->now_ms = clock_monotonic_ms();
	grpc_dispatch_store_changed(loop->dispatch, loop->now_ms);
	while (!loop->is_stopping || !LIST_EMPTY(&loop->connections) ||
		!LIST_EMPTY(&loop->graveyard) || is_busy(loop)) {
		if (loop->is_stopping && clock_monotonic_ms() >= loop->stop_ms)
			close_all(loop);
		next_ms = grpc_loop_turn(loop, next_timeout(loop, next_ms));
	}
	return NULL;
}

/* ---- life ---- */

void grpc_loop_set_peers(struct grpc_loop *loop, struct grpc_loop **peers, size_t count,
	struct grpc_listeners *listeners)
{
	loop->listeners = listeners;
	loop->is_acceptor = loop == peers[0];
	loop->peers = peers;
	loop->peers_count = count;
}

int grpc_loop_new(const struct grpc_options *options, struct grpc_loop **ret_loop)
{
	struct grpc_loop *loop = xcalloc(1, sizeof(*loop));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &loop->wake_source};
	int rc = 0;

	loop->options = options;
	loop->wake_source = GRPC_SOURCE_WAKE;
	loop->stop_ms = -1;
	loop->now_ms = clock_monotonic_ms();
	loop->log_window_ms = loop->now_ms;
	LIST_INIT(&loop->connections);
	LIST_INIT(&loop->graveyard);
	TAILQ_INIT(&loop->dirty);
	STAILQ_INIT(&loop->ready);
	STAILQ_INIT(&loop->jobs);
	pthread_mutex_init(&loop->lock, NULL);
	pthread_cond_init(&loop->job_done, NULL);
	loop->callbacks = grpc_connection_callbacks();
	loop->session_options = grpc_connection_options();
	loop->dispatch = grpc_dispatch_new(options, loop);
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loop->epoll_fd < 0 || loop->wake_fd < 0 ||
		epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &event) < 0)
		rc = -errno;
	if (rc)
		grpc_loop_free(loop);
	else
		*ret_loop = loop;
	return rc;
}

int grpc_loop_start(struct grpc_loop *loop)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&loop->thread, NULL, run, loop);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!rc)
		pthread_setname_np(loop->thread, "grpc");
	return -rc;
}

static void begin_stop(struct grpc_loop *loop, void *arg)
{
	struct grpc_connection *connection, *next;

	loop->is_stopping = true;
	loop->stop_ms = loop->now_ms + (int64_t)(intptr_t)arg + STOP_EXTRA_MS;
	for (connection = LIST_FIRST(&loop->connections); connection; connection = next) {
		next = LIST_NEXT(connection, link);
		grpc_drain_start(connection, 0, "the server is stopping");
	}
	grpc_dispatch_stop(loop->dispatch);
}

void grpc_loop_stop(struct grpc_loop *loop, int64_t drain_ms)
{
	grpc_loop_post_run(loop, begin_stop, (void *)(intptr_t)drain_ms);
}

void grpc_loop_join(struct grpc_loop *loop)
{
	pthread_join(loop->thread, NULL);
}

void grpc_loop_free(struct grpc_loop *loop)
{
	if (!loop)
		return;
	assert(LIST_EMPTY(&loop->connections) && LIST_EMPTY(&loop->graveyard));
	grpc_dispatch_free(loop->dispatch);
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	if (loop->wake_fd >= 0)
		close(loop->wake_fd);
	deadline_heap_fini(&loop->call_deadlines);
	deadline_heap_fini(&loop->timeouts);
	deadline_heap_fini(&loop->connection_deadlines);
	nghttp2_session_callbacks_del(loop->callbacks);
	nghttp2_option_del(loop->session_options);
	pthread_cond_destroy(&loop->job_done);
	pthread_mutex_destroy(&loop->lock);
	free(loop);
}
