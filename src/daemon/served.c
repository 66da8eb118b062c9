/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/served.h"

#include <malloc.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "snapshot/bridge.h"

#define RETRY_FIRST_MS	  1000
#define RETRY_LONGEST_MS  60000
#define FILES_PATIENCE_MS 300000
/* After so many at once what that took is given back to the system. */
#define TRIM_GROUPS 100

struct group {
	struct rcstr *name;
	struct bridge bridge;
	struct snapshot *next; /* on its way out; NULL between turns */
	struct overview_versions rest, files;
	char *held_reason; /* NULL: not held */
	size_t modified_files;
	bool is_state_behind, is_files_behind;
	bool was_files_behind; /* while that is tried again */
	bool is_wanted;	       /* by the last good groups.yaml */
	bool is_stale;	       /* its report has to be brought up to date */
};

struct served {
	struct served_options options;
	struct hash groups;
	struct selector *selector; /* the one in the store */
	struct buf groups_text;	   /* the one in the state folder */
	bool is_text_behind;
	int64_t retry_at_ms; /* -1: no sink is behind */
	int64_t retry_pause_ms;
};

static struct slice name_of(const struct group *group)
{
	return (struct slice){group->name->text, group->name->length};
}

static struct group *next_group(const struct served *served, size_t *cursor)
{
	const struct hash_entry *entry = hash_next(&served->groups, cursor);

	return entry ? entry->value : NULL;
}

static struct group *find_or_add(struct served *served, struct rcstr *name)
{
	struct group *group = hash_get(&served->groups, (struct slice){name->text, name->length});

	if (group)
		return group;
	group = xcalloc(1, sizeof(*group));
	group->name = rcstr_ref(name);
	group->bridge.final_at_ms = -1;
	group->is_stale = true;
	hash_put(&served->groups, name_of(group), group);
	return group;
}

static void group_free(struct group *group)
{
	bridge_fini(&group->bridge);
	snapshot_unref(group->next);
	rcstr_unref(group->name);
	free(group->held_reason);
	free(group);
}

struct served *served_new(const struct served_options *options)
{
	struct served *served = xcalloc(1, sizeof(*served));

	served->options = *options;
	served->retry_at_ms = -1;
	served->retry_pause_ms = RETRY_FIRST_MS;
	hash_init(&served->groups);
	return served;
}

void served_free(struct served *served)
{
	size_t cursor = 0;
	struct group *group;

	while ((group = next_group(served, &cursor)))
		group_free(group);
	hash_fini(&served->groups);
	selector_unref(served->selector);
	buf_fini(&served->groups_text);
	free(served);
}

/* ---- telling ---- */

static void tell_one(struct served *served, struct group *group, int64_t now_ms)
{
	const struct snapshot *target = group->bridge.target;
	const struct snapshot *published = group->bridge.published;
	struct overview_group report = {
		.name = name_of(group),
		.is_held = group->held_reason != NULL,
		.held_reason = group->held_reason,
		.is_serving = published != NULL,
		.bridge_left_ms = group->bridge.final_at_ms < 0 ? -1
				  : group->bridge.final_at_ms < now_ms
					  ? 0
					  : group->bridge.final_at_ms - now_ms,
		.modified_files = group->modified_files,
		.is_files_behind = group->is_files_behind,
		.is_state_behind = group->is_state_behind,
		.rest = group->rest,
		.files = group->files,
	};

	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		if (target) {
			report.built.is_known[type] = true;
			report.built.versions[type] = *resource_set_version(target->sets[type]);
		}
		if (published)
			report.counts[type] = resource_set_count(published->sets[type]);
	}
	overview_group(served->options.report, &report);
	group->is_stale = false;
}

static void tell_stale(struct served *served, int64_t now_ms)
{
	size_t cursor = 0;
	struct group *group;

	while ((group = next_group(served, &cursor)))
		if (group->is_stale)
			tell_one(served, group, now_ms);
}

/* One line per type whose version is new. */
static void log_published(const struct served *served, const struct group *group,
	const struct overview_versions *before, const struct snapshot *snapshot)
{
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		const struct xds_type_row *row = xds_type_row((enum xds_type)type);
		const struct resource_set *set = snapshot->sets[type];
		const struct version *version = resource_set_version(set);

		if (before->is_known[type] ? version_equal(version, &before->versions[type])
					   : resource_set_count(set) == 0)
			continue;
		log_event(served->options.log, LOG_LEVEL_INFO, "published",
			LOG_SLICE("group", name_of(group)), LOG_TEXT("type", row->name),
			LOG_TEXT("version", row->is_secret ? "-" : version->text),
			LOG_NUMBER("resources", (int64_t)resource_set_count(set)));
	}
}

static void log_bridge(const struct served *served, const struct group *group, bool was_open,
	const struct snapshot *snapshot)
{
	if (was_open != snapshot->is_bridge)
		log_event(served->options.log, LOG_LEVEL_INFO,
			snapshot->is_bridge ? "bridge-open" : "bridge-closed",
			LOG_SLICE("group", name_of(group)));
}

/* ---- the three sinks ---- */

static void note_state_error(struct served *served, int error)
{
	overview_state_error(served->options.report, error ? strerror(-error) : NULL);
	if (error)
		log_event(served->options.log, LOG_LEVEL_ERROR, "state-failed",
			LOG_TEXT("error", strerror(-error)),
			LOG_NUMBER("retry_ms", served->retry_pause_ms));
}

static void note_files_error(struct served *served, const struct group *group, int error)
{
	log_event(served->options.log, LOG_LEVEL_ERROR, "publish-failed",
		LOG_SLICE("group", name_of(group)), LOG_TEXT("error", strerror(-error)),
		LOG_NUMBER("retry_ms", served->retry_pause_ms));
}

static int save_group(struct served *served, struct group *group)
{
	int error = 0;

	if (served->options.state)
		error = state_save(served->options.state, group->bridge.published);
	group->is_state_behind = error != 0;
	group->is_stale = true;
	return error;
}

static void store_group(struct served *served, struct group *group)
{
	struct snapshot *snapshot = group->bridge.published;

	store_publish(served->options.store, name_of(group), snapshot);
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		group->rest.is_known[type] = true;
		group->rest.versions[type] = *resource_set_version(snapshot->sets[type]);
	}
	group->is_stale = true;
}

static void note_published(
	struct served *served, struct group *group, const struct publish_result *result, int error)
{
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		group->files.is_known[type] = publisher_version(served->options.publisher,
			name_of(group), (enum xds_type)type, &group->files.versions[type]);
	group->is_files_behind = error != 0;
	group->is_stale = true;
	if (error) {
		note_files_error(served, group, error);
		return;
	}
	group->modified_files = 0;
	if (result->written || result->removed)
		log_event(served->options.log, LOG_LEVEL_INFO, "files",
			LOG_SLICE("group", name_of(group)),
			LOG_NUMBER("written", (int64_t)result->written),
			LOG_NUMBER("removed", (int64_t)result->removed),
			LOG_NUMBER("bytes", (int64_t)result->bytes));
}

/* An error is over once no group is behind. */
static void note_files(struct served *served, int error)
{
	const struct group *group;
	size_t cursor = 0;

	while (!error && (group = next_group(served, &cursor)))
		if (group->is_files_behind)
			return;
	overview_files_error(served->options.report, error ? strerror(-error) : NULL);
}

static bool is_next(const struct group *group)
{
	return group->next != NULL;
}

static bool is_loaded(const struct group *group)
{
	return group->bridge.published != NULL;
}

static bool is_files_behind(const struct group *group)
{
	return group->is_files_behind;
}

/* The files of all groups that are wanted, which wait for the disk together. Returns the last
 * error; each group knows whether it is behind. */
static int publish_groups(struct served *served, bool (*is_wanted)(const struct group *group))
{
	struct group *group, **groups = xcalloc(served->groups.count + 1, sizeof(*groups));
	struct snapshot **snapshots = xcalloc(served->groups.count + 1, sizeof(*snapshots));
	struct publish_result *results = xcalloc(served->groups.count + 1, sizeof(*results));
	int *errors = xcalloc(served->groups.count + 1, sizeof(*errors)), error = 0;
	size_t cursor = 0, count = 0;

	while (served->options.publisher && (group = next_group(served, &cursor))) {
		if (!is_wanted(group))
			continue;
		groups[count] = group;
		snapshots[count++] = group->bridge.published;
	}
	if (count)
		publisher_publish_many(
			served->options.publisher, snapshots, count, results, errors);
	for (size_t i = 0; i < count; i++) {
		note_published(served, groups[i], &results[i], errors[i]);
		error = errors[i] ? errors[i] : error;
	}
	if (count)
		note_files(served, error);
	free(groups);
	free(snapshots);
	free(results);
	free(errors);
	return error;
}

static int save_text(struct served *served)
{
	int error = 0;

	if (served->options.state)
		error = state_save_groups(served->options.state, buf_slice(&served->groups_text));
	served->is_text_behind = error != 0;
	return error;
}

static void schedule_retry(struct served *served, int64_t now_ms)
{
	if (served->retry_at_ms < 0)
		served->retry_at_ms = now_ms + served->retry_pause_ms;
}

/* Every group's `next` with one sync. On error all of them are behind. */
static int save_next(struct served *served)
{
	size_t cursor;
	struct group *group;
	int error = 0;

	for (cursor = 0; served->options.state && (group = next_group(served, &cursor)) && !error;)
		if (group->next)
			error = state_write(served->options.state, group->bridge.published);
	if (served->options.state && !error)
		error = state_sync(served->options.state);
	for (cursor = 0; (group = next_group(served, &cursor));)
		if (group->next)
			group->is_state_behind = error != 0;
	return error;
}

/* Brings out every group's `next`: all to the state folder, all to clients, all to files. */
static size_t bring_out(struct served *served, int64_t now_ms)
{
	size_t cursor, count = 0;
	struct group *group;
	int error = save_next(served);

	if (error) {
		note_state_error(served, error);
		schedule_retry(served, now_ms);
	}
	for (cursor = 0; (group = next_group(served, &cursor));) {
		if (!group->next)
			continue;
		log_published(served, group, &group->rest, group->next);
		store_group(served, group);
		count++;
	}
	if (count && publish_groups(served, is_next) < 0)
		schedule_retry(served, now_ms);
	for (cursor = 0; (group = next_group(served, &cursor));)
		snapshot_unref(TAKE(group->next));
	if (count >= TRIM_GROUPS)
		malloc_trim(0);
	return count;
}

/* ---- start ---- */

static bool is_among(const struct texts *only, const char *name)
{
	for (size_t i = 0; i < only->count; i++)
		if (strcmp(only->items[i], name) == 0)
			return true;
	return only->count == 0;
}

static void load_selector(struct served *served, const struct texts *only)
{
	struct slice text = state_groups(served->options.state);
	struct selector *selector = NULL;
	struct rcstr **names;
	size_t count = 0;

	buf_append_slice(&served->groups_text, text);
	if (text.length == 0 || compile_selector(text, &selector) < 0)
		return;
	served->selector = selector;
	store_set_selector(served->options.store, selector);
	names = xcalloc(selector_count(selector) + 1, sizeof(struct rcstr *));
	for (size_t i = 0; i < selector_count(selector); i++) {
		struct rcstr *name = selector_group(selector, i);

		if (is_among(only, name->text))
			names[count++] = name;
	}
	overview_order(served->options.report, names, count);
	free(names);
}

size_t served_load(struct served *served, const struct texts *only)
{
	struct state *state = served->options.state;
	size_t count = 0;

	if (!state)
		return 0;
	for (size_t i = 0; i < state_count(state); i++) {
		struct snapshot *snapshot = state_snapshot(state, i);
		struct group *group;

		if (!is_among(only, snapshot->group->text))
			continue;
		group = find_or_add(served, snapshot->group);
		group->bridge.published = snapshot_ref(snapshot);
		store_group(served, group);
		count++;
	}
	load_selector(served, only);
	tell_stale(served, 0);
	return count;
}

void served_publish_loaded(struct served *served, int64_t now_ms)
{
	if (publish_groups(served, is_loaded) < 0)
		schedule_retry(served, now_ms);
	tell_stale(served, now_ms);
}

/* ---- builds ---- */

static void set_held(struct served *served, struct group *group, const char *reason)
{
	if (!reason && !group->held_reason)
		return;
	if (reason && group->held_reason && strcmp(reason, group->held_reason) == 0)
		return;
	if (reason)
		log_event(served->options.log, LOG_LEVEL_ERROR, "held",
			LOG_SLICE("group", name_of(group)), LOG_TEXT("reason", reason));
	else
		log_event(served->options.log, LOG_LEVEL_INFO, "released",
			LOG_SLICE("group", name_of(group)));
	free(group->held_reason);
	group->held_reason = reason ? xstrdup(reason) : NULL;
	group->is_stale = true;
}

static void take_target(
	struct served *served, const struct build_group *built, int64_t now_ms, int64_t grace_ms)
{
	struct group *group = find_or_add(served, built->name);
	bool was_open = group->bridge.published && group->bridge.published->is_bridge;

	set_held(served, group,
		!built->is_held	     ? NULL
		: built->held_reason ? built->held_reason
				     : "errors in the tree");
	group->is_wanted = true;
	if (!built->target || built->target == group->bridge.target)
		return;
	group->next = bridge_on_target(&group->bridge, built->target, now_ms, grace_ms);
	group->is_stale = true;
	if (group->next)
		log_bridge(served, group, was_open, group->next);
}

static void take_selector(struct served *served, const struct build *build, int64_t now_ms)
{
	struct selector *former = served->selector;
	int error;

	if (build->selector && build->selector != former) {
		served->selector = selector_ref(build->selector);
		store_set_selector(served->options.store, build->selector);
		selector_unref(former);
	}
	if (!build->selector || slice_equal(build->groups_text, buf_slice(&served->groups_text)))
		return;
	buf_reset(&served->groups_text);
	buf_append_slice(&served->groups_text, build->groups_text);
	error = save_text(served);
	if (error) {
		note_state_error(served, error);
		schedule_retry(served, now_ms);
	}
}

/* Their nodes belong to other groups by now; their files stay. */
static void drop_unwanted(struct served *served)
{
	struct group *unwanted;
	size_t cursor;

	do {
		struct group *group;

		unwanted = NULL;
		for (cursor = 0; !unwanted && (group = next_group(served, &cursor));)
			if (!group->is_wanted)
				unwanted = group;
		if (unwanted) {
			hash_remove(&served->groups, name_of(unwanted));
			log_event(served->options.log, LOG_LEVEL_INFO, "group-gone",
				LOG_SLICE("group", name_of(unwanted)));
			store_publish(served->options.store, name_of(unwanted), NULL);
			if (served->options.state)
				(void)state_forget(served->options.state, name_of(unwanted));
			overview_group_gone(served->options.report, name_of(unwanted));
			group_free(unwanted);
		}
	} while (unwanted);
}

static void tell_names(struct served *served, const struct build *build)
{
	struct rcstr **names = xcalloc(build->groups_count + 1, sizeof(struct rcstr *));

	for (size_t i = 0; i < build->groups_count; i++)
		names[i] = build->groups[i].name;
	overview_order(served->options.report, names, build->groups_count);
	free(names);
}

size_t served_apply(
	struct served *served, const struct build *build, int64_t now_ms, int64_t grace_ms)
{
	size_t cursor = 0, count;
	struct group *group;

	while ((group = next_group(served, &cursor)))
		group->is_wanted = false;
	for (size_t i = 0; i < build->groups_count; i++)
		take_target(served, &build->groups[i], now_ms, grace_ms);
	count = bring_out(served, now_ms);
	take_selector(served, build, now_ms);
	if (build->groups_are_good) {
		drop_unwanted(served);
		tell_names(served, build);
	} else {
		/* Nobody knows which groups there should be: all go on as they are. */
		cursor = 0;
		while ((group = next_group(served, &cursor)))
			if (!group->is_wanted)
				set_held(served, group, "errors in groups.yaml");
	}
	tell_stale(served, now_ms);
	return count;
}

/* ---- time ---- */

/* When the group's bridge ends; later while its files are behind, so that Envoys that read files
 * see the bridge too. */
static int64_t bridge_end_ms(const struct group *group)
{
	int64_t end = group->bridge.final_at_ms;

	return end >= 0 && group->is_files_behind ? end + FILES_PATIENCE_MS : end;
}

int64_t served_next_ms(const struct served *served)
{
	int64_t next = served->retry_at_ms;
	size_t cursor = 0;
	const struct group *group;

	while ((group = next_group(served, &cursor))) {
		int64_t end = bridge_end_ms(group);

		if (end >= 0 && (next < 0 || end < next))
			next = end;
	}
	return next;
}

static void retry_sinks(struct served *served, int64_t now_ms, int64_t grace_ms)
{
	size_t cursor = 0;
	struct group *group;
	int files_error;
	bool was_state_behind = served->is_text_behind;
	int state_error = served->is_text_behind ? save_text(served) : 0;

	served->retry_at_ms = -1;
	served->retry_pause_ms = served->retry_pause_ms * 2 > RETRY_LONGEST_MS
					 ? RETRY_LONGEST_MS
					 : served->retry_pause_ms * 2;
	while ((group = next_group(served, &cursor))) {
		if (group->is_state_behind) {
			was_state_behind = true;
			if (!state_error)
				state_error = save_group(served, group);
		}
		group->was_files_behind = group->is_files_behind;
	}
	files_error = publish_groups(served, is_files_behind);
	for (cursor = 0; (group = next_group(served, &cursor));)
		if (group->was_files_behind && !group->is_files_behind &&
			group->bridge.final_at_ms >= 0)
			group->bridge.final_at_ms = now_ms + grace_ms;
	if (was_state_behind)
		note_state_error(served, state_error);
	if (state_error || files_error) {
		schedule_retry(served, now_ms);
	} else {
		served->retry_pause_ms = RETRY_FIRST_MS;
		log_event(served->options.log, LOG_LEVEL_INFO, "recovered",
			LOG_TEXT("what", "everything is on disk again"));
	}
}

void served_on_time(struct served *served, int64_t now_ms, int64_t grace_ms)
{
	size_t cursor = 0;
	struct group *group;

	if (served->retry_at_ms >= 0 && now_ms >= served->retry_at_ms)
		retry_sinks(served, now_ms, grace_ms);
	while ((group = next_group(served, &cursor))) {
		int64_t end = bridge_end_ms(group);

		if (end < 0 || now_ms < end)
			continue;
		group->next = bridge_on_time(&group->bridge, now_ms);
		group->is_stale = true;
		if (group->next)
			log_bridge(served, group, true, group->next);
	}
	bring_out(served, now_ms);
	tell_stale(served, now_ms);
}

/* ---- files that others changed ---- */

static void on_modified(void *ctx, struct slice name, const char *path)
{
	struct served *served = ctx;
	struct group *group = hash_get(&served->groups, name);

	log_event(served->options.log, LOG_LEVEL_WARNING, "modified", LOG_SLICE("group", name),
		LOG_TEXT("path", path),
		LOG_TEXT("what", "changed by someone else; rewritten at the next publish"));
	if (group) {
		group->modified_files++;
		group->is_stale = true;
	}
}

void served_check_files(struct served *served)
{
	int count;

	if (!served->options.publisher)
		return;
	count = publisher_check(served->options.publisher, on_modified, served);
	if (count < 0)
		log_event(served->options.log, LOG_LEVEL_WARNING, "check-failed",
			LOG_TEXT("error", strerror(-count)));
	tell_stale(served, clock_monotonic_ms());
}
