/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "source/beneath.h"
#include "source/walk.h"

struct tree *tree_new(const char *root)
{
	struct tree *tree = xcalloc(1, sizeof(*tree));

	tree->path = xstrdup(root);
	tree->root_fd = -1;
	entries_init(&tree->entries);
	return tree;
}

void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	entries_fini(&tree->entries);
	if (tree->root_fd >= 0)
		close(tree->root_fd);
	free(tree->path);
	free(tree);
}

const char *tree_root(const struct tree *tree)
{
	return tree->path;
}

bool tree_is_ignored(struct slice name)
{
	const char *end = name.data + name.length;

	if (name.length == 0 || name.data[0] == '.' || end[-1] == '~')
		return true;
	if (name.length >= 2 && name.data[0] == '#' && end[-1] == '#')
		return true;
	if (name.length > 4 && memcmp(end - 4, ".sw", 3) == 0 && strchr("pxon", end[-1]))
		return true;
	if (name.length > 12 && (memcmp(end - 12, "___jb_tmp___", 12) == 0 ||
					memcmp(end - 12, "___jb_old___", 12) == 0))
		return true;
	return slice_is(name, "4913"); /* vim asks with it whether a folder is writable */
}

/* --- the root and scans ---------------------------------------------------------------- */

/* Opens the root anew when it is another folder than the one held. 1: it is another. */
static int open_root(struct tree *tree)
{
	struct stat status;
	int fd = open(tree->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	if (tree->root_fd >= 0 && status.st_dev == tree->root_device &&
		status.st_ino == tree->root_inode) {
		close(fd);
		return 0;
	}
	if (tree->root_fd >= 0)
		close(tree->root_fd);
	tree->root_fd = fd;
	tree->root_device = status.st_dev;
	tree->root_inode = status.st_ino;
	return 1;
}

static void begin(struct tree *tree)
{
	clock_gettime(CLOCK_REALTIME, &tree->now);
	if (!tree->is_unreported)
		entries_begin(&tree->entries);
	tree->is_unreported = true;
}

static void finish(struct tree *tree, const struct tree_change **ret_changes, size_t *ret_count)
{
	entries_finish(&tree->entries);
	tree->is_unreported = false;
	*ret_changes = tree->entries.changes;
	*ret_count = tree->entries.changes_count;
}

static int scan_all(struct tree *tree)
{
	struct stat status;
	int error = 0;
	int fd = openat(tree->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0) {
		error = -errno;
		close(fd);
		return error;
	}
	error = walk_into(tree, tree->entries.root, fd, &status, NULL);
	if (!error)
		walk_set_error(tree, tree->entries.root, 0);
	return error;
}

int tree_scan(struct tree *tree, const struct tree_change **ret_changes, size_t *ret_count)
{
	int error = open_root(tree);

	if (error < 0)
		return error;
	begin(tree);
	error = scan_all(tree);
	if (!error)
		finish(tree, ret_changes, ret_count);
	return error;
}

/* --- hints ----------------------------------------------------------------------------- */

/* "./a//b/" to "a/b". False: the path cannot be one of the tree. */
static bool clean_path(const char *path, struct buf *out)
{
	buf_reset(out);
	while (*path) {
		size_t length = strcspn(path, "/");

		if (length == 2 && memcmp(path, "..", 2) == 0)
			return false;
		if (length && !(length == 1 && *path == '.')) {
			if (out->length)
				buf_putc(out, '/');
			buf_append(out, path, length);
		}
		path += length;
		path += *path == '/';
	}
	return buf_error(out) == 0;
}

static struct slice parent_path(struct slice path)
{
	const char *slash = path.length ? memrchr(path.data, '/', path.length) : NULL;

	return (struct slice){path.data, slash ? (size_t)(slash - path.data) : 0};
}

static bool has_ignored_part(struct slice path)
{
	while (path.length) {
		struct slice parent = parent_path(path);
		size_t start = parent.length ? parent.length + 1 : 0;

		if (tree_is_ignored((struct slice){path.data + start, path.length - start}))
			return true;
		path = parent;
	}
	return false;
}

/* The walk that would have led to this folder, for loop detection. Freed by the caller. */
static struct walk *walk_to(struct tree *tree, struct tree_node *folder, int fd)
{
	struct walk *walks;
	unsigned depth = 0, i = 0;

	for (struct tree_node *at = folder; at->parent; at = at->parent)
		depth++;
	walks = xcalloc(depth + 1, sizeof(*walks));
	for (struct tree_node *at = folder; at; at = at->parent, i++) {
		walks[i] = (struct walk){.outer = at->parent ? &walks[i + 1] : NULL,
			.folder = at,
			.fd = -1,
			.device = at->parent ? at->entry.identity.device : tree->root_device,
			.inode = at->parent ? at->entry.identity.inode : tree->root_inode,
			.depth = depth - i};
	}
	walks[0].fd = fd;
	walks[0].generation = ++tree->generation;
	return walks;
}

/* Opens the folder that `path` is in, or, where that is not to be had, the nearest one above it:
 * cuts *path to the name in there. *ret_fd is a negative errno when it cannot be opened. */
static struct tree_node *open_parent(struct tree *tree, struct slice *path, int *ret_fd)
{
	struct buf name = BUF_INIT;
	struct tree_node *node;

	for (;;) {
		struct slice parent = parent_path(*path);
		int fd = -ENOENT;

		node = entries_find(&tree->entries, parent);
		buf_reset(&name);
		buf_append_slice(&name, parent);
		if (node && node->entry.kind == TREE_FOLDER)
			fd = beneath_open(tree->root_fd, buf_cstr(&name), O_RDONLY | O_DIRECTORY);
		*ret_fd = fd;
		if (parent.length == 0 || fd >= 0 ||
			(fd != -ENOENT && fd != -ENOTDIR && fd != -ELOOP && fd != -EXDEV))
			break;
		*path = parent;
	}
	buf_fini(&name);
	return node;
}

/* Looks at one path and what is below it. */
static void look_at_path(struct tree *tree, struct slice path)
{
	struct buf copy = BUF_INIT;
	struct tree_node *folder, *node;
	struct walk *walks;
	int fd;

	folder = open_parent(tree, &path, &fd);
	if (fd < 0) {
		/* What is below an unreadable folder stays as it is. */
		walk_set_error(tree, folder, fd);
		return;
	}
	buf_append_slice(&copy, path);
	(void)buf_cstr(&copy);
	path = buf_slice(&copy);
	walks = walk_to(tree, folder, fd);
	fd = walk_look(tree, walks,
		copy.data + parent_path(path).length + (parent_path(path).length > 0), path);
	node = entries_find(&tree->entries, path);
	if (fd == -ENOENT && node)
		entries_remove(&tree->entries, node);
	close(walks[0].fd);
	free(walks);
	buf_fini(&copy);
}

/* Paths to look at because a link leads there. */
struct followers {
	struct slice changed; /* the hint */
	struct slice trigger; /* it, or a folder above it */
	struct buf paths;     /* each with its NUL */
};

static void on_trigger(void *ctx, struct tree_node *link, bool is_target)
{
	struct followers *followers = ctx;
	struct slice rest = {followers->changed.data + followers->trigger.length,
		followers->changed.length - followers->trigger.length};

	buf_append(&followers->paths, link->entry.path->text, link->entry.path->length);
	/* A way that led elsewhere: the whole link. Where it ends: the same path seen through it.
	 */
	if (is_target)
		buf_append_slice(&followers->paths, rest);
	buf_putc(&followers->paths, '\0');
}

static void look_at_each(struct tree *tree, const struct buf *paths)
{
	const char *end = paths->data + paths->length;

	for (const char *at = paths->data; at && at < end; at += strlen(at) + 1)
		look_at_path(tree, slice_of(at));
}

/* The links that lead to a file, or through a link. */
static void look_at_followers(struct tree *tree, struct slice path)
{
	struct followers followers = {.changed = path, .trigger = path, .paths = BUF_INIT};

	if (tree->entries.links_count == 0)
		return;
	for (;;) {
		entries_each_trigger(&tree->entries, followers.trigger, on_trigger, &followers);
		if (followers.trigger.length == 0)
			break;
		followers.trigger = parent_path(followers.trigger);
	}
	look_at_each(tree, &followers.paths);
	buf_fini(&followers.paths);
}

static void look_at_links(struct tree *tree)
{
	struct buf paths = BUF_INIT;

	for (size_t i = 0; i < tree->entries.links_count; i++) {
		const struct rcstr *link = tree->entries.links[i]->entry.path;

		buf_append(&paths, link->text, link->length + 1);
	}
	look_at_each(tree, &paths);
	buf_fini(&paths);
}

/* Or nothing at all: no link can lead through it. */
static bool is_plain_file(const struct tree_node *node)
{
	return !node || (node->entry.kind == TREE_FILE && !node->entry.error && !node->link_slot);
}

/* 1: what changed may lie on the way of any link. */
static int look_at_hint(struct tree *tree, const char *hint)
{
	struct buf clean = BUF_INIT;
	struct slice path;
	bool is_plain = false;
	int result = 1;

	if (!clean_path(hint, &clean) || clean.length == 0) {
		buf_fini(&clean);
		return scan_all(tree);
	}
	path = buf_slice(&clean);
	if (!has_ignored_part(path)) {
		is_plain = is_plain_file(entries_find(&tree->entries, path));
		look_at_path(tree, path);
		is_plain = is_plain && is_plain_file(entries_find(&tree->entries, path));
	}
	if (is_plain) {
		look_at_followers(tree, path);
		result = 0;
	}
	buf_fini(&clean);
	return result;
}

int tree_scan_paths(struct tree *tree, const char *const *paths, size_t count,
	const struct tree_change **ret_changes, size_t *ret_count)
{
	int error = open_root(tree);
	bool want_links = false;

	if (error < 0)
		return error;
	begin(tree);
	if (error == 1) {
		error = scan_all(tree);
		count = 0;
	}
	for (size_t i = 0; i < count && error >= 0; i++) {
		error = look_at_hint(tree, paths[i]);
		want_links = want_links || error == 1;
	}
	if (error < 0)
		return error;
	if (want_links)
		look_at_links(tree);
	finish(tree, ret_changes, ret_count);
	return 0;
}

/* --- reading --------------------------------------------------------------------------- */

const struct tree_entry *tree_find(const struct tree *tree, struct slice path)
{
	const struct tree_node *node =
		path.length ? entries_find(&tree->entries, path) : tree->entries.root;

	return node ? &node->entry : NULL;
}

const struct tree_entry *tree_child(const struct tree_entry *folder, size_t index)
{
	/* An entry is the head of its node. */
	const struct tree_node *node = (const struct tree_node *)folder;

	return index < node->children_count ? &node->children[index]->entry : NULL;
}

bool tree_is_root(const struct tree *tree, const struct file_identity *identity)
{
	return tree->root_fd >= 0 && identity->device == tree->root_device &&
	       identity->inode == tree->root_inode;
}

size_t tree_count(const struct tree *tree)
{
	return tree->entries.by_path.count;
}

/* The whole file in as few calls as can be: a tree has many small ones. 1: it changed meanwhile. */
static int read_once(
	int fd, uint64_t limit_bytes, struct buf *out, struct file_identity *ret_identity)
{
	struct stat before, after;
	struct file_identity now;
	size_t size;

	if (fstat(fd, &before) < 0)
		return -errno;
	if (!S_ISREG(before.st_mode))
		return S_ISDIR(before.st_mode) ? -EISDIR : -EINVAL;
	if ((uint64_t)before.st_size > limit_bytes)
		return -EFBIG;
	size = (size_t)before.st_size;
	buf_reset(out);
	/* One byte more, to see that the file has not grown. */
	if (!buf_reserve(out, size + 1))
		return buf_error(out);
	while (out->length <= size) {
		ssize_t got = pread(
			fd, out->data + out->length, size + 1 - out->length, (off_t)out->length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		out->length += (size_t)got;
		if (got == 0 || out->length == size)
			break;
	}
	if (fstat(fd, &after) < 0)
		return -errno;
	*ret_identity = walk_identity(&before);
	now = walk_identity(&after);
	return file_identity_equal(ret_identity, &now) && out->length == size ? 0 : 1;
}

int tree_read(const struct tree *tree, const char *path, uint64_t limit_bytes, struct buf *out,
	struct file_identity *ret_identity)
{
	int fd, result;

	if (tree->root_fd < 0)
		return -ENOENT;
	fd = beneath_open(tree->root_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	result = read_once(fd, limit_bytes, out, ret_identity);
	for (int i = 0; result == 1 && i < 3; i++)
		result = read_once(fd, limit_bytes, out, ret_identity);
	close(fd);
	return result == 1 ? -EAGAIN : result;
}
