/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/changes.h"

#include <stdlib.h>

#include "base/mem.h"
#include "compile/folder.h"
#include "compile/staging.h"

static void remove_unit(struct compiler *compiler, struct unit *unit)
{
	if (!mount_is_root(unit->mount)) {
		staging_remove(compiler, unit);
		return;
	}
	compiler_remove_items(compiler, unit);
	compiler_retire_content(compiler, unit);
	compiler_drop_unit(compiler, unit);
}

static void on_folder(struct compiler *compiler, struct mount *mount, enum tree_change_kind kind,
	struct rcstr *path)
{
	struct slice at = {path->text, path->length};

	if (compiler->misses_layers)
		compiler->is_news = true;
	/* The way to a mount is there, whatever is on disk. */
	if (kind == TREE_MODIFIED || at.length == 0 || mounts_below(&compiler->mounts, at))
		return;
	if (!mount_is_root(mount))
		staging_folder(mount, path, kind == TREE_ADDED, &compiler->shape);
	else if (kind == TREE_ADDED)
		shape_add_folder(&compiler->shape, path);
	else
		shape_remove_folder(&compiler->shape, at);
	if (mount_is_root(mount) && compiler_depends_on_folders(compiler))
		compiler->groups_changed = true;
}

/* `entry` has its path in the whole tree. */
static void on_change(struct compiler *compiler, struct mount *mount, enum tree_change_kind kind,
	const struct tree_entry *entry)
{
	struct slice path = {entry->path->text, entry->path->length};
	const struct dependents_list *dependents = dependents_find(&compiler->dependents, path);
	struct unit *unit = hash_get(&compiler->units, path);
	bool is_source = entry->kind == TREE_FILE && folder_is_source(path);

	if (shape_change(&compiler->shape, kind, entry))
		compiler->is_news = true;
	/* What was meant by a name that leads nowhere may be another one now. */
	compiler->names_changed = compiler->names_changed || kind != TREE_MODIFIED;
	if (entry->kind == TREE_FOLDER)
		on_folder(compiler, mount, kind, entry->path);
	if (slice_is(path, FOLDER_GROUPS_FILE) || compiler->shape.misspelt.count)
		compiler->groups_changed = true;
	for (size_t i = 0; dependents && i < dependents->count; i++) {
		dependents->units[i]->must_bind = true;
		compiler_enqueue(compiler, dependents->units[i]);
	}
	if (is_source && kind != TREE_MODIFIED)
		mount->files += kind == TREE_ADDED ? 1 : (size_t)-1;
	if (kind == TREE_REMOVED) {
		if (unit && entry->kind == TREE_FILE)
			remove_unit(compiler, unit);
		return;
	}
	if (is_source && !unit)
		unit = compiler_add_unit(compiler, mount, entry->path);
	if (!unit)
		return;
	if (!mount_is_root(mount))
		staging_add(compiler, unit);
	compiler_enqueue(compiler, unit);
}

static void take_changes(struct compiler *compiler, struct mount *mount,
	const struct tree_change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct tree_entry entry = *changes[i].entry;

		entry.path = mount_whole_path(mount, entry.path);
		if (mounts_of(&compiler->mounts,
			    (struct slice){entry.path->text, entry.path->length}) == mount)
			on_change(compiler, mount, changes[i].kind, &entry);
		else
			mount_hide(mount, changes[i].kind, &entry);
		rcstr_unref(entry.path);
	}
}

/* Paths of the whole tree as the mount's own. What lies elsewhere is left out. */
static int scan_paths(struct mount *mount, const struct compile_look *look,
	const struct tree_change **ret_changes, size_t *ret_count)
{
	const char **paths = xcalloc(look->count + 1, sizeof(*paths));
	size_t count = 0;
	int error;

	for (size_t i = 0; i < look->count; i++) {
		struct slice path = slice_of(look->paths[i]);

		if (folder_holds(mount->at, path))
			paths[count++] = mount_own_path(mount, path).data;
	}
	error = tree_scan_paths(mount->tree, paths, count, ret_changes, ret_count);
	free(paths);
	return error;
}

int changes_look(struct compiler *compiler, struct mount *mount, const struct compile_look *look)
{
	const struct tree_change *changes;
	size_t count;
	bool is_whole = !look->paths || !mount->was_looked || mount->error;

	mount->error = look->error;
	if (mount->error)
		return mount->error;
	mount->error = is_whole ? tree_scan(mount->tree, &changes, &count)
				: scan_paths(mount, look, &changes, &count);
	if (mount->error)
		return mount->error;
	take_changes(compiler, mount, changes, count);
	if (!mount->was_looked && !mount_is_root(mount))
		staging_reconcile(compiler, mount);
	mount->was_looked = true;
	if (mount_is_root(mount) && count)
		compiler->root_changed = true;
	return 0;
}
