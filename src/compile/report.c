/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "compile/compiler.h"
#include "compile/folder.h"
#include "compile/joins.h"
#include "compile/open_report.h"
#include "compile/report_mounts.h"
#include "compile/silencer.h"
#include "compile/staging.h"

#define WHOLE ((struct position){0, 0})

struct report {
	struct compiler *compiler;
	struct layering *layering; /* may be NULL */
	struct diag_list *diags;
};

/* --- who is charged ------------------------------------------------------------------------ */

static void reset_charges(struct report *report)
{
	report->compiler->tree_errors = 0;
	for (size_t i = 0; report->layering && i < report->layering->layers_count; i++) {
		struct layer *layer = report->layering->layers[i];

		layer->errors = layer->warnings = 0;
		layer->first_error = layer->unit_error = NULL;
	}
	for (size_t i = 0; report->layering && i < report->layering->built_count; i++) {
		struct group *group = report->layering->built[i];

		group->errors = group->warnings = 0;
		free(TAKE(group->first_error));
		free(TAKE(group->held_reason));
	}
}

/* A path that holds back its layer, and those that a folder may hide. */
static void charge_path(void *ctx, struct slice path, bool is_folder)
{
	struct report *report = ctx;
	struct layer *layer;

	if (!report->layering)
		return;
	layer = layering_layer_of(report->layering, path);
	if (layer)
		layer->errors++;
	for (size_t i = 0; is_folder && i < report->layering->layers_count; i++) {
		struct layer *below = report->layering->layers[i];

		if (below != layer && below->path.length && folder_holds(path, below->path))
			below->errors++;
	}
}

static void charge_error(struct group *group, const char *path, struct position at,
	const char *rule, const char *text)
{
	if (!group->first_error) {
		struct diag diag = {DIAG_ERROR, at, path, rule, text, "", 0};
		struct buf line = BUF_INIT;

		diag_format(&diag, &line);
		group->first_error = xstrdup(buf_cstr(&line));
		buf_fini(&line);
	}
	group->errors++;
}

__attribute__((format(printf, 5, 6))) static void charge_group(struct report *report,
	struct group *group, struct position at, const char *rule, const char *format, ...)
{
	const char *path = report->layering->groups->is_default ? "" : FOLDER_GROUPS_FILE;
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	diag_error(report->diags, path, at, rule, "%s", text);
	charge_error(group, path, at, rule, text);
}

/* --- units --------------------------------------------------------------------------------- */

static int compare_units(const void *a, const void *b)
{
	const struct unit *one = *(struct unit *const *)a, *two = *(struct unit *const *)b;

	return strcmp(one->path->text, two->path->text);
}

/* It has a better diagnostic already. */
static bool is_misspelt_groups(const struct report *report, const struct unit *unit)
{
	return (!report->layering || report->layering->groups->is_default) &&
	       folder_is_misspelt_groups((struct slice){unit->path->text, unit->path->length});
}

static void report_unused(struct report *report, const struct unit *unit)
{
	if (report->layering && !unit->layer)
		diag_warning(report->diags, unit->path->text, WHOLE, "unused-file",
			"not used: no group has a layer that holds this file");
	else if (unit->content.is_foreign && !is_misspelt_groups(report, unit) &&
		 !shape_is_near(&report->compiler->shape, report->layering,
			 (struct slice){unit->path->text, unit->path->length}))
		diag_warning(report->diags, unit->path->text, WHOLE, "unused-file",
			"not used: the file is in no type folder, and nothing in it has "
			"\"@type\"");
	else
		return;
	if (unit->layer)
		unit->layer->warnings++;
}

const struct diag *report_first_of(const struct diag_list *diags)
{
	for (size_t i = 0; i < diag_list_count(diags); i++) {
		if (diag_list_get(diags, i)->level == DIAG_ERROR)
			return diag_list_get(diags, i);
	}
	return NULL;
}

static void report_units(struct report *report)
{
	struct unit_list *vocal = &report->compiler->vocal;
	struct diag_list *scratch = diag_list_new(0);
	const struct diag_list *diags;

	if (vocal->count > 1)
		qsort(vocal->units, vocal->count, sizeof(*vocal->units), compare_units);
	for (size_t i = 0; i < vocal->count; i++) {
		struct unit *unit = vocal->units[i];

		unit->vocal = (uint32_t)(i + 1);
		/* What counts of a held mount was said when it was accepted. */
		if (staging_is_held(unit->mount))
			continue;
		report_unused(report, unit);
		if (!unit->content.diags || !compiler_is_active(report->compiler, unit))
			continue;
		diags = silencer_unit(report->compiler, unit, scratch);
		diag_list_append(report->diags, diags);
		if (!unit->layer)
			continue;
		if (!unit->layer->unit_error && diag_list_level_count(diags, DIAG_ERROR))
			unit->layer->unit_error = report_first_of(unit->content.diags);
		unit->layer->errors += diag_list_level_count(diags, DIAG_ERROR);
		unit->layer->warnings += diag_list_level_count(diags, DIAG_WARNING);
	}
	diag_list_free(scratch);
}

/* A warning at a place in groups.yaml. */
static bool is_silenced(const struct report *report, const struct group *group, struct position at,
	const char *rule)
{
	const struct diag diag = {DIAG_WARNING, at, FOLDER_GROUPS_FILE, rule, "", "", 0};

	return silencer_covers(report->compiler, group, &diag);
}

/* --- mounts -------------------------------------------------------------------------------- */

/* Paths that a held mount has its own diagnostics about. */
static bool is_reported_here(void *ctx, struct slice path)
{
	const struct report *report = ctx;

	return !staging_is_held(mounts_of(&report->compiler->mounts, path));
}

/* --- layers -------------------------------------------------------------------------------- */

static const char *layer_name(const struct layer *layer)
{
	return layer->path.length ? layer->path.data : ".";
}

static void report_conflict(
	struct report *report, struct layer *layer, const struct unit_item *first)
{
	const struct xds_type_row *row = xds_type_row(first->resource->type);
	const struct unit_item *base = first;
	struct buf name = BUF_INIT;

	text_quote(&name, first->resource->name, 100);
	/* What a mount on trial brings is the one too many. */
	while (base && base->unit->mount->is_open)
		base = base->next_same;
	if (!base)
		base = first;
	for (const struct unit_item *item = first; item; item = item->next_same) {
		if (item == base)
			continue;
		diag_error(report->diags, item->unit->path->text, item->resource->at,
			"duplicate-resource",
			"%s \"%s\" is %s here and %s in %s:%u:%u, in one layer", row->noun,
			buf_cstr(&name), item->is_delete ? "deleted" : "defined",
			base->is_delete == item->is_delete ? "also"
			: base->is_delete		   ? "deleted"
							   : "defined",
			base->unit->path->text, base->resource->at.line, base->resource->at.column);
		layer->errors++;
	}
	buf_fini(&name);
}

static void report_layers(struct report *report)
{
	for (size_t i = 0; i < report->layering->layers_count; i++) {
		struct layer *layer = report->layering->layers[i];

		for (int type = 0; type < XDS_TYPE_COUNT; type++) {
			struct hash_entry *slot;
			size_t cursor = 0;

			while ((slot = hash_next(&layer->conflicts[type], &cursor)))
				report_conflict(report, layer, slot->value);
		}
	}
}

static void report_idle(struct report *report)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&report->layering->idle, &cursor))) {
		const struct unit_item *item = slot->value;
		struct buf name = BUF_INIT;

		text_quote(&name, item->resource->name, 100);
		diag_warning(report->diags, item->unit->path->text, item->resource->at,
			"idle-delete", "nothing to delete: no earlier layer has a %s \"%s\"",
			xds_type_row(item->resource->type)->noun, buf_cstr(&name));
		item->unit->layer->warnings++;
		buf_fini(&name);
	}
}

/* --- groups -------------------------------------------------------------------------------- */

static void report_missing_layers(struct report *report, struct group *group)
{
	char phrase[256];

	for (size_t i = 0; i < group->layers_count; i++) {
		const struct layer *layer = group->layers[i];
		struct position at = group->entry->layers[i].at;

		/* It has its own diagnostics. */
		if (report_is_waiting(report->compiler, layer->path))
			continue;
		if (!layer->is_there) {
			charge_group(report, group, at, "missing-layer",
				"layer \"%s\" of group \"%s\" does not exist%s", layer_name(layer),
				group->entry->name,
				shape_suggest_folder(
					&report->compiler->shape, layer->path, phrase));
		} else if (layer->units_count == 0 && layer->path.length) {
			if (is_silenced(report, group, at, "empty-layer"))
				continue;
			diag_warning(report->diags, FOLDER_GROUPS_FILE, at, "empty-layer",
				"layer \"%s\" of group \"%s\" has no files", layer_name(layer),
				group->entry->name);
			group->warnings++;
		}
	}
}

/* --- virtual hosts ------------------------------------------------------------------------- */

/* The nearest name of a route configuration, as a phrase or "". */
static const char *suggest_routes(
	const struct resource_set *set, struct slice name, char phrase[static 256])
{
	const struct resource *resource, *best = NULL;
	uint64_t cursor = 0;
	size_t least = 4;

	while ((resource = resource_set_next(set, &cursor))) {
		size_t distance = suggestion_distance(name, resource->name, 3);

		if (distance < least || (distance == least && best &&
						slice_compare(resource->name, best->name) < 0)) {
			least = distance;
			best = resource;
		}
	}
	phrase[0] = '\0';
	if (best)
		snprintf(phrase, 256, ", did you mean \"%.*s\"?",
			(int)(best->name.length < 200 ? best->name.length : 200), best->name.data);
	return phrase;
}

static void describe_host(const struct virtual_hosts *hosts, const struct group *group,
	const struct virtual_hosts_problem *problem, struct buf *out)
{
	const struct resource *other = problem->other;
	struct buf name = BUF_INIT;
	char phrase[256];

	text_quote(&name, problem->text, 100);
	switch (problem->trouble) {
	case VIRTUAL_HOSTS_NO_ROUTES:
		buf_printf(out,
			"a virtual host of route configuration \"%s\", which group \"%s\" does not "
			"have%s",
			buf_cstr(&name), group->entry->name,
			suggest_routes(hosts->all_routes, problem->text, phrase));
		break;
	case VIRTUAL_HOSTS_DOMAIN:
		buf_printf(out, "domain \"%s\" is also in %s:%u:%u", buf_cstr(&name),
			other->path->text, other->at.line, other->at.column);
		break;
	case VIRTUAL_HOSTS_NAME:
		buf_printf(out,
			"virtual host \"%s\" is also in the route configuration itself, "
			"%s:%u:%u",
			buf_cstr(&name), other->path->text, other->at.line, other->at.column);
		break;
	}
	buf_fini(&name);
}

static void report_hosts(struct report *report, struct group *group)
{
	static const char *const rules[] = {[VIRTUAL_HOSTS_NO_ROUTES] = "missing-routes",
		[VIRTUAL_HOSTS_DOMAIN] = "duplicate-domain",
		[VIRTUAL_HOSTS_NAME] = "duplicate-host"};
	struct virtual_hosts *hosts = stack_hosts(group->stack);

	for (size_t i = 0; hosts && hosts->problems_count && i < hosts->count; i++) {
		const struct virtual_hosts_part *part = hosts->parts[i];

		for (size_t k = 0; k < part->problems_count; k++) {
			const struct virtual_hosts_problem *problem = &part->problems[k];
			const struct resource *host = problem->host;
			struct buf text = BUF_INIT;

			describe_host(hosts, group, problem, &text);
			/* Groups that share them have the same problem: once is enough. */
			if (!hosts->is_told)
				diag_error(report->diags, host->path->text, host->at,
					rules[problem->trouble], "%s", buf_cstr(&text));
			charge_error(group, host->path->text, host->at, rules[problem->trouble],
				buf_cstr(&text));
			buf_fini(&text);
		}
	}
	if (hosts)
		hosts->is_told = true;
}

static void forget_told(const struct layering *layering)
{
	for (size_t i = 0; i < layering->built_count; i++) {
		struct virtual_hosts *hosts = stack_hosts(layering->built[i]->stack);

		if (hosts)
			hosts->is_told = false;
	}
}

static bool has_errors(const struct group *group)
{
	for (size_t i = 0; i < group->layers_count; i++) {
		if (group->layers[i]->errors)
			return true;
	}
	return group->errors > 0;
}

/* What is empty because something else is broken needs no words of its own. */
static void report_empty(struct report *report, struct group *group)
{
	if ((!group->empty_types && !group->lack) || has_errors(group) ||
		!report->compiler->groups_are_good)
		return;
	if (report->layering->groups->is_default && report->compiler->units.count == 0) {
		charge_group(report, group, WHOLE, "empty-tree",
			"there is no YAML or JSON file in this tree");
		return;
	}
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		const struct xds_type_row *row = xds_type_row((enum xds_type)type);

		size_t count = resource_set_count(group_set(group, (enum xds_type)type));

		if (count < group->entry->at_least[type]) {
			charge_group(report, group, group->entry->at_least_at, "too-few",
				"group \"%s\" has %zu %s where at_least says %u",
				group->entry->name, count, row->folder,
				group->entry->at_least[type]);
			continue;
		}
		if (!(group->empty_types & 1u << type))
			continue;
		charge_group(report, group,
			report->layering->groups->is_default ? WHOLE : group->entry->at,
			"empty-set",
			"group \"%s\" has no %s: an empty %s set takes all of them from its "
			"clients; if that is meant, say allow_empty: true%s",
			group->entry->name, row->noun, row->name,
			report->layering->groups->is_default ? " in a groups.yaml" : "");
	}
}

/* False: layers are not what they should be, and duplicates say nothing. */
static bool report_nested_folders(struct report *report)
{
	const struct shape_folder *first = NULL;
	struct hash_entry *slot;
	size_t cursor = 0;

	if (!report->layering->groups->is_default)
		return true;
	while ((slot = hash_next(&report->compiler->shape.nested, &cursor))) {
		const struct shape_folder *folder = slot->value;

		if (!first || strcmp(folder->path->text, first->path->text) < 0)
			first = folder;
	}
	if (!first)
		return true;
	diag_error(report->diags, first->path->text, WHOLE, "groups-needed",
		"a type folder that does not stand in the root: a groups.yaml must say who gets "
		"which folders");
	report->compiler->tree_errors++;
	return false;
}

static void report_only_groups(struct report *report)
{
	const struct compiler *compiler = report->compiler;

	for (size_t i = 0; i < compiler->only_groups_count; i++) {
		const struct groups *groups = report->layering->groups;
		struct suggestion suggestion;
		bool is_there = false;
		char phrase[256];

		suggestion_init(&suggestion, slice_of(compiler->only_groups[i]));
		for (size_t k = 0; k < groups->count; k++) {
			suggestion_offer(&suggestion, groups->entries[k].name);
			is_there = is_there ||
				   strcmp(groups->entries[k].name, compiler->only_groups[i]) == 0;
		}
		if (!is_there)
			diag_error(report->diags, FOLDER_GROUPS_FILE, WHOLE, "unknown-group",
				"there is no group \"%s\", which this host is configured to "
				"serve%s",
				compiler->only_groups[i], suggestion_phrase(&suggestion, phrase));
	}
}

static void report_limits(struct report *report)
{
	struct compiler *compiler = report->compiler;

	if (compiler->resources <= compiler->limits.resources)
		return;
	diag_error(report->diags, "", WHOLE, "too-many-resources",
		"the tree has %zu resources, the limit is %llu", compiler->resources,
		(unsigned long long)compiler->limits.resources);
	compiler->tree_errors++;
}

/* --- what layers do, for check --verbose ----------------------------------------------------- */

/* `group "a"`, or `group "a" and 5 more`: those that stand on a stack. */
static void put_groups(const struct stack *stack, const struct group *first, struct buf *out)
{
	buf_printf(out, "group \"%s\"", first->entry->name);
	if (stack->groups_count > 1)
		buf_printf(out, " and %zu more", stack->groups_count - 1);
}

static void note_replaced(struct report *report, const struct stack *stack,
	const struct group *group, const struct unit_item *item)
{
	const struct unit_item *below =
		stack_find(stack->parent, item->resource->type, item->resource->name);
	struct buf name = BUF_INIT, groups = BUF_INIT;

	if (!below || below->is_delete)
		return;
	text_quote(&name, item->resource->name, 100);
	put_groups(stack, group, &groups);
	diag_note(report->diags, item->unit->path->text, item->resource->at,
		item->is_delete ? "deleted" : "replaced",
		"%s: this %s %s \"%s\" of layer \"%s\" (%s:%u:%u)", buf_cstr(&groups),
		item->is_delete ? "deletes" : "replaces", xds_type_row(item->resource->type)->noun,
		buf_cstr(&name), layer_name(below->unit->layer), below->unit->path->text,
		below->resource->at.line, below->resource->at.column);
	buf_fini(&name);
	buf_fini(&groups);
}

static void put_sums(const size_t counts[static XDS_TYPE_COUNT], const char *verb, struct buf *out)
{
	bool has_any = false;

	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		if (!counts[type])
			continue;
		buf_printf(out, "%s %zu %s", has_any ? "," : verb, counts[type],
			xds_type_row((enum xds_type)type)->name);
		has_any = true;
	}
}

/* What the last layer of the stack adds, replaces and deletes. */
static void note_layer(struct report *report, const struct stack *stack, const struct group *group)
{
	struct stack_sums sums = stack_sum(stack);
	struct position at = group->entry->at;
	struct buf groups = BUF_INIT, text = BUF_INIT;

	for (size_t i = 0; i < group->layers_count; i++)
		if (group->layers[i] == stack->layer)
			at = group->entry->layers[i].at;
	put_groups(stack, group, &groups);
	put_sums(sums.adds, " adds", &text);
	put_sums(sums.replaces, text.length ? "; replaces" : " replaces", &text);
	put_sums(sums.deletes, text.length ? "; deletes" : " deletes", &text);
	diag_note(report->diags, FOLDER_GROUPS_FILE, at, "layer", "%s: layer \"%s\"%s",
		buf_cstr(&groups), layer_name(stack->layer),
		text.length ? buf_cstr(&text) : " changes nothing");
	buf_fini(&groups);
	buf_fini(&text);
}

/* Once for all groups that share the same first layers. */
static void report_stacks(struct report *report, const struct group *group)
{
	for (struct stack *stack = group->stack; stack->layer && !stack->is_told;
		stack = stack->parent) {
		stack->is_told = true;
		if (!report->layering->groups->is_default)
			note_layer(report, stack, group);
		for (int type = 0; type < XDS_TYPE_COUNT; type++) {
			struct hash_entry *slot;
			size_t cursor = 0;

			while ((slot = hash_next(&stack->layer->items[type], &cursor)))
				note_replaced(report, stack, group, slot->value);
		}
	}
}

static void report_all_stacks(struct report *report)
{
	const struct stacks *stacks = &report->layering->stacks;

	for (size_t i = 0; i < stacks->roots_count; i++) {
		struct stack *root = stacks->roots[i];

		for (struct stack *stack = root; stack; stack = stack_next(root, stack))
			stack->is_told = false;
	}
	for (size_t i = 0; i < report->layering->built_count; i++)
		report_stacks(report, report->layering->built[i]);
}

/* joins_charge_cb */
static void charge_joined(void *ctx, struct group *group, enum diag_level level, const char *path,
	struct position at, const char *rule, const char *text)
{
	(void)ctx;
	if (level == DIAG_ERROR)
		charge_error(group, path, at, rule, text);
	else if (level == DIAG_WARNING)
		group->warnings++;
}

/* A part that nothing includes may be left over, or not be meant as a part. */
static void report_unused_parts(struct report *report)
{
	const struct compiler *compiler = report->compiler;
	struct hash_entry *slot;
	size_t cursor = 0;

	/* What other hosts build may include it. */
	if (compiler->only_groups)
		return;
	while ((slot = hash_next(&compiler->shape.parts, &cursor))) {
		if (!dependents_find(&compiler->dependents, slot->key))
			diag_note(report->diags, ((struct rcstr *)slot->value)->text, WHOLE,
				"unused-part", "nothing includes this part");
	}
}

/* --- why a group is held -------------------------------------------------------------------- */

static void find_first_errors(struct report *report)
{
	for (size_t i = 0; i < diag_list_count(report->diags); i++) {
		const struct diag *diag = diag_list_get(report->diags, i);
		struct layer *layer = NULL;

		/* One in an included file is that of the layer that includes it. */
		if (diag->level == DIAG_ERROR && !diag->via[0] &&
			!staging_is_held(
				mounts_of(&report->compiler->mounts, slice_of(diag->path))))
			layer = layering_layer_of(report->layering, slice_of(diag->path));
		if (layer && !layer->first_error && strcmp(diag->path, FOLDER_GROUPS_FILE) != 0)
			layer->first_error = diag;
	}
	for (size_t i = 0; i < report->layering->layers_count; i++) {
		struct layer *layer = report->layering->layers[i];

		if (!layer->first_error)
			layer->first_error = layer->unit_error;
	}
}

size_t report_group_errors(const struct group *group)
{
	size_t errors = group->errors;

	for (size_t i = 0; i < group->layers_count; i++)
		errors += group->layers[i]->errors;
	return errors;
}

static void explain_held(struct report *report, struct group *group)
{
	const struct diag *first = NULL;
	size_t errors = report_group_errors(group);
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < group->layers_count; i++) {
		if (!first)
			first = group->layers[i]->first_error;
	}
	if (!errors) {
		/* Not its own, but held all the same: groups.yaml, or isolate: tree. */
		errors = diag_list_level_count(report->diags, DIAG_ERROR);
		first = report->compiler->groups_are_good
				? NULL
				: report_first_of(report->compiler->groups_diags);
		if (!first)
			first = report_first_of(report->diags);
	}
	if (errors) {
		buf_printf(&text, errors == 1 ? "1 error: " : "%zu errors, first: ", errors);
		if (first)
			diag_format(first, &text);
		else if (group->first_error)
			buf_puts(&text, group->first_error);
		group->held_reason = xstrdup(buf_cstr(&text));
	}
	buf_fini(&text);
}

void report_make(struct compiler *compiler)
{
	struct report report = {
		.compiler = compiler, .layering = compiler->layering, .diags = compiler->diags};

	diag_list_clear(report.diags);
	reset_charges(&report);
	silencer_begin(compiler);
	diag_list_append(report.diags, compiler->groups_diags);
	report_units(&report);
	shape_report(&compiler->shape, report.layering, report.diags,
		&(struct shape_listener){is_reported_here, charge_path, &report});
	report_mounts(compiler);
	report_limits(&report);
	if (report.layering) {
		if (report_nested_folders(&report))
			report_layers(&report);
		report_idle(&report);
		report_only_groups(&report);
		for (size_t i = 0; i < report.layering->built_count; i++)
			report_missing_layers(&report, report.layering->built[i]);
		forget_told(report.layering);
		for (size_t i = 0; i < report.layering->built_count; i++)
			report_hosts(&report, report.layering->built[i]);
		for (size_t i = 0; i < report.layering->built_count; i++)
			report_empty(&report, report.layering->built[i]);
		if (compiler->verbose)
			report_all_stacks(&report);
		if (compiler->is_thorough)
			joins_report(compiler, report.diags, charge_joined, &report);
		open_report(compiler, report.diags);
	}
	if (compiler->verbose)
		report_unused_parts(&report);
	silencer_apply(compiler, report.diags);
	silencer_finish(compiler, report.diags);
	diag_list_sort(report.diags);
	if (report.layering) {
		find_first_errors(&report);
		for (size_t i = 0; i < report.layering->built_count; i++)
			explain_held(&report, report.layering->built[i]);
	}
}
