/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/silencer.h"

#include <stdlib.h>

#include "base/mem.h"
#include "catalogue/catalogue.h"
#include "compile/folder.h"

static struct groups *groups_of(const struct compiler *compiler)
{
	return compiler->layering ? compiler->layering->groups : NULL;
}

/* --- groups.yaml --------------------------------------------------------------------------- */

static bool find_ignore(const struct groups_ignore *ignores, size_t count, const char *rule)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(ignores[i].rule, rule) == 0) {
			*ignores[i].is_used = true;
			return true;
		}
	}
	return false;
}

static bool is_ignored_everywhere(const struct compiler *compiler, const char *rule)
{
	const struct groups *groups = groups_of(compiler);

	return groups && find_ignore(groups->ignores, groups->ignores_count, rule);
}

static bool is_ignored_in(const struct group *group, const char *rule)
{
	return find_ignore(group->entry->ignores, group->entry->ignores_count, rule);
}

/* By every group that takes the layer. */
static bool is_ignored_by_users(const struct layer *layer, const char *rule)
{
	bool is_ignored = layer && layer->groups_count;

	for (size_t i = 0; is_ignored && i < layer->groups_count; i++)
		is_ignored = is_ignored_in(layer->groups[i], rule);
	return is_ignored;
}

static void forget_used(const struct groups_ignore *ignores, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*ignores[i].is_used = false;
}

static bool has_ignores(const struct groups *groups)
{
	for (size_t i = 0; groups && i < groups->count; i++) {
		if (groups->entries[i].ignores_count)
			return true;
	}
	return groups && groups->ignores_count;
}

struct unit_filter {
	struct compiler *compiler;
	const struct unit *unit;
};

static bool keep_in_unit(void *ctx, const struct diag *diag)
{
	const struct unit_filter *filter = ctx;

	if (!catalogue_may_silence(slice_of(diag->rule), diag->level))
		return true;
	return !is_ignored_everywhere(filter->compiler, diag->rule) &&
	       !is_ignored_by_users(filter->unit->layer, diag->rule);
}

const struct diag_list *silencer_unit(
	struct compiler *compiler, const struct unit *unit, struct diag_list *scratch)
{
	return silencer_content(compiler, unit, &unit->content, scratch);
}

const struct diag_list *silencer_content(struct compiler *compiler, const struct unit *unit,
	const struct unit_content *content, struct diag_list *scratch)
{
	struct unit_filter filter = {compiler, unit};

	if (!has_ignores(groups_of(compiler)))
		return content->diags;
	diag_list_clear(scratch);
	diag_list_append(scratch, content->diags);
	diag_list_filter(scratch, keep_in_unit, &filter);
	return scratch;
}

/* --- comments ------------------------------------------------------------------------------ */

static bool is_covered_by_comments(struct compiler *compiler, const struct diag *diag)
{
	const struct dependents_list *users =
		dependents_find(&compiler->dependents, slice_of(diag->path));
	const struct unit *unit = hash_get(&compiler->units, slice_of(diag->path));
	bool is_covered;

	if (strcmp(diag->path, FOLDER_GROUPS_FILE) == 0)
		return silence_covers(compiler->groups_silence, diag, true);
	is_covered = unit && silence_covers(unit->content.silence, diag, true);
	/* A part: whoever includes it has read its comments, too. */
	for (size_t i = 0; users && i < users->count; i++) {
		if (silence_covers(users->units[i]->content.silence, diag, true))
			is_covered = true;
	}
	return is_covered;
}

bool silencer_covers(struct compiler *compiler, const struct group *group, const struct diag *diag)
{
	if (!catalogue_may_silence(slice_of(diag->rule), diag->level))
		return false;
	return is_covered_by_comments(compiler, diag) ||
	       is_ignored_everywhere(compiler, diag->rule) ||
	       (group && is_ignored_in(group, diag->rule));
}

static bool keep(void *ctx, const struct diag *diag)
{
	return !silencer_covers(ctx, NULL, diag);
}

void silencer_apply(struct compiler *compiler, struct diag_list *diags)
{
	diag_list_filter(diags, keep, compiler);
}

/* --- what silences nothing ----------------------------------------------------------------- */

static void each_silence(struct compiler *compiler,
	void (*visit)(void *ctx, const struct unit *unit, struct silence *silence), void *ctx)
{
	if (compiler->groups_silence)
		visit(ctx, NULL, compiler->groups_silence);
	for (size_t i = 0; i < compiler->vocal.count; i++) {
		const struct unit *unit = compiler->vocal.units[i];

		if (unit->content.silence && compiler_is_active(compiler, unit))
			visit(ctx, unit, unit->content.silence);
	}
}

static void forget_late(void *ctx, const struct unit *unit, struct silence *silence)
{
	(void)ctx;
	(void)unit;
	for (size_t i = 0; i < silence->count; i++)
		silence->items[i].is_used_late = false;
}

void silencer_begin(struct compiler *compiler)
{
	const struct groups *groups = groups_of(compiler);

	each_silence(compiler, forget_late, NULL);
	if (!groups)
		return;
	forget_used(groups->ignores, groups->ignores_count);
	for (size_t i = 0; i < groups->count; i++)
		forget_used(groups->entries[i].ignores, groups->entries[i].ignores_count);
}

/* An item, with the comments of a part that several files include as one. */
struct used_item {
	const struct silence_item *item;
	bool is_used;
};

struct used_list {
	struct used_item *items;
	size_t count, capacity;
};

static void collect(void *ctx, const struct unit *unit, struct silence *silence)
{
	struct used_list *list = ctx;
	/* What is broken is not looked at to the end. */
	bool is_broken = unit && unit->content.diags &&
			 diag_list_level_count(unit->content.diags, DIAG_ERROR);

	for (size_t i = 0; i < silence->count; i++) {
		const struct silence_item *item = &silence->items[i];

		array_reserve(list->items, list->capacity, list->count + 1);
		list->items[list->count++] =
			(struct used_item){item, item->is_used || item->is_used_late || is_broken};
	}
}

static int compare_items(const struct silence_item *a, const struct silence_item *b)
{
	int order = strcmp(a->path, b->path);

	if (!order)
		order = (a->at.line > b->at.line) - (a->at.line < b->at.line);
	if (!order)
		order = (a->at.column > b->at.column) - (a->at.column < b->at.column);
	return order;
}

static int compare_used(const void *a, const void *b)
{
	const struct used_item *one = a, *two = b;
	int order = compare_items(one->item, two->item);

	/* The used ones first: they speak for the others. */
	return order ? order : two->is_used - one->is_used;
}

static void finish_comments(struct compiler *compiler, struct diag_list *diags)
{
	struct used_list list = {0};

	each_silence(compiler, collect, &list);
	if (list.count > 1)
		qsort(list.items, list.count, sizeof(*list.items), compare_used);
	for (size_t i = 0; i < list.count; i++) {
		const struct silence_item *item = list.items[i].item;

		if (list.items[i].is_used ||
			(i && compare_items(list.items[i - 1].item, item) == 0))
			continue;
		diag_warning(diags, item->path, item->at, "idle-ignore",
			"this silences nothing: there is no %s %s", item->rule,
			item->line ? "in the line" : "in the file");
	}
	free(list.items);
}

static void finish_ignores(
	const struct groups_ignore *ignores, size_t count, struct diag_list *diags)
{
	for (size_t i = 0; i < count; i++) {
		if (!*ignores[i].is_used)
			diag_warning(diags, FOLDER_GROUPS_FILE, ignores[i].at, "idle-ignore",
				"this silences nothing: there is no %s", ignores[i].rule);
	}
}

void silencer_finish(struct compiler *compiler, struct diag_list *diags)
{
	const struct groups *groups = groups_of(compiler);

	/* Only who looks at everything knows what is not there. */
	if (!compiler->is_thorough || compiler->only_groups || !compiler->groups_are_good)
		return;
	finish_comments(compiler, diags);
	if (!groups || diag_list_level_count(diags, DIAG_ERROR))
		return;
	finish_ignores(groups->ignores, groups->ignores_count, diags);
	/* Groups of one each: share the flags, and equal warnings become one. */
	for (size_t i = 0; i < groups->count; i++)
		finish_ignores(groups->entries[i].ignores, groups->entries[i].ignores_count, diags);
}
