/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/state.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
	char folder[64];
	char path[128];
	char file[160];
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	strcpy(fixture->folder, "/tmp/xdspub-state-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	snprintf(fixture->path, sizeof(fixture->path), "%s/deep/state", fixture->folder);
	snprintf(fixture->file, sizeof(fixture->file), "%s/snapshots", fixture->path);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", fixture->folder);
	assert_int_equal(system(command), 0);
	free(fixture);
	return 0;
}

static struct state *reopen(struct fixture *fixture, const char **ret_problem)
{
	const char *problem;
	struct state *opened;

	assert_int_equal(state_open(fixture->path, &opened, &problem), 0);
	if (ret_problem)
		*ret_problem = problem;
	else
		assert_null(problem);
	return opened;
}

/* Names "n0".."n<count-1>" of two types, bodies of `size` bytes `fill`; name skip is left out. */
static struct snapshot *make(
	const char *group_name, unsigned count, size_t size, char fill, unsigned skip)
{
	struct rcstr *group = rcstr_new(group_name, strlen(group_name));
	struct rcstr *path = rcstr_new("eds/x.yaml", 10);
	struct rcstr *commit = rcstr_new("c0ffee", 6);
	struct snapshot *empty = snapshot_empty(group), *snapshot;
	struct resource_set *sets[XDS_TYPE_COUNT];
	struct slice aliases[] = {SLICE("one"), SLICE("two")};
	char *body = malloc(size);

	memset(body, fill, size);
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		struct resource_set_builder *builder = resource_set_edit(empty->sets[type]);

		for (unsigned i = 0; i < count && (type == XDS_EDS || type == XDS_CDS); i++) {
			char name[16];
			struct resource_spec spec = {.type = (enum xds_type)type,
				.body = {body, size},
				.ttl_ms = i % 2 ? -1 : 1500,
				.aliases = aliases,
				.aliases_count = i % 3,
				.path = path,
				.at = {i + 1, 3}};
			struct resource *resource;

			snprintf(name, sizeof(name), "n%u", i);
			spec.name = slice_of(name);
			resource = resource_new(&spec);
			if (i != skip)
				resource_set_put(builder, resource);
			resource_unref(resource);
		}
		sets[type] = resource_set_finish(builder);
	}
	snapshot = snapshot_new(group, sets, fill == 'b', commit, 1234567);
	snapshot_unref(empty);
	rcstr_unref(group);
	rcstr_unref(path);
	rcstr_unref(commit);
	free(body);
	return snapshot;
}

static off_t file_size(const struct fixture *fixture)
{
	struct stat status;

	assert_int_equal(stat(fixture->file, &status), 0);
	return status.st_size;
}

static void save(struct state *opened, struct snapshot *snapshot)
{
	assert_int_equal(state_save(opened, snapshot), 0);
	assert_ptr_equal(state_find(opened, slice_of(snapshot->group->text)), snapshot);
	snapshot_unref(snapshot);
}

static void test_comes_back_as_it_was(void **state)
{
	struct fixture *fixture = *state;
	struct state *opened = reopen(fixture, NULL);
	struct snapshot *want = make("edge", 50, 10, 'b', 3), *got;
	struct resource *resource;
	struct stat status;

	assert_int_equal(state_count(opened), 0);
	assert_null(state_find(opened, SLICE("edge")));
	assert_int_equal(state_groups(opened).length, 0);
	assert_int_equal(state_save_groups(opened, SLICE("groups: []")), 0);
	save(opened, snapshot_ref(want));
	state_close(opened);
	assert_int_equal(stat(fixture->file, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);

	opened = reopen(fixture, NULL);
	assert_int_equal(state_count(opened), 1);
	assert_true(slice_is(state_groups(opened), "groups: []"));
	got = state_find(opened, SLICE("edge"));
	assert_ptr_equal(got, state_snapshot(opened, 0));
	assert_true(snapshot_same_content(got, want));
	assert_true(got->is_bridge);
	assert_string_equal(got->source->text, "c0ffee");
	assert_int_equal(got->built_wall_ms, 1234567);
	resource = resource_set_find(got->sets[XDS_EDS], SLICE("n2"));
	assert_string_equal(resource->path->text, "eds/x.yaml");
	assert_int_equal(resource->at.line, 3);
	assert_int_equal(resource->ttl_ms, 1500);
	assert_int_equal(resource->aliases_count, 2);
	assert_null(resource_set_find(got->sets[XDS_EDS], SLICE("n3")));
	state_close(opened);
	snapshot_unref(want);
}

/* A cluster with an open config source, bound. */
static struct resource *make_open(const char *rest)
{
	struct open_builder builder = {0};
	struct resource_spec spec = {.type = XDS_CDS,
		.name = SLICE("a"),
		.body = SLICE("\x0a\x01"
			      "a\x1a\x06\x0a\x04\x2a\x00\x30\x02"),
		.ttl_ms = -1};
	struct resource *resource;
	source_table table;

	config_sources_preset(table);
	table[SOURCE_REST][XDS_EDS] = slice_of(rest);
	spec.sources = config_sources_new(table);
	open_builder_place(&builder, (struct open_place){XDS_EDS, SLICE("a")});
	open_builder_mark(&builder, (struct open_mark){4, 5, 11, -1, -1});
	open_builder_mark(&builder, (struct open_mark){6, 7, 11, 0, 0});
	spec.open = open_builder_finish(&builder);
	resource = resource_new(&spec);
	open_body_unref(spec.open);
	config_sources_unref(spec.sources);
	return resource;
}

static void save_cluster(struct state *opened, const char *group_name, const char *rest)
{
	struct snapshot *former = make(group_name, 3, 10, 'x', 9), *snapshot;
	struct resource *resource = make_open(rest);
	struct resource_set *sets[XDS_TYPE_COUNT];
	struct resource_set_builder *builder = resource_set_edit(former->sets[XDS_CDS]);

	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		sets[type] = type == XDS_CDS ? NULL : resource_set_ref(former->sets[type]);
	resource_set_put(builder, resource);
	resource_unref(resource);
	sets[XDS_CDS] = resource_set_finish(builder);
	snapshot = snapshot_new(former->group, sets, false, NULL, 99);
	save(opened, snapshot);
	snapshot_unref(former);
}

static void put_path(void *ctx, enum xds_type type, struct slice name, struct buf *out)
{
	(void)ctx;
	buf_printf(out, "/%s/%.*s", xds_type_row(type)->stem, SLICE_ARG(name));
}

static void check_cluster(struct state *opened, const char *group, const char *rest)
{
	struct resource *resource =
		resource_set_find(state_find(opened, slice_of(group))->sets[XDS_CDS], SLICE("a"));
	struct resource *want = make_open(rest);
	struct buf got = BUF_INIT, expected = BUF_INIT;

	assert_true(digest_equal(&resource->digest, &want->digest));
	for (int transport = SOURCE_REST; transport < SOURCE_TRANSPORTS; transport++) {
		struct slice body = resource_body(resource, (enum source_transport)transport);

		assert_true(
			slice_equal(body, resource_body(want, (enum source_transport)transport)));
		/* Made once. */
		assert_ptr_equal(
			resource_body(resource, (enum source_transport)transport).data, body.data);
	}
	assert_non_null(memmem(resource_body(resource, SOURCE_REST).data,
		resource_body(resource, SOURCE_REST).length, rest, strlen(rest)));
	resource_file_body(resource, put_path, NULL, &got);
	resource_file_body(want, put_path, NULL, &expected);
	assert_true(slice_equal(buf_slice(&got), buf_slice(&expected)));
	assert_non_null(memmem(got.data, got.length, "/eds/a", 6));
	assert_true(resource_has_path(resource));
	buf_fini(&got);
	buf_fini(&expected);
	resource_unref(want);
}

/* What every transport is sent comes back, too; groups with equal sources share them. */
static void test_open_sources_come_back(void **state)
{
	struct fixture *fixture = *state;
	struct state *opened = reopen(fixture, NULL);
	struct resource *one, *two;

	save_cluster(opened, "edge", "\x12\x02\x08\x02");
	save_cluster(opened, "same", "\x12\x02\x08\x02");
	save_cluster(opened, "other", "\x12\x02\x08\x01");
	state_close(opened);
	opened = reopen(fixture, NULL);
	check_cluster(opened, "edge", "\x12\x02\x08\x02");
	check_cluster(opened, "other", "\x12\x02\x08\x01");
	one = resource_set_find(state_find(opened, SLICE("edge"))->sets[XDS_CDS], SLICE("a"));
	two = resource_set_find(state_find(opened, SLICE("same"))->sets[XDS_CDS], SLICE("a"));
	assert_ptr_equal(one, two);
	two = resource_set_find(state_find(opened, SLICE("other"))->sets[XDS_CDS], SLICE("a"));
	assert_ptr_not_equal(resource_sources(one), resource_sources(two));
	state_close(opened);
}

static void test_a_change_costs_its_difference(void **state)
{
	struct fixture *fixture = *state;
	struct state *opened = reopen(fixture, NULL);
	struct snapshot *former, *want;
	struct resource_set *sets[XDS_TYPE_COUNT];
	struct resource_set_builder *builder;
	struct resource_spec spec = {
		.type = XDS_EDS, .name = SLICE("n7"), .body = SLICE("changed"), .ttl_ms = -1};
	struct resource *resource = resource_new(&spec);
	off_t before;

	former = make("edge", 500, 1000, 'x', 9);
	save(opened, snapshot_ref(former));
	before = file_size(fixture);
	assert_true(before > 1000000);
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		sets[type] = resource_set_ref(former->sets[type]);
	builder = resource_set_edit(sets[XDS_EDS]);
	resource_set_put(builder, resource);
	resource_set_remove(builder, SLICE("n8"));
	resource_unref(resource);
	resource_set_unref(sets[XDS_EDS]);
	sets[XDS_EDS] = resource_set_finish(builder);
	want = snapshot_new(former->group, sets, false, former->source, 99);
	save(opened, snapshot_ref(want));
	assert_true(file_size(fixture) - before < 400);
	before = file_size(fixture);
	/* The same again writes nothing. */
	save(opened, snapshot_ref(want));
	assert_int_equal(file_size(fixture), before);
	state_close(opened);
	opened = reopen(fixture, NULL);
	assert_true(snapshot_same_content(state_find(opened, SLICE("edge")), want));
	state_close(opened);
	snapshot_unref(want);
	snapshot_unref(former);
}

static void test_groups_share_resources(void **state)
{
	struct fixture *fixture = *state;
	struct state *opened = reopen(fixture, NULL);
	struct snapshot *want;
	off_t one;

	save(opened, make("a", 100, 1000, 'x', 100));
	one = file_size(fixture);
	save(opened, make("b", 100, 1000, 'x', 100));
	assert_true(file_size(fixture) < one + one / 10);
	/* Forgetting one holder keeps what the other one needs. */
	assert_int_equal(state_forget(opened, SLICE("a")), 0);
	assert_int_equal(state_forget(opened, SLICE("nobody")), 0);
	save(opened, make("c", 100, 1000, 'x', 5));
	assert_int_equal(state_forget(opened, SLICE("b")), 0);
	save(opened, make("d", 100, 1000, 'x', 100)); /* n5 is written again */
	state_close(opened);
	opened = reopen(fixture, NULL);
	assert_int_equal(state_count(opened), 2);
	assert_null(state_find(opened, SLICE("a")));
	want = make("c", 100, 1000, 'x', 5);
	assert_true(snapshot_same_content(state_find(opened, SLICE("c")), want));
	snapshot_unref(want);
	want = make("d", 100, 1000, 'x', 100);
	assert_true(snapshot_same_content(state_find(opened, SLICE("d")), want));
	snapshot_unref(want);
	state_close(opened);
}

static void test_compaction(void **state)
{
	struct fixture *fixture = *state;
	struct state *opened = reopen(fixture, NULL);
	struct snapshot *want;

	assert_int_equal(state_save_groups(opened, SLICE("g")), 0);
	save(opened, make("other", 20, 1000, 'o', 20));
	for (int i = 0; i < 30; i++) {
		save(opened, make("edge", 200, 1000, (char)('A' + i), (unsigned)i));
		/* one live copy is about 450 kB; never more than twice that and the floor */
		assert_true(file_size(fixture) < 2000000);
	}
	state_close(opened);
	opened = reopen(fixture, NULL);
	want = make("edge", 200, 1000, 'A' + 29, 29);
	assert_true(snapshot_same_content(state_find(opened, SLICE("edge")), want));
	snapshot_unref(want);
	want = make("other", 20, 1000, 'o', 20);
	assert_true(snapshot_same_content(state_find(opened, SLICE("other")), want));
	snapshot_unref(want);
	assert_true(slice_is(state_groups(opened), "g"));
	/* and it goes on from there */
	save(opened, make("edge", 200, 1000, 'z', 1));
	state_close(opened);
	state_close(reopen(fixture, NULL));
}

static void test_every_cut_gives_a_former_state(void **state)
{
	struct fixture *fixture = *state;
	struct state *opened = reopen(fixture, NULL);
	struct snapshot *versions[4] = {NULL};
	const char *problem;
	char *bytes;
	off_t size;
	int fd;

	for (int i = 1; i < 4; i++) {
		versions[i] = make("edge", 5, 20, (char)('0' + i), (unsigned)i);
		save(opened, snapshot_ref(versions[i]));
	}
	state_close(opened);
	size = file_size(fixture);
	bytes = malloc((size_t)size);
	fd = open(fixture->file, O_RDWR);
	assert_int_equal(pread(fd, bytes, (size_t)size, 0), size);
	for (off_t length = size; length >= 0; length -= 7) {
		struct snapshot *got;
		bool found = false;

		assert_int_equal(pwrite(fd, bytes, (size_t)size, 0), size);
		assert_int_equal(ftruncate(fd, length), 0);
		opened = reopen(fixture, &problem);
		got = state_find(opened, SLICE("edge"));
		for (int i = 0; i < 4; i++)
			if (versions[i] ? got && snapshot_same_content(got, versions[i]) : !got)
				found = true;
		assert_true(found);
		if (length == size)
			assert_null(problem);
		state_close(opened);
	}
	close(fd);
	free(bytes);
	for (int i = 1; i < 4; i++)
		snapshot_unref(versions[i]);
}

static void test_damage_is_told_and_set_aside(void **state)
{
	struct fixture *fixture = *state;
	struct state *opened = reopen(fixture, NULL);
	const char *problem = NULL;
	char path[256];
	struct stat status;
	int fd;

	save(opened, make("edge", 5, 20, 'x', 0));
	save(opened, make("edge", 5, 20, 'y', 0));
	state_close(opened);
	/* in the last batch */
	fd = open(fixture->file, O_RDWR);
	assert_int_equal(pwrite(fd, "XXXX", 4, file_size(fixture) - 40), 4);
	close(fd);
	opened = reopen(fixture, &problem);
	assert_non_null(problem);
	assert_non_null(state_find(opened, SLICE("edge")));
	state_close(opened);
	/* not ours at all */
	fd = open(fixture->file, O_RDWR | O_TRUNC);
	assert_int_equal(write(fd, "this is no journal of ours", 26), 26);
	close(fd);
	opened = reopen(fixture, &problem);
	assert_non_null(problem);
	assert_int_equal(state_count(opened), 0);
	snprintf(path, sizeof(path), "%s.damaged", fixture->file);
	assert_int_equal(stat(path, &status), 0);
	save(opened, make("edge", 5, 20, 'x', 0));
	state_close(opened);
}

/* A disk that is full: nothing is taken for saved, and the next try saves it all. */
static void test_failed_save(void **state)
{
	struct fixture *fixture = *state;
	struct state *opened = reopen(fixture, NULL);
	struct snapshot *first = make("edge", 50, 1000, 'x', 0);
	struct snapshot *second = make("edge", 50, 1000, 'y', 1);
	struct rlimit former, small;

	save(opened, snapshot_ref(first));
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &former), 0);
	small = former;
	small.rlim_cur = (rlim_t)file_size(fixture) + 5000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(state_save(opened, second), -EFBIG);
	assert_ptr_equal(state_find(opened, SLICE("edge")), first);
	assert_int_equal(state_save_groups(opened, SLICE("short")), 0);
	assert_int_equal(state_save(opened, second), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &former), 0);
	save(opened, snapshot_ref(second));
	state_close(opened);

	opened = reopen(fixture, NULL);
	assert_true(snapshot_same_content(state_find(opened, SLICE("edge")), second));
	assert_true(slice_is(state_groups(opened), "short"));
	state_close(opened);
	snapshot_unref(first);
	snapshot_unref(second);
}

static void test_many_with_one_sync(void **state)
{
	struct fixture *fixture = *state;
	struct state *opened = reopen(fixture, NULL);
	struct snapshot *want[3] = {make("edge", 20, 10, 'x', 0), make("mesh", 20, 10, 'x', 1),
		make("rest", 5, 10, 'b', 2)};

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(state_write(opened, want[i]), 0);
	assert_int_equal(state_sync(opened), 0);
	assert_int_equal(state_sync(opened), 0); /* nothing left to do */
	assert_int_equal(state_save(opened, want[1]), 0);
	state_close(opened);
	opened = reopen(fixture, NULL);
	assert_int_equal(state_count(opened), 3);
	for (size_t i = 0; i < 3; i++) {
		assert_true(snapshot_same_content(
			state_find(opened, slice_of(want[i]->group->text)), want[i]));
		snapshot_unref(want[i]);
	}
	state_close(opened);
}

/* Many groups with the same resources: what lives is mostly the lists, and a change still costs
 * its difference, not a rewrite. */
static void test_groups_that_share_are_not_rewritten(void **state)
{
	struct fixture *fixture = *state;
	struct state *opened = reopen(fixture, NULL);
	struct stat former, status;
	unsigned rewrites = 0;
	char name[16];

	for (unsigned i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		save(opened, make(name, 1000, 10, 'x', 5000));
	}
	assert_int_equal(stat(fixture->file, &former), 0);
	for (unsigned i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		save(opened, make(name, 1000, 10, 'x', i));
		assert_int_equal(stat(fixture->file, &status), 0);
		rewrites += status.st_ino != former.st_ino || status.st_size < former.st_size;
		former = status;
	}
	assert_true(rewrites <= 1);
	state_close(opened);
}

static void test_only_one_owner(void **state)
{
	struct fixture *fixture = *state;
	struct state *opened = reopen(fixture, NULL), *second;
	const char *problem;

	assert_int_equal(state_open(fixture->path, &second, &problem), -EBUSY);
	state_close(opened);
	state_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_comes_back_as_it_was, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_open_sources_come_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_change_costs_its_difference, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_groups_share_resources, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_compaction, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_every_cut_gives_a_former_state, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_damage_is_told_and_set_aside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_failed_save, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many_with_one_sync, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_groups_that_share_are_not_rewritten, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_only_one_owner, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
