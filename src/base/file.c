/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define READ_BYTES 65536

/* How much to ask for next: the rest of a regular file and one byte more, to see its end. */
static size_t first_read_bytes(int fd, uint64_t limit_bytes)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return READ_BYTES;
	return (size_t)((uint64_t)st.st_size < limit_bytes ? (uint64_t)st.st_size : limit_bytes) +
	       1;
}

int file_read_fd(int fd, uint64_t limit_bytes, struct buf *out)
{
	size_t before = out->length;
	size_t want;
	int error = 0;

	if (limit_bytes > SIZE_MAX / 4)
		limit_bytes = SIZE_MAX / 4;
	want = first_read_bytes(fd, limit_bytes);
	for (;;) {
		char *room = buf_reserve(out, want);
		ssize_t got;

		if (!room) {
			error = buf_error(out);
			break;
		}
		got = read(fd, room, want);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			error = got < 0 ? -errno : 0;
			break;
		}
		out->length += (size_t)got;
		if (out->length - before > limit_bytes) {
			error = -EFBIG;
			break;
		}
		want = want - (size_t)got ? want - (size_t)got : READ_BYTES;
	}
	if (error)
		out->length = before;
	return error;
}

int file_read(const char *path, uint64_t limit_bytes, struct buf *out)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : file_read_fd(fd, limit_bytes, out);
}

int file_write_all(int fd, const void *data, size_t length)
{
	const char *rest = data;

	while (length) {
		ssize_t put = write(fd, rest, length);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		rest += put;
		length -= (size_t)put;
	}
	return 0;
}

static int make_directory(int dirfd, const char *path, unsigned mode)
{
	struct stat st;

	if (mkdirat(dirfd, path, (mode_t)mode) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (fstatat(dirfd, path, &st, 0) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int file_make_directories(int dirfd, const char *path, unsigned mode)
{
	char prefix[PATH_MAX];
	size_t length = strlen(path);

	if (length == 0)
		return -ENOENT;
	if (length >= sizeof(prefix))
		return -ENAMETOOLONG;
	memcpy(prefix, path, length + 1);
	for (size_t i = 1; i < length; i++) {
		int error;

		if (prefix[i] != '/' || prefix[i - 1] == '/')
			continue;
		prefix[i] = '\0';
		error = make_directory(dirfd, prefix, mode);
		prefix[i] = '/';
		/* A parent that may not be made but is there (read-only file system) is fine. */
		if (error && error != -EROFS && error != -EACCES && error != -EPERM)
			return error;
	}
	return make_directory(dirfd, prefix, mode);
}
