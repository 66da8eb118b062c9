/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/mount.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "compile/folder.h"

static void mount_init(struct mount *mount, struct mounts *mounts, const char *path, const char *at,
	const struct fence *fence)
{
	*mount = (struct mount){.mounts = mounts, .at = slice_of(xstrdup(at)), .fence = fence};
	mount->tree = tree_new(path);
	mount->diags = diag_list_new(0);
	hash_init(&mount->folders);
	hash_init(&mount->hidden);
}

void mounts_init(struct mounts *mounts, const struct compile_options *options)
{
	mounts->count = options->mounts_count + 1;
	mounts->items = xcalloc(mounts->count, sizeof(*mounts->items));
	mount_init(&mounts->items[0], mounts, options->root, "", NULL);
	for (size_t i = 0; i < options->mounts_count; i++) {
		const struct compile_mount *given = &options->mounts[i];

		mount_init(&mounts->items[i + 1], mounts, given->path, given->at, given->fence);
	}
}

static void mount_fini(struct mount *mount)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&mount->folders, &cursor))) {
		struct mount_folder *folder = slot->value;

		rcstr_unref(folder->path);
		free(folder);
	}
	hash_fini(&mount->folders);
	cursor = 0;
	while ((slot = hash_next(&mount->hidden, &cursor)))
		rcstr_unref(slot->value);
	hash_fini(&mount->hidden);
	free(mount->drafts.units);
	diag_list_free(mount->diags);
	tree_free(mount->tree);
	free((char *)mount->at.data);
}

void mounts_fini(struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++)
		mount_fini(&mounts->items[i]);
	free(mounts->items);
}

struct mount *mounts_of(const struct mounts *mounts, struct slice path)
{
	struct mount *best = &mounts->items[0];

	for (size_t i = 1; i < mounts->count; i++) {
		struct mount *mount = &mounts->items[i];

		if (mount->at.length >= best->at.length && folder_holds(mount->at, path))
			best = mount;
	}
	return best;
}

struct mount *mounts_below(const struct mounts *mounts, struct slice path)
{
	for (size_t i = 1; i < mounts->count; i++) {
		if (folder_holds(path, mounts->items[i].at))
			return &mounts->items[i];
	}
	return NULL;
}

struct slice mount_own_path(const struct mount *mount, struct slice path)
{
	size_t skipped = mount->at.length;

	assert(folder_holds(mount->at, path));
	if (skipped && path.length > skipped)
		skipped++;
	return (struct slice){path.data + skipped, path.length - skipped};
}

struct rcstr *mount_whole_path(const struct mount *mount, const struct rcstr *own)
{
	AUTO_FREE char *whole = NULL;

	if (mount_is_root(mount))
		return rcstr_ref((struct rcstr *)own);
	if (own->length == 0)
		return rcstr_new(mount->at.data, mount->at.length);
	whole = xasprintf("%s/%s", mount->at.data, own->text);
	return rcstr_new(whole, mount->at.length + 1 + own->length);
}

const struct tree_entry *mount_find(const struct mount *mount, struct slice path)
{
	if (mount->mounts->count > 1 && mounts_of(mount->mounts, path) != mount)
		return NULL;
	return tree_find(mount->tree, mount_own_path(mount, path));
}

int mount_read(const struct mount *mount, const char *path, uint64_t limit_bytes, struct buf *out,
	struct file_identity *ret_identity)
{
	struct slice whole = slice_of(path);

	if (mount->mounts->count > 1 && mounts_of(mount->mounts, whole) != mount)
		return -EXDEV;
	return tree_read(
		mount->tree, mount_own_path(mount, whole).data, limit_bytes, out, ret_identity);
}

void mount_hide(struct mount *mount, enum tree_change_kind kind, const struct tree_entry *entry)
{
	struct slice path = {entry->path->text, entry->path->length};
	struct mount *above = mounts_of(mount->mounts, path);

	if (entry->kind != TREE_FILE || !folder_is_source(path) || kind == TREE_MODIFIED)
		return;
	above->hidden_of = mount;
	if (kind == TREE_REMOVED)
		rcstr_unref(hash_remove(&above->hidden, path));
	else
		rcstr_unref(hash_put(&above->hidden, path, rcstr_ref(entry->path)));
}

bool mount_hides_itself(const struct mount *mount)
{
	const struct mount *below = mount->hidden_of;
	const struct tree_entry *entry =
		below ? tree_find(below->tree, mount_own_path(below, mount->at)) : NULL;

	return entry && tree_is_root(mount->tree, &entry->identity);
}

const char *mount_refuses(const struct mount *mount, struct slice path)
{
	const struct mount *other =
		mount->mounts->count > 1 ? mounts_of(mount->mounts, path) : mount;

	if (other == mount)
		return NULL;
	return mount_is_root(mount) ? "the path leads into a mount, and files stay in their own"
				    : "the path leads out of the mount that this file is in";
}
