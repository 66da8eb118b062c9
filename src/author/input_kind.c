/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/input_kind.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "author/loose_file.h"
#include "base/mem.h"
#include "compile/folder.h"

/* "cds" and "cds.yaml", but not "cds-old". */
static bool is_stem(const char *name)
{
	for (int i = 0; i < XDS_TYPE_COUNT; i++) {
		const char *stem = xds_type_row((enum xds_type)i)->stem;
		size_t length = strlen(stem);

		if (strncmp(name, stem, length) == 0 &&
			(name[length] == '\0' ||
				(name[length] == '.' && loose_format_of(name) != LOOSE_OTHER)))
			return true;
	}
	return false;
}

struct look {
	bool is_tree, is_published;
	unsigned depth;
};

/* At a folder and, if that says nothing, at those in it. */
static int look_at(const char *path, struct look *look)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int error = 0;

	if (!folder)
		return -errno;
	while (!error && (entry = readdir(folder))) {
		if (look->depth == 0 && (strcmp(entry->d_name, FOLDER_GROUPS_FILE) == 0 ||
						xds_type_by_folder(slice_of(entry->d_name))))
			look->is_tree = true;
		if (is_stem(entry->d_name) || strcmp(entry->d_name, ".xdspub") == 0)
			look->is_published = true;
	}
	rewinddir(folder);
	while (!error && look->depth == 0 && !look->is_tree && !look->is_published &&
		(entry = readdir(folder))) {
		AUTO_FREE char *below = xasprintf("%s/%s", path, entry->d_name);

		if (entry->d_name[0] == '.' || entry->d_type == DT_REG)
			continue;
		look->depth++;
		look_at(below, look); /* what is no folder says nothing */
		look->depth--;
	}
	closedir(folder);
	return error;
}

int input_kind_of(const char *path, enum input_kind *ret_kind)
{
	struct look look = {0};
	struct stat status;
	int error;

	if (stat(path, &status) < 0)
		return -errno;
	if (!S_ISDIR(status.st_mode)) {
		*ret_kind = INPUT_FILE;
		return 0;
	}
	error = look_at(path, &look);
	*ret_kind = look.is_published && !look.is_tree ? INPUT_PUBLISHED : INPUT_TREE;
	return error;
}

static int walk(const char *path, unsigned depth, struct input_files *files)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int error = 0;

	if (!folder)
		return -errno;
	while (!error && (entry = readdir(folder))) {
		AUTO_FREE char *below = xasprintf("%s/%s", path, entry->d_name);
		struct stat status;

		if (entry->d_name[0] == '.' || lstat(below, &status) < 0)
			continue;
		if (S_ISDIR(status.st_mode)) {
			error = depth == INPUT_DEPTH_MAX ? -EFBIG : walk(below, depth + 1, files);
		} else if (loose_format_of(below) != LOOSE_OTHER) {
			if (files->count == INPUT_FILES_MAX) {
				error = -EFBIG;
				continue;
			}
			array_reserve(files->paths, files->capacity, files->count + 1);
			files->paths[files->count++] = TAKE(below);
		}
	}
	closedir(folder);
	return error;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int input_files_find(const char *folder, struct input_files *ret_files)
{
	AUTO_FREE char *path = xstrdup(folder);
	size_t length = strlen(path);
	int error;

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	*ret_files = (struct input_files){0};
	error = walk(path, 0, ret_files);
	if (ret_files->count > 1)
		qsort(ret_files->paths, ret_files->count, sizeof(*ret_files->paths), compare);
	return error;
}

void input_files_fini(struct input_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->paths[i]);
	free(files->paths);
	*files = (struct input_files){0};
}
