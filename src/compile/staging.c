/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/staging.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "compile/folder.h"
#include "compile/last_good.h"
#include "compile/report_mounts.h"

static struct slice unit_path(const struct unit *unit)
{
	return (struct slice){unit->path->text, unit->path->length};
}

/* What the file says, as far as it was read. */
static struct unit_content *latest(struct unit *unit)
{
	return unit->draft && !unit->mount->is_open ? &unit->draft->content : &unit->content;
}

/* --- drafts -------------------------------------------------------------------------------- */

static struct unit_draft *need_draft(struct compiler *compiler, struct unit *unit)
{
	if (unit->draft)
		return unit->draft;
	/* Dependents are those of the latest content. */
	dependents_remove(&compiler->dependents, unit, &unit->content);
	unit->draft = xcalloc(1, sizeof(*unit->draft));
	unit->draft->was_counted = true;
	unit_list_add(&unit->mount->drafts, unit);
	unit->draft->slot = (uint32_t)unit->mount->drafts.count;
	return unit->draft;
}

/* The draft has no content any more. */
static void drop_draft(struct unit *unit)
{
	struct unit_list *drafts = &unit->mount->drafts;
	struct unit *last = drafts->units[--drafts->count];

	drafts->units[unit->draft->slot - 1] = last;
	last->draft->slot = unit->draft->slot;
	free(TAKE(unit->draft));
}

static void forget_latest(struct compiler *compiler, struct unit *unit)
{
	dependents_remove(&compiler->dependents, unit, latest(unit));
	compiler_retire(compiler, latest(unit));
}

void staging_add(struct compiler *compiler, struct unit *unit)
{
	assert(!unit->mount->is_open);
	if (!unit->is_counted)
		need_draft(compiler, unit);
	if (unit->draft) {
		unit->draft->is_gone = false;
		unit->draft->was_counted = true;
		unit->must_bind = true;
	}
}

void staging_remove(struct compiler *compiler, struct unit *unit)
{
	struct unit_draft *draft = need_draft(compiler, unit);

	assert(!unit->mount->is_open);
	forget_latest(compiler, unit);
	compiler_dequeue(compiler, unit);
	draft->is_gone = true;
	draft->was_read = false;
	draft->was_counted = false;
	if (!unit->is_counted) {
		drop_draft(unit);
		compiler_drop_unit(compiler, unit);
	}
}

void staging_folder(struct mount *mount, struct rcstr *path, bool is_added, struct shape *shape)
{
	struct slice key = {path->text, path->length};
	struct mount_folder *folder = hash_get(&mount->folders, key);

	if (folder && folder->is_added != is_added) {
		hash_remove(&mount->folders, key);
		rcstr_unref(folder->path);
		free(folder);
	} else if (!folder && is_added != shape_has_folder(shape, key)) {
		folder = xcalloc(1, sizeof(*folder));
		folder->path = rcstr_ref(path);
		folder->is_added = is_added;
		hash_put(&mount->folders, (struct slice){path->text, path->length}, folder);
	}
}

static bool is_there(const struct mount *mount, struct slice path, enum tree_kind kind)
{
	const struct tree_entry *entry = mount_find(mount, path);

	return entry && entry->kind == kind;
}

void staging_reconcile(struct compiler *compiler, struct mount *mount)
{
	struct hash_entry *slot;
	struct unit_list gone = {0};
	size_t cursor = 0;

	while ((slot = hash_next(&compiler->units, &cursor))) {
		struct unit *unit = slot->value;

		if (unit->mount == mount && unit->is_counted && !unit->draft &&
			!is_there(mount, unit_path(unit), TREE_FILE))
			unit_list_add(&gone, unit);
	}
	for (size_t i = 0; i < gone.count; i++)
		staging_remove(compiler, gone.units[i]);
	free(gone.units);
	cursor = 0;
	while ((slot = hash_next(&compiler->shape.folders, &cursor))) {
		if (slot->key.length > mount->at.length &&
			mounts_of(&compiler->mounts, slot->key) == mount &&
			!mounts_below(&compiler->mounts, slot->key) &&
			!is_there(mount, slot->key, TREE_FOLDER))
			staging_folder(mount, slot->value, false, &compiler->shape);
	}
}

/* --- what was read ------------------------------------------------------------------------- */

static bool has_errors(const struct unit_content *content)
{
	return content->diags && diag_list_level_count(content->diags, DIAG_ERROR);
}

/* After compiler_keep_same: the file says what counts already. */
static bool is_same(const struct unit *unit, const struct unit_content *content)
{
	if (!unit->is_counted || !unit->was_read || has_errors(content) ||
		unit->content.items_count != content->items_count ||
		unit->content.is_foreign != content->is_foreign)
		return false;
	for (uint32_t i = 0; i < content->items_count; i++) {
		if (unit->content.items[i].resource != content->items[i].resource ||
			unit->content.items[i].is_delete != content->items[i].is_delete)
			return false;
	}
	return true;
}

/* Puts other content into the place of what is in the layers. */
static void replace_content(
	struct compiler *compiler, struct unit *unit, struct unit_content *content)
{
	compiler_remove_items(compiler, unit);
	compiler->resources -= compiler_count_resources(&unit->content);
	compiler_retire(compiler, &unit->content);
	unit->content = *content;
	compiler->resources += compiler_count_resources(&unit->content);
	compiler_add_items(compiler, unit);
	compiler_update_vocal(compiler, unit);
}

void staging_take(struct compiler *compiler, struct unit *unit, struct unit_reading *reading)
{
	struct unit_draft *draft;

	if (reading->is_unchanged)
		return;
	if (unit->layer && unit->content.items_count)
		compiler_keep_same(unit, &reading->content);
	if (unit->mount->is_open) {
		if (!unit->draft) {
			/* What it goes back to is what it was: nothing was read. */
			need_draft(compiler, unit)->content = unit->content;
			unit->draft->was_read = unit->was_read;
			unit->draft->was_counted = unit->is_counted;
			compiler_remove_items(compiler, unit);
			compiler->resources -= compiler_count_resources(&unit->content);
			unit->content = (struct unit_content){0};
		} else {
			dependents_remove(&compiler->dependents, unit, &unit->content);
		}
		replace_content(compiler, unit, &reading->content);
		unit->was_read = true;
		dependents_add(&compiler->dependents, unit, &unit->content);
		return;
	}
	if (is_same(unit, &reading->content)) {
		dependents_remove(&compiler->dependents, unit, latest(unit));
		if (unit->draft) {
			compiler_retire(compiler, &unit->draft->content);
			drop_draft(unit);
		}
		replace_content(compiler, unit, &reading->content);
		dependents_add(&compiler->dependents, unit, &unit->content);
		return;
	}
	draft = need_draft(compiler, unit);
	forget_latest(compiler, unit);
	draft->content = reading->content;
	draft->was_read = true;
	dependents_add(&compiler->dependents, unit, &draft->content);
}

void staging_forget(struct compiler *compiler, struct unit *unit)
{
	dependents_remove(&compiler->dependents, unit, latest(unit));
	compiler->resources -= compiler_count_resources(&unit->content);
	compiler_retire(compiler, &unit->content);
	if (unit->draft) {
		compiler_retire(compiler, &unit->draft->content);
		unit->draft->was_read = false;
	}
}

/* --- on trial ------------------------------------------------------------------------------ */

#define SWAP(a, b)                                                                                 \
	do {                                                                                       \
		__typeof__(a) swapped_ = (a);                                                      \
		(a) = (b);                                                                         \
		(b) = swapped_;                                                                    \
	} while (0)

static void swap_content(struct compiler *compiler, struct unit *unit)
{
	struct unit_draft *draft = unit->draft;

	compiler_remove_items(compiler, unit);
	compiler->resources -= compiler_count_resources(&unit->content);
	SWAP(unit->content, draft->content);
	SWAP(unit->was_read, draft->was_read);
	SWAP(unit->is_counted, draft->was_counted);
	compiler->resources += compiler_count_resources(&unit->content);
	compiler_add_items(compiler, unit);
	compiler_update_vocal(compiler, unit);
}

/* `forward`: as they are on disk; else as they were. */
static void swap_folders(struct compiler *compiler, struct mount *mount, bool forward)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&mount->folders, &cursor))) {
		const struct mount_folder *folder = slot->value;

		if (folder->is_added == forward)
			shape_add_folder(&compiler->shape, folder->path);
		else
			shape_remove_folder(&compiler->shape, slot->key);
	}
	/* Groups may wait for a mount to be good, whichever folders it has. */
	if ((mount->folders.count || !compiler->groups_are_good) &&
		compiler_depends_on_folders(compiler))
		compiler->groups_changed = true;
}

/* Both ways. */
static void turn(struct compiler *compiler, struct mount *mount, bool forward)
{
	for (size_t i = 0; i < mount->drafts.count; i++)
		swap_content(compiler, mount->drafts.units[i]);
	mount->is_open = forward;
	swap_folders(compiler, mount, forward);
	compiler->is_news = true;
}

bool staging_open(struct compiler *compiler)
{
	bool is_something = false;

	for (size_t i = 1; i < compiler->mounts.count; i++) {
		struct mount *mount = &compiler->mounts.items[i];
		bool was_good = mount->is_good;
		size_t before = diag_list_count(mount->diags);

		if (mount->is_open || mount->is_barred)
			continue;
		mount->is_good = report_mount(compiler, mount) == 0;
		if (mount->is_good != was_good || before || diag_list_count(mount->diags))
			compiler->is_news = true;
		if (!mount->is_good || (!mount->drafts.count && !mount->folders.count))
			continue;
		turn(compiler, mount, true);
		is_something = true;
	}
	return is_something;
}

bool staging_is_in_layer(
	const struct compiler *compiler, const struct mount *mount, const struct layer *layer)
{
	char path[4096];

	if (folder_holds(mount->at, layer->path))
		return true;
	if (mount->at.length + 3 > sizeof(path))
		return false;
	memcpy(path, mount->at.data, mount->at.length);
	memcpy(path + mount->at.length, "/-", 3);
	return layering_layer_of(compiler->layering, slice_of(path)) == layer;
}

static bool uses(
	const struct compiler *compiler, const struct group *group, const struct mount *mount)
{
	for (size_t i = 0; i < group->layers_count; i++) {
		if (staging_is_in_layer(compiler, mount, group->layers[i]))
			return true;
	}
	return false;
}

static bool was_fine(const struct compiler *compiler, const struct group *group)
{
	for (size_t i = 0; i < compiler->build.groups_count; i++) {
		if (strcmp(compiler->groups[i].name->text, group->name->text) == 0)
			return !compiler->groups[i].is_held;
	}
	return false;
}

/* A group that was fine would be held: not for one thing that a mount has now, but for what is
 * missing, or has a counterpart elsewhere. */
static bool breaks_group(const struct compiler *compiler, struct mount *mount)
{
	const struct layering *layering = compiler->layering;

	for (size_t i = 0; layering && mount->was_good && i < layering->built_count; i++) {
		const struct group *group = layering->built[i];

		if (!report_group_errors(group) || !was_fine(compiler, group) ||
			!uses(compiler, group, mount))
			continue;
		diag_list_clear(mount->diags);
		diag_error(mount->diags, mount->at.data, ((struct position){0, 0}), "mount-breaks",
			"what this mount has now would hold group \"%s\"%s%s", group->name->text,
			group->held_reason ? ": " : "",
			group->held_reason ? group->held_reason : "");
		return true;
	}
	return false;
}

/* What was found about paths in the mount. */
static bool has_problems(const struct compiler *compiler, struct mount *mount)
{
	size_t errors = 0;

	for (size_t i = 0; i < diag_list_count(compiler->diags); i++) {
		const struct diag *diag = diag_list_get(compiler->diags, i);

		errors += diag->level == DIAG_ERROR && diag->path[0] &&
			  mounts_of(&compiler->mounts, slice_of(diag->path)) == mount;
	}
	if (!errors)
		return false;
	diag_list_clear(mount->diags);
	for (size_t i = 0; i < diag_list_count(compiler->diags); i++) {
		const struct diag *diag = diag_list_get(compiler->diags, i);

		if (diag->path[0] && mounts_of(&compiler->mounts, slice_of(diag->path)) == mount)
			diag_list_copy(mount->diags, diag);
	}
	return true;
}

static bool is_too_much(const struct compiler *compiler, struct mount *mount)
{
	if (compiler->resources <= compiler->limits.resources)
		return false;
	diag_list_clear(mount->diags);
	diag_error(mount->diags, mount->at.data, ((struct position){0, 0}), "too-many-resources",
		"with what this mount has the tree has %zu resources, the limit is %llu",
		compiler->resources, (unsigned long long)compiler->limits.resources);
	return true;
}

static void close_mount(struct compiler *compiler, struct mount *mount)
{
	turn(compiler, mount, false);
	mount->is_good = false;
	mount->is_barred = true;
}

bool staging_close(struct compiler *compiler)
{
	bool is_any = false;

	for (size_t i = compiler->mounts.count; i-- > 1;) {
		struct mount *mount = &compiler->mounts.items[i];

		if (!mount->is_open ||
			(!has_problems(compiler, mount) && !is_too_much(compiler, mount)))
			continue;
		close_mount(compiler, mount);
		is_any = true;
	}
	/* Only when nobody is to blame for sure. */
	for (size_t i = compiler->mounts.count; !is_any && i-- > 1;) {
		struct mount *mount = &compiler->mounts.items[i];

		if (!mount->is_open || !breaks_group(compiler, mount))
			continue;
		close_mount(compiler, mount);
		is_any = true;
	}
	return is_any;
}

/* --- what counts --------------------------------------------------------------------------- */

static void accept_unit(struct compiler *compiler, struct unit *unit)
{
	bool is_gone = unit->draft->is_gone;

	compiler_retire(compiler, &unit->draft->content);
	drop_draft(unit);
	unit->is_counted = !is_gone;
	if (compiler->last_good && is_gone)
		last_good_remove_unit(compiler->last_good, unit);
	else if (compiler->last_good)
		last_good_put_unit(compiler->last_good, unit);
	if (is_gone)
		compiler_drop_unit(compiler, unit);
}

static void accept_folders(struct compiler *compiler, struct mount *mount)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&mount->folders, &cursor))) {
		struct mount_folder *folder = slot->value;

		if (compiler->last_good)
			last_good_folder(compiler->last_good, slot->key, folder->is_added);
		rcstr_unref(folder->path);
		free(folder);
	}
	hash_fini(&mount->folders);
	hash_init(&mount->folders);
}

void staging_accept(struct compiler *compiler)
{
	for (size_t i = 1; i < compiler->mounts.count; i++) {
		struct mount *mount = &compiler->mounts.items[i];

		mount->is_accepted = mount->is_open;
		mount->is_barred = false;
		if (!mount->is_open)
			continue;
		mount->is_open = false;
		mount->was_good = true;
		if (compiler->last_good)
			last_good_begin(compiler->last_good, mount->at);
		while (mount->drafts.count)
			accept_unit(compiler, mount->drafts.units[mount->drafts.count - 1]);
		accept_folders(compiler, mount);
	}
}

size_t staging_count_errors(const struct compiler *compiler)
{
	size_t errors = 0;

	for (size_t i = 1; i < compiler->mounts.count; i++) {
		const struct mount *mount = &compiler->mounts.items[i];

		if (staging_is_held(mount) && mount->was_good)
			errors += diag_list_level_count(mount->diags, DIAG_ERROR);
	}
	return errors;
}
