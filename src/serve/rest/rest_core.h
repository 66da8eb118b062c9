/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the rest_*.c files share; not for anyone else. All of it on the server's thread. */
#ifndef XDSPUB_SERVE_REST_REST_CORE_H
#define XDSPUB_SERVE_REST_REST_CORE_H

#include "serve/http_server.h"
#include "serve/rest/rest_node.h"
#include "serve/rest/rest_route.h"
#include "serve/rest/rest_topic.h"

#define REST_DELIVERIES_MAX 8  /* per connection; Envoy's pool lets pollers share connections */
#define REST_UNMATCHED_MAX  32 /* nodes without a group that are remembered for the status */

/* What one (connection, node, type, names) was sent last. */
struct rest_delivery {
	struct rest_node *node;
	struct rest_topic *topic;
	struct longpoll_delivery last;
	int64_t asked_ms; /* its newest request */
	bool is_rejected; /* by inference */
};

/* One connection and the request that it may have open. */
struct rest_waiter {
	struct http_client *client;
	struct rest_node *node;	  /* of the open request; NULL: none is open */
	struct rest_topic *topic; /* of the open request */
	struct longpoll_question question;
	struct held offered; /* the content in the answer; HELD_NONE: there is none */
	bool is_linked;
	LIST_ENTRY(rest_waiter) link;	  /* in the topic while parked */
	struct rest_delivery *deliveries; /* oldest first */
	size_t deliveries_count;
};

struct rest_unmatched {
	char *id, *cluster, *address;
	uint64_t count;
	int64_t last_wall_ms;
};

enum rest_answer {
	REST_OK,
	REST_NOT_MODIFIED,
	REST_BAD_REQUEST,
	REST_FORBIDDEN,
	REST_NOT_FOUND,
	REST_BAD_METHOD,
	REST_UNAVAILABLE,
	REST_FAILED
};
#define REST_ANSWER_COUNT 8

struct rest_server {
	struct rest_options options;
	struct http_server *http;
	struct store_subscription *subscription;
	struct rest_hub *hub;
	struct rest_node_table nodes;
	struct http_reply *not_modified;
	uint64_t answers[REST_ANSWER_COUNT];
	uint64_t rejections;
	struct rest_unmatched unmatched[REST_UNMATCHED_MAX]; /* newest first */
	size_t unmatched_count;
	int64_t unmatched_logged_ms; /* when the window of log lines began */
	unsigned unmatched_logged;   /* lines in it */
};

/* rest_server.c */
void rest_answer(struct rest_server *server, struct http_client *client, enum rest_answer kind,
	struct http_reply *reply); /* gives up the reference */
void rest_answer_error(struct rest_server *server, struct http_client *client,
	enum rest_answer kind, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* rest_poll.c */
void rest_poll_request(struct rest_server *server, struct http_client *client,
	const struct xds_type_row *row, struct slice body);
/* Something changed: answers, or leaves it parked. */
void rest_poll_decide(struct rest_server *server, struct rest_waiter *waiter);
/* Its time is over, or nearly: answers. */
void rest_poll_expire(struct rest_server *server, struct rest_waiter *waiter);
/* Ends the open request without content: 304 for who has a version, else 503 and the text. */
void rest_poll_release(struct rest_server *server, struct rest_waiter *waiter, const char *problem);
void rest_poll_forget(struct rest_server *server, struct rest_waiter *waiter);
void rest_poll_sent(struct rest_server *server, struct rest_waiter *waiter, bool is_complete);
void rest_poll_free(struct rest_server *server, struct rest_waiter *waiter);

/* rest_people.c */
void rest_people_groups(struct rest_server *server, struct http_client *client);
void rest_people_group(struct rest_server *server, struct http_client *client, struct slice group);
void rest_people_set(struct rest_server *server, struct http_client *client, struct slice group,
	const struct xds_type_row *row);

/* rest_status.c */
json_t *rest_status_make(struct rest_server *server, size_t clients_limit);

#endif
