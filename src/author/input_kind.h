/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a path on the command line of `check` is, and the files of a published folder. May block. */
#ifndef XDSPUB_AUTHOR_INPUT_KIND_H
#define XDSPUB_AUTHOR_INPUT_KIND_H

#include <stddef.h>

enum input_kind {
	INPUT_TREE,
	INPUT_PUBLISHED, /* a folder of files that were published: <group>/cds/cds.yaml ... */
	INPUT_FILE
};

/* 0 or a negative errno. A folder is taken for published files when it has their names in it (or
 * in its folders), no groups.yaml and no type folder. */
int input_kind_of(const char *path, enum input_kind *ret_kind);

#define INPUT_DEPTH_MAX 16
#define INPUT_FILES_MAX 1000000

struct input_files {
	char **paths; /* sorted */
	size_t count, capacity;
};

/* Files of the published formats below a folder; names that start with a dot are left out, links to
 * folders are not followed. 0, -EFBIG: too many or too deep, or another negative errno. */
int input_files_find(const char *folder, struct input_files *ret_files);
void input_files_fini(struct input_files *files);

#endif
