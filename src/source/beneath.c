/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

/* The kernel gives up with EAGAIN when something below the root is renamed meanwhile. */
#define RETRIES 8

static int open_by_kernel(int root_fd, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC), .resolve = resolve};
	long fd = -1;

	for (int i = 0; i < RETRIES; i++) {
		fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd >= 0 ? (int)fd : -errno;
}

static bool is_unsupported(int error)
{
	return error == -ENOSYS || error == -EPERM || error == -EINVAL;
}

/* Without openat2: one component at a time, none of which may be a link. */
static int open_by_steps(int root_fd, const char *path, int flags)
{
	char name[NAME_MAX + 1];
	int at = root_fd, fd = -ENOENT;

	for (;;) {
		size_t length = strcspn(path, "/");
		bool is_last = path[length] == '\0';

		if (length > NAME_MAX) {
			fd = -ENAMETOOLONG;
			break;
		}
		memcpy(name, path, length);
		name[length] = '\0';
		if (length == 0)
			strcpy(name, ".");
		if (strcmp(name, "..") == 0) {
			fd = -EXDEV;
			break;
		}
		fd = openat(at, name,
			O_CLOEXEC | O_NOFOLLOW | (is_last ? flags : O_PATH | O_DIRECTORY));
		if (fd < 0)
			fd = -errno;
		if (at != root_fd)
			close(at);
		at = fd;
		if (fd < 0 || is_last)
			return fd;
		path += length + 1;
	}
	if (at != root_fd && at >= 0)
		close(at);
	return fd;
}

int beneath_open_exact(int root_fd, const char *path, int flags)
{
	const char *name = *path ? path : ".";
	int fd = open_by_kernel(root_fd, name, flags | O_NOFOLLOW,
		RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS);

	return is_unsupported(fd) ? open_by_steps(root_fd, name, flags) : fd;
}

int beneath_open(int root_fd, const char *path, int flags)
{
	const char *name = *path ? path : ".";
	int fd = open_by_kernel(root_fd, name, flags, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
	struct buf real = BUF_INIT;

	if (!is_unsupported(fd))
		return fd;
	fd = beneath_resolve(root_fd, name, NULL, NULL, &real);
	if (fd == 0)
		fd = open_by_steps(root_fd, buf_cstr(&real), flags);
	buf_fini(&real);
	return fd;
}

/* Cuts the last component off; false when there is none, that is, when `..` would leave the root.
 */
static bool drop_component(struct buf *path)
{
	const char *slash;

	if (path->length == 0)
		return false;
	slash = memrchr(path->data, '/', path->length);
	path->length = slash ? (size_t)(slash - path->data) : 0;
	return true;
}

struct resolution {
	int root_fd;
	beneath_step_cb on_step;
	void *ctx;
	struct buf *out;
	char *todo; /* components still to follow, malloc'ed */
	unsigned links;
};

static int follow_link(struct resolution *state, size_t parent_length, const char *target,
	size_t length, const char *rest)
{
	char *todo;

	if (length == 0 || target[0] == '/')
		return -EXDEV;
	if (++state->links > BENEATH_LINKS_MAX)
		return -ELOOP;
	if (length + strlen(rest) >= PATH_MAX)
		return -ENAMETOOLONG;
	todo = xasprintf("%.*s/%s", (int)length, target, rest);
	free(state->todo);
	state->todo = todo;
	state->out->length = parent_length;
	return 0;
}

/* Moves one component from `todo` to `out`; 1 when nothing is left to do. */
static int resolve_component(struct resolution *state, const char **cursor)
{
	const char *name = *cursor + strspn(*cursor, "/");
	size_t length = strcspn(name, "/");
	size_t parent_length = state->out->length;
	char target[PATH_MAX];
	ssize_t target_length;
	int error;

	*cursor = name + length;
	if (length == 0)
		return 1;
	if (length == 1 && name[0] == '.')
		return 0;
	if (length == 2 && name[0] == '.' && name[1] == '.')
		return drop_component(state->out) ? 0 : -EXDEV;

	if (state->out->length)
		buf_putc(state->out, '/');
	buf_append(state->out, name, length);
	target_length = readlinkat(state->root_fd, buf_cstr(state->out), target, sizeof(target));
	if (target_length < 0 && errno == EINVAL)
		return 0;
	error = target_length < 0 ? -errno : 0;
	if (state->on_step)
		state->on_step(state->ctx, buf_cstr(state->out));
	if (error)
		return error;
	error = follow_link(state, parent_length, target, (size_t)target_length, *cursor);
	*cursor = state->todo;
	return error;
}

int beneath_resolve(
	int root_fd, const char *path, beneath_step_cb on_step, void *ctx, struct buf *out)
{
	struct resolution state = {.root_fd = root_fd,
		.on_step = on_step,
		.ctx = ctx,
		.out = out,
		.todo = xstrdup(path)};
	const char *cursor = state.todo;
	int result;

	buf_reset(out);
	do {
		result = resolve_component(&state, &cursor);
	} while (result == 0);
	free(state.todo);
	if (result == 1)
		result = buf_error(out);
	return result;
}
