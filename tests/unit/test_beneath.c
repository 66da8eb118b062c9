/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every case twice: with openat2, and in a child process whose kernel refuses it. */
#include "source/beneath.h"

#include "scratch.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct fixture {
	struct scratch scratch;
	int root_fd;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	scratch_init(&f->scratch);
	scratch_write(&f->scratch, "a/b/file", "1");
	scratch_link(&f->scratch, "a/b", "to-folder");
	scratch_link(&f->scratch, "to-folder/file", "to-file");
	scratch_link(&f->scratch, "../a/b/file", "a/up");
	scratch_link(&f->scratch, "../../outside", "a/out");
	scratch_link(&f->scratch, "/etc/passwd", "absolute");
	scratch_link(&f->scratch, "loop-b", "loop-a");
	scratch_link(&f->scratch, "loop-a", "loop-b");
	scratch_link(&f->scratch, "a/missing/x", "dangling");
	f->root_fd = open(f->scratch.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(f->root_fd >= 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	close(f->root_fd);
	scratch_fini(&f->scratch);
	free(f);
	return 0;
}

/* 0, or the line that failed: the child cannot use cmocka's assertions. */
#define CHECK(is_fine)                                                                             \
	do {                                                                                       \
		if (!(is_fine))                                                                    \
			return __LINE__;                                                           \
	} while (0)

static bool opens(int fd)
{
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static int check_open(int root)
{
	CHECK(opens(beneath_open(root, "a/b/file", O_RDONLY)));
	CHECK(opens(beneath_open(root, ".", O_RDONLY | O_DIRECTORY)));
	CHECK(opens(beneath_open(root, "", O_RDONLY | O_DIRECTORY)));
	CHECK(opens(beneath_open(root, "to-file", O_RDONLY)));
	CHECK(opens(beneath_open(root, "to-folder/file", O_RDONLY)));
	CHECK(opens(beneath_open(root, "a/up", O_RDONLY)));
	CHECK(opens(beneath_open(root, "a/../a/b", O_PATH)));
	CHECK(beneath_open(root, "..", O_RDONLY) == -EXDEV);
	CHECK(beneath_open(root, "a/../..", O_RDONLY) == -EXDEV);
	CHECK(beneath_open(root, "a/out", O_RDONLY) == -EXDEV);
	CHECK(beneath_open(root, "absolute", O_RDONLY) == -EXDEV);
	CHECK(beneath_open(root, "loop-a", O_RDONLY) == -ELOOP);
	CHECK(beneath_open(root, "dangling", O_RDONLY) == -ENOENT);
	CHECK(beneath_open(root, "a/b/file/x", O_RDONLY) == -ENOTDIR);
	return 0;
}

static int check_open_exact(int root)
{
	CHECK(opens(beneath_open_exact(root, "a/b/file", O_RDONLY)));
	CHECK(opens(beneath_open_exact(root, "", O_RDONLY | O_DIRECTORY)));
	CHECK(beneath_open_exact(root, "to-file", O_RDONLY) == -ELOOP);
	CHECK(beneath_open_exact(root, "to-folder/file", O_RDONLY) < 0);
	CHECK(beneath_open_exact(root, "..", O_RDONLY) == -EXDEV);
	CHECK(beneath_open_exact(root, "none", O_RDONLY) == -ENOENT);
	return 0;
}

static int check_all(int root)
{
	int line = check_open(root);

	return line ? line : check_open_exact(root);
}

static void test_with_openat2(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(check_all(f->root_fd), 0);
}

static void refuse_openat2(int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(255);
}

static void test_without_openat2(void **state)
{
	struct fixture *f = *state;
	static const int errors[] = {ENOSYS, EPERM};

	for (int i = 0; i < 2; i++) {
		int status, channel[2], line = -1;
		pid_t child;

		assert_int_equal(pipe(channel), 0);
		child = fork();
		if (child == 0) {
			refuse_openat2(errors[i]);
			line = check_all(f->root_fd);
			_exit(write(channel[1], &line, sizeof(line)) != sizeof(line));
		}
		close(channel[1]);
		assert_int_equal(waitpid(child, &status, 0), child);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 255) {
			print_message("# no seccomp here\n");
		} else {
			assert_int_equal(read(channel[0], &line, sizeof(line)), sizeof(line));
			assert_int_equal(line, 0);
		}
		close(channel[0]);
	}
}

static void on_step(void *ctx, const char *path)
{
	buf_printf(ctx, "%s;", path);
}

static void assert_resolves(const struct fixture *f, const char *path, const char *want,
	const char *want_steps, int error)
{
	struct buf out = BUF_INIT, steps = BUF_INIT;

	assert_int_equal(beneath_resolve(f->root_fd, path, on_step, &steps, &out), error);
	if (!error)
		assert_string_equal(buf_cstr(&out), want);
	assert_string_equal(buf_cstr(&steps), want_steps);
	buf_fini(&out);
	buf_fini(&steps);
}

static void test_resolve(void **state)
{
	const struct fixture *f = *state;

	assert_resolves(f, "a/b/file", "a/b/file", "", 0);
	assert_resolves(f, "./a//b/", "a/b", "", 0);
	assert_resolves(f, "a/..", "", "", 0);
	assert_resolves(f, "to-file", "a/b/file", "to-file;to-folder;", 0);
	assert_resolves(f, "a/up", "a/b/file", "a/up;", 0);
	assert_resolves(f, "dangling", NULL, "dangling;a/missing;", -ENOENT);
	assert_resolves(f, "a/out", NULL, "a/out;", -EXDEV);
	assert_resolves(f, "..", NULL, "", -EXDEV);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_with_openat2),
		TEST(test_without_openat2),
		TEST(test_resolve),
	};

	return cmocka_run_group_tests_name("beneath", tests, NULL, NULL);
}
