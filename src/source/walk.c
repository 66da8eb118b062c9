/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/limits.h"
#include "source/beneath.h"

/* File systems stamp changes with a clock that ticks a few milliseconds apart, some only every
 * second or two: a file that was changed less than this before it was looked at may change again
 * without a new time stamp. */
#define FRESH_NS	20000000
#define FRESH_COARSE_NS 2000000000

static bool time_equal(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool file_identity_equal(const struct file_identity *a, const struct file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       time_equal(a->modified, b->modified) && time_equal(a->changed, b->changed);
}

struct file_identity walk_identity(const struct stat *status)
{
	return (struct file_identity){.device = status->st_dev,
		.inode = status->st_ino,
		.size = status->st_size,
		.modified = status->st_mtim,
		.changed = status->st_ctim};
}

static bool is_fresh(const struct tree *tree, const struct file_identity *identity)
{
	int64_t age_ns = (tree->now.tv_sec - identity->changed.tv_sec) * 1000000000ll +
			 (tree->now.tv_nsec - identity->changed.tv_nsec);

	/* A clock of another host that runs ahead says nothing. */
	if (age_ns < -FRESH_COARSE_NS)
		return false;
	return age_ns < (identity->changed.tv_nsec ? FRESH_NS : FRESH_COARSE_NS);
}

static struct tree_node *find_or_add(
	struct tree *tree, const struct walk *walk, struct slice path, enum tree_kind kind)
{
	struct tree_node *node = entries_find(&tree->entries, path);

	if (node && node->entry.kind != kind) {
		entries_remove(&tree->entries, node);
		node = NULL;
	}
	if (!node)
		node = entries_add(&tree->entries, walk->folder, path, kind);
	node->seen = walk->generation;
	return node;
}

void walk_set_error(struct tree *tree, struct tree_node *node, int error)
{
	if (node->entry.error == error)
		return;
	node->entry.error = error;
	entries_note_modified(&tree->entries, node);
}

/* Keeps what is known of the path and marks it. */
static struct tree_node *mark_unreadable(
	struct tree *tree, const struct walk *walk, struct slice path, int error)
{
	struct tree_node *node = entries_find(&tree->entries, path);

	if (!node)
		node = entries_add(&tree->entries, walk->folder, path, TREE_FILE);
	node->seen = walk->generation;
	walk_set_error(tree, node, error);
	return node;
}

static void look_at_file(
	struct tree *tree, const struct walk *walk, struct slice path, const struct stat *status)
{
	struct tree_node *node = find_or_add(tree, walk, path, TREE_FILE);
	struct file_identity identity = walk_identity(status);

	if (node->is_fresh || node->entry.error ||
		!file_identity_equal(&node->entry.identity, &identity))
		entries_note_modified(&tree->entries, node);
	node->entry.identity = identity;
	node->entry.error = 0;
	node->is_fresh = is_fresh(tree, &identity);
}

/* Takes over fd, which may be a negative errno. */
static void look_at_folder(struct tree *tree, const struct walk *walk, struct slice path, int fd,
	const struct stat *status)
{
	struct tree_node *node = find_or_add(tree, walk, path, TREE_FOLDER);
	int error = fd < 0 ? fd : 0;

	if (!error && walk->depth >= LIMIT_DEPTH)
		error = -ENAMETOOLONG;
	if (!error && tree->entries.by_path.count >= TREE_ENTRIES_MAX)
		error = -E2BIG;
	if (fd >= 0 && error)
		close(fd);
	if (!error) {
		node->entry.identity = walk_identity(status);
		error = walk_into(tree, node, fd, status, walk);
	}
	walk_set_error(tree, node, error);
}

static bool is_inside(const struct walk *walk, const struct stat *status)
{
	for (; walk; walk = walk->outer) {
		if (walk->device == status->st_dev && walk->inode == status->st_ino)
			return true;
	}
	return false;
}

struct steps {
	struct buf paths; /* each with its NUL */
};

static void on_step(void *ctx, const char *path)
{
	struct steps *steps = ctx;

	buf_append(&steps->paths, path, strlen(path) + 1);
}

/* Remembers what the link leads through, so that a change there is a change of the link. */
static void remember_link(struct tree *tree, struct tree_node *node, const struct steps *steps,
	const char *target, int error)
{
	const char *end = steps->paths.data + steps->paths.length;

	entries_set_link(&tree->entries, node, error ? NULL : target);
	for (const char *step = steps->paths.data; step && step < end; step += strlen(step) + 1) {
		if (!slice_is(
			    (struct slice){node->entry.path->text, node->entry.path->length}, step))
			entries_add_trigger(&tree->entries, node, slice_of(step), false);
	}
	if (!error)
		entries_add_trigger(&tree->entries, node, slice_of(target), true);
}

static void look_at_link(struct tree *tree, const struct walk *walk, struct slice path)
{
	struct steps steps = {BUF_INIT};
	struct buf target = BUF_INIT;
	struct tree_node *node;
	struct stat status;
	int fd = -1;
	int error = beneath_resolve(tree->root_fd, path.data, on_step, &steps, &target);

	if (!error) {
		fd = beneath_open_exact(tree->root_fd, buf_cstr(&target), O_PATH);
		error = fd < 0 ? fd : fstat(fd, &status) < 0 ? -errno : 0;
	}
	if (error == -ENOTDIR)
		error = -ENOENT;
	if (!error && S_ISDIR(status.st_mode) && is_inside(walk, &status))
		error = -ELOOP;
	if (!error && !S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
		error = -EINVAL;
	if (error) {
		node = mark_unreadable(tree, walk, path, error);
	} else if (S_ISDIR(status.st_mode)) {
		look_at_folder(tree, walk, path,
			beneath_open_exact(
				tree->root_fd, buf_cstr(&target), O_RDONLY | O_DIRECTORY),
			&status);
		node = entries_find(&tree->entries, path);
	} else {
		look_at_file(tree, walk, path, &status);
		node = entries_find(&tree->entries, path);
	}
	remember_link(tree, node, &steps, buf_cstr(&target), error);
	if (fd >= 0)
		close(fd);
	buf_fini(&steps.paths);
	buf_fini(&target);
}

int walk_look(struct tree *tree, const struct walk *walk, const char *name, struct slice path)
{
	struct tree_node *node;
	struct stat status;

	if (fstatat(walk->fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return -ENOENT;
		mark_unreadable(tree, walk, path, -errno);
		return 0;
	}
	if (S_ISLNK(status.st_mode)) {
		look_at_link(tree, walk, path);
		return 0;
	}
	node = entries_find(&tree->entries, path);
	if (node)
		entries_clear_link(&tree->entries, node);
	if (S_ISREG(status.st_mode)) {
		look_at_file(tree, walk, path, &status);
	} else if (S_ISDIR(status.st_mode)) {
		int fd = openat(walk->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		look_at_folder(tree, walk, path, fd < 0 ? -errno : fd, &status);
	} else {
		return -ENOENT;
	}
	return 0;
}

static void sweep_unseen(struct tree *tree, struct tree_node *folder, uint32_t generation)
{
	for (uint32_t i = folder->children_count; i > 0; i--) {
		if (folder->children[i - 1]->seen != generation)
			entries_remove(&tree->entries, folder->children[i - 1]);
	}
}

int walk_into(struct tree *tree, struct tree_node *folder, int fd, const struct stat *status,
	const struct walk *outer)
{
	struct walk walk = {.outer = outer,
		.folder = folder,
		.fd = fd,
		.device = status->st_dev,
		.inode = status->st_ino,
		.depth = outer ? outer->depth + 1 : 0,
		.generation = ++tree->generation};
	struct buf path = BUF_INIT;
	DIR *listing = fdopendir(fd);
	struct dirent *item;
	size_t base;

	if (!listing) {
		int error = -errno;

		close(fd);
		return error;
	}
	buf_append(&path, folder->entry.path->text, folder->entry.path->length);
	if (path.length)
		buf_putc(&path, '/');
	base = path.length;
	while ((errno = 0, item = readdir(listing))) {
		if (tree_is_ignored(slice_of(item->d_name)))
			continue;
		path.length = base;
		buf_puts(&path, item->d_name);
		(void)buf_cstr(&path);
		(void)walk_look(tree, &walk, item->d_name, buf_slice(&path));
	}
	/* Half a listing says nothing about what is gone. */
	if (!errno) {
		sweep_unseen(tree, folder, walk.generation);
		errno = 0;
	}
	fd = -errno;
	closedir(listing);
	buf_fini(&path);
	return fd;
}
