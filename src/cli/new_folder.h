/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder that appears as a whole or not at all: written beside its place under another name and
 * renamed when it is complete. What was there is kept, never deleted. May block.
 */
#ifndef XDSPUB_CLI_NEW_FOLDER_H
#define XDSPUB_CLI_NEW_FOLDER_H

#include "base/buf.h"

struct new_folder {
	char *target; /* where it goes; malloc'ed, without "/" at the end */
	char *path;   /* where it is written; NULL: not begun */
	bool has_old; /* something is at the target that has to give way */
};

/* -ENOTEMPTY: the target is a folder with something in it and `replaces` is false; -ENOTDIR: it is
 * no folder; or another errno. */
int new_folder_begin(struct new_folder *folder, const char *target, bool replaces);
int new_folder_write(struct new_folder *folder, const char *path, struct slice text, unsigned mode);
/* What was at the target is `old` afterwards (malloc'ed, NULL: there was nothing). */
int new_folder_commit(struct new_folder *folder, char **ret_old);
/* Deletes what was not committed. */
void new_folder_fini(struct new_folder *folder);

#endif
