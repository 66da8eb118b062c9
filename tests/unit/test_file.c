/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

struct fixture {
	char path[64];
	int dirfd;
};

static int set_up(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));

	strcpy(fixture->path, "/tmp/xdspub-file-XXXXXX");
	if (!mkdtemp(fixture->path))
		return -1;
	fixture->dirfd = open(fixture->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = fixture;
	return fixture->dirfd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	AUTO_FREE char *command = xasprintf("rm -rf '%s'", fixture->path);

	close(fixture->dirfd);
	free(fixture);
	*state = NULL;
	return system(command);
}

static int make_file(const struct fixture *fixture, const char *name, size_t length)
{
	int fd = openat(fixture->dirfd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	for (size_t i = 0; i < length; i++)
		assert_int_equal(file_write_all(fd, &"0123456789"[i % 10], 1), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void reads_all_and_appends(void **state)
{
	struct fixture *fixture = *state;
	AUTO_CLOSE int fd = make_file(fixture, "f", 1234);
	AUTO_FREE char *path = xasprintf("%s/f", fixture->path);
	struct buf out = BUF_INIT;

	buf_puts(&out, "before");
	assert_int_equal(file_read_fd(fd, 1234, &out), 0);
	assert_int_equal(out.length, 6 + 1234);
	assert_memory_equal(out.data, "before0123", 10);
	assert_int_equal(file_read(path, 5000, &out), 0);
	assert_int_equal(out.length, 6 + 2 * 1234);
	assert_int_equal(out.data[out.length - 1], '3');
	buf_fini(&out);
}

static void limit_is_exact(void **state)
{
	struct fixture *fixture = *state;
	AUTO_CLOSE int fd = make_file(fixture, "f", 100);
	struct buf out = BUF_INIT;
	struct buf small = {.limit_bytes = 10};

	buf_puts(&out, "x");
	assert_int_equal(file_read_fd(fd, 99, &out), -EFBIG);
	assert_int_equal(out.length, 1);
	assert_int_equal(buf_error(&out), 0);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(file_read_fd(fd, 100, &out), 0);
	assert_int_equal(out.length, 101);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(file_read_fd(fd, UINT64_MAX, &out), 0);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(file_read_fd(fd, 100, &small), -EFBIG);
	buf_fini(&out);
	buf_fini(&small);
}

/* What cannot tell its size: empty files, pipes, files that claim nothing (procfs), endless ones.
 */
static void other_kinds_of_files(void **state)
{
	struct fixture *fixture = *state;
	AUTO_CLOSE int empty = make_file(fixture, "empty", 0);
	struct buf out = BUF_INIT;
	int ends[2];

	assert_int_equal(file_read_fd(empty, 10, &out), 0);
	assert_int_equal(out.length, 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(file_write_all(ends[1], "from a pipe", 11), 0);
	close(ends[1]);
	assert_int_equal(file_read_fd(ends[0], 11, &out), 0);
	close(ends[0]);
	assert_string_equal(buf_cstr(&out), "from a pipe");
	buf_reset(&out);
	assert_int_equal(file_read("/proc/self/status", 1 << 20, &out), 0);
	assert_true(out.length > 100);
	buf_reset(&out);
	assert_int_equal(file_read("/dev/zero", 1000000, &out), -EFBIG);
	assert_int_equal(file_read("/nonexistent/file", 1, &out), -ENOENT);
	assert_int_equal(file_read(fixture->path, 1, &out), -EISDIR);
	assert_int_equal(out.length, 0);
	buf_fini(&out);
}

static void writes_fail_with_a_code(void **state)
{
	AUTO_CLOSE int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(file_write_all(full, "x", 1), -ENOSPC);
	assert_int_equal(file_write_all(full, NULL, 0), 0);
	assert_int_equal(file_write_all(-1, "x", 1), -EBADF);
}

static void assert_directory(const struct fixture *fixture, const char *path, unsigned mode)
{
	struct stat st;

	assert_int_equal(fstatat(fixture->dirfd, path, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(st.st_mode & 0777, mode);
}

static void directories_with_parents(void **state)
{
	struct fixture *fixture = *state;
	AUTO_FREE char *absolute = xasprintf("%s/abs/x", fixture->path);
	AUTO_CLOSE int file = make_file(fixture, "file", 1);
	char longest[5000];

	assert_int_equal(file_make_directories(fixture->dirfd, "a/b//c/", 0700), 0);
	assert_directory(fixture, "a/b/c", 0700);
	assert_int_equal(file_make_directories(fixture->dirfd, "a/b/c", 0750), 0);
	assert_directory(fixture, "a/b/c", 0700);
	assert_int_equal(file_make_directories(-1, absolute, 0700), 0);
	assert_directory(fixture, "abs/x", 0700);
	assert_int_equal(file_make_directories(fixture->dirfd, "file", 0700), -ENOTDIR);
	assert_int_equal(file_make_directories(fixture->dirfd, "file/x", 0700), -ENOTDIR);
	assert_int_equal(file_make_directories(fixture->dirfd, "", 0700), -ENOENT);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(file_make_directories(fixture->dirfd, longest, 0700), -ENAMETOOLONG);
	/* A link to a folder is as good as one. */
	assert_int_equal(symlinkat("a", fixture->dirfd, "link"), 0);
	assert_int_equal(file_make_directories(fixture->dirfd, "link/d", 0700), 0);
	assert_directory(fixture, "a/d", 0700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_all_and_appends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(limit_is_exact, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_kinds_of_files, set_up, tear_down),
		cmocka_unit_test(writes_fail_with_a_code),
		cmocka_unit_test_setup_teardown(directories_with_parents, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
