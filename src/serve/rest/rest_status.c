/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>

#include "base/clock.h"
#include "serve/rest/rest_core.h"

#define NAMES_SHOWN 5

static void set_time(json_t *object, const char *key, int64_t at_ms)
{
	char text[25];

	clock_format_utc(clock_wall_ms() - (clock_monotonic_ms() - at_ms), text);
	json_object_set_new(object, key, json_string(text));
}

/* Absent for none, and for secrets: a digest over a short password gives it away. */
static void set_version(
	json_t *object, const char *key, const struct rest_topic *topic, const struct held *held)
{
	if (held->kind != HELD_NONE && !xds_type_row(topic->subscription.type)->is_secret)
		json_object_set_new(object, key, json_string(held_text(held).text));
}

static json_t *describe_type(const struct subscription *subscription)
{
	json_t *object = json_object(), *names = json_array();

	json_object_set_new(object, "subscribed",
		subscription->is_wildcard ? json_string("*")
					  : json_integer((json_int_t)subscription->count));
	for (size_t i = 0; i < subscription->count && i < NAMES_SHOWN; i++)
		json_array_append_new(names,
			json_stringn(subscription->names[i].data, subscription->names[i].length));
	if (!subscription->is_wildcard)
		json_object_set(object, "names", names);
	json_decref(names);
	return object;
}

/* In the shape that clients of every transport have; a poll has one type. */
static json_t *describe(const struct rest_waiter *waiter, const struct rest_node *node,
	const struct rest_topic *topic, const char *state, json_t **ret_type)
{
	struct buf address = BUF_INIT;
	json_t *object = json_pack(
		"{s:s,s:s,s:s}", "transport", "rest", "node", node->id, "cluster", node->cluster);

	http_client_address(waiter->client, &address);
	json_object_set_new(object, "address", json_string(buf_cstr(&address)));
	buf_fini(&address);
	json_object_set_new(object, "group", json_string(rest_topic_group(topic)->text));
	json_object_set_new(object, "state", json_string(state));
	*ret_type = describe_type(&topic->subscription);
	json_object_set_new(object, "types",
		json_pack("{s:o}", xds_type_row(topic->subscription.type)->name, *ret_type));
	return object;
}

static void describe_open(json_t *array, const struct rest_waiter *waiter)
{
	bool is_parked = http_client_is_parked(waiter->client);
	json_t *type;
	json_t *object = describe(
		waiter, waiter->node, waiter->topic, is_parked ? "parked" : "answering", &type);

	set_time(object, "since", waiter->question.arrived_ms);
	set_version(type, "acknowledged", waiter->topic, &waiter->question.held);
	set_version(type, "rejected", waiter->topic, &waiter->question.rejected);
	if (waiter->question.rejected.kind != HELD_NONE)
		json_object_set_new(type, "is_rejected", json_true());
	json_array_append_new(array, object);
}

static void describe_delivery(
	json_t *array, const struct rest_waiter *waiter, const struct rest_delivery *delivery)
{
	assert(delivery->topic);
	json_t *type;
	json_t *object = describe(waiter, delivery->node, delivery->topic, "idle", &type);

	set_time(object, "since", delivery->asked_ms);
	set_version(type, "sent", delivery->topic, &delivery->last.delivered);
	set_time(type, "sent_at", delivery->last.at_ms);
	if (delivery->is_rejected)
		json_object_set_new(type, "is_rejected", json_true());
	json_array_append_new(array, object);
}

/* One entry per connection and topic: the open request, then what else it was sent. */
static json_t *describe_clients(struct rest_server *server, size_t limit)
{
	json_t *array = json_array();
	struct http_client *client = NULL;

	while ((client = http_server_next(server->http, client)) &&
		json_array_size(array) < limit) {
		const struct rest_waiter *waiter = http_client_data(client);

		if (!waiter)
			continue;
		if (waiter->topic)
			describe_open(array, waiter);
		for (size_t i = 0; i < waiter->deliveries_count && json_array_size(array) < limit;
			i++) {
			const struct rest_delivery *delivery = &waiter->deliveries[i];

			if (delivery->topic != waiter->topic || delivery->node != waiter->node)
				describe_delivery(array, waiter, delivery);
		}
	}
	return array;
}

static json_t *describe_unmatched(const struct rest_server *server)
{
	json_t *array = json_array();

	for (size_t i = 0; i < server->unmatched_count; i++) {
		const struct rest_unmatched *entry = &server->unmatched[i];
		char last[25];

		clock_format_utc(entry->last_wall_ms, last);
		json_array_append_new(array,
			json_pack("{s:s,s:s,s:s,s:s,s:I,s:s}", "transport", "rest", "node",
				entry->id, "cluster", entry->cluster, "address", entry->address,
				"requests", (json_int_t)entry->count, "last", last));
	}
	return array;
}

static json_t *describe_answers(const struct rest_server *server)
{
	static const char *const names[REST_ANSWER_COUNT] = {
		[REST_OK] = "200",
		[REST_NOT_MODIFIED] = "304",
		[REST_BAD_REQUEST] = "400",
		[REST_FORBIDDEN] = "403",
		[REST_NOT_FOUND] = "404",
		[REST_BAD_METHOD] = "405",
		[REST_UNAVAILABLE] = "503",
		[REST_FAILED] = "500",
	};
	json_t *object = json_object();

	for (int i = 0; i < REST_ANSWER_COUNT; i++)
		json_object_set_new(object, names[i], json_integer((json_int_t)server->answers[i]));
	return object;
}

json_t *rest_status_make(struct rest_server *server, size_t clients_limit)
{
	struct http_counters counters = http_server_counters(server->http);

	return json_pack("{s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:I,s:I,s:o,s:o}", "listeners",
		http_server_listeners(server->http), "connections",
		(json_int_t)counters.connections, "connections_limit",
		(json_int_t)counters.connections_limit, "accepted", (json_int_t)counters.accepted,
		"parked", (json_int_t)counters.parked, "requests", (json_int_t)counters.requests,
		"refused", (json_int_t)counters.refused, "answers", describe_answers(server),
		"rejections", (json_int_t)server->rejections, "encoded",
		(json_int_t)rest_hub_encoded(server->hub), "clients",
		describe_clients(server, clients_limit), "unmatched", describe_unmatched(server));
}
