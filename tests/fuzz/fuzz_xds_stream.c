/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The protocol core under any sequence of requests, snapshots, answers, moves and reconnects of
 * four streams: whatever a client says, responses are well formed and about what it asked for, a
 * stream comes to rest, what is stored stays within limits, and when everyone answers properly
 * each holds what it subscribed to.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "serve/xds_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAMES	   8 /* that resources have, of each type */
#define OTHERS	   4 /* names that nothing has, and "*" */
#define STREAMS	   4
#define FEEDS	   2
#define LIMIT	   10 /* names of a type on a stream */
#define OPERATIONS 400
#define AT_ONCE	   64 /* responses without a word from outside */

struct input {
	const uint8_t *data;
	size_t size;
};

static unsigned take(struct input *input)
{
	if (!input->size)
		return 0;
	input->size--;
	return *input->data++;
}

/* One type of one stream, as the harness sees it. */
struct subject {
	uint64_t nonce; /* last */
	struct version version;
	bool is_asked;
	bool has_named;
	bool is_wildcard;
	unsigned names; /* bits: NAMES, then OTHERS */
	bool was_refused;
};

struct peer {
	struct xds_stream *stream;
	struct xds_method method;
	unsigned feed;
	struct subject subjects[XDS_TYPE_COUNT];
};

struct world {
	struct xds_hub *hub;
	struct xds_feed *feeds[FEEDS];
	struct rcstr *group;
	uint8_t values[FEEDS][XDS_TYPE_COUNT][NAMES]; /* 0: there is none */
	struct resource_set *sets[FEEDS][XDS_TYPE_COUNT];
	int64_t now_ms;
	struct peer peers[STREAMS];
};

static const char *const texts[NAMES + OTHERS] = {
	"r/0", "r/1", "r/2", "r/3", "r/4", "r/5", "r/6", "r/7", "*", "r/h2", "r/alias3", "q/x"};

/* Field `number` with the text, when it fits into a byte each. */
static void put_text(struct buf *body, unsigned number, const char *text)
{
	buf_putc(body, (char)(number << 3 | 2));
	buf_putc(body, (char)strlen(text));
	buf_puts(body, text);
}

/* Bits of a value say what is special: an EDS cluster, a TTL, an alias, domains, a secret's name.
 */
static struct resource *make_resource(enum xds_type type, unsigned i, uint8_t value)
{
	struct resource_spec spec = {.type = type, .name = slice_of(texts[i]), .ttl_ms = -1};
	const struct slice alias = SLICE("r/alias3");
	struct resource *resource;
	struct buf body = BUF_INIT;
	char number[4];

	put_text(&body, 1, texts[i]);
	if (type == XDS_CDS && (value & 1))
		buf_append(&body, "\x10\x03", 2);
	if (type == XDS_VHDS && (value & 1))
		put_text(&body, 2, value & 2 ? "*" : "h2");
	if (type == XDS_VHDS && (value & 16)) {
		spec.aliases = &alias;
		spec.aliases_count = 1;
	}
	if (value & 8)
		spec.ttl_ms = 1000 * (value >> 4) + 200;
	snprintf(number, sizeof(number), "%u", value);
	put_text(&body, 10, number);
	spec.body = buf_slice(&body);
	resource = resource_new(&spec);
	buf_fini(&body);
	return resource;
}

/* Other values for some resources of one type. */
static void set_values(
	struct world *world, unsigned feed, enum xds_type type, const uint8_t values[static NAMES])
{
	struct resource_set **set = &world->sets[feed][type];
	struct resource_set_builder *builder = resource_set_edit(*set);

	for (unsigned i = 0; i < NAMES; i++) {
		struct resource *resource;

		if (values[i] == world->values[feed][type][i])
			continue;
		world->values[feed][type][i] = values[i];
		if (!values[i]) {
			resource_set_remove(builder, slice_of(texts[i]));
			continue;
		}
		resource = make_resource(type, i, values[i]);
		resource_set_put(builder, resource);
		resource_unref(resource);
	}
	resource_set_unref(*set);
	*set = resource_set_finish(builder);
}

static void serve(struct world *world, unsigned feed)
{
	struct resource_set *sets[XDS_TYPE_COUNT];
	struct snapshot *snapshot;

	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		sets[type] = resource_set_ref(world->sets[feed][type]);
	snapshot = snapshot_new(world->group, sets, false, NULL, 0);
	xds_feed_set(world->feeds[feed], snapshot);
	snapshot_unref(snapshot);
}

static void edit(struct world *world, struct input *input)
{
	unsigned feed = take(input) % FEEDS, edits = take(input) % 4;

	if (edits == 0 && take(input) % 8 == 0) {
		xds_feed_set(world->feeds[feed], NULL);
		return;
	}
	for (; edits > 0; edits--) {
		enum xds_type type = (enum xds_type)(take(input) % XDS_TYPE_COUNT);
		uint8_t values[NAMES];
		unsigned i = take(input) % NAMES;

		memcpy(values, world->values[feed][type], sizeof(values));
		values[i] = (uint8_t)take(input);
		set_values(world, feed, type, values);
	}
	serve(world, feed);
}

static bool is_wanted(const struct subject *subject, struct slice name)
{
	for (unsigned i = 0; i < NAMES + OTHERS; i++)
		if ((subject->names & 1u << i) && slice_is(name, texts[i]))
			return true;
	return subject->is_wildcard;
}

static void check_items(const struct world *world, const struct peer *peer,
	const struct xds_answer *answer, const struct subject *subject)
{
	const struct snapshot *snapshot = xds_feed_snapshot(world->feeds[peer->feed]);
	const struct resource_set *set = snapshot->sets[answer->type];
	struct resource *resources[2 * NAMES];

	for (size_t i = 0; i < answer->items_count; i++) {
		const struct xds_item *item = &answer->items[i];

		if (i)
			assert(slice_compare(answer->items[i - 1].name, item->name) < 0);
		if (!item->resource) {
			assert(answer->type == XDS_VHDS && item->aliases_count == 1);
			continue;
		}
		assert(resource_set_find(set, item->name) == item->resource ||
			digest_equal(&resource_set_find(set, item->name)->digest,
				&item->resource->digest));
		if (answer->type != XDS_VHDS || item->aliases_count == 0)
			assert(answer->type == XDS_VHDS || is_wanted(subject, item->name));
		for (size_t k = 0; k < item->aliases_count; k++)
			assert(is_wanted(subject, item->aliases[k]));
		assert(i < 2 * NAMES);
		resources[i] = item->resource;
	}
	if (!answer->is_delta) {
		struct version version = version_of(answer->type, resources, answer->items_count);

		assert(version_equal(&version, &answer->version));
		assert(answer->removed_count == 0);
	}
	for (size_t i = 0; i < answer->removed_count; i++) {
		if (i)
			assert(slice_compare(answer->removed[i - 1], answer->removed[i]) < 0);
		for (size_t k = 0; k < answer->items_count; k++)
			assert(!slice_equal(answer->removed[i], answer->items[k].name));
	}
}

/* Everything that is due; the stream comes to rest. */
static unsigned receive(struct world *world, struct peer *peer)
{
	struct xds_response response;
	unsigned count = 0;

	while (xds_stream_next(peer->stream, world->now_ms, &response)) {
		const struct xds_answer *answer = response.answer;
		struct subject *subject = &peer->subjects[answer->type];
		uint64_t nonce = strtoull(response.nonce, NULL, 10);

		assert(++count < AT_ONCE);
		assert(subject->is_asked && nonce > subject->nonce);
		assert(answer->is_delta == (peer->method.form == XDS_DELTA));
		check_items(world, peer, answer, subject);
		subject->nonce = nonce;
		subject->version = answer->version;
	}
	assert(xds_stream_deadline(peer->stream) < 0 ||
		xds_stream_deadline(peer->stream) > world->now_ms);
	return count;
}

static void connect_peer(struct world *world, struct peer *peer, struct input *input)
{
	unsigned choice = take(input);

	xds_stream_free(peer->stream);
	memset(peer->subjects, 0, sizeof(peer->subjects));
	peer->method.form = choice & 1 ? XDS_DELTA : XDS_SOTW;
	peer->method.row =
		choice & 2 ? NULL : xds_type_row((enum xds_type)((choice >> 2) % XDS_TYPE_COUNT));
	if (peer->method.row && peer->method.row->is_delta_only)
		peer->method.form = XDS_DELTA;
	peer->stream = xds_stream_new(world->feeds[peer->feed], peer->method,
		(struct xds_client){.unwraps_resources = choice & 128});
}

static void move(struct world *world, struct peer *peer)
{
	peer->feed = (peer->feed + 1) % FEEDS;
	xds_stream_move(peer->stream, world->feeds[peer->feed]);
}

/* What a request that was not ignored does to the subscription. */
static void note_sotw(struct subject *subject, const struct xds_type_row *row, unsigned names)
{
	unsigned star = row->is_wildcard ? 1u << NAMES : 0;

	subject->is_wildcard =
		(names & star) || (row->is_wildcard && !names && !subject->has_named);
	subject->has_named |= names != 0;
	subject->names = names & ~star;
}

static void note_delta(struct subject *subject, const struct xds_type_row *row, unsigned names,
	unsigned dropped, bool is_first)
{
	unsigned star = row->is_delta_wildcard ? 1u << NAMES : 0;

	if (row->is_delta_wildcard && is_first && !names)
		subject->is_wildcard = true;
	if (dropped & star)
		subject->is_wildcard = false;
	if (names & star)
		subject->is_wildcard = true;
	subject->names = ((subject->names & ~dropped) | names) & ~star;
}

struct version_texts {
	struct version texts[NAMES];
};

static void read_versions(struct world *world, const struct peer *peer, enum xds_type type,
	struct input *input, struct xds_version_pair *pairs, struct version_texts *memory,
	struct xds_request *request)
{
	unsigned known = take(input), how = take(input);

	for (unsigned i = 0; i < NAMES; i++) {
		struct resource *resource;
		uint8_t value = world->values[peer->feed][type][i];

		if (!(known & 1u << i))
			continue;
		resource = make_resource(type, i, how & 1 ? value : (uint8_t)(value + 1));
		memory->texts[i] = version_text(&resource->digest);
		if (how & 2)
			memory->texts[i].text[0] = 'b';
		resource_unref(resource);
		pairs[request->versions_count++] = (struct xds_version_pair){
			slice_of(texts[i]), slice_of(how & 4 ? "?" : memory->texts[i].text)};
	}
}

static unsigned read_names(unsigned mask, struct slice *names, size_t *count)
{
	for (unsigned i = 0; i < NAMES + OTHERS; i++)
		if (mask & 1u << i)
			names[(*count)++] = slice_of(texts[i]);
	return mask & ((1u << (NAMES + OTHERS)) - 1);
}

static void ask(struct world *world, struct peer *peer, struct input *input)
{
	enum xds_type type = (enum xds_type)(take(input) % XDS_TYPE_COUNT);
	struct slice names[2 * (NAMES + OTHERS)], dropped[NAMES + OTHERS];
	struct xds_version_pair pairs[NAMES];
	struct version_texts memory;
	struct xds_request request = {.names = names, .unsubscribe = dropped, .versions = pairs};
	unsigned flags = take(input), added, removed = 0;
	bool is_delta = peer->method.form == XDS_DELTA, is_first;
	struct subject *subject;
	struct xds_outcome outcome;
	char nonce[XDS_NONCE_SIZE];

	if (peer->method.row)
		type = peer->method.row->type;
	subject = &peer->subjects[type];
	is_first = !subject->is_asked;
	request.type_url = slice_of(flags & 1 ? "garbage" : xds_type_row(type)->type_url);
	added = read_names(take(input) | take(input) << 8, names, &request.names_count);
	if (flags & 2) /* said twice */
		(void)read_names(added, names, &request.names_count);
	if (is_delta && (flags & 4))
		removed = read_names(
			take(input) | take(input) << 8, dropped, &request.unsubscribe_count);
	if (is_delta && (flags & 8))
		read_versions(world, peer, type, input, pairs, &memory, &request);
	snprintf(nonce, sizeof(nonce), "%llu",
		(unsigned long long)(flags & 16 ? subject->nonce - 1 : subject->nonce));
	if (flags & 32)
		request.nonce = slice_of(nonce);
	request.has_error = flags & 64;
	request.error_message = SLICE("no\n\x01 good");
	request.version_info = slice_of(flags & 128 ? subject->version.text : "other");

	xds_stream_on_request(peer->stream, &request, world->now_ms, &outcome);
	if (outcome.event == XDS_EVENT_REFUSED) {
		assert(outcome.status != XDS_STATUS_OK && outcome.problem[0]);
		connect_peer(world, peer, input);
		return;
	}
	if (outcome.event == XDS_EVENT_UNKNOWN_TYPE || outcome.event == XDS_EVENT_STALE)
		return;
	subject->is_asked = true;
	subject->was_refused |= outcome.event == XDS_EVENT_NACK;
	if (is_delta)
		note_delta(subject, outcome.row, added, removed, is_first);
	else
		note_sotw(subject, outcome.row, added);
}

/* Says yes to the last response of a type, with the present subscription. */
static void accept(struct world *world, struct peer *peer, enum xds_type type)
{
	struct subject *subject = &peer->subjects[type];
	struct slice names[NAMES + OTHERS];
	struct xds_request request = {.names = names};
	char nonce[XDS_NONCE_SIZE];
	struct xds_outcome outcome;

	snprintf(nonce, sizeof(nonce), "%llu", (unsigned long long)subject->nonce);
	request.type_url = slice_of(xds_type_row(type)->type_url);
	request.nonce = slice_of(nonce);
	request.version_info = slice_of(subject->version.text);
	if (peer->method.form != XDS_DELTA) {
		bool has_star = subject->is_wildcard && subject->has_named;

		(void)read_names(
			subject->names | (has_star ? 1u << NAMES : 0), names, &request.names_count);
	}
	xds_stream_on_request(peer->stream, &request, world->now_ms, &outcome);
	assert(outcome.event != XDS_EVENT_REFUSED);
}

static void accept_all(struct world *world, struct peer *peer)
{
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		if (peer->subjects[type].nonce)
			accept(world, peer, (enum xds_type)type);
}

static void check_bounds(const struct world *world)
{
	struct xds_hub_counts counts = xds_hub_count(world->hub);

	assert(counts.names <= NAMES + OTHERS);
	assert(counts.tables <= 200 * STREAMS);
}

static void operate(struct world *world, struct input *input)
{
	unsigned what = take(input);
	struct peer *peer = &world->peers[(what >> 4) % STREAMS];

	switch (what & 15) {
	case 0:
	case 1:
	case 2:
		edit(world, input);
		break;
	case 3:
		world->now_ms += 100 * take(input);
		break;
	case 4:
		move(world, peer);
		break;
	case 5:
		connect_peer(world, peer, input);
		break;
	case 6:
	case 7:
		(void)receive(world, peer);
		break;
	case 8:
		accept_all(world, peer);
		break;
	case 9:
		for (size_t i = 0; i < STREAMS; i++)
			(void)receive(world, &world->peers[i]);
		break;
	default:
		ask(world, peer, input);
		break;
	}
	check_bounds(world);
}

/* What the stream says that the client holds is what it subscribed to, as it is served. */
static void check_held(const struct world *world, struct peer *peer, enum xds_type type)
{
	const struct subject *subject = &peer->subjects[type];
	const struct resource_set *set = xds_feed_snapshot(world->feeds[peer->feed])->sets[type];
	struct xds_name_report name;
	struct xds_type_report report;
	unsigned held = 0;
	size_t cursor = 0;

	assert(xds_stream_report(peer->stream, type, &report) == subject->is_asked);
	if (!subject->is_asked || subject->was_refused || type == XDS_VHDS)
		return;
	assert(report.is_wildcard == subject->is_wildcard);
	while (xds_stream_next_name(peer->stream, type, &cursor, &name)) {
		const struct resource *resource = resource_set_find(set, name.name);

		if (!name.is_held || !is_wanted(subject, name.name))
			continue;
		/* Some types keep what is gone (S.106, S.107). */
		assert(!resource || digest_equal(&name.digest, &resource->digest));
		held += resource != NULL;
	}
	for (unsigned i = 0; i < NAMES; i++)
		if (is_wanted(subject, slice_of(texts[i])) &&
			resource_set_find(set, slice_of(texts[i])))
			held--;
	assert(held == 0);
}

/* From now on everyone answers properly: it ends, and everyone has what it should. */
static void settle(struct world *world)
{
	/* Refreshes would go on for ever. */
	for (unsigned feed = 0; feed < FEEDS; feed++) {
		for (int type = 0; type < XDS_TYPE_COUNT; type++) {
			uint8_t values[NAMES];

			for (unsigned i = 0; i < NAMES; i++)
				values[i] = world->values[feed][type][i] & (uint8_t)~8;
			set_values(world, feed, (enum xds_type)type, values);
		}
		serve(world, feed);
	}
	for (size_t i = 0; i < STREAMS; i++) {
		struct peer *peer = &world->peers[i];
		unsigned rounds = 0, count;

		do {
			count = receive(world, peer);
			accept_all(world, peer);
			world->now_ms += 60000;
			assert(++rounds < 40);
		} while (count || xds_stream_deadline(peer->stream) >= 0);
		for (int type = 0; type < XDS_TYPE_COUNT; type++)
			check_held(world, peer, (enum xds_type)type);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xds_settings settings = XDS_SETTINGS_DEFAULT;
	struct input input = {data, size};
	struct world world = {.now_ms = 1};

	settings.names = LIMIT;
	settings.name_bytes = 16;
	world.hub = xds_hub_new(&settings);
	world.group = rcstr_new("g", 1);
	for (unsigned i = 0; i < FEEDS; i++) {
		world.feeds[i] = xds_feed_new(world.hub, NULL);
		for (int type = 0; type < XDS_TYPE_COUNT; type++)
			world.sets[i][type] = resource_set_empty((enum xds_type)type);
		serve(&world, i);
	}
	for (size_t i = 0; i < STREAMS; i++)
		connect_peer(&world, &world.peers[i], &input);
	for (unsigned i = 0; i < OPERATIONS && input.size; i++)
		operate(&world, &input);
	settle(&world);
	for (size_t i = 0; i < STREAMS; i++)
		xds_stream_free(world.peers[i].stream);
	for (unsigned i = 0; i < FEEDS; i++) {
		xds_feed_free(world.feeds[i]);
		for (int type = 0; type < XDS_TYPE_COUNT; type++)
			resource_set_unref(world.sets[i][type]);
	}
	rcstr_unref(world.group);
	xds_hub_free(world.hub); /* asserts that nothing is left */
	return 0;
}
