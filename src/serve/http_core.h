/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What http_server.c, http_client.c and http_listener.c share; not for anyone else. */
#ifndef XDSPUB_SERVE_HTTP_CORE_H
#define XDSPUB_SERVE_HTTP_CORE_H

#include <microhttpd.h>
#include <pthread.h>
#include <sys/queue.h>

#include "serve/deadline.h"
#include "serve/http_server.h"
#include "serve/listen.h"

/* First member of everything that epoll's data points to. */
enum http_source {
	HTTP_SOURCE_WAKE,
	HTTP_SOURCE_DAEMON,
	HTTP_SOURCE_LISTENER,
	HTTP_SOURCE_CLIENT,
	HTTP_SOURCE_LINGER
};

enum http_state {
	HTTP_IDLE,	/* between requests */
	HTTP_READING,	/* headers are there, the body is coming */
	HTTP_DECIDING,	/* inside `request` */
	HTTP_PARKED,	/* suspended; only our epoll watches it, for its end */
	HTTP_ANSWERING, /* resumed; libmicrohttpd will ask for the answer */
	HTTP_SENDING,	/* the answer is queued */
	HTTP_GONE	/* left while parked; resumed to be closed */
};

struct http_listener {
	enum http_source source;
	unsigned references; /* the server's and one per client */
	bool is_closed;
	char *address;
	struct listen_socket socket;
};

/* A request body on its way in. */
struct http_upload {
	struct buf bytes;
	uint64_t seen;
	unsigned refused; /* status to answer with once it is drained; 0: fine so far */
};

struct http_client {
	enum http_source source;
	int fd; /* libmicrohttpd's */
	struct MHD_Connection *connection;
	struct http_server *server;
	struct http_listener *listener;
	struct http_upload *upload; /* READING only */
	struct http_reply *reply;   /* DECIDING, ANSWERING, SENDING */
	void *data;
	struct deadline deadline;
	LIST_ENTRY(http_client) link;
	int linger_fd; /* duplicate of fd, to drain what was refused; -1 */
	uint8_t state;
	bool is_hung_up;
};

/* A connection we are done with, kept until the peer stops sending: closing it at once would
 * reset it and could destroy the answer on its way. */
struct http_linger {
	enum http_source source;
	int fd;
	uint64_t drained;
	int64_t until_ms;
	LIST_ENTRY(http_linger) link;
};

struct http_job {
	void (*function)(void *arg);
	void *arg;
	bool is_done;
	struct http_job *next;
};

struct http_server {
	struct http_options options;
	struct MHD_Daemon *daemon;
	pthread_t thread;
	int epoll_fd, wake_fd;
	enum http_source wake_source, daemon_source;
	struct deadline_heap deadlines;
	LIST_HEAD(, http_client) clients;
	LIST_HEAD(, http_linger) lingering;
	struct http_listener **listeners;
	size_t listeners_count;
	struct http_listener *accepting; /* while MHD_add_connection() runs */
	int64_t accept_again_ms;	 /* after a failed accept; -1: nothing is wrong */
	int64_t full_logged_ms;
	bool is_full;  /* at the connection limit: nobody accepts */
	bool must_run; /* libmicrohttpd has work that its epoll does not show */
	bool is_stopping;
	uint64_t upload_bytes; /* of all clients, see UPLOADS_MAX */
	uint64_t sending;      /* clients in ANSWERING or SENDING */
	struct http_counters counters;

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t job_done;
	struct http_job *jobs;
	bool is_woken, must_stop;
};

/* http_client.c: libmicrohttpd's callbacks and what the loop tells a client. */
enum MHD_Result http_client_on_access(void *cls, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *data, size_t *data_size,
	void **request_data);
void http_client_on_completed(void *cls, struct MHD_Connection *connection, void **request_data,
	enum MHD_RequestTerminationCode code);
void http_client_on_connection(void *cls, struct MHD_Connection *connection, void **socket_data,
	enum MHD_ConnectionNotificationCode code);
void http_client_on_hang_up(struct http_client *client);
void http_client_on_deadline(struct http_client *client);

/* http_listener.c */
void http_listener_unref(struct http_listener *listener);
void http_listener_accept(struct http_server *server, struct http_listener *listener);
/* Turns accepting on or off by what the server can take now. */
void http_listener_balance(struct http_server *server, int64_t now_ms);
void http_listener_close_all(struct http_server *server);

/* http_linger.c */
void http_linger_start(struct http_server *server, int fd, int64_t now_ms); /* takes fd */
void http_linger_on_event(struct http_linger *linger);
/* Ends those whose time is over (all: everyone); returns ms to the next, -1: none. */
int64_t http_linger_expire(struct http_server *server, int64_t now_ms, bool all);

#endif
