/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/overview.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"

#define DIAGS_SHOWN   100
#define CLIENTS_SHOWN 1000

struct entry {
	struct overview_group group;
	char *name, *held_reason; /* what the borrowed texts of `group` point to */
	int64_t bridge_until_ms;  /* wall clock; -1: none */
};

struct mount_entry {
	struct overview_mount mount;
	char *at, *path, *reason; /* what the texts of `mount` point to */
	const char *pending;
	int64_t accepted_ms, since_ms; /* wall clock: what it gave last, its state; 0: never */
};

struct overview {
	pthread_mutex_t mutex;
	int64_t started_ms;

	char *config, *source, *schema, *state, *publish;
	char **formats;
	size_t formats_count;
	json_t *listeners; /* lists of addresses by transport */
	const struct watch *watch;
	struct rest_server *rest;
	struct grpc_part *grpc;

	char *source_error;
	bool is_scanned;
	int64_t scanned_ms;
	const char *pending;
	struct mount_entry *mounts;
	size_t mounts_count;

	uint64_t serial;
	int64_t built_ms;
	struct overview_build build;
	struct diag_list *diags;
	size_t errors, warnings;

	struct hash groups; /* of struct entry */
	struct rcstr **order;
	size_t order_count;
	char *state_error, *files_error;
};

struct overview *overview_new(void)
{
	struct overview *report = xcalloc(1, sizeof(*report));

	pthread_mutex_init(&report->mutex, NULL);
	report->started_ms = clock_wall_ms();
	report->diags = diag_list_new(DIAGS_SHOWN);
	report->listeners = json_pack("{s[]s[]s[]}", "rest", "grpc", "admin");
	report->pending = "first build";
	hash_init(&report->groups);
	return report;
}

static void entry_free(struct entry *entry)
{
	free(entry->name);
	free(entry->held_reason);
	free(entry);
}

static void forget_order(struct overview *report)
{
	for (size_t i = 0; i < report->order_count; i++)
		rcstr_unref(report->order[i]);
	free(report->order);
	report->order = NULL;
	report->order_count = 0;
}

static void forget_setup(struct overview *report)
{
	for (size_t i = 0; i < report->formats_count; i++)
		free(report->formats[i]);
	free(report->formats);
	free(report->config);
	free(report->source);
	free(report->schema);
	free(report->state);
	free(report->publish);
}

static void free_mounts(struct mount_entry *mounts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(mounts[i].at);
		free(mounts[i].path);
		free(mounts[i].reason);
	}
	free(mounts);
}

void overview_free(struct overview *report)
{
	size_t cursor = 0;
	const struct hash_entry *entry;

	while ((entry = hash_next(&report->groups, &cursor)))
		entry_free(entry->value);
	hash_fini(&report->groups);
	forget_order(report);
	forget_setup(report);
	free_mounts(report->mounts, report->mounts_count);
	json_decref(report->listeners);
	diag_list_free(report->diags);
	free(report->source_error);
	free(report->state_error);
	free(report->files_error);
	pthread_mutex_destroy(&report->mutex);
	free(report);
}

static char *copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static void set_text(struct overview *report, char **at, const char *text)
{
	pthread_mutex_lock(&report->mutex);
	free(*at);
	*at = copy_text(text);
	pthread_mutex_unlock(&report->mutex);
}

/* ---- the build thread ---- */

void overview_build(struct overview *report, const struct overview_build *build)
{
	pthread_mutex_lock(&report->mutex);
	report->serial++;
	report->built_ms = clock_wall_ms();
	report->build = *build;
	diag_list_clear(report->diags);
	for (size_t i = 0; i < diag_list_count(build->diags) && i < DIAGS_SHOWN; i++)
		diag_list_copy(report->diags, diag_list_get(build->diags, i));
	report->errors = diag_list_level_count(build->diags, DIAG_ERROR);
	report->warnings = diag_list_level_count(build->diags, DIAG_WARNING);
	report->build.diags = NULL;
	pthread_mutex_unlock(&report->mutex);
}

void overview_source(struct overview *report, const char *error)
{
	pthread_mutex_lock(&report->mutex);
	free(report->source_error);
	report->source_error = copy_text(error);
	report->is_scanned = true;
	report->scanned_ms = clock_wall_ms();
	pthread_mutex_unlock(&report->mutex);
}

void overview_pending(struct overview *report, const char *what)
{
	pthread_mutex_lock(&report->mutex);
	report->pending = what;
	pthread_mutex_unlock(&report->mutex);
}

static struct mount_entry *find_mount(struct overview *report, const char *at)
{
	for (size_t i = 0; i < report->mounts_count; i++) {
		if (strcmp(report->mounts[i].at, at) == 0)
			return &report->mounts[i];
	}
	return NULL;
}

void overview_mounts(struct overview *report, const struct overview_mount *mounts, size_t count)
{
	struct mount_entry *entries = xcalloc(count, sizeof(*entries));
	int64_t now_ms = clock_wall_ms();

	pthread_mutex_lock(&report->mutex);
	for (size_t i = 0; i < count; i++) {
		struct mount_entry *entry = &entries[i];
		const struct mount_entry *former = find_mount(report, mounts[i].at);
		bool is_same = former && strcmp(former->mount.state, mounts[i].state) == 0;

		entry->mount = mounts[i];
		entry->mount.at = entry->at = xstrdup(mounts[i].at);
		entry->mount.path = entry->path = xstrdup(mounts[i].path);
		entry->mount.reason = entry->reason = copy_text(mounts[i].reason);
		entry->pending = former ? former->pending : NULL;
		entry->since_ms = is_same ? former->since_ms : now_ms;
		entry->accepted_ms = mounts[i].is_accepted ? now_ms
				     : former		   ? former->accepted_ms
							   : 0;
	}
	free_mounts(report->mounts, report->mounts_count);
	report->mounts = entries;
	report->mounts_count = count;
	pthread_mutex_unlock(&report->mutex);
}

void overview_mount_pending(struct overview *report, const char *at, const char *what)
{
	struct mount_entry *entry;

	pthread_mutex_lock(&report->mutex);
	entry = find_mount(report, at);
	if (entry)
		entry->pending = what;
	pthread_mutex_unlock(&report->mutex);
}

void overview_group(struct overview *report, const struct overview_group *group)
{
	struct entry *entry;

	pthread_mutex_lock(&report->mutex);
	entry = hash_get(&report->groups, group->name);
	if (!entry) {
		entry = xcalloc(1, sizeof(*entry));
		entry->name = xstrndup(group->name.data, group->name.length);
		hash_put(&report->groups, slice_of(entry->name), entry);
	}
	free(entry->held_reason);
	entry->held_reason = copy_text(group->held_reason);
	entry->group = *group;
	entry->group.name = slice_of(entry->name);
	entry->group.held_reason = entry->held_reason;
	entry->bridge_until_ms =
		group->bridge_left_ms < 0 ? -1 : clock_wall_ms() + group->bridge_left_ms;
	pthread_mutex_unlock(&report->mutex);
}

void overview_group_gone(struct overview *report, struct slice name)
{
	struct entry *entry;

	pthread_mutex_lock(&report->mutex);
	entry = hash_remove(&report->groups, name);
	pthread_mutex_unlock(&report->mutex);
	if (entry)
		entry_free(entry);
}

void overview_order(struct overview *report, struct rcstr *const *names, size_t count)
{
	pthread_mutex_lock(&report->mutex);
	forget_order(report);
	report->order = xcalloc(count + 1, sizeof(struct rcstr *));
	for (size_t i = 0; i < count; i++)
		report->order[i] = rcstr_ref(names[i]);
	report->order_count = count;
	pthread_mutex_unlock(&report->mutex);
}

void overview_state_error(struct overview *report, const char *error)
{
	set_text(report, &report->state_error, error);
}

void overview_files_error(struct overview *report, const char *error)
{
	set_text(report, &report->files_error, error);
}

/* ---- the main thread ---- */

void overview_setup(struct overview *report, const struct overview_setup *setup)
{
	pthread_mutex_lock(&report->mutex);
	forget_setup(report);
	report->config = copy_text(setup->config);
	report->source = copy_text(setup->source);
	report->schema = copy_text(setup->schema);
	report->state = copy_text(setup->state);
	report->publish = copy_text(setup->publish);
	report->formats = xcalloc(setup->formats_count + 1, sizeof(char *));
	report->formats_count = setup->formats_count;
	for (size_t i = 0; i < setup->formats_count; i++)
		report->formats[i] = xstrdup(setup->formats[i]);
	pthread_mutex_unlock(&report->mutex);
}

void overview_watch(struct overview *report, const struct watch *watch)
{
	pthread_mutex_lock(&report->mutex);
	report->watch = watch;
	pthread_mutex_unlock(&report->mutex);
}

void overview_rest(struct overview *report, struct rest_server *server)
{
	pthread_mutex_lock(&report->mutex);
	report->rest = server;
	pthread_mutex_unlock(&report->mutex);
}

void overview_grpc(struct overview *report, struct grpc_part *part)
{
	pthread_mutex_lock(&report->mutex);
	report->grpc = part;
	pthread_mutex_unlock(&report->mutex);
}

static json_t *texts_json(const char *const *texts, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_string_nocheck(texts[i]));
	return list;
}

static json_t *addresses_json(const struct texts *texts)
{
	return texts_json((const char *const *)texts->items, texts->count);
}

void overview_listeners(struct overview *report, const struct texts *rest, const struct texts *grpc,
	const struct texts *admin)
{
	pthread_mutex_lock(&report->mutex);
	json_decref(report->listeners);
	report->listeners = json_pack("{so so so}", "rest", addresses_json(rest), "grpc",
		addresses_json(grpc), "admin", addresses_json(admin));
	pthread_mutex_unlock(&report->mutex);
}

/* ---- the document ---- */

static json_t *text_json(const char *text)
{
	json_t *value;

	if (!text)
		return json_null();
	value = json_string(text);
	return value ? value : json_string("(not UTF-8)");
}

static json_t *time_json(int64_t wall_ms)
{
	char text[25];

	clock_format_utc(wall_ms, text);
	return json_string(text);
}

static void add_version(json_t *object, const char *key, const struct overview_versions *versions,
	enum xds_type type)
{
	if (versions->is_known[type])
		json_object_set_new(object, key, json_string(versions->versions[type].text));
}

static json_t *types_json(const struct overview_group *group)
{
	json_t *types = json_object();

	for (int i = 0; i < XDS_TYPE_COUNT; i++) {
		enum xds_type type = (enum xds_type)i;
		const struct xds_type_row *row = xds_type_row(type);
		json_t *object;

		if (!group->counts[type] && !row->is_wildcard)
			continue;
		object = json_pack("{sI}", "count", (json_int_t)group->counts[type]);
		if (!row->is_secret) {
			add_version(object, "built", &group->built, type);
			add_version(object, "files", &group->files, type);
			/* One store serves both. */
			add_version(object, "rest", &group->rest, type);
			add_version(object, "grpc", &group->rest, type);
		}
		json_object_set_new(types, row->name, object);
	}
	return types;
}

static json_t *group_json(const struct entry *entry)
{
	const struct overview_group *group = &entry->group;
	json_t *object = json_object();

	json_object_set_new(object, "name", json_string(entry->name));
	json_object_set_new(object, "serving", json_boolean(group->is_serving));
	json_object_set_new(object, "held", json_boolean(group->is_held));
	json_object_set_new(object, "reason", text_json(entry->held_reason));
	json_object_set_new(object, "bridge_until",
		entry->bridge_until_ms < 0 ? json_null() : time_json(entry->bridge_until_ms));
	json_object_set_new(object, "files_behind", json_boolean(group->is_files_behind));
	json_object_set_new(object, "state_behind", json_boolean(group->is_state_behind));
	json_object_set_new(
		object, "modified_files", json_integer((json_int_t)group->modified_files));
	json_object_set_new(object, "types", types_json(group));
	return object;
}

static json_t *groups_json(const struct overview *report)
{
	json_t *list = json_array();

	for (size_t i = 0; i < report->order_count; i++) {
		const struct entry *entry = hash_get(&report->groups,
			(struct slice){report->order[i]->text, report->order[i]->length});

		if (entry)
			json_array_append_new(list, group_json(entry));
	}
	return list;
}

static json_t *source_json(const struct overview *report)
{
	json_t *object = json_object();
	const char *reason = "watching is off";
	bool is_working = report->watch && watch_is_working(report->watch, 0, &reason);

	json_object_set_new(object, "path", text_json(report->source));
	json_object_set_new(object, "error", text_json(report->source_error));
	json_object_set_new(object, "last_scan",
		report->is_scanned ? time_json(report->scanned_ms) : json_null());
	json_object_set_new(object, "watching", json_boolean(is_working));
	json_object_set_new(object, "watch_problem", text_json(is_working ? NULL : reason));
	json_object_set_new(object, "pending", text_json(report->pending));
	return object;
}

static json_t *mounts_json(const struct overview *report)
{
	json_t *list = json_array();

	/* The root is "source". */
	for (size_t i = 1; i < report->mounts_count; i++) {
		const struct mount_entry *entry = &report->mounts[i];
		const struct overview_mount *mount = &entry->mount;
		const char *reason = "watching is off";
		bool is_working = report->watch && watch_is_working(report->watch, i, &reason);
		json_t *object = json_object();

		json_object_set_new(object, "at", text_json(mount->at));
		json_object_set_new(object, "path", text_json(mount->path));
		json_object_set_new(object, "state", json_string(mount->state));
		json_object_set_new(object, "since", time_json(entry->since_ms));
		json_object_set_new(object, "reason", text_json(mount->reason));
		json_object_set_new(object, "files", json_integer((json_int_t)mount->files));
		json_object_set_new(object, "errors", json_integer((json_int_t)mount->errors));
		json_object_set_new(object, "accepted",
			entry->accepted_ms ? time_json(entry->accepted_ms) : json_null());
		json_object_set_new(object, "watching", json_boolean(is_working));
		json_object_set_new(object, "watch_problem", text_json(is_working ? NULL : reason));
		json_object_set_new(object, "pending", text_json(entry->pending));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *build_json(const struct overview *report)
{
	const struct overview_build *build = &report->build;
	json_t *object = json_object();

	json_object_set_new(object, "serial", json_integer((json_int_t)report->serial));
	json_object_set_new(
		object, "at", report->serial ? time_json(report->built_ms) : json_null());
	json_object_set_new(object, "ms", json_integer(build->duration_ms));
	json_object_set_new(object, "files", json_integer((json_int_t)build->files));
	json_object_set_new(object, "files_read", json_integer((json_int_t)build->files_read));
	json_object_set_new(object, "resources", json_integer((json_int_t)build->resources));
	json_object_set_new(
		object, "resources_encoded", json_integer((json_int_t)build->resources_encoded));
	return object;
}

static json_t *diagnostics_json(const struct overview *report)
{
	json_t *object = json_object(), *list = json_array();
	struct buf line = BUF_INIT;

	for (size_t i = 0; i < diag_list_count(report->diags); i++) {
		buf_reset(&line);
		diag_format(diag_list_get(report->diags, i), &line);
		json_array_append_new(list, text_json(buf_cstr(&line)));
	}
	buf_fini(&line);
	json_object_set_new(object, "errors", json_integer((json_int_t)report->errors));
	json_object_set_new(object, "warnings", json_integer((json_int_t)report->warnings));
	json_object_set_new(object, "shown", list);
	return object;
}

static json_t *sinks_json(const struct overview *report)
{
	json_t *object = json_object();

	if (report->state)
		json_object_set_new(object, "state",
			json_pack("{so so}", "path", text_json(report->state), "error",
				text_json(report->state_error)));
	if (report->publish)
		json_object_set_new(object, "files",
			json_pack("{so so so}", "path", text_json(report->publish), "formats",
				texts_json((const char *const *)report->formats,
					report->formats_count),
				"error", text_json(report->files_error)));
	return object;
}

/* NULL: ready. The mutex is held. */
static char *why_not_ready(const struct overview *report)
{
	if (report->order_count == 0)
		return report->source_error
			       ? xasprintf("the source cannot be read: %s", report->source_error)
		       : report->serial ? xstrdup("no groups are known: groups.yaml has errors")
					: xstrdup("the first build is not done yet");
	for (size_t i = 0; i < report->order_count; i++) {
		const char *name = report->order[i]->text;
		const struct entry *entry = hash_get(&report->groups, slice_of(name));

		if (!entry || !entry->group.is_serving)
			return xasprintf("group %s has nothing to serve yet: %s", name,
				entry && entry->held_reason ? entry->held_reason
				: report->source_error	    ? report->source_error
							    : "not built yet");
	}
	return NULL;
}

/* A transport's section, and its clients to those of the others: people look for a node, not for
 * the way it came. */
static void add_transport(json_t *document, const char *name, json_t *section)
{
	static const char *const shared[] = {"clients", "unmatched"};

	for (size_t i = 0; i < 2; i++) {
		json_array_extend(
			json_object_get(document, shared[i]), json_object_get(section, shared[i]));
		json_object_del(section, shared[i]);
	}
	json_object_set_new(document, name, section);
}

json_t *overview_json(struct overview *report)
{
	json_t *object = json_object();
	char *reason;

	pthread_mutex_lock(&report->mutex);
	reason = why_not_ready(report);
	json_object_set_new(object, "program", json_string(PACKAGE_NAME));
	json_object_set_new(object, "version", json_string(PACKAGE_VERSION));
	json_object_set_new(object, "pid", json_integer(getpid()));
	json_object_set_new(object, "started", time_json(report->started_ms));
	json_object_set_new(object, "config", text_json(report->config));
	json_object_set_new(object, "schema", text_json(report->schema));
	json_object_set_new(object, "ready", json_boolean(!reason));
	json_object_set_new(object, "not_ready_reason", text_json(reason));
	json_object_set_new(object, "source", source_json(report));
	json_object_set_new(object, "mounts", mounts_json(report));
	json_object_set_new(object, "build", build_json(report));
	json_object_set_new(object, "groups", groups_json(report));
	json_object_set_new(object, "diagnostics", diagnostics_json(report));
	json_object_set_new(object, "sinks", sinks_json(report));
	/* Copies: the document lives on without the mutex. */
	json_object_set_new(object, "listeners", json_deep_copy(report->listeners));
	json_object_set_new(object, "clients", json_array());
	json_object_set_new(object, "unmatched", json_array());
	if (report->rest)
		add_transport(object, "rest", rest_server_status(report->rest, CLIENTS_SHOWN));
	if (report->grpc)
		add_transport(object, "grpc", grpc_part_status(report->grpc, CLIENTS_SHOWN));
	pthread_mutex_unlock(&report->mutex);
	free(reason);
	return object;
}

bool overview_is_ready(struct overview *report, char **ret_reason)
{
	char *reason;

	pthread_mutex_lock(&report->mutex);
	reason = why_not_ready(report);
	pthread_mutex_unlock(&report->mutex);
	if (!reason)
		return true;
	*ret_reason = reason;
	return false;
}

char *overview_line(struct overview *report)
{
	struct buf line = BUF_INIT;
	size_t held = 0;
	const char *first = NULL;
	char *reason;

	pthread_mutex_lock(&report->mutex);
	reason = why_not_ready(report);
	for (size_t i = 0; i < report->order_count; i++) {
		const struct entry *entry = hash_get(&report->groups,
			(struct slice){report->order[i]->text, report->order[i]->length});

		if (!entry || !entry->group.is_held)
			continue;
		held++;
		if (!first)
			first = entry->held_reason;
	}
	if (reason) {
		buf_printf(&line, "waiting: %s", reason);
	} else {
		buf_printf(&line, "%zu %s, %zu resources", report->order_count,
			report->order_count == 1 ? "group" : "groups", report->build.resources);
		if (held)
			buf_printf(&line, "; %zu held: %s", held, first ? first : "");
		if (report->source_error)
			buf_printf(&line, "; source: %s", report->source_error);
		for (size_t i = 1; i < report->mounts_count; i++) {
			const struct overview_mount *mount = &report->mounts[i].mount;

			if (mount->reason)
				buf_printf(&line, "; mount %s %s: %s", mount->at, mount->state,
					mount->reason);
		}
		if (report->state_error)
			buf_printf(&line, "; state folder: %s", report->state_error);
		if (report->files_error)
			buf_printf(&line, "; published files: %s", report->files_error);
	}
	pthread_mutex_unlock(&report->mutex);
	free(reason);
	return buf_take(&line, NULL);
}
