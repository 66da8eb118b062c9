/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sources a tree is made of: the root, and mounts, which appear as folders of it. A path of the
 * whole tree belongs to the mount with the longest `at` above it; everything a file needs must
 * belong to the mount of that file. Threads: build; mount_find and mount_read any, while no scan
 * runs. Errors: negative errno.
 */
#ifndef XDSPUB_COMPILE_MOUNT_H
#define XDSPUB_COMPILE_MOUNT_H

#include "base/hash.h"
#include "compile/compile.h"
#include "compile/fence.h"
#include "source/tree.h"

struct unit;

struct unit_list {
	struct unit **units;
	size_t count, capacity;
};

struct mount {
	struct mounts *mounts;
	struct slice at; /* in the tree, NUL-terminated, without "/" at the ends; "": the root */
	const struct fence *fence; /* borrowed */
	struct tree *tree;
	int error;	 /* why the last look at it failed; 0: it did not */
	bool was_looked; /* at all of it, and that worked */
	size_t files;	 /* source files that are there now */
	/* Source files of another mount, at or below this one's place: struct rcstr by path. */
	struct hash hidden;
	const struct mount *hidden_of;

	/* Of all but the root: see staging.h. */
	struct unit_list drafts;
	struct hash folders;	 /* struct mount_folder: those that came or went */
	struct diag_list *diags; /* why it is held or waits */
	bool was_good;		 /* it has given something, which is what counts till it is good */
	bool is_good;		 /* what it has now is what counts */
	bool is_open;		 /* in this run: its drafts are in the layers, on trial */
	bool is_barred;		 /* in this run: the trial has failed */
	bool has_gap;		 /* something is wanted of it that it has not given yet */
	bool is_accepted;	 /* in this run: it gave something new */
};

/* A folder that the tree on disk and what counts disagree about. */
struct mount_folder {
	struct rcstr *path;
	bool is_added; /* else removed */
};

struct mounts {
	struct mount *items; /* the root first */
	size_t count;
};

void mounts_init(struct mounts *mounts, const struct compile_options *options);
void mounts_fini(struct mounts *mounts);

struct mount *mounts_of(const struct mounts *mounts, struct slice path);
/* A mount other than the root that stands exactly at `path`, in it, or below it (NULL: none). */
struct mount *mounts_below(const struct mounts *mounts, struct slice path);

static inline bool mount_is_root(const struct mount *mount)
{
	return mount->at.length == 0;
}
/* A path of the whole tree, as the mount's own tree has it. It must be in it. */
struct slice mount_own_path(const struct mount *mount, struct slice path);
/* The other way round; the caller owns the reference. */
struct rcstr *mount_whole_path(const struct mount *mount, const struct rcstr *own);
/* The mount, its folder or file; NULL when it is not there or belongs to another mount. */
const struct tree_entry *mount_find(const struct mount *mount, struct slice path);
/* See tree_read; -EXDEV: belongs to another mount. */
int mount_read(const struct mount *mount, const char *path, uint64_t limit_bytes, struct buf *out,
	struct file_identity *ret_identity);
/* A source file of this mount came or went that another mount hides. */
void mount_hide(struct mount *mount, enum tree_change_kind kind, const struct tree_entry *entry);
/* Whether what this mount hides is its very own folder: then nothing is lost. */
bool mount_hides_itself(const struct mount *mount);
/* NULL, or why a file of this mount may not need the one at `path`: a phrase for messages. */
const char *mount_refuses(const struct mount *mount, struct slice path);

#endif
