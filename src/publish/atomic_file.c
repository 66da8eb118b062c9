/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "publish/atomic_file.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#define NAME_BYTES    24
#define COMPARE_BYTES (256u << 10)
#define SERIAL_TRIES  1000

static void staged_name(uint64_t serial, char out[static NAME_BYTES])
{
	snprintf(out, NAME_BYTES, "%016" PRIx64, serial);
}

static int64_t to_ns(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

struct atomic_identity atomic_identity_of(const struct stat *status)
{
	return (struct atomic_identity){
		.inode = status->st_ino,
		.size = (uint64_t)status->st_size,
		.modified_ns = to_ns(status->st_mtim),
		.changed_ns = to_ns(status->st_ctim),
	};
}

bool atomic_identity_equal(const struct atomic_identity *known, const struct atomic_identity *found)
{
	return known->inode == found->inode && known->size == found->size &&
	       known->modified_ns == found->modified_ns &&
	       (known->changed_ns == 0 || known->changed_ns == found->changed_ns);
}

static int open_staged(struct atomic_writer *writer, mode_t mode, uint64_t *ret_serial)
{
	for (unsigned tries = 0; tries < SERIAL_TRIES; tries++) {
		char name[NAME_BYTES];
		int fd;

		*ret_serial = writer->serial++;
		staged_name(*ret_serial, name);
		fd = openat(writer->staging_fd, name,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int compare(int fd, struct slice bytes)
{
	size_t size = bytes.length < COMPARE_BYTES ? bytes.length + 1 : COMPARE_BYTES;
	AUTO_FREE char *window = xmalloc(size);
	size_t at = 0;

	for (;;) {
		ssize_t got = pread(fd, window, size, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return at == bytes.length ? 0 : -EIO;
		if ((size_t)got > bytes.length - at ||
			memcmp(window, bytes.data + at, (size_t)got) != 0)
			return -EIO;
		at += (size_t)got;
		/* A short read is the end of a regular file. */
		if ((size_t)got < size)
			return at == bytes.length ? 0 : -EIO;
	}
}

static int fill(const struct atomic_writer *writer, struct slice bytes, mode_t mode,
	struct atomic_file *file)
{
	struct stat status;
	int error;

	if ((writer->owner != (uid_t)-1 || writer->group != (gid_t)-1) &&
		fchown(file->fd, writer->owner, writer->group))
		return -errno;
	error = file_write_all(file->fd, bytes.data, bytes.length);
	if (error)
		return error;
	error = compare(file->fd, bytes);
	if (error)
		return error;
	if (fstat(file->fd, &status))
		return -errno;
	/* Made with at most this mode; the umask or an ACL may have taken from it. */
	if ((status.st_mode & 07777) != mode && fchmod(file->fd, mode))
		return -errno;
	file->identity = atomic_identity_of(&status);
	file->identity.changed_ns = 0;
	return 0;
}

int atomic_stage(
	struct atomic_writer *writer, struct slice bytes, mode_t mode, struct atomic_file *ret_file)
{
	struct atomic_file file;
	int error;

	file.fd = open_staged(writer, mode, &file.serial);
	if (file.fd < 0)
		return file.fd;
	error = fill(writer, bytes, mode, &file);
	if (error) {
		atomic_discard(writer, &file);
		return error;
	}
	*ret_file = file;
	return 0;
}

int atomic_stage_link(
	struct atomic_writer *writer, const struct atomic_file *like, struct atomic_file *ret_file)
{
	struct atomic_file file = {.identity = like->identity, .serial = writer->serial++};
	char name[NAME_BYTES], like_name[NAME_BYTES];

	staged_name(file.serial, name);
	staged_name(like->serial, like_name);
	if (linkat(writer->staging_fd, like_name, writer->staging_fd, name, 0))
		return -errno;
	/* Its own descriptor: the other one may be discarded before it is synced. */
	file.fd = openat(writer->staging_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (file.fd < 0) {
		int error = -errno;

		unlinkat(writer->staging_fd, name, 0);
		return error;
	}
	*ret_file = file;
	return 0;
}

int atomic_sync(struct atomic_file *file)
{
	assert(file->fd >= 0);
	return fsync(file->fd) ? -errno : 0;
}

void atomic_close(struct atomic_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

void atomic_discard(const struct atomic_writer *writer, struct atomic_file *file)
{
	char name[NAME_BYTES];

	atomic_close(file);
	staged_name(file->serial, name);
	/* What cannot be removed now is removed at the next start. */
	unlinkat(writer->staging_fd, name, 0);
}

int atomic_place(
	const struct atomic_writer *writer, struct atomic_file *file, int dirfd, const char *path)
{
	struct stat status;
	char name[NAME_BYTES];
	int error;

	staged_name(file->serial, name);
	if (renameat(writer->staging_fd, name, dirfd, path))
		return -errno;
	error = file->fd >= 0 ? fstat(file->fd, &status)
			      : fstatat(dirfd, path, &status, AT_SYMLINK_NOFOLLOW);
	/* It is in place all the same; without the time it is only less well known. */
	if (!error && status.st_ino == file->identity.inode) {
		file->identity = atomic_identity_of(&status);
		if (status.st_nlink > 1)
			file->identity.changed_ns = 0;
	}
	return 0;
}

int atomic_sync_all(const struct atomic_writer *writer)
{
	return syncfs(writer->root_fd) ? -errno : 0;
}

int atomic_make_folder(const struct atomic_writer *writer, int dirfd, const char *name, mode_t mode,
	bool *ret_is_new)
{
	struct stat status;

	if (ret_is_new)
		*ret_is_new = false;
	if (mkdirat(dirfd, name, mode))
		return errno == EEXIST ? 0 : -errno;
	if (((writer->owner != (uid_t)-1 || writer->group != (gid_t)-1) &&
		    fchownat(dirfd, name, writer->owner, writer->group, AT_SYMLINK_NOFOLLOW)) ||
		fstatat(dirfd, name, &status, AT_SYMLINK_NOFOLLOW) ||
		((status.st_mode & 07777) != mode && fchmodat(dirfd, name, mode, 0))) {
		int error = -errno;

		unlinkat(dirfd, name, AT_REMOVEDIR);
		return error;
	}
	if (ret_is_new)
		*ret_is_new = true;
	return 0;
}

int atomic_sync_folder(int dirfd, const char *path)
{
	AUTO_CLOSE int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fsync(fd))
		return -errno;
	return 0;
}

int atomic_clean(const struct atomic_writer *writer)
{
	int fd = openat(writer->staging_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int error = 0;

	if (!folder) {
		error = -errno;
		if (fd >= 0)
			close(fd);
		return error;
	}
	while (!error && (errno = 0, entry = readdir(folder))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(writer->staging_fd, entry->d_name, 0))
			error = -errno;
	}
	if (!error && errno)
		error = -errno;
	closedir(folder);
	return error;
}
