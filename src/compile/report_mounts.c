/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/report_mounts.h"

#include <string.h>

#include "compile/silencer.h"
#include "compile/staging.h"

#define WHOLE ((struct position){0, 0})

struct mount_report {
	const struct mount *mount;
	struct diag_list *diags;
};

static bool is_in_mount(void *ctx, struct slice path)
{
	const struct mount_report *report = ctx;

	return mounts_of(report->mount->mounts, path) == report->mount;
}

static void charge_nobody(void *ctx, struct slice path, bool is_folder)
{
	(void)ctx;
	(void)path;
	(void)is_folder;
}

static void report_unreachable(struct mount *mount)
{
	const char *rest =
		mount->was_good ? "; what it gave last still counts" : "; what depends on it waits";

	if (mount->error)
		diag_error(mount->diags, mount->at.data, WHOLE, "mount-unreadable",
			"the mount from %s cannot be looked at: %s%s", tree_root(mount->tree),
			strerror(-mount->error), rest);
	else if (!mount->was_looked)
		diag_error(mount->diags, mount->at.data, WHOLE, "mount-unreadable",
			"the mount from %s has not been looked at yet%s", tree_root(mount->tree),
			rest);
	else if (mount->files == 0)
		diag_error(mount->diags, mount->at.data, WHOLE, "mount-empty",
			"the mount from %s has no YAML or JSON file%s; when that is meant, put a "
			"file of comments into it",
			tree_root(mount->tree), rest);
}

size_t report_mount(struct compiler *compiler, struct mount *mount)
{
	struct diag_list *scratch = diag_list_new(0);
	struct mount_report report = {mount, mount->diags};
	const struct shape_listener listener = {
		.is_wanted = is_in_mount, .concern = charge_nobody, .ctx = &report};

	diag_list_clear(mount->diags);
	report_unreachable(mount);
	shape_report(&compiler->shape, compiler->layering, mount->diags, &listener);
	for (size_t i = 0; i < mount->drafts.count; i++) {
		const struct unit *unit = mount->drafts.units[i];

		if (unit->draft->content.diags)
			diag_list_append(mount->diags,
				silencer_content(compiler, unit, &unit->draft->content, scratch));
	}
	diag_list_free(scratch);
	diag_list_sort(mount->diags);
	return diag_list_level_count(mount->diags, DIAG_ERROR);
}

void report_reason(const struct mount *mount, struct buf *out)
{
	size_t errors = diag_list_level_count(mount->diags, DIAG_ERROR);
	const struct diag *first = report_first_of(mount->diags);

	if (!errors || !staging_is_held(mount))
		return;
	buf_printf(out, errors == 1 ? "1 error: " : "%zu errors, first: ", errors);
	if (first)
		diag_format(first, out);
}

bool report_is_waiting(const struct compiler *compiler, struct slice path)
{
	const struct mount *mount = mounts_of(&compiler->mounts, path);

	return staging_is_held(mount) && !mount->was_good;
}

static void charge_layer(struct layer *layer, const struct mount *mount)
{
	layer->errors += diag_list_level_count(mount->diags, DIAG_ERROR);
	if (!layer->unit_error)
		layer->unit_error = report_first_of(mount->diags);
}

/* What the mount never gave holds back who wants it. */
static void charge_gaps(struct compiler *compiler, const struct mount *mount)
{
	for (size_t i = 0; i < mount->drafts.count; i++) {
		const struct unit *unit = mount->drafts.units[i];

		if (unit->is_counted && !unit->was_read && unit->layer &&
			compiler_is_active(compiler, unit))
			charge_layer(unit->layer, mount);
	}
}

static void report_hidden(struct diag_list *diags, const struct mount *mount)
{
	const char *first = NULL;
	struct hash_entry *slot;
	size_t cursor = 0;

	if (mount->hidden.count == 0 || mount_hides_itself(mount))
		return;
	while ((slot = hash_next(&mount->hidden, &cursor))) {
		const struct rcstr *path = slot->value;

		if (!first || strcmp(path->text, first) < 0)
			first = path->text;
	}
	diag_warning(diags, first, WHOLE, "hidden-file",
		"not used: the mount from %s stands at %s and hides %zu file%s of the tree",
		tree_root(mount->tree), mount->at.data, mount->hidden.count,
		mount->hidden.count == 1 ? "" : "s");
}

void report_mounts(struct compiler *compiler)
{
	struct layering *layering = compiler->layering;

	for (size_t i = 1; i < compiler->mounts.count; i++) {
		const struct mount *mount = &compiler->mounts.items[i];

		report_hidden(compiler->diags, mount);
		if (!staging_is_held(mount))
			continue;
		diag_list_append(compiler->diags, mount->diags);
		for (size_t k = 0; layering && !mount->was_good && k < layering->layers_count;
			k++) {
			if (staging_is_in_layer(compiler, mount, layering->layers[k]))
				charge_layer(layering->layers[k], mount);
		}
		if (mount->was_good)
			charge_gaps(compiler, mount);
	}
}
