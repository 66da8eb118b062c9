/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_feeds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

/* All that feeds do with calls. It stands in for grpc_call.c, whose calls need a connection. */
struct grpc_call {
	unsigned woken;
};

void grpc_call_wake(struct grpc_call *call)
{
	call->woken++;
}

struct fixture {
	struct store *store;
	struct grpc_feeds feeds;
	struct rcstr *edge, *mesh;
};

static int open_fixture(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->store = store_new();
	grpc_feeds_init(&fixture->feeds, fixture->store, &XDS_SETTINGS_DEFAULT);
	fixture->edge = rcstr_new("edge", 4);
	fixture->mesh = rcstr_new("mesh", 4);
	*state = fixture;
	return 0;
}

static int close_fixture(void **state)
{
	struct fixture *fixture = *state;

	grpc_feeds_fini(&fixture->feeds);
	store_free(fixture->store);
	rcstr_unref(fixture->edge);
	rcstr_unref(fixture->mesh);
	free(fixture);
	return 0;
}

/* A new snapshot of the group, published; borrowed from the store. */
static struct snapshot *publish(struct fixture *fixture, struct rcstr *group)
{
	struct snapshot *snapshot = snapshot_empty(group);

	store_publish(fixture->store, (struct slice){group->text, group->length}, snapshot);
	snapshot_unref(snapshot);
	return snapshot;
}

static void on_demand(void **state)
{
	struct fixture *fixture = *state;
	struct snapshot *snapshot = publish(fixture, fixture->edge);
	struct grpc_feed *edge = grpc_feeds_get(&fixture->feeds, fixture->edge);
	struct grpc_feed *mesh = grpc_feeds_get(&fixture->feeds, fixture->mesh);

	assert_ptr_equal(grpc_feeds_get(&fixture->feeds, fixture->edge), edge);
	assert_ptr_not_equal(edge, mesh);
	assert_ptr_equal(xds_feed_snapshot(edge->xds), snapshot);
	assert_null(xds_feed_snapshot(mesh->xds)); /* nothing yet: its streams stay silent */
}

static void wakes_who_has_news(void **state)
{
	struct fixture *fixture = *state;
	struct grpc_call calls[3] = {{0}};
	struct grpc_feed_member members[3] = {
		{.call = &calls[0]}, {.call = &calls[1]}, {.call = &calls[2]}};
	struct snapshot *snapshot;

	publish(fixture, fixture->edge);
	grpc_feed_join(grpc_feeds_get(&fixture->feeds, fixture->edge), &members[0]);
	grpc_feed_join(grpc_feeds_get(&fixture->feeds, fixture->edge), &members[1]);
	grpc_feed_join(grpc_feeds_get(&fixture->feeds, fixture->mesh), &members[2]);
	grpc_feeds_refresh(&fixture->feeds);
	assert_int_equal(calls[0].woken + calls[1].woken + calls[2].woken, 0);
	snapshot = publish(fixture, fixture->edge);
	grpc_feeds_refresh(&fixture->feeds);
	assert_int_equal(calls[0].woken, 1);
	assert_int_equal(calls[1].woken, 1);
	assert_int_equal(calls[2].woken, 0);
	assert_ptr_equal(xds_feed_snapshot(members[0].feed->xds), snapshot);
	publish(fixture, fixture->mesh); /* its first */
	grpc_feeds_refresh(&fixture->feeds);
	assert_int_equal(calls[0].woken, 1);
	assert_int_equal(calls[2].woken, 1);
	/* The group is gone: who has no other group yet goes on with what it has. */
	store_publish(fixture->store, SLICE("mesh"), NULL);
	grpc_feeds_refresh(&fixture->feeds);
	assert_null(xds_feed_snapshot(members[2].feed->xds));
	for (size_t i = 0; i < 3; i++)
		grpc_feed_leave(&members[i]);
	grpc_feed_leave(&members[0]); /* twice is fine */
}

static void dropped_when_unused(void **state)
{
	struct fixture *fixture = *state;
	struct grpc_call call = {0};
	struct grpc_feed_member member = {.call = &call};
	struct snapshot *snapshot = publish(fixture, fixture->edge);

	grpc_feed_join(grpc_feeds_get(&fixture->feeds, fixture->edge), &member);
	grpc_feeds_get(&fixture->feeds, fixture->mesh);
	assert_int_equal(fixture->feeds.by_group.count, 2);
	grpc_feeds_refresh(&fixture->feeds);
	assert_int_equal(fixture->feeds.by_group.count, 1);
	/* Nothing here keeps a former snapshot alive. */
	snapshot_ref(snapshot);
	grpc_feed_leave(&member);
	publish(fixture, fixture->edge);
	grpc_feeds_refresh(&fixture->feeds);
	assert_int_equal(fixture->feeds.by_group.count, 0);
	assert_int_equal(atomic_load(&snapshot->references), 1);
	snapshot_unref(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(on_demand, open_fixture, close_fixture),
		cmocka_unit_test_setup_teardown(wakes_who_has_news, open_fixture, close_fixture),
		cmocka_unit_test_setup_teardown(dropped_when_unused, open_fixture, close_fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
