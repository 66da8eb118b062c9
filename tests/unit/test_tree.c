/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/tree.h"

#include "scratch.h"

#include "base/limits.h"

struct fixture {
	struct scratch scratch;
	struct tree *tree;
	struct buf seen; /* the changes of the last scan, one per line */
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	scratch_init(&fixture->scratch);
	fixture->tree = tree_new(fixture->scratch.root);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	tree_free(fixture->tree);
	buf_fini(&fixture->seen);
	scratch_fini(&fixture->scratch);
	free(fixture);
	return 0;
}

static const char *describe(
	struct fixture *fixture, const struct tree_change *changes, size_t count)
{
	buf_reset(&fixture->seen);
	for (size_t i = 0; i < count; i++) {
		const struct tree_entry *entry = changes[i].entry;

		buf_printf(&fixture->seen, "%c%s%s%s%s\n", "+*-"[changes[i].kind],
			entry -> path -> text, entry -> kind == TREE_FOLDER ? "/" : "",
			entry->error ? " !" : "",
			entry->error ? strerrorname_np(-entry->error) : "");
	}
	return buf_cstr(&fixture->seen);
}

static const char *scan(struct fixture *fixture)
{
	const struct tree_change *changes;
	size_t count;

	assert_int_equal(tree_scan(fixture->tree, &changes, &count), 0);
	return describe(fixture, changes, count);
}

static const char *hint(struct fixture *fixture, const char *path)
{
	const struct tree_change *changes;
	size_t count;

	assert_int_equal(tree_scan_paths(fixture->tree, &path, 1, &changes, &count), 0);
	return describe(fixture, changes, count);
}

/* Waits until nothing is too fresh to be believed, and takes a scan that says so. */
static void age(struct fixture *fixture)
{
	for (int i = 0; i < 1000; i++) {
		if (*scan(fixture) == '\0')
			return;
		usleep(2000);
	}
	fail();
}

static void test_scan_reports_changes(void **state)
{
	struct fixture *f = *state;

	scratch_write(&f->scratch, "clusters/b.yaml", "b");
	scratch_write(&f->scratch, "clusters/a.yaml", "a");
	scratch_write(&f->scratch, "groups.yaml", "g");
	assert_string_equal(
		scan(f), "+clusters/\n+clusters/a.yaml\n+clusters/b.yaml\n+groups.yaml\n");
	age(f);
	scratch_write(&f->scratch, "clusters/a.yaml", "aa");
	assert_string_equal(scan(f), "*clusters/a.yaml\n");
	age(f);
	scratch_remove(&f->scratch, "clusters");
	assert_string_equal(scan(f), "-clusters/\n-clusters/a.yaml\n-clusters/b.yaml\n");
	assert_int_equal(tree_count(f->tree), 1);
	assert_null(tree_find(f->tree, SLICE("clusters/a.yaml")));
	assert_non_null(tree_find(f->tree, SLICE("groups.yaml")));
}

static void test_same_stamp_is_not_believed(void **state)
{
	struct fixture *f = *state;

	/* The second write may carry the same size and time stamp as the first. */
	for (int i = 0; i < 50; i++) {
		char text[2] = {(char)('a' + i % 2), 0};

		char full[4200];
		int fd = open(scratch_path(&f->scratch, "x.yaml", full), O_CREAT | O_WRONLY, 0644);

		assert_int_equal(pwrite(fd, text, 1, 0), 1);
		close(fd);
		assert_string_equal(hint(f, "x.yaml"), i ? "*x.yaml\n" : "+x.yaml\n");
	}
}

static void test_kind_changes(void **state)
{
	struct fixture *f = *state;

	scratch_write(&f->scratch, "x/y.yaml", "1");
	age(f);
	scratch_remove(&f->scratch, "x");
	scratch_write(&f->scratch, "x", "file");
	assert_string_equal(scan(f), "-x/\n+x\n-x/y.yaml\n");
	age(f);
	scratch_remove(&f->scratch, "x");
	scratch_mkdir(&f->scratch, "x");
	assert_string_equal(hint(f, "x"), "-x\n+x/\n");
}

static void test_ignored_names(void **state)
{
	struct fixture *f = *state;
	static const char *const ignored[] = {".git/config", ".hidden.yaml", "a.yaml~", "#a.yaml#",
		".a.yaml.swp", "a.yaml.swp", "4913", "a.yaml___jb_tmp___"};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		scratch_write(&f->scratch, ignored[i], "x");
	scratch_write(&f->scratch, "_parts/a.lua", "kept: a target of !file");
	assert_string_equal(scan(f), "+_parts/\n+_parts/a.lua\n");
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		assert_string_equal(hint(f, ignored[i]), "");
}

static void test_hints_look_at_one_path(void **state)
{
	struct fixture *f = *state;

	scratch_write(&f->scratch, "a/1.yaml", "1");
	scratch_write(&f->scratch, "a/2.yaml", "2");
	age(f);
	scratch_write(&f->scratch, "a/1.yaml", "one");
	scratch_write(&f->scratch, "a/2.yaml", "two");
	assert_string_equal(hint(f, "a/1.yaml"), "*a/1.yaml\n");
	assert_string_equal(hint(f, "./a//2.yaml"), "*a/2.yaml\n");
	scratch_write(&f->scratch, "new/deep/3.yaml", "3");
	assert_string_equal(hint(f, "new/deep/3.yaml"), "+new/\n+new/deep/\n+new/deep/3.yaml\n");
	scratch_remove(&f->scratch, "new");
	assert_string_equal(hint(f, "new/deep/3.yaml"), "-new/\n-new/deep/\n-new/deep/3.yaml\n");
	assert_string_equal(hint(f, "never/was"), "");
	age(f);
	scratch_remove(&f->scratch, "a/1.yaml");
	scratch_write(&f->scratch, "a/4.yaml", "4");
	assert_string_equal(hint(f, "a"), "-a/1.yaml\n+a/4.yaml\n");
}

static void test_links_inside(void **state)
{
	struct fixture *f = *state;
	const struct tree_entry *entry;

	scratch_write(&f->scratch, "real/a.yaml", "a");
	scratch_link(&f->scratch, "real/a.yaml", "file.yaml");
	scratch_link(&f->scratch, "real", "folder");
	assert_string_equal(
		scan(f), "+file.yaml\n+folder/\n+folder/a.yaml\n+real/\n+real/a.yaml\n");
	entry = tree_find(f->tree, SLICE("file.yaml"));
	assert_string_equal(entry->link_target->text, "real/a.yaml");
	age(f);

	/* A hint about the target reaches every path that leads there. */
	scratch_write(&f->scratch, "real/a.yaml", "aa");
	assert_string_equal(hint(f, "real/a.yaml"), "*file.yaml\n*folder/a.yaml\n*real/a.yaml\n");
	age(f);
	scratch_write(&f->scratch, "real/new.yaml", "n");
	assert_string_equal(hint(f, "real/new.yaml"), "+folder/new.yaml\n+real/new.yaml\n");
	age(f);

	/* A link to nothing keeps what was known, and says so. */
	scratch_remove(&f->scratch, "real/a.yaml");
	assert_string_equal(
		hint(f, "real/a.yaml"), "*file.yaml !ENOENT\n-folder/a.yaml\n-real/a.yaml\n");
	scratch_write(&f->scratch, "real/a.yaml", "back");
	assert_string_equal(hint(f, "real/a.yaml"), "*file.yaml\n+folder/a.yaml\n+real/a.yaml\n");
}

static void test_swapped_link_on_the_way(void **state)
{
	struct fixture *f = *state;

	/* The way Kubernetes mounts a ConfigMap. */
	scratch_write(&f->scratch, "..2026_01/cds.yaml", "1");
	scratch_write(&f->scratch, "..2026_02/cds.yaml", "22");
	scratch_link(&f->scratch, "..2026_01", "..data");
	scratch_link(&f->scratch, "..data/cds.yaml", "cds.yaml");
	assert_string_equal(scan(f), "+cds.yaml\n");
	age(f);
	scratch_link(&f->scratch, "..2026_02", "..data_tmp");
	scratch_rename(&f->scratch, "..data_tmp", "..data");
	assert_string_equal(hint(f, "..data"), "*cds.yaml\n");
	assert_int_equal(tree_find(f->tree, SLICE("cds.yaml"))->identity.size, 2);
}

static void test_links_that_lead_nowhere_good(void **state)
{
	struct fixture *f = *state;

	scratch_mkdir(&f->scratch, "a");
	scratch_link(&f->scratch, "/etc/passwd", "a/absolute.yaml");
	scratch_link(&f->scratch, "../../outside", "a/up.yaml");
	scratch_link(&f->scratch, "self.yaml", "a/self.yaml");
	scratch_link(&f->scratch, "../a", "a/again");
	scratch_link(&f->scratch, "missing", "a/dangling.yaml");
	assert_string_equal(scan(f), "+a/\n+a/absolute.yaml !EXDEV\n+a/again !ELOOP\n"
				     "+a/dangling.yaml !ENOENT\n+a/self.yaml !ELOOP\n"
				     "+a/up.yaml !EXDEV\n");
	assert_string_equal(scan(f), "");
	assert_string_equal(hint(f, "a/again"), "");
	scratch_write(&f->scratch, "a/missing", "found");
	assert_string_equal(hint(f, "a/missing"), "*a/dangling.yaml\n+a/missing\n");
}

static void test_unreadable_keeps_what_was_known(void **state)
{
	struct fixture *f = *state;

	scratch_write(&f->scratch, "a/sub/1.yaml", "1");
	scratch_write(&f->scratch, "a/2.yaml", "2");
	age(f);
	scratch_drop_root();
	assert_string_equal(scan(f), "");
	scratch_regain_root();
	scratch_chmod(&f->scratch, "a/sub", 0000);
	scratch_drop_root();
	assert_string_equal(scan(f), "*a/sub/ !EACCES\n");
	assert_non_null(tree_find(f->tree, SLICE("a/sub/1.yaml")));
	assert_string_equal(hint(f, "a/sub/1.yaml"), "");
	scratch_regain_root();
	scratch_chmod(&f->scratch, "a/sub", 0755);
	scratch_drop_root();
	assert_string_equal(hint(f, "a/sub"), "*a/sub/\n");

	/* May be listed, may not be entered. */
	scratch_regain_root();
	scratch_chmod(&f->scratch, "a", 0744);
	scratch_drop_root();
	assert_string_equal(scan(f), "*a/2.yaml !EACCES\n*a/sub/ !EACCES\n");
	scratch_regain_root();
	scratch_chmod(&f->scratch, "a", 0755);
	assert_string_equal(scan(f), "*a/2.yaml\n*a/sub/\n");
}

static void test_root_comes_and_goes(void **state)
{
	struct fixture *f = *state;
	const struct tree_change *changes;
	size_t count;
	char root[4200], other[4200];
	struct tree *tree;
	struct buf text = BUF_INIT;
	struct file_identity identity;

	scratch_write(&f->scratch, "releases/41/a.yaml", "41");
	scratch_write(&f->scratch, "releases/42/a.yaml", "42");
	scratch_write(&f->scratch, "releases/42/b.yaml", "42");
	tree = tree_new(scratch_path(&f->scratch, "current", root));
	assert_int_equal(tree_scan(tree, &changes, &count), -ENOENT);
	scratch_link(&f->scratch, "releases/41", "current");
	assert_int_equal(tree_scan(tree, &changes, &count), 0);
	assert_string_equal(describe(f, changes, count), "+a.yaml\n");

	/* Any hint notices that the root is another one. */
	scratch_link(&f->scratch, "releases/42", "new");
	scratch_rename(&f->scratch, "new", "current");
	assert_int_equal(tree_scan_paths(tree, &(const char *){"zzz"}, 1, &changes, &count), 0);
	assert_string_equal(describe(f, changes, count), "*a.yaml\n+b.yaml\n");
	assert_int_equal(tree_read(tree, "a.yaml", 100, &text, &identity), 0);
	assert_string_equal(buf_cstr(&text), "42");

	/* A root that is gone changes nothing. */
	scratch_path(&f->scratch, "current", other);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(tree_scan(tree, &changes, &count), -ENOENT);
	scratch_write(&f->scratch, "current", "a file");
	assert_int_equal(tree_scan(tree, &changes, &count), -ENOTDIR);
	assert_int_equal(tree_count(tree), 2);
	buf_fini(&text);
	tree_free(tree);
}

static void test_read(void **state)
{
	struct fixture *f = *state;
	struct buf text = BUF_INIT;
	struct file_identity identity;
	char full[4200];
	int fd;

	scratch_write(&f->scratch, "a/1.yaml", "hello");
	scratch_link(&f->scratch, "/etc/passwd", "out.yaml");
	scratch_link(&f->scratch, "a", "in");
	assert_int_equal(tree_read(f->tree, "a/1.yaml", 100, &text, &identity), -ENOENT);
	scan(f);
	assert_int_equal(tree_read(f->tree, "a/1.yaml", 100, &text, &identity), 0);
	assert_string_equal(buf_cstr(&text), "hello");
	assert_true(
		file_identity_equal(&identity, &tree_find(f->tree, SLICE("a/1.yaml"))->identity));
	assert_int_equal(tree_read(f->tree, "in/1.yaml", 5, &text, &identity), 0);
	assert_int_equal(tree_read(f->tree, "in/1.yaml", 4, &text, &identity), -EFBIG);
	assert_int_equal(tree_read(f->tree, "out.yaml", 100, &text, &identity), -EXDEV);
	assert_int_equal(tree_read(f->tree, "../x", 100, &text, &identity), -EXDEV);
	assert_int_equal(tree_read(f->tree, "/etc/passwd", 100, &text, &identity), -EXDEV);
	assert_int_equal(tree_read(f->tree, "a", 100, &text, &identity), -EISDIR);

	/* 100 MB without a block on disk. */
	fd = open(scratch_path(&f->scratch, "big.yaml", full), O_CREAT | O_WRONLY, 0644);
	assert_int_equal(ftruncate(fd, 100000000), 0);
	close(fd);
	assert_int_equal(
		tree_read(f->tree, "big.yaml", LIMITS_DEFAULT.source_file_bytes, &text, &identity),
		-EFBIG);
	buf_fini(&text);
}

static void test_fifo_is_left_out(void **state)
{
	struct fixture *f = *state;
	char full[4200];

	assert_int_equal(mkfifo(scratch_path(&f->scratch, "pipe.yaml", full), 0644), 0);
	assert_string_equal(scan(f), "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_scan_reports_changes),
		TEST(test_same_stamp_is_not_believed),
		TEST(test_kind_changes),
		TEST(test_ignored_names),
		TEST(test_hints_look_at_one_path),
		TEST(test_links_inside),
		TEST(test_swapped_link_on_the_way),
		TEST(test_links_that_lead_nowhere_good),
		TEST(test_unreadable_keeps_what_was_known),
		TEST(test_root_comes_and_goes),
		TEST(test_read),
		TEST(test_fifo_is_left_out),
	};

	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
