/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random files, folders, links and renames: after each step a tree that only looked at hinted paths
 * must have told the same as one that sees everything for the first time. SEED chooses.
 */
#include "source/tree.h"

#include "scratch.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"

#define TREES 30
#define STEPS 120

struct known {
	char *path;
	enum tree_kind kind;
	int error;
	off_t size;
};

/* What a tree has told so far. */
struct model {
	struct tree *tree;
	struct hash by_path;
};

struct random_test {
	struct scratch scratch;
	uint64_t state;
	unsigned links, errors;
};

static unsigned pick(struct random_test *test, unsigned below)
{
	test->state = test->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(test->state >> 33) % below;
}

static void model_init(struct model *model, const char *root)
{
	model->tree = tree_new(root);
	hash_init(&model->by_path);
}

static void forget(struct known *known)
{
	if (known)
		free(known->path);
	free(known);
}

static void model_fini(struct model *model)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&model->by_path, &cursor)))
		forget(slot->value);
	hash_fini(&model->by_path);
	tree_free(model->tree);
}

static void model_take(struct model *model, const struct tree_change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tree_entry *entry = changes[i].entry;
		struct slice path = {entry->path->text, entry->path->length};
		struct known *former = hash_get(&model->by_path, path), *known;

		assert_true((changes[i].kind == TREE_ADDED) == (former == NULL));
		hash_remove(&model->by_path, path);
		forget(former);
		if (changes[i].kind == TREE_REMOVED)
			continue;
		known = xcalloc(1, sizeof(*known));
		*known = (struct known){xstrdup(entry->path->text), entry->kind, entry->error,
			entry->kind == TREE_FILE ? entry->identity.size : 0};
		hash_put(&model->by_path, slice_of(known->path), known);
	}
	assert_int_equal(model->by_path.count, tree_count(model->tree));
}

/* Below what could not be looked at, the past counts. */
static bool is_below_error(const struct model *model, const char *path)
{
	const char *slash = path;

	while ((slash = strchr(slash, '/'))) {
		const struct known *above =
			hash_get(&model->by_path, (struct slice){path, (size_t)(slash - path)});

		if (above && above->error)
			return true;
		slash++;
	}
	return false;
}

/* Prints what `one` knows and `two` does not know in the same way. */
static unsigned differences(const struct model *one, const struct model *two, const char *title)
{
	struct hash_entry *slot;
	size_t cursor = 0;
	unsigned count = 0;

	while ((slot = hash_next(&one->by_path, &cursor))) {
		const struct known *a = slot->value, *b = hash_get(&two->by_path, slot->key);

		if (is_below_error(one, a->path))
			continue;
		if (b && a->error == b->error &&
			(a->error || (a->kind == b->kind && a->size == b->size)))
			continue;
		fprintf(stderr, "%s: %s kind %d error %d size %ld; other: %d error %d size %ld\n",
			title, a->path, a->kind, a->error, (long)a->size, b ? (int)b->kind : -1,
			b ? b->error : 0, b ? (long)b->size : -1);
		count++;
	}
	return count;
}

static void random_path(struct random_test *test, char out[static 64])
{
	static const char *const names[] = {"a", "b", "c", ".d"};
	unsigned depth = 1 + pick(test, 3);

	out[0] = '\0';
	for (unsigned i = 0; i < depth; i++) {
		if (i)
			strcat(out, "/");
		strcat(out, names[pick(test, 4)]);
	}
}

static bool is_folder(const struct random_test *test, const char *path)
{
	struct stat status;
	char full[4200];

	return lstat(scratch_path(&test->scratch, path, full), &status) == 0 &&
	       S_ISDIR(status.st_mode);
}

static bool is_there(const struct random_test *test, const char *path)
{
	struct stat status;
	char full[4200];

	return lstat(scratch_path(&test->scratch, path, full), &status) == 0;
}

/* Whether every folder above is a real one, so that the path is where it says. */
static bool has_real_parent(const struct random_test *test, const char *path)
{
	char parent[64];
	const char *slash = path;

	while ((slash = strchr(slash, '/'))) {
		snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
		if (!is_folder(test, parent))
			return false;
		slash++;
	}
	return true;
}

/* One change; tells the paths that a watcher of all real folders would tell. */
static void change(struct random_test *test, struct buf *hints)
{
	char path[64], other[64], text[16];

	random_path(test, path);
	if (!has_real_parent(test, path))
		return;
	switch (pick(test, 8)) {
	case 0:
	case 1:
		if (is_folder(test, path))
			return;
		snprintf(text, sizeof(text), "%.*s", (int)pick(test, 9), "12345678");
		scratch_write(&test->scratch, path, text);
		break;
	case 2:
	case 3:
		if (is_there(test, path))
			return;
		scratch_mkdir(&test->scratch, path);
		break;
	case 4:
		if (!is_there(test, path))
			return;
		scratch_remove(&test->scratch, path);
		break;
	case 5:
		random_path(test, other);
		if (!is_there(test, path) || is_there(test, other) ||
			!has_real_parent(test, other) || strncmp(other, path, strlen(path)) == 0)
			return;
		scratch_rename(&test->scratch, path, other);
		buf_append(hints, other, strlen(other) + 1);
		break;
	default:
		random_path(test, other);
		if (is_folder(test, path))
			return;
		snprintf(text, sizeof(text), "%s", pick(test, 2) ? "../" : "");
		memmove(other + strlen(text), other, strlen(other) + 1);
		memcpy(other, text, strlen(text));
		scratch_link(&test->scratch, other, path);
		test->links++;
		break;
	}
	buf_append(hints, path, strlen(path) + 1);
}

static void run_tree(struct random_test *test, uint64_t seed)
{
	struct model seen;
	const struct tree_change *changes;
	size_t changes_count;

	test->state = seed * 0x9e3779b97f4a7c15u + 1;
	scratch_init(&test->scratch);
	model_init(&seen, test->scratch.root);
	assert_int_equal(tree_scan(seen.tree, &changes, &changes_count), 0);
	for (unsigned step = 0; step < STEPS; step++) {
		struct buf hints = BUF_INIT;
		struct model fresh;
		const char *paths[32];
		size_t count = 0;

		for (unsigned i = 1 + pick(test, 6); i > 0; i--)
			change(test, &hints);
		for (const char *at = hints.data; at && at < hints.data + hints.length;
			at += strlen(at) + 1)
			paths[count++] = at;
		assert_int_equal(
			tree_scan_paths(seen.tree, paths, count, &changes, &changes_count), 0);
		model_take(&seen, changes, changes_count);

		model_init(&fresh, test->scratch.root);
		assert_int_equal(tree_scan(fresh.tree, &changes, &changes_count), 0);
		model_take(&fresh, changes, changes_count);
		for (size_t i = 0; i < changes_count; i++)
			test->errors += changes[i].entry->error != 0;
		if (differences(&seen, &fresh, "hinted") + differences(&fresh, &seen, "fresh")) {
			for (size_t i = 0; i < count; i++)
				fprintf(stderr, "hint %s\n", paths[i]);
			fail_msg("SEED=%llu step %u", (unsigned long long)seed, step);
		}
		model_fini(&fresh);
		buf_fini(&hints);
	}
	model_fini(&seen);
	scratch_fini(&test->scratch);
}

static void test_hints_are_enough(void **state)
{
	struct random_test test = {.links = 0};
	const char *seed = getenv("SEED");

	(void)state;
	if (seed) {
		run_tree(&test, strtoull(seed, NULL, 10));
		return;
	}
	for (uint64_t i = 0; i < TREES; i++)
		run_tree(&test, i);
	run_tree(&test, (uint64_t)clock_wall_ms());
	assert_true(test.links > 500 && test.errors > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hints_are_enough),
	};

	return cmocka_run_group_tests_name("tree_random", tests, NULL, NULL);
}
