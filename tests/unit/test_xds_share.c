/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What many streams share: names, tables, answers; and what they must not hold. */
#include "xds_script.h"

#include <malloc.h>

#define STREAMS 500
#define NAMES	1000

struct fleet {
	struct xds_hub *hub;
	struct xds_feed *feed;
	struct xds_stream *streams[STREAMS];
	bool is_delta;
};

/* Clusters c0... (EDS) and endpoints of the same names; the first has the given value. */
static struct snapshot *clusters(const char *cluster, const char *endpoints)
{
	struct buf text = BUF_INIT;
	struct snapshot *snapshot;

	buf_printf(&text, "CDS:c0=%s", cluster);
	for (int i = 1; i < NAMES; i++)
		buf_printf(&text, ",c%d=e1", i);
	buf_printf(&text, " EDS:c0=%s", endpoints);
	for (int i = 1; i < NAMES; i++)
		buf_printf(&text, ",c%d=1", i);
	snapshot = script_snapshot(buf_cstr(&text));
	buf_fini(&text);
	return snapshot;
}

static void fleet_begin(struct fleet *fleet, bool is_delta)
{
	static const struct xds_settings settings = XDS_SETTINGS_DEFAULT;

	fleet->hub = xds_hub_new(&settings);
	fleet->feed = xds_feed_new(fleet->hub, NULL);
	fleet->is_delta = is_delta;
	for (size_t i = 0; i < STREAMS; i++)
		fleet->streams[i] = xds_stream_new(fleet->feed,
			(struct xds_method){is_delta ? XDS_DELTA : XDS_SOTW, NULL},
			(struct xds_client){false});
}

static void fleet_end(struct fleet *fleet)
{
	for (size_t i = 0; i < STREAMS; i++)
		xds_stream_free(fleet->streams[i]);
	xds_feed_free(fleet->feed);
	xds_hub_free(fleet->hub);
}

static void ask(struct xds_stream *stream, enum xds_type type, size_t names_count)
{
	char texts[NAMES][24];
	struct slice names[NAMES];
	struct xds_request request = {.type_url = slice_of(xds_type_row(type)->type_url),
		.names = names,
		.names_count = names_count};
	struct xds_outcome outcome;

	for (size_t i = 0; i < names_count; i++) {
		snprintf(texts[i], sizeof(texts[i]), "c%zu", i);
		names[i] = slice_of(texts[i]);
	}
	xds_stream_on_request(stream, &request, 0, &outcome);
	assert_int_equal(outcome.event, XDS_EVENT_REQUEST);
}

static void acknowledge(const struct fleet *fleet, struct xds_stream *stream,
	const struct xds_response *response, size_t names_count)
{
	char texts[NAMES][24];
	struct slice names[NAMES];
	struct xds_request request = {.names = names};
	struct xds_outcome outcome;

	request.type_url = slice_of(xds_type_row(response->answer->type)->type_url);
	request.nonce = slice_of(response->nonce);
	request.version_info = slice_of(response->answer->version.text);
	if (!fleet->is_delta)
		request.names_count = names_count;
	for (size_t i = 0; i < request.names_count; i++) {
		snprintf(texts[i], sizeof(texts[i]), "c%zu", i);
		names[i] = slice_of(texts[i]);
	}
	xds_stream_on_request(stream, &request, 0, &outcome);
	assert_int_equal(outcome.event, XDS_EVENT_ACK);
}

/* Every stream gets one response of the type, all the same one, and acknowledges it. */
static void everyone_gets(struct fleet *fleet, enum xds_type type, size_t items, size_t names_count)
{
	struct xds_answer *first = NULL;

	for (size_t i = 0; i < STREAMS; i++) {
		struct xds_response response, none;

		assert_true(xds_stream_next(fleet->streams[i], 0, &response));
		assert_int_equal(response.answer->type, type);
		assert_int_equal(response.answer->items_count, items);
		if (!first)
			first = xds_answer_ref(response.answer);
		assert_ptr_equal(response.answer, first);
		acknowledge(fleet, fleet->streams[i],
			&(struct xds_response){.answer = first,
				.nonce = {response.nonce[0], response.nonce[1], response.nonce[2]}},
			names_count);
		assert_false(xds_stream_next(fleet->streams[i], 0, &none));
	}
	xds_answer_unref(first);
}

static void serve(struct fleet *fleet, struct snapshot *snapshot)
{
	xds_feed_set(fleet->feed, snapshot);
	snapshot_unref(snapshot);
}

static void check_sharing(bool is_delta)
{
	struct fleet fleet;
	uint64_t computed;

	fleet_begin(&fleet, is_delta);
	serve(&fleet, clusters("e1", "1"));
	for (size_t i = 0; i < STREAMS; i++)
		ask(fleet.streams[i], XDS_CDS, 0);
	everyone_gets(&fleet, XDS_CDS, NAMES, 0);
	for (size_t i = 0; i < STREAMS; i++)
		ask(fleet.streams[i], XDS_EDS, NAMES);
	everyone_gets(&fleet, XDS_EDS, NAMES, NAMES);
	assert_int_equal(xds_hub_count(fleet.hub).names, NAMES);
	assert_in_range(xds_hub_count(fleet.hub).computed, 2, 2);

	computed = xds_hub_count(fleet.hub).computed;
	serve(&fleet, clusters("e1", "2"));
	everyone_gets(&fleet, XDS_EDS, is_delta ? 1 : NAMES, NAMES);
	assert_int_equal(xds_hub_count(fleet.hub).computed, computed + 1);
	/* Nothing but the state of the two types is left, whatever was on the way to it. */
	serve(&fleet, clusters("e1", "3"));
	everyone_gets(&fleet, XDS_EDS, is_delta ? 1 : NAMES, NAMES);
	assert_in_range(xds_hub_count(fleet.hub).tables, 2, 6);
	fleet_end(&fleet);
}

static void test_one_change_is_computed_once(void **state)
{
	(void)state;
	check_sharing(false);
	check_sharing(true);
}

/* Each stream names others of many, most of them as others do: the names are stored once, and an
 * edit concerns only those that asked for it. */
static void test_streams_with_different_names(void **state)
{
	enum {
		ALL = 3000,
		EACH = 1000,
		COUNT = 100
	};
	const struct xds_settings settings = XDS_SETTINGS_DEFAULT;
	struct xds_stream *streams[COUNT];
	struct slice *names = xmalloc(ALL * sizeof(*names));
	struct xds_hub *hub = xds_hub_new(&settings);
	struct xds_feed *feed = xds_feed_new(hub, NULL);
	struct buf text = BUF_INIT;
	struct snapshot *snapshot;
	uint64_t computed;
	unsigned sent = 0;

	(void)state;
	for (unsigned i = 0; i < ALL; i++) {
		buf_printf(&text, "%sn%u=1", i ? "," : "EDS:", i);
		names[i] = slice_of(xasprintf("n%u", i));
	}
	snapshot = script_snapshot(buf_cstr(&text));
	xds_feed_set(feed, snapshot);
	snapshot_unref(snapshot);
	for (unsigned i = 0; i < COUNT; i++) {
		struct xds_request request = {.names = names + 20 * i, .names_count = EACH};
		struct xds_outcome outcome;
		struct xds_response response;

		streams[i] =
			xds_stream_new(feed, (struct xds_method){XDS_DELTA, xds_type_row(XDS_EDS)},
				(struct xds_client){false});
		xds_stream_on_request(streams[i], &request, 0, &outcome);
		assert_true(xds_stream_next(streams[i], 0, &response));
		assert_int_equal(response.answer->items_count, EACH);
		request = (struct xds_request){.nonce = slice_of(response.nonce)};
		xds_stream_on_request(streams[i], &request, 0, &outcome);
		assert_int_equal(outcome.event, XDS_EVENT_ACK);
	}
	assert_int_equal(xds_hub_count(hub).names, 20 * (COUNT - 1) + EACH);
	computed = xds_hub_count(hub).computed;
	text.data[strcspn(buf_cstr(&text), "=") + 1] = '2'; /* n0: the first stream has it alone */
	snapshot = script_snapshot(buf_cstr(&text));
	xds_feed_set(feed, snapshot);
	snapshot_unref(snapshot);
	for (unsigned i = 0; i < COUNT; i++) {
		struct xds_response response;

		sent += xds_stream_next(streams[i], 0, &response);
		xds_stream_free(streams[i]);
	}
	assert_int_equal(sent, 1);
	assert_int_equal(xds_hub_count(hub).computed, computed + 1);
	for (unsigned i = 0; i < ALL; i++)
		free((void *)names[i].data);
	free(names);
	buf_fini(&text);
	xds_feed_free(feed);
	xds_hub_free(hub);
}

/* S.115: clients that say nothing keep neither the snapshot nor its resources. */
static void check_release(bool is_delta)
{
	struct snapshot *first = clusters("e1", "1");
	struct resource *resource = resource_set_find(first->sets[XDS_CDS], SLICE("c0"));
	unsigned references = atomic_load(&resource->references);
	struct xds_response response;
	struct fleet fleet;

	fleet_begin(&fleet, is_delta);
	xds_feed_set(fleet.feed, first);
	for (size_t i = 0; i < STREAMS; i++) {
		ask(fleet.streams[i], XDS_CDS, 0);
		assert_true(xds_stream_next(fleet.streams[i], 0, &response));
		/* The transport wrote it and looks for more. */
		assert_false(xds_stream_next(fleet.streams[i], 0, &response));
	}
	serve(&fleet, clusters("e2", "1"));
	assert_int_equal(atomic_load(&first->references), 1);
	assert_int_equal(atomic_load(&resource->references), references);
	snapshot_unref(first);
	fleet_end(&fleet);
}

static void test_silent_clients_hold_no_snapshot(void **state)
{
	(void)state;
	check_release(false);
	check_release(true);
}

/* Streams of one name each, all names different: nothing to share. */
static void test_memory_of_an_idle_stream(void **state)
{
	struct mallinfo2 before, after;
	struct fleet fleet;

	(void)state;
	fleet_begin(&fleet, false);
	fleet_end(&fleet);
	for (int is_delta = 0; is_delta < 2; is_delta++) {
		struct snapshot *snapshot = clusters("e1", "1");

		before = mallinfo2();
		fleet_begin(&fleet, is_delta);
		serve(&fleet, snapshot);
		for (size_t i = 0; i < STREAMS; i++) {
			struct xds_request request = {.names_count = 1};
			struct xds_response response;
			struct xds_outcome outcome;
			struct slice name;
			char text[40];

			snprintf(text, sizeof(text), "outbound|8080||service-%zu.example", i);
			name = slice_of(text);
			request.names = &name;
			request.type_url = slice_of(xds_type_row(XDS_EDS)->type_url);
			xds_stream_on_request(fleet.streams[i], &request, 0, &outcome);
			while (xds_stream_next(fleet.streams[i], 0, &response))
				;
		}
		after = mallinfo2();
		print_message("# %s: %zu bytes for each idle stream\n", is_delta ? "delta" : "SotW",
			(after.uordblks - before.uordblks) / STREAMS);
		/* The sanitizers' allocator counts nothing here. */
		assert_in_range((after.uordblks - before.uordblks) / STREAMS, 0, 1024);
		fleet_end(&fleet);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_change_is_computed_once),
		cmocka_unit_test(test_streams_with_different_names),
		cmocka_unit_test(test_silent_clients_hold_no_snapshot),
		cmocka_unit_test(test_memory_of_an_idle_stream),
	};

	return cmocka_run_group_tests_name("xds_share", tests, NULL, NULL);
}
