/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at paths on disk and brings the entries of a tree up to date: the inside of tree.c.
 * What cannot be looked at stays as it was and is marked. Threads: one at a time.
 */
#ifndef XDSPUB_SOURCE_WALK_H
#define XDSPUB_SOURCE_WALK_H

#include <sys/stat.h>

#include "source/entries.h"

struct tree {
	char *path;
	int root_fd;
	dev_t root_device;
	ino_t root_inode;
	struct entries entries;
	uint32_t generation; /* of the newest folder listing */
	struct timespec now; /* when the running scan began */
	bool is_unreported;  /* the former scan failed halfway: its changes are still to be told */
};

/* The folders on the way to what is looked at, innermost first: links must not lead into one. */
struct walk {
	const struct walk *outer;
	struct tree_node *folder;
	int fd; /* of the folder */
	dev_t device;
	ino_t inode;
	unsigned depth;
	uint32_t generation; /* of this listing */
};

/* Lists the folder and looks at each name in it. Takes over fd. Negative errno: the folder itself
 * cannot be listed to its end; what was seen until then counts. */
int walk_into(struct tree *tree, struct tree_node *folder, int fd, const struct stat *status,
	const struct walk *outer);
/* Looks at one name in the folder of `walk`; `path` is NUL-terminated. -ENOENT: it is not there;
 * whatever else goes wrong is marked in the entry. */
int walk_look(struct tree *tree, const struct walk *walk, const char *name, struct slice path);
void walk_set_error(struct tree *tree, struct tree_node *node, int error);
struct file_identity walk_identity(const struct stat *status);

#endif
