/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/compile.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "compile/changes.h"
#include "compile/compiler.h"
#include "compile/folder.h"
#include "compile/keeping.h"
#include "compile/report_mounts.h"
#include "compile/staging.h"
#include "compile/workers.h"

#define THREADS_DEFAULT_MAX 8
/* After this many readings what they used is given back to the system. */
#define TRIM_READINGS 100

static struct slice unit_path(const struct unit *unit)
{
	return (struct slice){unit->path->text, unit->path->length};
}

/* --- life ---------------------------------------------------------------------------------- */

static unsigned count_threads(unsigned wished)
{
	long processors;

	if (wished)
		return wished < WORKERS_MAX ? wished : WORKERS_MAX;
	processors = sysconf(_SC_NPROCESSORS_ONLN);
	if (processors < 1)
		return 1;
	return processors > THREADS_DEFAULT_MAX ? THREADS_DEFAULT_MAX : (unsigned)processors;
}

static void add_mount_folders(struct compiler *compiler);

struct compiler *compiler_new(const struct compile_options *options)
{
	struct compiler *compiler = xcalloc(1, sizeof(*compiler));

	compiler->schema = options->schema;
	compiler->limits = options->limits ? *options->limits : LIMITS_DEFAULT;
	compiler->threads = count_threads(options->threads);
	compiler->validators = xcalloc(compiler->threads, sizeof(struct validator *));
	compiler->verbose = options->verbose;
	compiler->is_thorough = options->is_thorough;
	compiler->profile = options->profile;
	compiler->has_files = options->has_files;
	compiler->has_rest = options->has_rest;
	if (options->only_groups) {
		compiler->only_groups =
			xcalloc(options->only_groups_count + 1, sizeof(*compiler->only_groups));
		compiler->only_groups_count = options->only_groups_count;
		for (size_t i = 0; i < options->only_groups_count; i++)
			compiler->only_groups[i] = xstrdup(options->only_groups[i]);
	}
	compiler->had_groups =
		options->former_groups.length && !groups_text_is_default(options->former_groups);
	compiler->groups_changed = true;
	compiler->is_news = true;
	mounts_init(&compiler->mounts, options);
	compiler->last_good = options->last_good;
	hash_init(&compiler->units);
	dependents_init(&compiler->dependents);
	shape_init(&compiler->shape);
	compiler->groups_diags = diag_list_new(0);
	compiler->diags = diag_list_new(0);
	add_mount_folders(compiler);
	keeping_load(compiler);
	return compiler;
}

static void free_mounts(struct build_mount *mounts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(mounts[i].reason);
	free(mounts);
}

static void free_groups(struct build_group *groups, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		rcstr_unref(groups[i].name);
		snapshot_unref(groups[i].target);
	}
	free(groups);
}

static void forget_retired(struct compiler *compiler)
{
	for (size_t i = 0; i < compiler->retired_count; i++)
		unit_content_fini(&compiler->retired[i]);
	free(compiler->retired);
	compiler->retired = NULL;
	compiler->retired_count = compiler->retired_capacity = 0;
	for (size_t i = 0; i < compiler->removed.count; i++)
		unit_free(compiler->removed.units[i]);
	compiler->removed.count = 0;
}

void compiler_free(struct compiler *compiler)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	if (!compiler)
		return;
	free_groups(compiler->groups, compiler->build.groups_count);
	free_mounts(compiler->build_mounts, compiler->build.mounts_count);
	layering_free(compiler->layering);
	forget_retired(compiler);
	while ((slot = hash_next(&compiler->units, &cursor)))
		unit_free(slot->value);
	hash_fini(&compiler->units);
	dependents_fini(&compiler->dependents);
	shape_fini(&compiler->shape);
	mounts_fini(&compiler->mounts);
	diag_list_free(compiler->groups_diags);
	silence_free(compiler->groups_silence);
	diag_list_free(compiler->diags);
	for (unsigned i = 0; i < compiler->threads; i++)
		validator_free(compiler->validators[i]);
	free(compiler->validators);
	lint_plans_free(compiler->lints);
	free(compiler->queue.units);
	free(compiler->vocal.units);
	free(compiler->removed.units);
	for (size_t i = 0; i < compiler->only_groups_count; i++)
		free(compiler->only_groups[i]);
	free(compiler->only_groups);
	free(compiler);
}

const struct build *compiler_build(const struct compiler *compiler)
{
	return compiler->build.diags ? &compiler->build : NULL;
}

/* --- units --------------------------------------------------------------------------------- */

bool compiler_is_active(const struct compiler *compiler, const struct unit *unit)
{
	return !compiler->layering || (unit->layer && unit->layer->groups_count);
}

void unit_list_add(struct unit_list *list, struct unit *unit)
{
	array_reserve(list->units, list->capacity, list->count + 1);
	list->units[list->count++] = unit;
}

void compiler_enqueue(struct compiler *compiler, struct unit *unit)
{
	/* What went is not read again, whatever counts till then. */
	if (unit->draft && unit->draft->is_gone)
		return;
	unit->is_stale = true;
	if (unit->queue || !compiler_is_active(compiler, unit))
		return;
	unit_list_add(&compiler->queue, unit);
	unit->queue = (uint32_t)compiler->queue.count;
}

void compiler_dequeue(struct compiler *compiler, struct unit *unit)
{
	if (unit->queue)
		compiler->queue.units[unit->queue - 1] = NULL;
	unit->queue = 0;
}

static bool has_something_to_say(const struct compiler *compiler, const struct unit *unit)
{
	if (compiler->layering && !unit->layer)
		return true;
	return unit->content.diags || unit->content.silence || unit->content.is_foreign;
}

static void set_vocal(struct compiler *compiler, struct unit *unit, bool is_vocal)
{
	struct unit_list *vocal = &compiler->vocal;

	if (is_vocal || unit->vocal)
		compiler->is_news = true;
	if (is_vocal == (unit->vocal != 0))
		return;
	if (is_vocal) {
		unit_list_add(vocal, unit);
		unit->vocal = (uint32_t)vocal->count;
	} else {
		struct unit *last = vocal->units[--vocal->count];

		vocal->units[unit->vocal - 1] = last;
		last->vocal = unit->vocal;
		unit->vocal = 0;
	}
}

void compiler_update_vocal(struct compiler *compiler, struct unit *unit)
{
	set_vocal(compiler, unit, has_something_to_say(compiler, unit));
}

size_t compiler_count_resources(const struct unit_content *content)
{
	size_t count = 0;

	for (uint32_t i = 0; i < content->items_count; i++)
		count += !content->items[i].is_delete;
	return count;
}

void compiler_retire(struct compiler *compiler, struct unit_content *content)
{
	array_reserve(compiler->retired, compiler->retired_capacity, compiler->retired_count + 1);
	compiler->retired[compiler->retired_count++] = *content;
	*content = (struct unit_content){0};
}

void compiler_retire_content(struct compiler *compiler, struct unit *unit)
{
	dependents_remove(&compiler->dependents, unit, &unit->content);
	compiler->resources -= compiler_count_resources(&unit->content);
	compiler_retire(compiler, &unit->content);
}

void compiler_add_items(struct compiler *compiler, struct unit *unit)
{
	if (!unit->layer || !compiler_is_active(compiler, unit))
		return;
	unit->is_linked = true;
	if (layering_add_items(compiler->layering, unit))
		compiler->is_news = true;
}

void compiler_remove_items(struct compiler *compiler, struct unit *unit)
{
	if (unit->is_linked && layering_remove_items(compiler->layering, unit))
		compiler->is_news = true;
	unit->is_linked = false;
}

struct unit *compiler_add_unit(struct compiler *compiler, struct mount *mount, struct rcstr *path)
{
	struct unit *unit = unit_new(mount, path);

	hash_put(&compiler->units, unit_path(unit), unit);
	if (shape_add_file(&compiler->shape, unit_path(unit)))
		compiler->is_news = true;
	if (compiler->layering)
		unit->layer = layering_layer_of(compiler->layering, unit_path(unit));
	if (unit->layer && unit->layer->units_count++ == 0)
		compiler->is_news = true;
	compiler_update_vocal(compiler, unit);
	return unit;
}

void compiler_drop_unit(struct compiler *compiler, struct unit *unit)
{
	set_vocal(compiler, unit, false);
	if (unit->layer && --unit->layer->units_count == 0)
		compiler->is_news = true;
	compiler_dequeue(compiler, unit);
	if (shape_remove_file(&compiler->shape, unit_path(unit)))
		compiler->is_news = true;
	hash_remove(&compiler->units, unit_path(unit));
	unit_list_add(&compiler->removed, unit);
}

bool compiler_depends_on_folders(const struct compiler *compiler)
{
	return !compiler->groups_are_good ||
	       (compiler->layering && compiler->layering->groups->has_each);
}

/* --- groups.yaml --------------------------------------------------------------------------- */

/* While a mount is on trial its folders may mean groups that are gone again in a moment. */
static bool is_trial(const struct compiler *compiler)
{
	for (size_t i = 1; i < compiler->mounts.count; i++) {
		if (compiler->mounts.items[i].is_open)
			return true;
	}
	return false;
}

static void forget_unit(struct compiler *compiler, struct unit *unit)
{
	compiler_dequeue(compiler, unit);
	if (!mount_is_root(unit->mount)) {
		if (is_trial(compiler))
			return;
		staging_forget(compiler, unit);
	} else if (unit->was_read) {
		compiler_retire_content(compiler, unit);
	}
	unit->was_read = false;
	unit->is_stale = true;
}

static int64_t number_of(void *ctx, const struct config_sources *sources)
{
	const struct layering *layering = ctx;
	const struct stack *root = stacks_find_root(&layering->stacks, sources);

	return root ? (int64_t)root->number : -1;
}

/* Finds the unit's place in a new layering. What nobody uses is forgotten. */
static void place_unit(struct compiler *compiler, struct unit *unit)
{
	unit->is_linked = false;
	unit_renumber(unit, number_of, compiler->layering);
	unit->layer = layering_layer_of(compiler->layering, unit_path(unit));
	if (unit->layer)
		unit->layer->units_count++;
	if (compiler_is_active(compiler, unit))
		compiler_add_items(compiler, unit);
	else
		forget_unit(compiler, unit);
	compiler_update_vocal(compiler, unit);
	if (unit->is_stale)
		compiler_enqueue(compiler, unit);
}

static void set_layering(struct compiler *compiler, struct groups *groups)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	compiler->layering = layering_new(groups, (const char *const *)compiler->only_groups,
		compiler->only_groups_count, compiler->layering);
	compiler->is_news = true;
	while ((slot = hash_next(&compiler->units, &cursor)))
		place_unit(compiler, slot->value);
}

static int read_groups_text(
	struct compiler *compiler, const struct tree_entry *entry, struct buf *text)
{
	struct file_identity identity;
	int error = entry->kind == TREE_FOLDER ? -EISDIR : entry->error;

	if (!error)
		error = tree_read(compiler->mounts.items[0].tree, FOLDER_GROUPS_FILE,
			compiler->limits.source_file_bytes, text, &identity);
	if (error)
		diag_error(compiler->groups_diags, FOLDER_GROUPS_FILE, ((struct position){0, 0}),
			"unreadable", "cannot be read: %s", strerror(-error));
	return error;
}

/* Nobody knows which groups a mount would mean that has never given anything; and nodes of theirs
 * must not become those of others. */
static int wait_for_folders(const struct compiler *compiler, const struct groups *groups)
{
	int error = 0;

	for (size_t i = 1; i < compiler->mounts.count; i++) {
		const struct mount *mount = &compiler->mounts.items[i];

		if (mount->was_good || mount->is_open)
			continue;
		for (size_t k = 0; k < groups->eaches_count; k++) {
			const struct groups_each *each = &groups->eaches[k];

			if (!groups_pattern_may_match_below(&each->pattern, mount->at))
				continue;
			diag_error(compiler->groups_diags, FOLDER_GROUPS_FILE, each->at,
				"each-waits",
				"each: %.*s may match folders of the mount at %s, which has given "
				"nothing yet",
				SLICE_ARG(each->pattern.path), mount->at.data);
			error = -EAGAIN;
		}
	}
	return error;
}

static void read_groups(struct compiler *compiler, const struct tree_entry *entry)
{
	struct buf text = BUF_INIT;
	struct groups *groups = NULL;

	if (!read_groups_text(compiler, entry, &text) &&
		!groups_read(FOLDER_GROUPS_FILE, buf_slice(&text), &compiler->shape.folders,
			compiler->schema, compiler->groups_diags, &groups) &&
		wait_for_folders(compiler, groups) == 0)
		compiler->groups_are_good = true;
	if (groups) {
		silence_add(&compiler->groups_silence, FOLDER_GROUPS_FILE, buf_slice(&text),
			compiler->groups_diags);
		silence_apply(compiler->groups_silence, compiler->groups_diags);
	}
	if (groups && (!compiler->groups_are_good ||
			      (compiler->layering && !compiler->layering->groups->is_default &&
				      slice_equal(groups->text, compiler->layering->groups->text))))
		groups_free(groups); /* repaired: it says what it said before */
	else if (groups)
		set_layering(compiler, groups);
	buf_fini(&text);
}

/* Without groups.yaml everything in the tree is for everyone: only when nothing else can be meant.
 */
static void do_without_groups(struct compiler *compiler)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	if (compiler->had_groups) {
		diag_error(compiler->groups_diags, FOLDER_GROUPS_FILE, ((struct position){0, 0}),
			"groups-missing",
			"groups.yaml was here and is gone: put it back; a group without match and "
			"with layers: [.] is how one group for everyone is written");
		return;
	}
	compiler->groups_are_good = true;
	while ((slot = hash_next(&compiler->shape.misspelt, &cursor))) {
		const struct rcstr *path = slot->value;

		diag_error(compiler->groups_diags, path->text, ((struct position){0, 0}),
			"groups-name", "this file is not used, did you mean \"%s\"?",
			FOLDER_GROUPS_FILE);
		compiler->groups_are_good = false;
	}
	if (!compiler->layering)
		set_layering(compiler, groups_new_default());
}

static void load_groups(struct compiler *compiler)
{
	const struct tree_entry *entry =
		tree_find(compiler->mounts.items[0].tree, SLICE(FOLDER_GROUPS_FILE));

	if (!compiler->groups_changed)
		return;
	compiler->groups_changed = false;
	compiler->is_news = true;
	compiler->groups_are_good = false;
	diag_list_clear(compiler->groups_diags);
	silence_free(TAKE(compiler->groups_silence));
	if (entry) {
		compiler->had_groups = true;
		read_groups(compiler, entry);
	} else {
		do_without_groups(compiler);
	}
}

/* --- reading ------------------------------------------------------------------------------- */

struct reading_job {
	struct unit_reader *readers; /* one per worker */
	struct unit **units;
	struct unit_reading *readings;
};

static void read_one(void *ctx, unsigned worker, size_t item)
{
	struct reading_job *job = ctx;

	if (job->units[item])
		unit_reader_read(&job->readers[worker], job->units[item], &job->readings[item]);
}

void compiler_keep_same(struct unit *unit, struct unit_content *content)
{
	for (uint32_t i = 0; i < content->items_count; i++) {
		struct unit_item *item = &content->items[i];
		struct unit_item *former =
			layer_find(unit->layer, item->resource->type, item->resource->name);

		while (former && former->unit != unit)
			former = former->next_same;
		if (!former || former->is_delete != item->is_delete ||
			former->resource->at.line != item->resource->at.line ||
			former->resource->at.column != item->resource->at.column ||
			!digest_equal(&former->resource->digest, &item->resource->digest))
			continue;
		resource_unref(item->resource);
		item->resource = resource_ref(former->resource);
		unit_item_share(item, former);
	}
}

static void apply(struct compiler *compiler, struct unit *unit, struct unit_reading *reading)
{
	struct build *build = &compiler->build;

	unit->is_stale = false;
	unit->must_bind = false;
	unit->queue = 0;
	build->files_read++;
	build->bytes_read += reading->bytes_read;
	if (!reading->is_unchanged) {
		build->resources_encoded += reading->encoded;
		build->bytes_encoded += reading->bytes_encoded;
	}
	if (!mount_is_root(unit->mount)) {
		staging_take(compiler, unit, reading);
		return;
	}
	if (reading->is_unchanged)
		return;
	if (unit->is_linked && unit->content.items_count)
		compiler_keep_same(unit, &reading->content);
	if (unit->was_read) {
		compiler_remove_items(compiler, unit);
		compiler_retire_content(compiler, unit);
	}
	unit->content = reading->content;
	unit->was_read = true;
	compiler->resources += compiler_count_resources(&unit->content);
	dependents_add(&compiler->dependents, unit, &unit->content);
	compiler_add_items(compiler, unit);
	compiler_update_vocal(compiler, unit);
}

static void read_units(struct compiler *compiler)
{
	struct unit_list *queue = &compiler->queue;
	unsigned threads = compiler->threads;
	struct reading_job job = {.units = queue->units};

	if (queue->count == 0)
		return;
	if (threads > queue->count)
		threads = (unsigned)queue->count;
	if (!compiler->lints)
		compiler->lints = lint_plans_new(compiler->schema, compiler->profile);
	job.readers = xcalloc(threads, sizeof(*job.readers));
	job.readings = xcalloc(queue->count, sizeof(*job.readings));
	for (unsigned i = 0; i < threads; i++) {
		if (!compiler->validators[i])
			compiler->validators[i] = validator_new(compiler->schema);
		unit_reader_init(&job.readers[i], compiler->schema, &compiler->limits,
			compiler->validators[i]);
		job.readers[i].lints = compiler->lints;
		job.readers[i].wants_facts = compiler->is_thorough;
	}
	workers_run(threads, queue->count, read_one, &job);
	for (unsigned i = 0; i < threads; i++)
		unit_reader_fini(&job.readers[i]);
	for (size_t i = 0; i < queue->count; i++) {
		if (queue->units[i])
			apply(compiler, queue->units[i], &job.readings[i]);
	}
	free(job.readers);
	free(job.readings);
	if (queue->capacity > 4096) {
		free(queue->units);
		*queue = (struct unit_list){0};
	}
	queue->count = 0;
}

/* What could not be read, without a sign in the file that it can be now. */
static void retry_unreadable(struct compiler *compiler)
{
	for (size_t i = 0; i < compiler->vocal.count; i++) {
		struct unit *unit = compiler->vocal.units[i];

		if (!unit->content.must_retry)
			continue;
		unit->must_bind = true;
		compiler_enqueue(compiler, unit);
	}
	for (size_t i = 1; i < compiler->mounts.count; i++) {
		const struct unit_list *drafts = &compiler->mounts.items[i].drafts;

		for (size_t k = 0; k < drafts->count; k++) {
			drafts->units[k]->must_bind = true;
			if (drafts->units[k]->draft->content.must_retry)
				compiler_enqueue(compiler, drafts->units[k]);
		}
	}
	if (!compiler->groups_are_good)
		compiler->groups_changed = true;
}

/* --- the outcome --------------------------------------------------------------------------- */

static const struct build_group *find_former(
	const struct build_group *former, size_t count, size_t hint, const struct rcstr *name)
{
	if (hint < count && strcmp(former[hint].name->text, name->text) == 0)
		return &former[hint];
	for (size_t i = 0; i < count; i++) {
		if (strcmp(former[i].name->text, name->text) == 0)
			return &former[i];
	}
	return NULL;
}

static bool is_changed(const struct build_group *former, const struct snapshot *target)
{
	const struct snapshot *before = former ? former->target : NULL;

	if (!before || !target)
		return before != target;
	return before != target && !snapshot_same_content(before, target);
}

static bool is_held(const struct compiler *compiler, size_t errors)
{
	if (errors || !compiler->groups_are_good || compiler->tree_errors)
		return true;
	return compiler->layering->groups->isolate_tree &&
	       diag_list_level_count(compiler->diags, DIAG_ERROR) > staging_count_errors(compiler);
}

static void make_groups(struct compiler *compiler, struct rcstr *source, int64_t now_wall_ms)
{
	size_t count = compiler->layering ? compiler->layering->built_count : 0;
	struct build_group *former = compiler->groups;
	size_t former_count = compiler->build.groups_count;

	compiler->groups = xcalloc(count + 1, sizeof(*compiler->groups));
	for (size_t i = 0; i < count; i++) {
		struct group *group = compiler->layering->built[i];
		struct build_group *out = &compiler->groups[i];

		out->name = rcstr_ref(group->name);
		out->errors = report_group_errors(group);
		out->warnings = group->warnings;
		for (size_t k = 0; k < group->layers_count; k++)
			out->warnings += group->layers[k]->warnings;
		out->is_held = is_held(compiler, out->errors);
		out->held_reason = out->is_held ? group->held_reason : NULL;
		if (!out->is_held)
			out->target = snapshot_ref(group_snapshot(group, source, now_wall_ms));
		out->is_changed =
			is_changed(find_former(former, former_count, i, out->name), out->target);
	}
	free_groups(former, former_count);
	compiler->build.groups = compiler->groups;
	compiler->build.groups_count = count;
}

static void finish_groups(struct compiler *compiler)
{
	struct layering *layering = compiler->layering;

	if (!layering)
		return;
	if (layering_update(layering))
		compiler->is_news = true;
	for (size_t i = 0; i < layering->built_count; i++) {
		struct group *group = layering->built[i];
		unsigned empty_types;
		uint64_t lack;

		empty_types = group_find_empty(group);
		lack = group_find_lack(group);
		if (empty_types != group->empty_types || lack != group->lack)
			compiler->is_news = true;
		group->empty_types = empty_types;
		group->lack = lack;
	}
	compiler->misses_layers = false;
	for (size_t i = 0; i < layering->layers_count; i++) {
		struct layer *layer = layering->layers[i];
		bool is_there = shape_has_folder(&compiler->shape, layer->path);

		if (is_there != layer->is_there)
			compiler->is_news = true;
		layer->is_there = is_there;
		compiler->misses_layers |= !is_there;
	}
}

/* --- mounts -------------------------------------------------------------------------------- */

/* The way to each mount is there, whatever is on disk. */
static void add_mount_folders(struct compiler *compiler)
{
	for (size_t i = 1; i < compiler->mounts.count; i++) {
		struct slice at = compiler->mounts.items[i].at;

		for (; at.length; at = folder_parent(at)) {
			struct rcstr *path = rcstr_new(at.data, at.length);

			shape_add_folder(&compiler->shape, path);
			rcstr_unref(path);
		}
	}
}

static void make_mounts(struct compiler *compiler)
{
	struct build *build = &compiler->build;

	free_mounts(compiler->build_mounts, build->mounts_count);
	build->mounts_count = compiler->mounts.count;
	build->mounts = compiler->build_mounts =
		xcalloc(build->mounts_count, sizeof(*build->mounts));
	for (size_t i = 0; i < build->mounts_count; i++) {
		const struct mount *mount = &compiler->mounts.items[i];
		struct build_mount *out = &compiler->build_mounts[i];
		struct buf reason = BUF_INIT;

		*out = (struct build_mount){.at = mount->at.data,
			.error = mount->error,
			.files = mount->files,
			.errors = diag_list_level_count(mount->diags, DIAG_ERROR),
			.is_accepted = mount->is_accepted};
		if (staging_is_held(mount))
			out->state = mount->was_good ? BUILD_MOUNT_HELD : BUILD_MOUNT_WAITING;
		report_reason(mount, &reason);
		if (reason.length)
			out->reason = buf_take(&reason, NULL);
		buf_fini(&reason);
	}
}

/* --- a run --------------------------------------------------------------------------------- */

/* Groups, what they need of the files, and what is wrong: until every mount is either accepted or
 * kept out. */
static void work_out(struct compiler *compiler)
{
	bool is_over;

	do {
		do {
			load_groups(compiler);
			read_units(compiler);
		} while (staging_open(compiler));
		finish_groups(compiler);
		is_over = compiler->resources > compiler->limits.resources;
		if (compiler->is_news || compiler->verbose || compiler->is_thorough ||
			is_over != compiler->is_over)
			report_make(compiler);
		compiler->is_over = is_over;
		compiler->is_news = false;
	} while (staging_close(compiler));
	staging_accept(compiler);
}

int compiler_look(struct compiler *compiler, const struct compile_look *looks, int64_t now_wall_ms,
	struct rcstr *source, const struct build **ret_build)
{
	struct build *build = &compiler->build;
	bool want_retry = false;

	/* Nothing can be said about a tree without its root. */
	if (!looks[0].is_wanted && !compiler->mounts.items[0].was_looked)
		return -EAGAIN;
	build->files_read = build->resources_encoded = 0;
	build->bytes_read = build->bytes_encoded = 0;
	compiler->names_changed = false;
	compiler->root_changed = false;
	for (size_t i = 0; i < compiler->mounts.count; i++) {
		struct mount *mount = &compiler->mounts.items[i];

		if (!looks[i].is_wanted)
			continue;
		want_retry = want_retry || !looks[i].paths;
		if (changes_look(compiler, mount, &looks[i]) && i == 0 &&
			(compiler->mounts.count == 1 || !mount->was_looked))
			return mount->error;
	}
	if (want_retry || compiler->names_changed)
		retry_unreadable(compiler);
	work_out(compiler);
	make_groups(compiler, source, now_wall_ms);
	make_mounts(compiler);
	forget_retired(compiler);

	build->last_good_error = keeping_save(compiler);
	build->files = compiler->units.count;
	build->resources = compiler->resources;
	build->groups_are_good = compiler->groups_are_good;
	build->selector = compiler->layering ? compiler->layering->groups->selector : NULL;
	build->groups_text = compiler->layering ? compiler->layering->groups->text : SLICE("");
	build->diags = compiler->diags;
	if (build->files_read >= TRIM_READINGS)
		malloc_trim(0);
	*ret_build = build;
	return 0;
}

int compiler_run(struct compiler *compiler, const char *const *paths, size_t count,
	int64_t now_wall_ms, struct rcstr *source, const struct build **ret_build)
{
	size_t mounts = compiler->mounts.count;
	struct compile_look *looks = xcalloc(mounts, sizeof(*looks));
	const char **sorted = xcalloc(count * mounts + 1, sizeof(*sorted));
	int error;

	for (size_t i = 0; i < mounts; i++) {
		looks[i].is_wanted = !paths;
		looks[i].paths = paths ? sorted + i * count : NULL;
	}
	for (size_t i = 0; paths && i < count; i++) {
		const struct mount *mount = mounts_of(&compiler->mounts, slice_of(paths[i]));
		struct compile_look *look = &looks[mount - compiler->mounts.items];

		look->is_wanted = true;
		sorted[(size_t)(look - looks) * count + look->count++] = paths[i];
	}
	error = compiler_look(compiler, looks, now_wall_ms, source, ret_build);
	free(sorted);
	free(looks);
	return error;
}
