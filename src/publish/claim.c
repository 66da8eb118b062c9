/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "publish/claim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#define PRIVATE_FOLDER ".xdspub"
#define MARKER_TEXT    "This folder is written by xdspub. Everything in it may be replaced.\n"
#define PARENTS_LIMIT  4096
#define MOUNTS_BYTES   (16u << 20)

struct task {
	const struct claim_options *options;
	struct diag_list *diags;
};

__attribute__((format(printf, 3, 4))) static int refuse(
	const struct task *task, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	diag_vadd(task->diags, DIAG_ERROR, task->options->path, (struct position){0},
		"publish-folder", format, arguments);
	va_end(arguments);
	return error;
}

static bool is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* The nearest folder on the way to `path` that exists. malloc'ed; NULL when none can be told. */
static char *nearest_folder(const char *path)
{
	AUTO_FREE char *copy = xstrdup(path);
	size_t length = strlen(copy);
	struct stat status;

	while (length > 1 && stat(copy, &status)) {
		if (errno != ENOENT)
			return NULL;
		while (length > 1 && copy[length - 1] == '/')
			length--;
		while (length > 1 && copy[length - 1] != '/')
			length--;
		copy[length] = '\0';
		if (length == 1 && copy[0] != '/')
			copy[0] = '.';
	}
	return realpath(copy, NULL);
}

/* Whether the folder behind `fd` is or lies in the folder `outer`; sees through links and bind
 * mounts, as it compares devices and inodes on the way up. */
static bool lies_in(int fd, const struct stat *outer)
{
	int at = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	bool found = false;

	for (unsigned i = 0; at >= 0 && i < PARENTS_LIMIT; i++) {
		struct stat status, parent;
		int up;

		if (fstat(at, &status))
			break;
		found = status.st_dev == outer->st_dev && status.st_ino == outer->st_ino;
		if (found)
			break;
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = up;
		if (up < 0 || fstat(up, &parent))
			break;
		if (parent.st_dev == status.st_dev && parent.st_ino == status.st_ino)
			break;
	}
	if (at >= 0)
		close(at);
	return found;
}

/* S.28: Envoy refuses files there. */
static int check_place(const struct task *task, const char *real_path)
{
	static const char *const refused[] = {"/dev", "/sys", "/proc"};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (is_below(real_path, refused[i]))
			return refuse(task, -EINVAL,
				"Envoy reads no configuration below %s; choose another folder",
				refused[i]);
	return 0;
}

/* Before anything is made. */
static int check_surroundings(const struct task *task)
{
	AUTO_FREE char *nearest = nearest_folder(task->options->path);
	AUTO_CLOSE int out_fd = nearest ? open(nearest, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	AUTO_CLOSE int exact_fd = open(task->options->path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (nearest) {
		int error = check_place(task, nearest);

		if (error)
			return error;
	}
	for (size_t i = 0; out_fd >= 0 && i < task->options->sources_count; i++) {
		const char *source = task->options->sources[i];
		AUTO_CLOSE int source_fd = open(source, O_PATH | O_DIRECTORY | O_CLOEXEC);
		struct stat status;

		if (source_fd < 0)
			continue; /* reported by whoever reads it */
		if (!fstat(source_fd, &status) && lies_in(out_fd, &status))
			return refuse(task, -EINVAL,
				"the output folder lies in the source %s; choose one outside",
				source);
		if (exact_fd >= 0 && !fstat(exact_fd, &status) && lies_in(source_fd, &status))
			return refuse(task, -EINVAL,
				"the source %s lies in the output folder; choose another one",
				source);
	}
	return 0;
}

/* \040 and the like, in place. */
static void decode_octal(char *text)
{
	char *out = text;

	while (*text) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' &&
			text[2] <= '7' && text[3] >= '0' && text[3] <= '7') {
			*out++ = (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + text[3] - '0');
			text += 4;
		} else {
			*out++ = *text++;
		}
	}
	*out = '\0';
}

/* A mount below the folder can never be renamed over (a single file) or into (a folder). */
static int check_mounts(const struct task *task, const char *real_path)
{
	struct buf text = BUF_INIT;
	char *line, *rest;
	int error = 0;

	/* Without /proc the first rename tells. */
	if (file_read("/proc/self/mountinfo", MOUNTS_BYTES, &text)) {
		buf_fini(&text);
		return 0;
	}
	buf_cstr(&text);
	rest = text.data;
	while (!error && (line = strsep(&rest, "\n"))) {
		char *at = line;

		for (int field = 0; at && field < 4; field++)
			at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL;
		if (!at)
			continue;
		at[strcspn(at, " ")] = '\0';
		decode_octal(at);
		if (is_below(at, real_path) && strcmp(at, real_path) != 0)
			error = refuse(task, -EINVAL,
				"%s is a mount point; a file cannot be renamed over or into it, "
				"so mount the whole output folder instead of what is in it",
				at);
	}
	buf_fini(&text);
	return error;
}

static int check_root(const struct task *task)
{
	AUTO_FREE char *real_path = realpath(task->options->path, NULL);
	int error;

	if (!real_path)
		return refuse(task, -errno, "cannot resolve the path: %s", strerror(errno));
	error = check_place(task, real_path);
	return error ? error : check_mounts(task, real_path);
}

/* 1 when there is something else than .xdspub, 0 when not. */
static int has_files(int root_fd)
{
	int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int result = 0;

	if (!folder) {
		result = -errno;
		if (fd >= 0)
			close(fd);
		return result;
	}
	while (!result && (errno = 0, entry = readdir(folder)))
		result = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
			 strcmp(entry->d_name, PRIVATE_FOLDER) != 0 &&
			 strcmp(entry->d_name, "lost+found") != 0;
	if (!result && errno)
		result = -errno;
	closedir(folder);
	return result;
}

static int open_folder(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int write_marker(const struct claim *claim)
{
	AUTO_CLOSE int fd = openat(claim->private_fd, "marker",
		O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	int error;

	if (fd < 0)
		return -errno;
	error = file_write_all(fd, MARKER_TEXT, sizeof(MARKER_TEXT) - 1);
	if (!error && fsync(fd))
		error = -errno;
	return error;
}

/* The folder is ours from the moment it has a marker. */
static int make_marker(const struct task *task, struct claim *claim)
{
	struct stat status;
	int error;

	if (mkdirat(claim->root_fd, PRIVATE_FOLDER, 0700) && errno != EEXIST)
		return refuse(task, -errno, "cannot create the folder %s in it: %s", PRIVATE_FOLDER,
			strerror(errno));
	claim->private_fd = open_folder(claim->root_fd, PRIVATE_FOLDER);
	if (claim->private_fd < 0)
		return refuse(task, claim->private_fd, "cannot open the folder %s in it: %s",
			PRIVATE_FOLDER, strerror(-claim->private_fd));
	if (fstatat(claim->private_fd, "marker", &status, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	error = task->options->is_known ? 0 : has_files(claim->root_fd);
	if (error > 0) {
		unlinkat(claim->root_fd, PRIVATE_FOLDER, AT_REMOVEDIR);
		return refuse(task, -EINVAL,
			"the folder is not empty and xdspub has not written it; "
			"choose an empty or new folder");
	}
	if (!error)
		error = write_marker(claim);
	if (error)
		return refuse(task, error, "cannot make it an output folder: %s", strerror(-error));
	return 0;
}

static int take_lock(const struct task *task, struct claim *claim)
{
	claim->lock_fd =
		openat(claim->private_fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (claim->lock_fd < 0)
		return refuse(task, -errno, "cannot open its lock file: %s", strerror(errno));
	if (flock(claim->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return refuse(task, -EBUSY, "another xdspub publishes into this folder");
	return refuse(task, -errno, "cannot lock it: %s", strerror(errno));
}

static int open_root(const struct task *task, struct claim *claim)
{
	const char *path = task->options->path;
	struct stat status;
	int error;

	if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
		return refuse(task, -EINVAL,
			"this is a file; the output must be a folder, because files are replaced "
			"in it by renaming");
	if (stat(path, &status)) {
		error = file_make_directories(AT_FDCWD, path, task->options->folder_mode);
		if (error)
			return refuse(
				task, error, "cannot create the folder: %s", strerror(-error));
		/* Whatever the umask is. */
		if (chmod(path, task->options->folder_mode))
			return refuse(
				task, -errno, "cannot set the folder's mode: %s", strerror(errno));
	}
	claim->root_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (claim->root_fd < 0)
		return refuse(task, -errno, "cannot open the folder: %s", strerror(errno));
	return 0;
}

int claim_open(
	const struct claim_options *options, struct diag_list *diags, struct claim *ret_claim)
{
	struct task task = {options, diags};
	struct claim claim = CLAIM_NONE;
	int error = check_surroundings(&task);

	if (!error)
		error = open_root(&task, &claim);
	if (!error)
		error = check_root(&task);
	if (!error)
		error = make_marker(&task, &claim);
	if (!error)
		error = take_lock(&task, &claim);
	if (!error && mkdirat(claim.private_fd, "staging", 0700) && errno != EEXIST)
		error = refuse(
			&task, -errno, "cannot create its staging folder: %s", strerror(errno));
	if (!error) {
		claim.staging_fd = open_folder(claim.private_fd, "staging");
		if (claim.staging_fd < 0)
			error = refuse(&task, claim.staging_fd,
				"cannot open its staging folder: %s", strerror(-claim.staging_fd));
	}
	if (error) {
		claim_close(&claim);
		return error;
	}
	*ret_claim = claim;
	return 0;
}

void claim_close(struct claim *claim)
{
	int *const fds[] = {
		&claim->staging_fd, &claim->lock_fd, &claim->private_fd, &claim->root_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

bool claim_is_lost(const struct claim *claim, const char *path)
{
	struct stat held, named, inner;

	if (claim->root_fd < 0 || fstat(claim->root_fd, &held) || stat(path, &named) ||
		held.st_dev != named.st_dev || held.st_ino != named.st_ino)
		return true;
	return fstat(claim->staging_fd, &inner) || inner.st_nlink == 0 ||
	       fstat(claim->lock_fd, &inner) || inner.st_nlink == 0;
}
