/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many clients against the protocol core, at random but repeatable: a simple model of what Envoy
 * does, written without a look at the core's own state. Messages take their time both ways.
 *   - Envoys: aggregated streams; clusters and listeners lead to endpoints and routes.
 *   - Wanderers: subscribe and unsubscribe at random, sometimes refuse, sleep and come back.
 * Four things hold all the time:
 *   - an Envoy that answers in time has, for each route it uses, the cluster and its endpoints;
 *   - a reply has a question: an ACK or a NACK is none (S.67, S.68);
 *   - a push has something that was not sent before, or that somebody needs again (S.70, S.101);
 *   - what was refused is not sent again before the set has changed (S.68, S.100).
 * In the end everyone holds exactly what it subscribed to, and nothing more is said.
 */
#include "serve/xds_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "xds_causes.h"

#define CLIENTS 24
#define STEPS	400

static int64_t later(struct world *world, const struct client *client, int64_t *last_ms)
{
	int64_t at_ms = world->now_ms + pick(world, client->is_lame ? 20000 : 400);

	*last_ms = at_ms > *last_ms ? at_ms : *last_ms;
	return *last_ms;
}

static struct request *request_new(struct client *client, enum xds_type type)
{
	struct request *request = xcalloc(1, sizeof(*request));
	struct subject *subject = &client->subjects[type];

	request->type = type;
	if (!client->is_delta) {
		request->version = subject->accepted;
		memcpy(request->nonce, subject->nonce, XDS_NONCE_SIZE);
		request->names = subject->names;
		request->star = subject->is_wildcard && !subject->is_legacy;
	}
	return request;
}

static void post(struct world *world, struct client *client, struct request *request)
{
	request->due_ms = later(world, client, &client->up_ms);
	STAILQ_INSERT_TAIL(&client->up, request, link);
	client->subjects[request->type].is_asked = true;
}

/* The first request of a type on a stream, with the present subscription. */
static void ask_first(struct world *world, struct client *client, enum xds_type type)
{
	struct subject *subject = &client->subjects[type];
	struct request *request = request_new(client, type);

	request->nonce[0] = '\0';
	request->is_question = true;
	subject->excused = ~0u;
	if (client->is_delta) {
		request->names = subject->names;
		request->star = subject->is_wildcard && (!subject->is_legacy || subject->names);
		for (unsigned i = 0; i < NAMES; i++) {
			if (!subject->held[i].is_there)
				continue;
			request->known |= 1u << i;
			request->versions[i] = subject->held[i].version;
		}
	}
	if (subject->names || request->star)
		subject->has_named = true;
	post(world, client, request);
}

/* A changed subscription: SotW says all names, delta what changed. */
static void ask_again(
	struct world *world, struct client *client, enum xds_type type, unsigned before)
{
	struct subject *subject = &client->subjects[type];
	struct request *request;

	if (!subject->is_asked) {
		ask_first(world, client, type);
		return;
	}
	request = request_new(client, type);
	request->is_question = true;
	subject->excused |= subject->names & ~before;
	if (client->is_delta) {
		request->names = subject->names & ~before;
		request->dropped = before & ~subject->names;
	} else if (subject->names) {
		subject->has_named = true;
	}
	for (unsigned i = 0; i < NAMES; i++)
		if (!(subject->names & 1u << i) && !subject->is_wildcard)
			subject->held[i].is_there = false;
	post(world, client, request);
}

static void answer(struct world *world, struct client *client, enum xds_type type,
	const struct response *response, bool is_accepted)
{
	struct subject *subject = &client->subjects[type];
	struct request *request;

	memcpy(subject->nonce, response->nonce, XDS_NONCE_SIZE);
	if (is_accepted)
		subject->accepted = response->version;
	request = request_new(client, type);
	request->names = client->is_delta ? 0 : request->names;
	request->star = !client->is_delta && request->star;
	memcpy(request->nonce, response->nonce, XDS_NONCE_SIZE);
	request->has_error = !is_accepted;
	request->answered = response->items | response->removed;
	request->answered_version = response->version;
	post(world, client, request);
}

static unsigned mask_of(const struct copy *copies)
{
	unsigned mask = 0;

	for (unsigned i = 0; i < NAMES; i++)
		mask |= copies[i].is_there ? 1u << i : 0;
	return mask;
}

static unsigned led_to(const struct copy *copies)
{
	unsigned mask = 0;

	for (unsigned i = 0; i < NAMES; i++)
		if (copies[i].is_there)
			mask |= 1u << atoi(strchr(copies[i].value, ':') + 1);
	return mask;
}

static void check_references(const struct world *world, const struct client *client)
{
	const struct subject *subjects = client->subjects;
	unsigned routes = led_to(subjects[XDS_LDS].held) & mask_of(subjects[XDS_RDS].held);

	for (unsigned i = 0; i < NAMES; i++) {
		const char *what = NULL;
		unsigned cluster;

		if (!(routes & 1u << i))
			continue;
		cluster = (unsigned)atoi(strchr(subjects[XDS_RDS].held[i].value, ':') + 1);
		if (!subjects[XDS_CDS].held[cluster].is_there)
			what = "cluster";
		/* A client that asks for routes is answered at once (S.79), whether or not it has
		 * asked for the endpoints of new clusters already. */
		else if (!(subjects[XDS_EDS].endpoints & 1u << cluster) &&
			 subjects[XDS_RDS].held[i].is_pushed)
			what = "endpoints";
		if (what)
			fail_msg("%lld ms: %s client uses route %u, which leads to cluster %u, "
				 "of which it has no %s",
				(long long)world->now_ms, client->is_delta ? "delta" : "SotW", i,
				cluster, what);
	}
}

/* What an accepted response does to what the client holds; bits of what changed. */
static unsigned take(struct client *client, const struct response *response)
{
	struct subject *subject = &client->subjects[response->type];
	unsigned changed = 0;

	for (unsigned i = 0; i < NAMES; i++) {
		bool is_wanted = subject->is_wildcard || (subject->names & 1u << i);
		struct copy *copy = &subject->held[i];

		if (response->items & 1u << i) {
			if (!is_wanted)
				continue;
			if (!copy->is_there || strcmp(copy->value, response->copies[i].value) != 0)
				changed |= 1u << i;
			*copy = response->copies[i];
		} else if ((response->removed & 1u << i) ||
			   (!client->is_delta && sets_by_absence(response->type))) {
			copy->is_there = false;
		}
	}
	return changed;
}

static void follow_references(
	struct world *world, struct client *client, enum xds_type type, unsigned changed)
{
	struct subject *subject;
	unsigned before;

	if (type == XDS_CDS) {
		subject = &client->subjects[XDS_EDS];
		before = subject->names;
		subject->names = mask_of(client->subjects[XDS_CDS].held);
		subject->warming = (subject->warming | changed) & subject->names;
		subject->endpoints &= subject->names;
		if (subject->names != before)
			ask_again(world, client, XDS_EDS, before);
		else if (changed && !client->is_delta)
			ask_again(world, client, XDS_EDS, before); /* S.70 */
		if (changed)
			subject->excused |= changed;
	} else if (type == XDS_LDS) {
		subject = &client->subjects[XDS_RDS];
		before = subject->names;
		subject->names = led_to(client->subjects[XDS_LDS].held);
		if (subject->names != before)
			ask_again(world, client, XDS_RDS, before);
	}
}

static void receive(struct world *world, struct client *client, const struct response *response)
{
	struct subject *subject = &client->subjects[response->type];
	bool is_accepted = true;
	unsigned changed = 0;

	for (unsigned i = 0; i < NAMES; i++)
		if ((response->items & 1u << i) && client->is_picky &&
			strchr(response->copies[i].value, BAD))
			is_accepted = false;
	if (is_accepted) {
		changed = take(client, response);
		if (response->type == XDS_EDS)
			subject->warming &= ~(response->items | response->removed);
		if (response->type == XDS_EDS)
			subject->endpoints |= response->items & subject->names;
	}
	if (client->accepts_first)
		answer(world, client, response->type, response, is_accepted);
	if (is_accepted && client->is_envoy)
		follow_references(world, client, response->type, changed);
	if (!client->accepts_first)
		answer(world, client, response->type, response, is_accepted);
	if (client->is_clean)
		check_references(world, client);
}

static void deliver(struct world *world, struct client *client, const struct xds_response *seen)
{
	const struct xds_answer *sent = seen->answer;
	struct response *response = xcalloc(1, sizeof(*response));

	response->type = sent->type;
	memcpy(response->nonce, seen->nonce, XDS_NONCE_SIZE);
	response->version = sent->version;
	for (size_t i = 0; i < sent->items_count; i++) {
		const struct xds_item *item = &sent->items[i];
		unsigned index = index_of(item->name);
		struct copy *copy = &response->copies[index];
		const char *value = item->resource->body.data;

		assert_false(response->items & 1u << index); /* S.97 */
		response->items |= 1u << index;
		copy->is_there = true;
		copy->is_pushed = seen->is_push;
		copy->version = xds_item_version(item);
		snprintf(copy->value, sizeof(copy->value), "%.*s", (int)item->resource->body.length,
			value);
	}
	for (size_t i = 0; i < sent->removed_count; i++)
		response->removed |= 1u << index_of(sent->removed[i]);
	response->due_ms = later(world, client, &client->down_ms);
	STAILQ_INSERT_TAIL(&client->down, response, link);
	client->down_count++;
}

static void write_out(struct world *world, struct client *client, bool is_quiet)
{
	struct xds_response seen;

	/* A client that does not read fills its window: it is not asked any more. */
	while (client->down_count < 4) {
		if (!xds_stream_next(client->stream, world->now_ms, &seen)) {
			/* What has no answer by now is a question no more. */
			for (size_t i = 0; i < TYPES; i++)
				client->subjects[types[i]].is_open = false;
			break;
		}
		check_cause(world, client, &seen, is_quiet);
		deliver(world, client, &seen);
	}
}

static void hear(struct world *world, struct client *client, const struct request *request)
{
	char texts[2 * NAMES + 2][8];
	struct slice names[NAMES + 1], dropped[NAMES + 1];
	struct xds_version_pair pairs[NAMES];
	struct xds_request parsed = {.names = names, .unsubscribe = dropped, .versions = pairs};
	struct subject *subject = &client->subjects[request->type];
	struct xds_outcome outcome;

	for (unsigned i = 0; i < NAMES; i++) {
		struct slice name;

		snprintf(texts[i], sizeof(texts[i]), "n%u", i);
		name = slice_of(texts[i]);
		if (request->names & 1u << i)
			names[parsed.names_count++] = name;
		if (request->dropped & 1u << i)
			dropped[parsed.unsubscribe_count++] = name;
		if (request->known & 1u << i)
			pairs[parsed.versions_count++] = (struct xds_version_pair){
				name, slice_of(request->versions[i].text)};
	}
	if (request->star)
		names[parsed.names_count++] = SLICE("*");
	if (request->drops_star)
		dropped[parsed.unsubscribe_count++] = SLICE("*");
	parsed.type_url = slice_of(xds_type_row(request->type)->type_url);
	parsed.nonce = slice_of(request->nonce);
	parsed.version_info = slice_of(request->version.text);
	parsed.has_error = request->has_error;
	parsed.error_message = SLICE("no");
	xds_stream_on_request(client->stream, &parsed, world->now_ms, &outcome);
	assert_int_not_equal(outcome.event, XDS_EVENT_REFUSED);
	assert_int_not_equal(outcome.event, XDS_EVENT_UNKNOWN_TYPE);
	note(client, request, outcome.event);
	/* Whoever leaves the wildcard forgets what it had by it. */
	subject->excused |= request->drops_star ? ~0u : request->names | request->dropped;
	write_out(world, client, false);
}

static void forget_messages(struct client *client)
{
	struct request *request;
	struct response *response;

	while ((request = STAILQ_FIRST(&client->up))) {
		STAILQ_REMOVE_HEAD(&client->up, link);
		free(request);
	}
	while ((response = STAILQ_FIRST(&client->down))) {
		STAILQ_REMOVE_HEAD(&client->down, link);
		free(response);
	}
	client->down_count = 0;
}

/* A new stream with what the client has from before. */
static void connect_client(struct world *world, struct client *client)
{
	struct xds_method method = {client->is_delta ? XDS_DELTA : XDS_SOTW,
		client->single < 0 ? NULL : xds_type_row((enum xds_type)client->single)};

	forget_messages(client);
	xds_stream_free(client->stream);
	client->stream = xds_stream_new(world->feed, method, (struct xds_client){false});
	client->up_ms = client->down_ms = world->now_ms;
	/* A SotW response is all there is: a client that was away, or is slower than the bridge is
	 * long, is told of new clusters and of removed ones at once. */
	client->is_clean = client->is_envoy && !client->is_lame && !client->is_picky &&
			   (client->is_delta || world->grace_ms >= 30000);
	for (size_t i = 0; i < TYPES; i++) {
		struct subject *subject = &client->subjects[types[i]];
		bool was_asked = subject->is_asked;

		subject->nonce[0] = '\0';
		subject->last_version = (struct version){.text = ""};
		subject->is_asked = false;
		subject->has_named = false;
		subject->is_heard = subject->is_open = subject->heard_star = false;
		subject->may_retry = false;
		subject->heard_names = 0;
		subject->excused = subject->refused = 0;
		memset(subject->last, 0, sizeof(subject->last));
		/* An empty first request would be the old form of the wildcard. */
		if (subject->names == 0 && !subject->is_wildcard)
			continue;
		client->is_clean &= client->is_delta || !was_asked;
		if (was_asked || subject->is_wildcard)
			ask_first(world, client, types[i]);
	}
}

static void wander(struct world *world, struct client *client)
{
	enum xds_type type =
		client->single >= 0 ? (enum xds_type)client->single : types[pick(world, TYPES)];
	struct subject *subject = &client->subjects[type];
	unsigned before = subject->names;

	if (!subject->is_asked && sets_by_absence(type) && chance(world, 50)) {
		subject->is_wildcard = true;
		subject->is_legacy = chance(world, 50);
		ask_first(world, client, type);
		return;
	}
	if (subject->is_asked && sets_by_absence(type) && chance(world, 20)) {
		/* into or out of the wildcard */
		struct request *request;

		subject->is_wildcard = !subject->is_wildcard;
		subject->is_legacy = false;
		for (unsigned i = 0; i < NAMES && !subject->is_wildcard; i++)
			if (!(subject->names & 1u << i))
				subject->held[i].is_there = false;
		request = request_new(client, type);
		request->is_question = true;
		request->names = client->is_delta ? 0 : request->names;
		request->star = subject->is_wildcard;
		request->drops_star = client->is_delta && !subject->is_wildcard;
		/* SotW leaves the old form by naming something. */
		if (!client->is_delta && !subject->is_wildcard && !subject->has_named &&
			!subject->names)
			request->names = subject->names = 1;
		subject->has_named = true;
		post(world, client, request);
		return;
	}
	subject->names ^= 1u << pick(world, NAMES);
	if (chance(world, 30))
		subject->names ^= 1u << pick(world, NAMES);
	if (subject->names == before || (!subject->is_asked && !subject->names)) {
		subject->names = before;
		return;
	}
	/* Naming something ends the old form, so SotW must say the star from now on. */
	if (!client->is_delta)
		subject->is_legacy = false;
	for (unsigned i = 0; client->is_delta && i < NAMES; i++)
		if (before & ~subject->names & 1u << i)
			subject->held[i].is_there = false;
	ask_again(world, client, type, before);
}

static void serve(
	struct world *world, struct snapshot *snapshot, struct client *clients, bool is_quiet)
{
	if (!snapshot)
		return;
	xds_feed_set(world->feed, snapshot);
	snapshot_unref(snapshot);
	for (size_t i = 0; i < CLIENTS; i++)
		write_out(world, &clients[i], is_quiet);
}

static void publish(struct world *world, struct client *clients)
{
	struct snapshot *target = snapshot_of(world);

	serve(world, bridge_on_target(&world->bridge, target, world->now_ms, world->grace_ms),
		clients, false);
	snapshot_unref(target);
}

/* From one cluster to another that is new, and mostly the former goes. */
static void move_route(struct world *world)
{
	unsigned route = pick_there(world, XDS_RDS), to = pick(world, NAMES);
	unsigned from = target_of(world->values[XDS_RDS][route]);

	if (world->values[XDS_CDS][to][0])
		return;
	set_random(world, XDS_CDS, to, false);
	set_value(world, XDS_RDS, route, to, false);
	if (chance(world, 80))
		take_away(world, XDS_CDS, from);
}

static void change_world(struct world *world, struct client *clients)
{
	unsigned edits = 1 + pick(world, 4);

	if (chance(world, 30))
		move_route(world);

	for (unsigned k = 0; k < edits; k++) {
		enum xds_type type = types[pick(world, TYPES)];
		unsigned i = pick(world, NAMES);

		if (chance(world, 30))
			take_away(world, type, i);
		else if (type != XDS_EDS || world->values[XDS_CDS][i][0])
			set_random(world, type, i, true);
	}
	publish(world, clients);
}

static void run_client(struct world *world, struct client *client)
{
	struct request *request;
	struct response *response;

	if (world->now_ms < client->asleep_ms)
		return;
	while ((request = STAILQ_FIRST(&client->up)) && request->due_ms <= world->now_ms) {
		STAILQ_REMOVE_HEAD(&client->up, link);
		hear(world, client, request);
		free(request);
	}
	while ((response = STAILQ_FIRST(&client->down)) && response->due_ms <= world->now_ms) {
		STAILQ_REMOVE_HEAD(&client->down, link);
		client->down_count--;
		receive(world, client, response);
		free(response);
	}
	write_out(world, client, false);
}

static void misbehave(struct world *world, struct client *client)
{
	if (!client->is_envoy && chance(world, 30))
		wander(world, client);
	if (client->is_lame && chance(world, 3))
		client->asleep_ms = world->now_ms + pick(world, 120000);
	if (chance(world, 2))
		connect_client(world, client);
}

static void check_converged(const struct world *world, const struct client *client, size_t index)
{
	for (size_t k = 0; k < TYPES; k++) {
		const struct subject *subject = &client->subjects[types[k]];

		if (!subject->is_asked)
			continue;
		if (subject->warming)
			fail_msg("%s client %zu waits for endpoints 0x%x",
				client->is_delta ? "delta" : "SotW", index, subject->warming);
		for (unsigned i = 0; i < NAMES; i++) {
			const char *value = world->values[types[k]][i];
			const struct copy *copy = &subject->held[i];
			bool is_wanted = subject->is_wildcard || (subject->names & 1u << i);
			bool says_removals = client->is_delta || sets_by_absence(types[k]);
			const char *what = NULL;

			if (is_wanted && value[0] && !copy->is_there)
				what = "is missing";
			else if (is_wanted && value[0] && strcmp(copy->value, value) != 0 &&
				 strcmp(copy->value + 2, value) != 0)
				what = "is old";
			else if (is_wanted && !value[0] && copy->is_there && says_removals)
				what = "is still there";
			else if (!is_wanted && copy->is_there)
				what = "was not asked for";
			if (what)
				fail_msg("%s %s client %zu, %s: %s n%u %s (has %s, should be %s)",
					client->is_envoy ? "Envoy" : "wandering",
					client->is_delta ? "delta" : "SotW", index,
					client->single < 0 ? "aggregated" : "single",
					xds_type_row(types[k])->name, i, what,
					copy->is_there ? copy->value : "nothing",
					value[0] ? value : "absent");
		}
	}
	if (client->is_envoy)
		check_references(world, client);
}

static void run_quietly(struct world *world, struct client *clients, int rounds)
{
	for (int round = 0; round < rounds; round++) {
		world->now_ms += 500;
		serve(world, bridge_on_time(&world->bridge, world->now_ms), clients, false);
		for (size_t i = 0; i < CLIENTS; i++) {
			clients[i].asleep_ms = 0;
			run_client(world, &clients[i]);
		}
	}
}

/* Nobody changes anything, and the picky go on refusing: that comes to an end, too. */
static void check_no_loop(struct world *world, struct client *clients)
{
	uint64_t before[CLIENTS];

	run_quietly(world, clients, 1000);
	for (size_t i = 0; i < CLIENTS; i++)
		before[i] = clients[i].responses;
	run_quietly(world, clients, 200);
	for (size_t i = 0; i < CLIENTS; i++)
		if (clients[i].responses != before[i])
			fail_msg("%s client %zu is told the same for ever",
				clients[i].is_delta ? "delta" : "SotW", i);
}

static void settle(struct world *world, struct client *clients)
{
	/* Nobody minds anything any more, and everyone listens. */
	for (size_t k = 0; k < TYPES; k++)
		for (unsigned i = 0; i < NAMES; i++)
			if (world->values[types[k]][i][0] == BAD)
				set_value(world, types[k], i, target_of(world->values[types[k]][i]),
					false);
	publish(world, clients);
	run_quietly(world, clients, 2000);
	for (size_t i = 0; i < CLIENTS; i++) {
		assert_true(STAILQ_EMPTY(&clients[i].up) && STAILQ_EMPTY(&clients[i].down));
		check_converged(world, &clients[i], i);
	}
	/* No plain ACK is answered, and the same state served again is no news. */
	world->now_ms += 3600000;
	serve(world, snapshot_of(world), clients, true);
	for (size_t i = 0; i < CLIENTS; i++) {
		write_out(world, &clients[i], true);
		assert_int_equal(xds_stream_deadline(clients[i].stream), -1);
	}
}

static void run_world(uint64_t seed)
{
	static const int singles[] = {XDS_CDS, XDS_EDS, XDS_RDS, XDS_SDS};
	const struct xds_settings settings = XDS_SETTINGS_DEFAULT;
	/* On delta streams make before break does not depend on a long bridge (S.111). */
	static const int64_t graces[] = {50, 2000, 30000};
	struct world world = {
		.random = seed, .grace_ms = graces[seed % 3], .bridge = {.final_at_ms = -1}};
	struct client *clients = xcalloc(CLIENTS, sizeof(*clients));
	struct xds_hub_counts counts;

	world.hub = xds_hub_new(&settings);
	world.feed = xds_feed_new(world.hub, NULL);
	for (size_t k = 0; k < 4; k++)
		for (unsigned i = 0; i < NAMES; i += 2)
			set_random(&world,
				(const enum xds_type[]){XDS_CDS, XDS_SDS, XDS_RDS, XDS_LDS}[k], i,
				false);
	for (size_t i = 0; i < CLIENTS; i++) {
		struct client *client = &clients[i];

		STAILQ_INIT(&client->up);
		STAILQ_INIT(&client->down);
		client->is_delta = i % 2;
		client->is_envoy = i % 4 < 2;
		client->is_picky = i % 3 == 0;
		client->is_lame = i % 5 == 0;
		client->accepts_first = i % 7 < 3;
		client->single = !client->is_envoy && i % 8 < 4 ? singles[pick(&world, 4)] : -1;
		if (client->is_envoy) {
			client->subjects[XDS_CDS].is_wildcard = true;
			client->subjects[XDS_LDS].is_wildcard = true;
			client->subjects[XDS_CDS].is_legacy = chance(&world, 50);
			client->subjects[XDS_LDS].is_legacy = chance(&world, 50);
		}
		connect_client(&world, client);
	}
	publish(&world, clients);
	for (int step = 0; step < STEPS; step++) {
		/* Sometimes long enough for a bridge to end, but never so that all are late. */
		for (unsigned ticks = chance(&world, 5) ? 80 : 1; ticks > 0; ticks--) {
			world.now_ms += pick(&world, 500);
			serve(&world, bridge_on_time(&world.bridge, world.now_ms), clients, false);
			for (size_t i = 0; i < CLIENTS; i++)
				run_client(&world, &clients[i]);
		}
		if (chance(&world, 25))
			change_world(&world, clients);
		for (size_t i = 0; i < CLIENTS; i++)
			if (chance(&world, 10))
				misbehave(&world, &clients[i]);
	}
	check_no_loop(&world, clients);
	settle(&world, clients);
	counts = xds_hub_count(world.hub);
	assert_in_range(counts.names, 0, NAMES);
	for (size_t i = 0; i < CLIENTS; i++) {
		forget_messages(&clients[i]);
		xds_stream_free(clients[i].stream);
	}
	free(clients);
	xds_feed_free(world.feed);
	xds_hub_free(world.hub);
	bridge_fini(&world.bridge);
}

static void test_everyone_converges(void **state)
{
	const char *seed = getenv("XDS_MODEL_SEED");
	const char *rounds = getenv("XDS_MODEL_ROUNDS");
	uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;
	uint64_t count = rounds ? strtoull(rounds, NULL, 10) : 20;

	(void)state;
	for (uint64_t i = first; i < first + count; i++) {
		print_message("# seed %llu\n", (unsigned long long)i);
		run_world(i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everyone_converges),
	};

	return cmocka_run_group_tests_name("xds_model", tests, NULL, NULL);
}
