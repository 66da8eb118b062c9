/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "serve/rest/rest_core.h"
#include "serve/rest/rest_request.h"

#define TIMEOUT_HEADER "x-envoy-expected-rq-timeout-ms"
/* Log lines about nodes without a group: at most so many in so much time. */
#define UNMATCHED_LINES	    10
#define UNMATCHED_WINDOW_MS 60000

static struct slice group_of(const struct rest_topic *topic)
{
	const struct rcstr *group = rest_topic_group(topic);

	return (struct slice){group->text, group->length};
}

static void append_quoted(struct buf *out, struct slice text)
{
	buf_putc(out, '"');
	text_quote(out, text, 200);
	buf_putc(out, '"');
}

/* ---- what was delivered ---- */

static struct rest_delivery *find_delivery(struct rest_waiter *waiter)
{
	for (size_t i = 0; i < waiter->deliveries_count; i++)
		if (waiter->deliveries[i].node == waiter->node &&
			waiter->deliveries[i].topic == waiter->topic)
			return &waiter->deliveries[i];
	return NULL;
}

static void drop_delivery(struct rest_server *server, struct rest_delivery *delivery)
{
	rest_node_unref(&server->nodes, delivery->node);
	rest_topic_unref(server->hub, delivery->topic);
}

static struct rest_delivery *add_delivery(struct rest_server *server, struct rest_waiter *waiter)
{
	struct rest_delivery *delivery = find_delivery(waiter);

	if (delivery)
		return delivery;
	if (waiter->deliveries_count == REST_DELIVERIES_MAX) {
		drop_delivery(server, &waiter->deliveries[0]);
		waiter->deliveries_count--;
		memmove(waiter->deliveries, waiter->deliveries + 1,
			waiter->deliveries_count * sizeof(*waiter->deliveries));
	} else {
		/* One at a time: nearly all connections have exactly one. */
		waiter->deliveries = xrealloc(waiter->deliveries,
			(waiter->deliveries_count + 1) * sizeof(*waiter->deliveries));
	}
	delivery = &waiter->deliveries[waiter->deliveries_count++];
	*delivery = (struct rest_delivery){
		.node = rest_node_ref(waiter->node),
		.topic = rest_topic_ref(waiter->topic),
	};
	return delivery;
}

/* ---- the open request ---- */

static void unlink_waiter(struct rest_waiter *waiter)
{
	if (!waiter->is_linked)
		return;
	LIST_REMOVE(waiter, link);
	waiter->topic->waiters_count--;
	waiter->is_linked = false;
}

static void park(struct rest_waiter *waiter, int64_t until_ms)
{
	if (!waiter->is_linked) {
		LIST_INSERT_HEAD(&waiter->topic->waiters, waiter, link);
		waiter->topic->waiters_count++;
		waiter->is_linked = true;
	}
	http_client_park(waiter->client, until_ms);
}

static void answer_content(struct rest_server *server, struct rest_waiter *waiter)
{
	struct http_reply *reply =
		rest_topic_reply(server->hub, waiter->topic, clock_monotonic_ms());

	if (!reply) {
		rest_answer_error(server, waiter->client, REST_FAILED,
			"the answer could not be encoded; the log says why");
		return;
	}
	waiter->offered = waiter->topic->version;
	rest_answer(server, waiter->client, REST_OK, reply);
}

static void answer_missing(struct rest_server *server, struct rest_waiter *waiter)
{
	const struct subscription *subscription = &waiter->topic->subscription;
	struct buf text = BUF_INIT;

	buf_printf(&text, "group \"%.*s\" has no %s named ", SLICE_ARG(group_of(waiter->topic)),
		xds_type_row(subscription->type)->noun);
	append_quoted(&text, subscription->names[0]);
	if (subscription->count > 1)
		buf_printf(&text, ", and none of %zu others", subscription->count - 1);
	rest_answer_error(server, waiter->client, REST_NOT_FOUND, "%s", buf_cstr(&text));
	buf_fini(&text);
}

static void decide(struct rest_server *server, struct rest_waiter *waiter, int64_t now_ms)
{
	struct longpoll_state state = rest_topic_state(waiter->topic);
	struct longpoll_decision decision = longpoll_decide(&waiter->question, &state, now_ms);

	if (decision.action == LONGPOLL_PARK) {
		park(waiter, decision.until_ms);
		return;
	}
	unlink_waiter(waiter);
	switch (decision.action) {
	case LONGPOLL_REPLY:
		answer_content(server, waiter);
		break;
	case LONGPOLL_NOT_MODIFIED:
		rest_answer(server, waiter->client, REST_NOT_MODIFIED,
			http_reply_ref(server->not_modified));
		break;
	case LONGPOLL_NOT_FOUND:
		answer_missing(server, waiter);
		break;
	case LONGPOLL_UNAVAILABLE:
		rest_answer_error(server, waiter->client, REST_UNAVAILABLE,
			"group \"%.*s\" serves nothing yet", SLICE_ARG(group_of(waiter->topic)));
		break;
	case LONGPOLL_PARK:
		break;
	}
}

void rest_poll_decide(struct rest_server *server, struct rest_waiter *waiter)
{
	decide(server, waiter, clock_monotonic_ms());
}

/* The server ends waits in batches, some a little early: to park again for the rest of a batch
 * would be a loop without a pause. */
void rest_poll_expire(struct rest_server *server, struct rest_waiter *waiter)
{
	int64_t end_ms = waiter->question.arrived_ms + waiter->question.hold_ms;
	int64_t now_ms = clock_monotonic_ms();

	decide(server, waiter, now_ms > end_ms ? now_ms : end_ms);
}

void rest_poll_release(struct rest_server *server, struct rest_waiter *waiter, const char *problem)
{
	unlink_waiter(waiter);
	if (waiter->question.held.kind != HELD_NONE)
		rest_answer(server, waiter->client, REST_NOT_MODIFIED,
			http_reply_ref(server->not_modified));
	else
		rest_answer_error(server, waiter->client, REST_UNAVAILABLE, "%s", problem);
}

void rest_poll_forget(struct rest_server *server, struct rest_waiter *waiter)
{
	unlink_waiter(waiter);
	rest_topic_unref(server->hub, waiter->topic);
	waiter->topic = NULL;
	rest_node_unref(&server->nodes, waiter->node);
	waiter->node = NULL;
	waiter->offered = (struct held){.kind = HELD_NONE};
}

void rest_poll_sent(struct rest_server *server, struct rest_waiter *waiter, bool is_complete)
{
	if (waiter->offered.kind != HELD_NONE) {
		struct rest_delivery *delivery = add_delivery(server, waiter);

		/* The same again, to who has nothing else, is no news. */
		if (!held_equal(&delivery->last.delivered, &waiter->offered))
			delivery->is_rejected = false;
		delivery->asked_ms = waiter->question.arrived_ms;
		delivery->last = (struct longpoll_delivery){
			.before = waiter->question.held,
			.delivered = waiter->offered,
			.is_complete = is_complete,
			.at_ms = clock_monotonic_ms(),
		};
	}
	rest_poll_forget(server, waiter);
}

void rest_poll_free(struct rest_server *server, struct rest_waiter *waiter)
{
	rest_poll_forget(server, waiter);
	for (size_t i = 0; i < waiter->deliveries_count; i++)
		drop_delivery(server, &waiter->deliveries[i]);
	free(waiter->deliveries);
	free(waiter);
}

/* ---- a new request ---- */

/* Once per topic and version: one bad change must not fill the log with a line per client. */
static void report_rejection(
	struct rest_server *server, struct rest_waiter *waiter, const struct held *rejected)
{
	const struct xds_type_row *row = xds_type_row(waiter->topic->subscription.type);
	struct version version = held_text(rejected);
	struct slice name = SLICE("*");

	if (waiter->topic->subscription.count)
		name = waiter->topic->subscription.names[0];
	server->rejections++;
	if (held_equal(&waiter->topic->reported, rejected))
		return;
	waiter->topic->reported = *rejected;
	/* A digest that covers a secret could be guessed back to a short password. */
	log_event(server->options.log, LOG_LEVEL_WARNING, "rejected", LOG_TEXT("transport", "rest"),
		LOG_TEXT("node", waiter->node->id), LOG_SLICE("group", group_of(waiter->topic)),
		LOG_TEXT("type", row->name), LOG_SLICE("name", name),
		LOG_TEXT("version", row->is_secret ? "-" : version.text));
}

static void ask(struct rest_server *server, struct rest_waiter *waiter, struct slice version_info)
{
	struct rest_delivery *delivery = find_delivery(waiter);
	struct longpoll_question *question = &waiter->question;

	*question = (struct longpoll_question){
		.held = held_parse(version_info),
		.arrived_ms = clock_monotonic_ms(),
		.hold_ms = longpoll_hold_ms(http_client_header(waiter->client, TIMEOUT_HEADER),
			server->options.limits.hold_ms),
	};
	if (delivery) {
		delivery->asked_ms = question->arrived_ms;
		if (longpoll_is_rejection(&delivery->last, &question->held, question->arrived_ms)) {
			question->rejected = delivery->last.delivered;
			if (!delivery->is_rejected)
				report_rejection(server, waiter, &question->rejected);
			delivery->is_rejected = true;
		} else if (held_equal(&question->held, &delivery->last.delivered)) {
			delivery->is_rejected = false;
		}
	}
	rest_poll_decide(server, waiter);
}

/* A fleet without a group must not fill the log either; the status counts them all. */
static void report_unmatched(
	struct rest_server *server, const struct rest_node *node, const char *address)
{
	int64_t now_ms = clock_monotonic_ms();

	if (now_ms - server->unmatched_logged_ms >= UNMATCHED_WINDOW_MS) {
		server->unmatched_logged_ms = now_ms;
		server->unmatched_logged = 0;
	}
	if (server->unmatched_logged++ < UNMATCHED_LINES)
		log_event(server->options.log, LOG_LEVEL_WARNING, "no-group",
			LOG_TEXT("transport", "rest"), LOG_TEXT("node", node->id),
			LOG_TEXT("cluster", node->cluster), LOG_TEXT("address", address));
}

static void note_unmatched(
	struct rest_server *server, const struct rest_node *node, struct http_client *client)
{
	struct rest_unmatched *list = server->unmatched;
	struct rest_unmatched entry = {0};
	struct buf address = BUF_INIT;
	size_t i = 0;

	while (i < server->unmatched_count &&
		(strcmp(list[i].id, node->id) != 0 || strcmp(list[i].cluster, node->cluster) != 0))
		i++;
	http_client_address(client, &address);
	if (i < server->unmatched_count) {
		entry = list[i];
	} else {
		report_unmatched(server, node, buf_cstr(&address));
		entry.id = xstrdup(node->id);
		entry.cluster = xstrdup(node->cluster);
		if (server->unmatched_count == REST_UNMATCHED_MAX) {
			i = REST_UNMATCHED_MAX - 1;
			free(list[i].id);
			free(list[i].cluster);
			free(list[i].address);
		} else {
			server->unmatched_count++;
		}
	}
	memmove(list + 1, list, i * sizeof(*list));
	free(entry.address);
	entry.address = buf_take(&address, NULL);
	entry.count++;
	entry.last_wall_ms = clock_wall_ms();
	list[0] = entry;
}

/* The node and its group; false: answered. */
static bool find_group(struct rest_server *server, struct rest_waiter *waiter,
	const struct rest_request *request, struct buf *problem)
{
	if (!server->nodes.selector) {
		rest_answer_error(
			server, waiter->client, REST_UNAVAILABLE, "nothing has been built yet");
		return false;
	}
	if (rest_node_get(&server->nodes, request->node, &waiter->node, problem)) {
		rest_answer_error(
			server, waiter->client, REST_BAD_REQUEST, "%s", buf_cstr(problem));
		return false;
	}
	if (waiter->node->group)
		return true;
	if (!request->node.data) {
		rest_answer_error(server, waiter->client, REST_FORBIDDEN,
			"the request has no node, so its group is unknown");
		return false;
	}
	note_unmatched(server, waiter->node, waiter->client);
	buf_puts(problem, "no group in groups.yaml matches node id ");
	append_quoted(problem, slice_of(waiter->node->id));
	buf_puts(problem, ", cluster ");
	append_quoted(problem, slice_of(waiter->node->cluster));
	rest_answer_error(server, waiter->client, REST_FORBIDDEN, "%s", buf_cstr(problem));
	return false;
}

/* What it asks for; false: answered. */
static bool find_topic(struct rest_server *server, struct rest_waiter *waiter,
	const struct xds_type_row *row, struct rest_request *request)
{
	struct subscription subscription;

	if (subscription_make(row->type, request->names, request->names_count, &subscription)) {
		rest_answer_error(server, waiter->client, REST_BAD_REQUEST,
			"\"resource_names\" must name what is asked for: every %s has its own poll",
			row->noun);
		return false;
	}
	waiter->topic = rest_topic_get(server->hub, waiter->node->group, &subscription);
	if (!waiter->topic)
		rest_answer_error(server, waiter->client, REST_UNAVAILABLE,
			"too many names are being asked for at once; try again");
	return waiter->topic != NULL;
}

static bool check_type_url(struct rest_server *server, struct http_client *client,
	const struct xds_type_row *row, struct slice type_url)
{
	struct buf text = BUF_INIT;

	if (type_url.length == 0 || slice_is(type_url, row->type_url))
		return true;
	buf_puts(&text, "\"type_url\" ");
	append_quoted(&text, type_url);
	buf_printf(&text, " does not belong to %s, which serves %s", row->rest_path, row->type_url);
	rest_answer_error(server, client, REST_BAD_REQUEST, "%s", buf_cstr(&text));
	buf_fini(&text);
	return false;
}

void rest_poll_request(struct rest_server *server, struct http_client *client,
	const struct xds_type_row *row, struct slice body)
{
	struct rest_waiter *waiter = http_client_data(client);
	struct rest_request request;
	struct buf problem = BUF_INIT;

	assert(!waiter->node && !waiter->topic);
	if (rest_request_parse(body, &server->options.limits, &request, &problem)) {
		rest_answer_error(server, client, REST_BAD_REQUEST, "%s", buf_cstr(&problem));
	} else {
		if (check_type_url(server, client, row, request.type_url) &&
			find_group(server, waiter, &request, &problem) &&
			find_topic(server, waiter, row, &request))
			ask(server, waiter, request.version_info);
		rest_request_fini(&request);
	}
	buf_fini(&problem);
}
