/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "publish/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "scratch.h"

struct fixture {
	struct scratch scratch;
	int fd;
};

static const bool yaml_only[FILE_FORMAT_COUNT] = {[FILE_FORMAT_YAML] = true};
static const bool two[FILE_FORMAT_COUNT] = {[FILE_FORMAT_YAML] = true, [FILE_FORMAT_PB] = true};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	scratch_init(&fixture->scratch);
	fixture->fd = open(fixture->scratch.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fixture->fd >= 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	close(fixture->fd);
	scratch_fini(&fixture->scratch);
	free(fixture);
	return 0;
}

static struct manifest *reopen(struct fixture *fixture, const bool *formats)
{
	struct manifest *manifest;
	const char *problem;

	assert_int_equal(manifest_open(fixture->fd, formats, &manifest, &problem), 0);
	assert_null(problem);
	return manifest;
}

static struct manifest_record make(struct manifest *manifest, const char *name, char version)
{
	struct manifest_record record = {
		.group = manifest_group(manifest, SLICE("edge")),
		.type = XDS_EDS,
		.name = slice_of(name),
		.format = FILE_FORMAT_YAML,
		.at = {7, 8},
		.identity = {.inode = 11, .size = 12, .modified_ns = 13, .changed_ns = 14},
	};

	memset(record.version.text, version, VERSION_TEXT_LENGTH);
	return record;
}

static void add(struct manifest *manifest, struct manifest_record record)
{
	manifest_intend(manifest, &record);
	assert_int_equal(manifest_commit(manifest), 0);
	manifest_confirm(manifest, &record);
	assert_int_equal(manifest_commit(manifest), 0);
}

static struct manifest_entry *find(struct manifest *manifest, const char *name)
{
	return manifest_find(manifest_group(manifest, SLICE("edge")), XDS_EDS, slice_of(name));
}

static void test_comes_back(void **state)
{
	struct fixture *fixture = *state;
	struct manifest *manifest = reopen(fixture, two);
	struct manifest_record record = make(manifest, "a", 'v');
	struct manifest_entry *entry;

	record.source = rcstr_new("eds/a.yaml", 10);
	add(manifest, record);
	rcstr_unref(record.source);
	add(manifest, make(manifest, "", 'e'));
	manifest_close(manifest);

	manifest = reopen(fixture, two);
	assert_int_equal(manifest_count(manifest), 1);
	assert_string_equal(manifest_at(manifest, 0)->name->text, "edge");
	entry = find(manifest, "a");
	assert_int_equal(entry->version.text[5], 'v');
	assert_string_equal(entry->source->text, "eds/a.yaml");
	assert_int_equal(entry->at.line, 7);
	assert_true(atomic_identity_equal(
		manifest_file(manifest, entry, FILE_FORMAT_YAML), &record.identity));
	assert_int_equal(manifest_file(manifest, entry, FILE_FORMAT_YAML)->changed_ns, 14);
	assert_int_equal(manifest_file(manifest, entry, FILE_FORMAT_PB)->inode, 0);
	assert_non_null(find(manifest, ""));
	assert_null(find(manifest, "b"));
	manifest_forget(manifest, manifest_at(manifest, 0), XDS_EDS, SLICE("a"));
	manifest_forget(manifest, manifest_at(manifest, 0), XDS_EDS, SLICE("nothing"));
	assert_int_equal(manifest_commit(manifest), 0);
	manifest_close(manifest);

	manifest = reopen(fixture, two);
	assert_null(find(manifest, "a"));
	assert_non_null(find(manifest, ""));
	manifest_close(manifest);
}

/* A crash after the intent: the file is known if the rename happened, whatever its time of change;
 * and nobody is blamed if it did not. */
static void test_intent_without_confirmation(void **state)
{
	struct fixture *fixture = *state;
	struct manifest *manifest = reopen(fixture, yaml_only);
	struct manifest_record record = make(manifest, "a", 'v');
	struct atomic_identity found = record.identity;
	const struct atomic_identity *known;

	add(manifest, record);
	record.identity.inode = 99;
	record.identity.changed_ns = 0;
	manifest_intend(manifest, &record);
	assert_int_equal(find(manifest, "a")->files[0].inode, 11); /* not before it is confirmed */
	assert_int_equal(manifest_commit(manifest), 0);
	manifest_close(manifest);
	manifest = reopen(fixture, yaml_only);
	known = &find(manifest, "a")->files[0];
	assert_int_equal(known->changed_ns, 0);
	assert_false(atomic_identity_equal(known, &found));
	found.inode = 99;
	found.changed_ns = 12345;
	assert_true(atomic_identity_equal(known, &found));
	manifest_close(manifest);
}

/* The other format's file still is of the former version. */
static void test_formats_are_told_apart(void **state)
{
	struct fixture *fixture = *state;
	struct manifest *manifest = reopen(fixture, two);
	struct manifest_record yaml = make(manifest, "a", 'v'), pb = yaml;

	pb.format = FILE_FORMAT_PB;
	add(manifest, yaml);
	add(manifest, pb);
	assert_int_equal(manifest_file(manifest, find(manifest, "a"), FILE_FORMAT_PB)->inode, 11);
	yaml = make(manifest, "a", 'w');
	add(manifest, yaml);
	for (int i = 0; i < 2; i++) {
		struct manifest_entry *entry = find(manifest, "a");

		assert_int_equal(manifest_file(manifest, entry, FILE_FORMAT_YAML)->inode, 11);
		assert_int_equal(manifest_file(manifest, entry, FILE_FORMAT_PB)->inode, 0);
		manifest_close(manifest);
		manifest = reopen(fixture, two);
	}
	manifest_close(manifest);
	/* A format that is not in use any more is skipped. */
	manifest = reopen(fixture, yaml_only);
	assert_non_null(find(manifest, "a"));
	manifest_close(manifest);
}

static void test_size_follows_what_lives(void **state)
{
	struct fixture *fixture = *state;
	struct manifest *manifest = reopen(fixture, yaml_only);
	struct stat status;
	char name[300];

	memset(name, 'n', sizeof(name));
	for (unsigned round = 0; round < 12000; round++) {
		snprintf(name + 200, 90, "%u", round % 50);
		add(manifest, make(manifest, name, (char)('a' + round % 20)));
	}
	assert_int_equal(fstatat(fixture->fd, "manifest", &status, 0), 0);
	assert_true(status.st_size < (2 << 20));
	manifest_close(manifest);
	manifest = reopen(fixture, yaml_only);
	for (unsigned i = 0; i < 50; i++) {
		snprintf(name + 200, 90, "%u", i);
		assert_int_equal(find(manifest, name)->files[0].changed_ns, 14);
	}
	manifest_close(manifest);
}

static void test_damage(void **state)
{
	struct fixture *fixture = *state;
	struct manifest *manifest = reopen(fixture, yaml_only), *second;
	const char *problem;
	struct stat status;
	int fd;

	add(manifest, make(manifest, "a", 'v'));
	assert_int_equal(manifest_open(fixture->fd, yaml_only, &second, &problem), -EBUSY);
	manifest_close(manifest);
	fd = openat(fixture->fd, "manifest", O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, "something else altogether", 25), 25);
	close(fd);
	assert_int_equal(manifest_open(fixture->fd, yaml_only, &manifest, &problem), 0);
	assert_non_null(problem);
	assert_int_equal(manifest_count(manifest), 0);
	assert_int_equal(fstatat(fixture->fd, "manifest.damaged", &status, 0), 0);
	manifest_close(manifest);
	manifest_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_comes_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_intent_without_confirmation, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_formats_are_told_apart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_size_follows_what_lives, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damage, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}
