/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/new_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

/* 1: an empty folder, 0: nothing is there, or a negative errno. */
static int look(const char *path)
{
	const struct dirent *item;
	DIR *dir = opendir(path);
	int found = 1;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while ((item = readdir(dir)))
		if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0)
			found = -ENOTEMPTY;
	closedir(dir);
	return found;
}

int new_folder_begin(struct new_folder *folder, const char *target, bool replaces)
{
	size_t length = strlen(target);
	mode_t mask;
	int found;

	while (length > 1 && target[length - 1] == '/')
		length--;
	*folder = (struct new_folder){.target = xstrndup(target, length)};
	found = look(folder->target);
	if (found == -ENOTEMPTY && replaces)
		folder->has_old = true;
	else if (found < 0)
		return found;
	folder->path = xasprintf("%s.new-XXXXXX", folder->target);
	if (!mkdtemp(folder->path)) {
		free(TAKE(folder->path));
		return -errno;
	}
	mask = umask(0);
	umask(mask);
	return chmod(folder->path, 0777 & ~mask) < 0 ? -errno : 0;
}

int new_folder_write(struct new_folder *folder, const char *path, struct slice text, unsigned mode)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", folder->path, path);
	char *slash = strrchr(whole, '/');
	AUTO_CLOSE int fd = -1;

	*slash = '\0';
	if (mkdir(whole, 0777) < 0 && errno != EEXIST)
		return -errno;
	*slash = '/';
	fd = open(whole, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return -errno;
	return file_write_all(fd, text.data, text.length);
}

/* Before the rename, which would otherwise overtake the content in a crash. */
static int sync_all(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || syncfs(fd) < 0 ? -errno : 0;
}

static int commit_replacing(struct new_folder *folder, char **ret_old)
{
	char *old = NULL;

	for (unsigned i = 1; i < 1000; i++) {
		old = xasprintf("%s.old-%u", folder->target, i);
		if (renameat2(AT_FDCWD, folder->target, AT_FDCWD, old, RENAME_NOREPLACE) == 0)
			break;
		free(old);
		old = NULL;
		if (errno != EEXIST && errno != ENOTEMPTY)
			return -errno;
	}
	if (!old)
		return -EEXIST;
	if (rename(folder->path, folder->target) < 0) {
		int error = -errno;

		(void)rename(old, folder->target);
		free(old);
		return error;
	}
	*ret_old = old;
	return 0;
}

int new_folder_commit(struct new_folder *folder, char **ret_old)
{
	int error = sync_all(folder->path);

	*ret_old = NULL;
	if (error)
		return error;
	if (folder->has_old)
		error = commit_replacing(folder, ret_old);
	else if (rename(folder->path, folder->target) < 0) /* over an empty one, too */
		error = -errno;
	if (!error)
		free(TAKE(folder->path));
	return error;
}

static int delete_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

void new_folder_fini(struct new_folder *folder)
{
	if (folder->path)
		(void)nftw(folder->path, delete_one, 16, FTW_DEPTH | FTW_PHYS);
	free(folder->path);
	free(folder->target);
	*folder = (struct new_folder){0};
}
