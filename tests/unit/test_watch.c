/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The real library on real folders; every wait is for a hint, with a deadline. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "source/watch.h"

#define DEADLINE_S 20

struct fixture {
	char folder[64];
	char *root;
	struct log log;
	struct watch *watch;
	pthread_mutex_t mutex;
	pthread_cond_t news;
	char *hints[4096]; /* "*": everything */
	size_t count;
};

static void on_hint(void *ctx, size_t root, const char *path)
{
	struct fixture *fixture = ctx;

	pthread_mutex_lock(&fixture->mutex);
	if (fixture->count < 4096)
		fixture->hints[fixture->count++] =
			root ? xasprintf("%zu:%s", root, path ? path : "*")
			     : xstrdup(path ? path : "*");
	pthread_cond_signal(&fixture->news);
	pthread_mutex_unlock(&fixture->mutex);
}

static void forget(struct fixture *fixture)
{
	pthread_mutex_lock(&fixture->mutex);
	while (fixture->count > 0)
		free(fixture->hints[--fixture->count]);
	pthread_mutex_unlock(&fixture->mutex);
}

static bool has(const struct fixture *fixture, const char *path)
{
	for (size_t i = 0; i < fixture->count; i++)
		if (strcmp(fixture->hints[i], path) == 0)
			return true;
	return false;
}

/* Waits for two hints, then forgets all. */
static void expect_both(struct fixture *fixture, const char *path, const char *other)
{
	struct timespec deadline;
	int error = 0;

	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += DEADLINE_S;
	pthread_mutex_lock(&fixture->mutex);
	while ((!has(fixture, path) || !has(fixture, other)) && error == 0)
		error = pthread_cond_timedwait(&fixture->news, &fixture->mutex, &deadline);
	pthread_mutex_unlock(&fixture->mutex);
	if (error)
		fail_msg("no hint about %s", path);
	forget(fixture);
}

/* Waits for the hint, then forgets all. */
static void expect(struct fixture *fixture, const char *path)
{
	expect_both(fixture, path, path);
}

static char *at(struct fixture *fixture, const char *path)
{
	static char buffers[4][256];
	static unsigned next;
	char *buffer = buffers[next++ % 4];

	snprintf(buffer, sizeof(buffers[0]), "%s/%s", fixture->folder, path);
	return buffer;
}

static void write_file(struct fixture *fixture, const char *path)
{
	int fd = open(at(fixture, path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(close(fd), 0);
}

static void start(struct fixture *fixture, const char *root)
{
	const char *reason, *path = at(fixture, root);

	assert_int_equal(
		watch_start(&path, 1, &fixture->log, on_hint, fixture, &fixture->watch), 0);
	expect(fixture, "*");
	if (!watch_is_working(fixture->watch, 0, &reason))
		fail_msg("not working: %s", reason);
	assert_null(reason);
}

static int setup(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));

	strcpy(fixture->folder, "/tmp/test_watch.XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	pthread_mutex_init(&fixture->mutex, NULL);
	pthread_cond_init(&fixture->news, NULL);
	log_init(&fixture->log, STDERR_FILENO, LOG_LEVEL_ERROR);
	mkdir(at(fixture, "tree"), 0755);
	mkdir(at(fixture, "tree/clusters"), 0755);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	AUTO_FREE char *command = xasprintf("rm -rf %s", fixture->folder);

	watch_stop(fixture->watch);
	forget(fixture);
	assert_int_equal(system(command), 0);
	free(fixture);
	return 0;
}

static void test_files(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "tree");
	write_file(fixture, "tree/groups.yaml");
	expect(fixture, "groups.yaml");
	write_file(fixture, "tree/clusters/a.yaml");
	expect(fixture, "clusters/a.yaml");
	assert_int_equal(
		rename(at(fixture, "tree/clusters/a.yaml"), at(fixture, "tree/b.yaml")), 0);
	expect(fixture, "b.yaml");
	assert_int_equal(link(at(fixture, "tree/b.yaml"), at(fixture, "tree/clusters/l.yaml")), 0);
	expect(fixture, "clusters/l.yaml");
	assert_int_equal(symlink("../b.yaml", at(fixture, "tree/clusters/s.yaml")), 0);
	expect(fixture, "clusters/s.yaml");
	assert_int_equal(chmod(at(fixture, "tree/b.yaml"), 0600), 0);
	expect(fixture, "b.yaml");
	assert_int_equal(unlink(at(fixture, "tree/b.yaml")), 0);
	expect(fixture, "b.yaml");
}

static void test_folders(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "tree");
	assert_int_equal(mkdir(at(fixture, "tree/prod"), 0755), 0);
	expect(fixture, "prod");
	assert_int_equal(mkdir(at(fixture, "tree/prod/eds"), 0755), 0);
	expect(fixture, "prod/eds");  /* all below counts: files may be older than the watch */
	for (int i = 0; i < 3; i++) { /* watched, gone, watched again */
		write_file(fixture, "tree/prod/eds/y.yaml");
		expect(fixture, "prod/eds/y.yaml");
		assert_int_equal(unlink(at(fixture, "tree/prod/eds/y.yaml")), 0);
		assert_int_equal(rmdir(at(fixture, "tree/prod/eds")), 0);
		expect(fixture, "prod/eds");
		assert_int_equal(mkdir(at(fixture, "tree/prod/eds"), 0755), 0);
		expect(fixture, "prod/eds");
	}
	assert_int_equal(rename(at(fixture, "tree/prod"), at(fixture, "tree/test")), 0);
	expect(fixture, "*");
	write_file(fixture, "tree/test/eds/y.yaml");
	expect(fixture, "test/eds/y.yaml");
}

static void test_hidden(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "tree");
	assert_int_equal(mkdir(at(fixture, "tree/.git"), 0755), 0);
	write_file(fixture, "tree/.git/index");
	write_file(fixture, "tree/.a.yaml.swp");
	write_file(fixture, "tree/seen");
	expect(fixture, "seen");
	write_file(fixture, "tree/.git/index");
	write_file(fixture, "tree/.xdspub-hold");
	expect(fixture, ".xdspub-hold");
	unlink(at(fixture, "tree/.xdspub-hold"));
	expect(fixture, ".xdspub-hold");
	/* A folder swapped behind a hidden link. */
	assert_int_equal(symlink("clusters", at(fixture, "tree/..tmp")), 0);
	expect(fixture, "*");
	assert_int_equal(rename(at(fixture, "tree/..tmp"), at(fixture, "tree/..data")), 0);
	expect(fixture, "*");
}

static void test_hidden_are_silent(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "tree");
	assert_int_equal(mkdir(at(fixture, "tree/.git"), 0755), 0);
	write_file(fixture, "tree/.git/index");
	write_file(fixture, "tree/.a.yaml.swp");
	write_file(fixture, "tree/seen");
	pthread_mutex_lock(&fixture->mutex);
	while (!has(fixture, "seen"))
		pthread_cond_wait(&fixture->news, &fixture->mutex);
	assert_false(has(fixture, ".git"));
	assert_false(has(fixture, ".git/index"));
	assert_false(has(fixture, ".a.yaml.swp"));
	assert_false(has(fixture, "*"));
	pthread_mutex_unlock(&fixture->mutex);
}

static void test_root_moved_and_made_again(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "tree");
	assert_int_equal(rename(at(fixture, "tree"), at(fixture, "old")), 0);
	expect(fixture, "*");
	assert_int_equal(mkdir(at(fixture, "tree"), 0755), 0);
	expect(fixture, "*");
	write_file(fixture, "tree/a.yaml");
	expect(fixture, "a.yaml");
	unlink(at(fixture, "tree/a.yaml"));
	expect(fixture, "a.yaml");
	assert_int_equal(rmdir(at(fixture, "tree")), 0);
	expect(fixture, "*");
	assert_int_equal(rename(at(fixture, "old"), at(fixture, "tree")), 0);
	expect(fixture, "*");
	write_file(fixture, "tree/clusters/a.yaml");
	expect(fixture, "clusters/a.yaml");
}

static void test_root_that_comes_later(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "not/yet/here");
	assert_int_equal(mkdir(at(fixture, "not"), 0755), 0);
	expect(fixture, "*");
	assert_int_equal(mkdir(at(fixture, "not/yet"), 0755), 0);
	expect(fixture, "*");
	assert_int_equal(rename(at(fixture, "tree"), at(fixture, "not/yet/here")), 0);
	expect(fixture, "*");
	write_file(fixture, "not/yet/here/clusters/a.yaml");
	expect(fixture, "clusters/a.yaml");
}

static void test_swapped_link(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(mkdir(at(fixture, "releases"), 0755), 0);
	assert_int_equal(mkdir(at(fixture, "releases/1"), 0755), 0);
	assert_int_equal(mkdir(at(fixture, "releases/1/envoy"), 0755), 0);
	assert_int_equal(mkdir(at(fixture, "releases/2"), 0755), 0);
	assert_int_equal(mkdir(at(fixture, "releases/2/envoy"), 0755), 0);
	assert_int_equal(symlink("releases/1", at(fixture, "current")), 0);
	assert_int_equal(symlink(at(fixture, "current/envoy"), at(fixture, "outer")), 0);
	start(fixture, "outer");
	write_file(fixture, "releases/1/envoy/a");
	expect(fixture, "a");
	assert_int_equal(symlink("releases/2", at(fixture, "new")), 0);
	assert_int_equal(rename(at(fixture, "new"), at(fixture, "current")), 0);
	expect(fixture, "*");
	write_file(fixture, "releases/2/envoy/b");
	expect(fixture, "b");
	/* A folder above the root moves, another takes its place. */
	assert_int_equal(rename(at(fixture, "releases"), at(fixture, "releases.old")), 0);
	expect(fixture, "*");
	assert_int_equal(rename(at(fixture, "releases.old"), at(fixture, "releases")), 0);
	expect(fixture, "*");
	write_file(fixture, "releases/2/envoy/c");
	expect(fixture, "c");
}

static void test_link_loop(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(symlink("b", at(fixture, "a")), 0);
	assert_int_equal(symlink("a", at(fixture, "b")), 0);
	start(fixture, "a");
	assert_int_equal(unlink(at(fixture, "b")), 0);
	expect(fixture, "*");
	assert_int_equal(symlink("tree", at(fixture, "b")), 0);
	expect(fixture, "*");
	write_file(fixture, "tree/x");
	expect(fixture, "x");
}

/* The library's select() aborts beyond 1,023; the thread's own descriptor table avoids that even
 * where it has to start again while the process has many. */
static void test_many_descriptors(void **state)
{
	struct fixture *fixture = *state;
	struct rlimit before, limit;
	int fds[1100];

#ifdef __SANITIZE_THREAD__
	skip();
#endif
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	if (before.rlim_max < 2048)
		skip();
	limit = before;
	limit.rlim_cur = 2048;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (size_t i = 0; i < 1100; i++) {
		fds[i] = dup(0);
		assert_true(fds[i] >= 0);
	}
	start(fixture, "tree");
	assert_int_equal(rename(at(fixture, "tree"), at(fixture, "old")), 0);
	expect(fixture, "*");
	assert_int_equal(rename(at(fixture, "old"), at(fixture, "tree")), 0);
	expect(fixture, "*");
	write_file(fixture, "tree/x");
	expect(fixture, "x");
	for (size_t i = 0; i < 1100; i++)
		close(fds[i]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* Descriptors that others close are closed: no copy lives on in the thread. */
static void test_no_descriptor_is_kept(void **state)
{
	struct fixture *fixture = *state;
	int ends[2];
	char byte;

	assert_int_equal(pipe(ends), 0);
	start(fixture, "tree");
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0); /* end of file */
	close(ends[0]);
}

static void test_many_removed_folders(void **state)
{
	struct fixture *fixture = *state;
	char path[64];

	start(fixture, "tree");
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 400; i++) {
			snprintf(path, sizeof(path), "tree/clusters/%d", i);
			assert_int_equal(mkdir(at(fixture, path), 0755), 0);
		}
		expect(fixture, "clusters/399");
		for (int i = 0; i < 400; i++) {
			snprintf(path, sizeof(path), "tree/clusters/%d", i);
			assert_int_equal(rmdir(at(fixture, path)), 0);
		}
		if (round < 2)
			expect(fixture, "clusters/399");
	}
	expect(fixture, "*"); /* 1,200 stale entries: it starts again */
	write_file(fixture, "tree/x");
	expect(fixture, "x");
}

/* One in the other, and one beside them. */
static void test_several_roots(void **state)
{
	struct fixture *fixture = *state;
	char inner[4096], outer[4096];
	const char *roots[3];

	assert_int_equal(mkdir(at(fixture, "other"), 0755), 0);
	assert_int_equal(mkdir(at(fixture, "tree/clusters/deep"), 0755), 0);
	snprintf(inner, sizeof(inner), "%s", at(fixture, "tree/clusters/deep"));
	snprintf(outer, sizeof(outer), "%s", at(fixture, "tree"));
	roots[0] = inner;
	roots[1] = outer;
	roots[2] = at(fixture, "other");
	assert_int_equal(
		watch_start(roots, 3, &fixture->log, on_hint, fixture, &fixture->watch), 0);
	expect(fixture, "2:*");
	write_file(fixture, "other/x");
	expect(fixture, "2:x");
	/* A folder on the way to the first root is one of the second. */
	write_file(fixture, "tree/clusters/a.yaml");
	expect(fixture, "1:clusters/a.yaml");
	write_file(fixture, "tree/x");
	expect(fixture, "1:x");
	write_file(fixture, "tree/clusters/deep/b.yaml");
	expect_both(fixture, "b.yaml", "1:clusters/deep/b.yaml");
	assert_int_equal(rename(at(fixture, "other"), at(fixture, "away")), 0);
	expect(fixture, "2:*");
	write_file(fixture, "tree/clusters/deep/c.yaml");
	expect_both(fixture, "c.yaml", "1:clusters/deep/c.yaml");
	assert_int_equal(rename(at(fixture, "away"), at(fixture, "other")), 0);
	expect(fixture, "2:*");
	write_file(fixture, "other/y");
	expect(fixture, "2:y");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_folders, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hidden, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hidden_are_silent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_root_moved_and_made_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_root_that_comes_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_swapped_link, setup, teardown),
		cmocka_unit_test_setup_teardown(test_link_loop, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_descriptor_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_removed_folders, setup, teardown),
		cmocka_unit_test_setup_teardown(test_several_roots, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
