/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/shape.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "compile/folder.h"

static struct slice slice_of_rcstr(const struct rcstr *string)
{
	return (struct slice){string->text, string->length};
}

void shape_init(struct shape *shape)
{
	hash_init(&shape->folders);
	hash_init(&shape->problems);
	hash_init(&shape->near);
	hash_init(&shape->nested);
	hash_init(&shape->misspelt);
	hash_init(&shape->parts);
}

static void free_folders(struct hash *folders)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(folders, &cursor))) {
		struct shape_folder *folder = slot->value;

		rcstr_unref(folder->path);
		free(folder);
	}
	hash_fini(folders);
}

static void free_paths(struct hash *paths)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(paths, &cursor)))
		rcstr_unref(slot->value);
	hash_fini(paths);
}

void shape_fini(struct shape *shape)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&shape->problems, &cursor))) {
		struct shape_problem *problem = slot->value;

		rcstr_unref(problem->path);
		free(problem);
	}
	hash_fini(&shape->problems);
	free_paths(&shape->folders);
	free_paths(&shape->misspelt);
	free_paths(&shape->parts);
	free_folders(&shape->near);
	free_folders(&shape->nested);
}

static bool is_part(struct slice path)
{
	for (; path.length; path = folder_parent(path)) {
		if (folder_name(path).data[0] == '_')
			return true;
	}
	return false;
}

/* --- keeping up -------------------------------------------------------------------------- */

static bool forget_problem(struct shape *shape, struct slice path)
{
	struct shape_problem *problem =
		shape->problems.count ? hash_remove(&shape->problems, path) : NULL;

	if (!problem)
		return false;
	rcstr_unref(problem->path);
	free(problem);
	return true;
}

static bool note_problem(struct shape *shape, const struct tree_entry *entry)
{
	struct slice path = slice_of_rcstr(entry->path);
	struct shape_problem *problem;

	forget_problem(shape, path);
	if (folder_is_source(path) || slice_is(path, FOLDER_GROUPS_FILE) || is_part(path))
		return false;
	problem = xcalloc(1, sizeof(*problem));
	problem->path = rcstr_ref(entry->path);
	problem->error = entry->error;
	problem->is_folder = entry->kind == TREE_FOLDER;
	hash_put(&shape->problems, slice_of_rcstr(problem->path), problem);
	return true;
}

static void add_path(struct hash *paths, struct rcstr *path)
{
	struct rcstr *former = hash_put(paths, slice_of_rcstr(path), rcstr_ref(path));

	rcstr_unref(former);
}

static bool remove_path(struct hash *paths, struct slice path)
{
	struct rcstr *former = hash_remove(paths, path);

	rcstr_unref(former);
	return former != NULL;
}

static void note_near(struct shape *shape, struct rcstr *path)
{
	struct slice at = slice_of_rcstr(path), folder;
	const struct xds_type_row *row = folder_near_miss(folder_name(at));
	struct shape_folder *near;

	if (!row || is_part(at) || folder_type(at, &folder) || hash_get(&shape->near, at))
		return;
	near = xcalloc(1, sizeof(*near));
	near->path = rcstr_ref(path);
	near->row = row;
	hash_put(&shape->near, slice_of_rcstr(near->path), near);
}

static void forget_folder(struct hash *folders, struct slice path)
{
	struct shape_folder *folder = folders->count ? hash_remove(folders, path) : NULL;

	if (!folder)
		return;
	rcstr_unref(folder->path);
	free(folder);
}

static void note_part(struct shape *shape, enum tree_change_kind kind, struct rcstr *path)
{
	struct slice at = slice_of_rcstr(path);

	if (folder_format(at) == FOLDER_OTHER || !is_part(at))
		return;
	if (kind == TREE_ADDED)
		add_path(&shape->parts, path);
	else if (kind == TREE_REMOVED)
		remove_path(&shape->parts, at);
}

bool shape_change(struct shape *shape, enum tree_change_kind kind, const struct tree_entry *entry)
{
	struct slice path = slice_of_rcstr(entry->path);
	bool is_news;

	if (kind != TREE_REMOVED && entry->error)
		is_news = note_problem(shape, entry);
	else
		is_news = forget_problem(shape, path);

	if (entry->kind == TREE_FILE)
		note_part(shape, kind, entry->path);
	if (entry->kind == TREE_FOLDER && path.length) {
		if (kind == TREE_REMOVED) {
			is_news |= shape->near.count > 0;
			forget_folder(&shape->near, path);
		} else if (kind == TREE_ADDED) {
			note_near(shape, entry->path);
		}
	} else if (entry->kind == TREE_FILE && kind != TREE_MODIFIED &&
		   folder_is_misspelt_groups(path)) {
		if (kind == TREE_ADDED)
			add_path(&shape->misspelt, entry->path);
		else
			remove_path(&shape->misspelt, path);
		is_news = true;
	}
	return is_news;
}

void shape_add_folder(struct shape *shape, struct rcstr *path)
{
	add_path(&shape->folders, path);
}

void shape_remove_folder(struct shape *shape, struct slice path)
{
	remove_path(&shape->folders, path);
}

bool shape_has_folder(const struct shape *shape, struct slice path)
{
	return path.length == 0 || hash_get(&shape->folders, path);
}

/* The nearest folder above that is nearly a type folder. */
static struct shape_folder *find_near(const struct shape *shape, struct slice path)
{
	if (shape->near.count == 0)
		return NULL;
	for (path = folder_parent(path); path.length; path = folder_parent(path)) {
		struct shape_folder *near = hash_get(&shape->near, path);

		if (near)
			return near;
	}
	return NULL;
}

bool shape_add_file(struct shape *shape, struct slice path)
{
	struct shape_folder *near = find_near(shape, path), *nested;
	const struct xds_type_row *row;
	struct slice folder;

	if (near)
		near->files++;
	row = folder_type(path, &folder);
	if (!row || !memchr(folder.data, '/', folder.length))
		return near != NULL;
	nested = hash_get(&shape->nested, folder);
	if (!nested) {
		nested = xcalloc(1, sizeof(*nested));
		nested->path = rcstr_new(folder.data, folder.length);
		nested->row = row;
		hash_put(&shape->nested, slice_of_rcstr(nested->path), nested);
	}
	return nested->files++ == 0 || near;
}

bool shape_remove_file(struct shape *shape, struct slice path)
{
	struct shape_folder *near = find_near(shape, path), *nested;
	struct slice folder;

	if (near)
		near->files--;
	if (!folder_type(path, &folder))
		return near != NULL;
	nested = hash_get(&shape->nested, folder);
	if (!nested || --nested->files)
		return near != NULL;
	forget_folder(&shape->nested, folder);
	return true;
}

static bool is_layer(const struct layering *layering, const struct rcstr *path)
{
	return layering && hash_get(&layering->layers_by_path, slice_of_rcstr(path));
}

bool shape_is_near(const struct shape *shape, const struct layering *layering, struct slice path)
{
	const struct shape_folder *near = find_near(shape, path);

	return near && !is_layer(layering, near->path);
}

/* --- telling ----------------------------------------------------------------------------- */

static bool holds_layer(const struct layering *layering, struct slice path)
{
	for (size_t i = 0; layering && i < layering->layers_count; i++) {
		if (layering->layers[i]->path.length &&
			folder_holds(path, layering->layers[i]->path))
			return true;
	}
	return false;
}

/* What a path that cannot be looked at may hide decides what it means: a type folder, a layer, or
 * some file that nobody asked for. */
static enum diag_level weigh(const struct layering *layering, const struct shape_problem *problem)
{
	struct slice path = slice_of_rcstr(problem->path), folder;
	bool has_dot = memchr(folder_name(path).data, '.', folder_name(path).length) != NULL;

	if (path.length == 0 || xds_type_by_folder(folder_name(path)) ||
		folder_type(path, &folder) || holds_layer(layering, path))
		return DIAG_ERROR;
	switch (problem->error) {
	case -EXDEV:
	case -EINVAL:
		return has_dot ? DIAG_NOTE : DIAG_WARNING;
	case -ENOENT:
	case -ELOOP:
		return has_dot ? DIAG_NOTE : DIAG_ERROR;
	default:
		return has_dot && !problem->is_folder ? DIAG_NOTE : DIAG_ERROR;
	}
}

static const char *explain(int error)
{
	switch (error) {
	case -EXDEV:
		return "this link leads out of the tree (absolute links always do) and is not "
		       "followed";
	case -ELOOP:
		return "this link leads to a folder it is in, or to itself";
	case -ENOENT:
		return "this link leads to nothing";
	case -EINVAL:
		return "this link leads to what is neither file nor folder";
	case -E2BIG:
		return "the tree has too many entries: this folder is not looked into";
	case -ENAMETOOLONG:
		return "too many folders inside each other";
	default:
		return NULL;
	}
}

static void report_problem(
	const struct shape_problem *problem, enum diag_level level, struct diag_list *diags)
{
	const char *text = explain(problem->error);
	struct position whole = {0, 0};

	if (text)
		diag_add(diags, level, problem->path->text, whole, "unreadable", "%s", text);
	else
		diag_add(diags, level, problem->path->text, whole, "unreadable",
			"cannot be looked into: %s", strerror(-problem->error));
}

void shape_report(const struct shape *shape, const struct layering *layering,
	struct diag_list *diags, const struct shape_listener *listener)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&shape->problems, &cursor))) {
		const struct shape_problem *problem = slot->value;
		enum diag_level level = weigh(layering, problem);

		if (level == DIAG_NOTE || !listener->is_wanted(listener->ctx, slot->key))
			continue;
		report_problem(problem, level, diags);
		if (level == DIAG_ERROR)
			listener->concern(listener->ctx, slot->key, true);
	}
	cursor = 0;
	while ((slot = hash_next(&shape->near, &cursor))) {
		const struct shape_folder *near = slot->value;

		if (near->files == 0 || is_layer(layering, near->path) ||
			!listener->is_wanted(listener->ctx, slot->key))
			continue;
		diag_error(diags, near->path->text, ((struct position){0, 0}), "folder-name",
			"no type folder has this name, did you mean \"%s\"? Files in here are not "
			"used",
			near->row->folder);
		listener->concern(listener->ctx, slot->key, false);
	}
}

const char *shape_suggest_folder(const struct shape *shape, struct slice path, char out[static 256])
{
	struct suggestion suggestion;
	struct hash_entry *slot;
	size_t cursor = 0;

	suggestion_init(&suggestion, path);
	while ((slot = hash_next(&shape->folders, &cursor)))
		suggestion_offer(&suggestion, ((struct rcstr *)slot->value)->text);
	return suggestion_phrase(&suggestion, out);
}
