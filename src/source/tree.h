/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is on disk: the files below one root, with identities, kept up to date by full scans and by
 * hints about single paths. Never leaves the root: every open is beneath it, links included; the
 * root itself may be a link that is swapped, then everything is looked at again. A path that
 * cannot be looked at stays as it was, marked with its error: skipping never means deleting.
 * Left out: names that start with a dot, editor leftovers (see tree_is_ignored), and what is
 * neither file nor folder. Threads: one at a time; tree_read any, while no scan runs. May block.
 * Limits: path depth LIMIT_DEPTH, TREE_ENTRIES_MAX entries; link loops by identity.
 */
#ifndef XDSPUB_SOURCE_TREE_H
#define XDSPUB_SOURCE_TREE_H

#include <sys/types.h>
#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/rcstr.h"

#define TREE_ENTRIES_MAX 4000000 /* beyond it folders are marked with -E2BIG */

/* Equal identities mean equal content, as far as a file system can tell. */
struct file_identity {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
};

enum tree_kind {
	TREE_FILE,
	TREE_FOLDER
};

struct tree_entry {
	struct rcstr *path; /* relative to the root, no leading "./" */
	enum tree_kind kind;
	struct file_identity identity; /* of what a link leads to */
	struct rcstr *link_target;     /* the path within the root a link leads to; NULL: no link */
	int error; /* negative errno: could not be looked at; -EXDEV: link leaves the root;
		    * -ELOOP: links in a circle; -ENOENT: a link to nothing */
};

enum tree_change_kind {
	TREE_ADDED,
	TREE_MODIFIED, /* identity, kind of link or error; or touched too recently to be sure */
	TREE_REMOVED
};
struct tree_change {
	enum tree_change_kind kind;
	const struct tree_entry *entry; /* removed: valid until the next scan */
};

struct tree;

/* Keeps the path; nothing needs to exist yet. */
struct tree *tree_new(const char *root);
void tree_free(struct tree *tree);
const char *tree_root(const struct tree *tree);

/* Looks at everything. 0, or -ENOENT, -ENOTDIR, -EACCES ... for the root itself, which changes
 * nothing. Changes are those since the former scan, by path. */
int tree_scan(struct tree *tree, const struct tree_change **ret_changes, size_t *ret_count);
/* Looks at the named paths only (files, or folders with all below them), and at the links that lead
 * there; falls back to a full scan when the root is another folder than before. */
int tree_scan_paths(struct tree *tree, const char *const *paths, size_t count,
	const struct tree_change **ret_changes, size_t *ret_count);

const struct tree_entry *tree_find(const struct tree *tree, struct slice path);
/* What is directly in a folder, in no particular order; NULL beyond the last one. */
const struct tree_entry *tree_child(const struct tree_entry *folder, size_t index);
/* Whether this is the identity of the root folder of the last scan. */
bool tree_is_root(const struct tree *tree, const struct file_identity *identity);
size_t tree_count(const struct tree *tree);
/* Reads a file of the tree beneath the root of the last scan. -EFBIG over the limit, -EISDIR or
 * -EINVAL for what is no file, -EAGAIN when it kept changing meanwhile. The identity is that of
 * the descriptor that was read. */
int tree_read(const struct tree *tree, const char *path, uint64_t limit_bytes, struct buf *out,
	struct file_identity *ret_identity);
bool file_identity_equal(const struct file_identity *a, const struct file_identity *b);
/* A name (one component) that is no part of any tree: ".x", "x~", "#x#", "x.swp", "4913" ... */
bool tree_is_ignored(struct slice name);

#endif
