/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/http_server.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "serve/http_core.h"

#define EVENTS_PER_TURN 256
#define POOL_BYTES	4096 /* request line, headers and the head of the answer; bodies stream */
#define IDLE_SECONDS	600  /* pollers with a long refresh_delay keep their connection */
#define STOP_MS		2000

static void wake(struct http_server *server)
{
	uint64_t one = 1;
	ssize_t rc = write(server->wake_fd, &one, sizeof(one));

	(void)rc; /* a full counter wakes as well */
}

void http_server_wake(struct http_server *server)
{
	bool first;

	pthread_mutex_lock(&server->lock);
	first = !server->is_woken;
	server->is_woken = true;
	pthread_mutex_unlock(&server->lock);
	if (first)
		wake(server);
}

void http_server_call(struct http_server *server, void (*function)(void *arg), void *arg)
{
	struct http_job job = {.function = function, .arg = arg};

	assert(!pthread_equal(pthread_self(), server->thread));
	pthread_mutex_lock(&server->lock);
	job.next = server->jobs;
	server->jobs = &job;
	wake(server);
	while (!job.is_done)
		pthread_cond_wait(&server->job_done, &server->lock);
	pthread_mutex_unlock(&server->lock);
}

struct http_counters http_server_counters(const struct http_server *server)
{
	return server->counters;
}

struct http_client *http_server_next(const struct http_server *server, struct http_client *client)
{
	return client ? LIST_NEXT(client, link) : LIST_FIRST(&server->clients);
}

/* ---- the loop ---- */

static void on_wake(struct http_server *server)
{
	struct http_job *jobs;
	uint64_t count;
	ssize_t rc = read(server->wake_fd, &count, sizeof(count));
	bool is_woken;

	(void)rc;
	pthread_mutex_lock(&server->lock);
	jobs = server->jobs;
	server->jobs = NULL;
	is_woken = server->is_woken;
	server->is_woken = false;
	server->is_stopping |= server->must_stop;
	pthread_mutex_unlock(&server->lock);

	if (is_woken && server->options.handlers->woken)
		server->options.handlers->woken(server->options.ctx);
	while (jobs) {
		struct http_job *job = jobs;

		jobs = job->next;
		job->function(job->arg);
		pthread_mutex_lock(&server->lock);
		job->is_done = true;
		pthread_cond_broadcast(&server->job_done);
		pthread_mutex_unlock(&server->lock);
	}
}

static void on_event(struct http_server *server, const struct epoll_event *event)
{
	switch (*(enum http_source *)event->data.ptr) {
	case HTTP_SOURCE_WAKE:
		on_wake(server);
		break;
	case HTTP_SOURCE_DAEMON:
		server->must_run = true;
		break;
	case HTTP_SOURCE_LISTENER:
		http_listener_accept(server, event->data.ptr);
		break;
	case HTTP_SOURCE_CLIENT:
		http_client_on_hang_up(event->data.ptr);
		break;
	case HTTP_SOURCE_LINGER:
		http_linger_on_event(event->data.ptr);
		break;
	}
}

static void earlier(int *timeout_ms, int64_t ms)
{
	if (ms > 60000)
		ms = 60000;
	if (ms >= 0 && (*timeout_ms < 0 || ms < *timeout_ms))
		*timeout_ms = (int)ms;
}

static int next_timeout(struct http_server *server, int64_t stop_ms)
{
	MHD_UNSIGNED_LONG_LONG daemon_ms;
	int64_t now_ms = clock_monotonic_ms();
	int64_t next_ms = deadline_next_ms(&server->deadlines);
	int timeout_ms = -1;

	if (server->must_run)
		return 0;
	if (next_ms >= 0)
		earlier(&timeout_ms, next_ms > now_ms ? next_ms - now_ms : 0);
	if (server->accept_again_ms >= 0)
		earlier(&timeout_ms,
			server->accept_again_ms > now_ms ? server->accept_again_ms - now_ms : 0);
	earlier(&timeout_ms, http_linger_expire(server, now_ms, false));
	if (stop_ms >= 0)
		earlier(&timeout_ms, stop_ms > now_ms ? stop_ms - now_ms : 0);
	if (MHD_get_timeout(server->daemon, &daemon_ms) == MHD_YES) {
		earlier(&timeout_ms, daemon_ms > 60000 ? 60000 : (int64_t)daemon_ms);
		server->must_run |= daemon_ms == 0;
	}
	return timeout_ms;
}

/* Clients, listeners and lingerers are freed by MHD_run() and next_timeout() only, so that no
 * event of the same turn can point to freed memory; install() closes listeners but clients or
 * the turn's `is_closed` check keep them out of use. */
static void run_turn(struct http_server *server, int timeout_ms)
{
	struct epoll_event events[EVENTS_PER_TURN];
	struct deadline *due;
	int64_t now_ms;
	int count = epoll_wait(server->epoll_fd, events, EVENTS_PER_TURN, timeout_ms);

	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < count; i++)
			/* Jobs last: they may free listeners. */
			if ((*(enum http_source *)events[i].data.ptr == HTTP_SOURCE_WAKE) == pass)
				on_event(server, &events[i]);
	now_ms = clock_monotonic_ms();
	while ((due = deadline_pop(&server->deadlines, now_ms)))
		http_client_on_deadline(
			(struct http_client *)((char *)due -
					       offsetof(struct http_client, deadline)));
	/* Idle connections time out inside libmicrohttpd. */
	if (server->must_run || count == 0) {
		server->must_run = false;
		MHD_run(server->daemon);
	}
	http_listener_balance(server, now_ms);
}

static void drop_parked(struct http_server *server)
{
	struct http_client *client;

	LIST_FOREACH(client, &server->clients, link)
	if (client->state == HTTP_PARKED)
		http_client_on_hang_up(client);
}

static void *run(void *arg)
{
	struct http_server *server = arg;
	int64_t stop_ms;

	while (!server->is_stopping)
		run_turn(server, next_timeout(server, -1));
	stop_ms = clock_monotonic_ms() + STOP_MS;
	http_listener_close_all(server);
	server->options.handlers->stopping(server->options.ctx);
	/* libmicrohttpd aborts when it is stopped with suspended connections. */
	drop_parked(server);
	do {
		run_turn(server, server->sending ? next_timeout(server, stop_ms) : 0);
	} while ((server->sending || server->must_run) && clock_monotonic_ms() < stop_ms);
	return NULL;
}

/* ---- start and stop ---- */

__attribute__((format(printf, 2, 0))) static void on_library_message(
	void *cls, const char *format, va_list arguments)
{
	const struct http_server *server = cls;
	struct buf text = BUF_INIT;
	char line[256];

	if (__atomic_load_n(&server->options.log->level, __ATOMIC_RELAXED) < LOG_LEVEL_DEBUG)
		return;
	vsnprintf(line, sizeof(line), format, arguments);
	line[strcspn(line, "\n")] = '\0';
	text_quote(&text, slice_of(line), sizeof(line));
	log_event(server->options.log, LOG_LEVEL_DEBUG, "http",
		LOG_TEXT("server", server->options.name), LOG_TEXT("text", buf_cstr(&text)));
	buf_fini(&text);
}

static uint64_t connections_from_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 512;
	/* The rest is for files, listeners, lingering and other servers. */
	return limit.rlim_cur > 512 ? limit.rlim_cur - limit.rlim_cur / 8 - 64 : limit.rlim_cur / 2;
}

static int watch_own(struct http_server *server, int fd, enum http_source *source)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};

	return epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int start_daemon(struct http_server *server)
{
	unsigned limit = (unsigned)server->counters.connections_limit + 16;

	server->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_TURBO |
						  MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG,
		0, NULL, NULL, http_client_on_access, server,		/* */
		MHD_OPTION_EXTERNAL_LOGGER, on_library_message, server, /* first */
		MHD_OPTION_NOTIFY_CONNECTION, http_client_on_connection, server,
		MHD_OPTION_NOTIFY_COMPLETED, http_client_on_completed, server,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES, /* */
		MHD_OPTION_CONNECTION_LIMIT, limit,			/* */
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,	/* */
		MHD_OPTION_END);
	if (!server->daemon)
		return -ENOMEM;
	return watch_own(server,
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		&server->daemon_source);
}

static int start_thread(struct http_server *server)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&server->thread, NULL, run, server);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!rc)
		pthread_setname_np(server->thread, server->options.name);
	return -rc;
}

static void server_free(struct http_server *server)
{
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	http_linger_expire(server, 0, true);
	deadline_heap_fini(&server->deadlines);
	if (server->epoll_fd >= 0)
		close(server->epoll_fd);
	if (server->wake_fd >= 0)
		close(server->wake_fd);
	pthread_cond_destroy(&server->job_done);
	pthread_mutex_destroy(&server->lock);
	free(server);
}

int http_server_start(const struct http_options *options, struct http_server **ret_server)
{
	struct http_server *server = xcalloc(1, sizeof(*server));
	int rc = 0;

	server->options = *options;
	server->wake_source = HTTP_SOURCE_WAKE;
	server->daemon_source = HTTP_SOURCE_DAEMON;
	server->accept_again_ms = -1;
	server->counters.connections_limit =
		options->connections ? options->connections : connections_from_descriptors();
	pthread_mutex_init(&server->lock, NULL);
	pthread_cond_init(&server->job_done, NULL);
	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->epoll_fd < 0 || server->wake_fd < 0)
		rc = -errno;
	if (!rc)
		rc = watch_own(server, server->wake_fd, &server->wake_source);
	if (!rc)
		rc = start_daemon(server);
	if (!rc)
		rc = start_thread(server);
	if (rc)
		server_free(server);
	else
		*ret_server = server;
	return rc;
}

void http_server_stop(struct http_server *server)
{
	pthread_mutex_lock(&server->lock);
	server->must_stop = true;
	pthread_mutex_unlock(&server->lock);
	wake(server);
	pthread_join(server->thread, NULL);
	server_free(server);
}
