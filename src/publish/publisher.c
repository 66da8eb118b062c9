/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "publish/publisher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "publish/claim.h"
#include "publish/publish_batch.h"

#define FOREIGN_LINES 10 /* log lines about changed files per publish */

struct publisher {
	struct publisher_options options;
	char *path;
	char *seen_as;
	char **sources;
	size_t sources_count;
	struct claim claim;
	struct manifest *manifest;
	struct atomic_writer writer;
	struct publish_target **targets;
	size_t targets_count;
	size_t targets_capacity;
	struct hash by_name;
	size_t foreign; /* in the publish that runs */
};

static const char *const extensions[FILE_FORMAT_COUNT] = {"yaml", "json", "pb", "pb_text"};

int file_format_parse(struct slice text, enum file_format *ret_format)
{
	for (int format = 0; format < FILE_FORMAT_COUNT; format++) {
		if (slice_is(text, extensions[format])) {
			*ret_format = (enum file_format)format;
			return 0;
		}
	}
	return -EINVAL;
}

const char *file_format_extension(enum file_format format)
{
	return extensions[format];
}

static void report(const struct publisher *publisher, enum log_level level, const char *event,
	const char *text)
{
	if (publisher->options.log)
		log_event(publisher->options.log, level, event, LOG_TEXT("path", publisher->path),
			LOG_TEXT("text", text));
}

/* Owner and group are tried out now, so that a mistake is told at the start. */
static int try_owner(struct publisher *publisher, struct diag_list *diags)
{
	struct atomic_file file;
	int error =
		atomic_stage(&publisher->writer, SLICE("trial\n"), publisher->options.mode, &file);

	if (!error)
		atomic_discard(&publisher->writer, &file);
	if (error != -EPERM && error != -EINVAL)
		return 0; /* a full disk, say, is no reason not to start */
	diag_error(diags, publisher->path, (struct position){0}, "publish-folder",
		"files cannot be given to the owner and group that are configured: %s; run as "
		"root, or choose a group that the user who runs xdspub belongs to",
		strerror(-error));
	return error;
}

/* Claims the folder and reads the manifest. */
static int attach(struct publisher *publisher, bool is_known, struct diag_list *diags)
{
	const struct claim_options options = {
		.path = publisher->path,
		.folder_mode = publisher->options.folder_mode,
		.sources = (const char *const *)publisher->sources,
		.sources_count = publisher->sources_count,
		.is_known = is_known,
	};
	const char *problem = NULL;
	int error = claim_open(&options, diags, &publisher->claim);

	if (error)
		return error;
	publisher->writer = (struct atomic_writer){
		.root_fd = publisher->claim.root_fd,
		.staging_fd = publisher->claim.staging_fd,
		.owner = publisher->options.owner,
		.group = publisher->options.group,
	};
	error = try_owner(publisher, diags);
	if (error) {
		claim_close(&publisher->claim);
		return error;
	}
	error = atomic_clean(&publisher->writer);
	if (!error)
		error = manifest_open(publisher->claim.private_fd, publisher->options.formats,
			&publisher->manifest, &problem);
	if (error) {
		diag_error(diags, publisher->path, (struct position){0}, "publish-folder",
			"cannot prepare its folder .xdspub: %s", strerror(-error));
		claim_close(&publisher->claim);
		return error;
	}
	if (problem)
		report(publisher, LOG_LEVEL_WARNING, "manifest-damaged", problem);
	for (size_t i = 0; i < publisher->targets_count; i++) {
		struct publish_target *target = publisher->targets[i];

		target->entries = manifest_group(publisher->manifest,
			(struct slice){target->name->text, target->name->length});
	}
	return 0;
}

static void detach(struct publisher *publisher)
{
	for (size_t i = 0; i < publisher->targets_count; i++)
		publish_target_doubt(publisher->targets[i]);
	manifest_close(publisher->manifest);
	publisher->manifest = NULL;
	claim_close(&publisher->claim);
}

int publisher_open(const struct publisher_options *options, const char *const *sources,
	size_t sources_count, struct diag_list *diags, struct publisher **ret_publisher)
{
	struct publisher *publisher = xcalloc(1, sizeof(*publisher));
	int error;

	publisher->options = *options;
	publisher->path = xstrdup(options->path);
	publisher->options.path = publisher->path;
	publisher->claim = CLAIM_NONE;
	hash_init(&publisher->by_name);
	publisher->sources = xcalloc(sources_count ? sources_count : 1, sizeof(char *));
	publisher->sources_count = sources_count;
	for (size_t i = 0; i < sources_count; i++)
		publisher->sources[i] = xstrdup(sources[i]);
	error = attach(publisher, false, diags);
	if (error) {
		publisher_close(publisher);
		return error;
	}
	/* Now that the folder is there. */
	if (options->seen_as)
		publisher->seen_as = xstrdup(options->seen_as);
	else
		publisher->seen_as = realpath(publisher->path, NULL);
	if (!publisher->seen_as)
		publisher->seen_as = xstrdup(publisher->path);
	publisher->options.seen_as = publisher->seen_as;
	*ret_publisher = publisher;
	return 0;
}

void publisher_close(struct publisher *publisher)
{
	if (!publisher)
		return;
	detach(publisher);
	for (size_t i = 0; i < publisher->targets_count; i++) {
		publish_target_fini(publisher->targets[i]);
		free(publisher->targets[i]);
	}
	free(publisher->targets);
	hash_fini(&publisher->by_name);
	for (size_t i = 0; i < publisher->sources_count; i++)
		free(publisher->sources[i]);
	free(publisher->sources);
	free(publisher->path);
	free(publisher->seen_as);
	free(publisher);
}

/* The folder was deleted, moved or replaced underneath us: begin again with what is there now. */
static int attach_again(struct publisher *publisher)
{
	struct diag_list *diags;
	struct stat held, named;
	bool is_known;
	int error;

	if (!claim_is_lost(&publisher->claim, publisher->path))
		return 0;
	is_known = publisher->claim.root_fd >= 0 && !fstat(publisher->claim.root_fd, &held) &&
		   !stat(publisher->path, &named) && held.st_dev == named.st_dev &&
		   held.st_ino == named.st_ino;
	detach(publisher);
	diags = diag_list_new(0);
	error = attach(publisher, is_known, diags);
	if (error)
		report(publisher, LOG_LEVEL_ERROR, "publish-folder-lost",
			diag_list_count(diags) ? diag_list_get(diags, 0)->text : strerror(-error));
	else
		report(publisher, LOG_LEVEL_WARNING, "publish-folder-replaced",
			"the output folder was deleted or replaced; everything is written again");
	diag_list_free(diags);
	return error;
}

static void on_foreign(void *ctx, const char *path, bool is_missing)
{
	struct publisher *publisher = ctx;

	if (publisher->foreign++ >= FOREIGN_LINES || !publisher->options.log)
		return;
	log_event(publisher->options.log, LOG_LEVEL_WARNING,
		is_missing ? "file-missing" : "file-modified", LOG_TEXT("path", path),
		LOG_TEXT("text", is_missing ? "deleted by someone else; written again"
					    : "changed by someone else; replaced"));
}

static struct publish_target *find_target(const struct publisher *publisher, struct slice group)
{
	return hash_get(&publisher->by_name, group);
}

static struct publish_target *make_target(struct publisher *publisher, struct rcstr *group)
{
	struct slice name = {group->text, group->length};
	struct publish_target *target = find_target(publisher, name);

	if (target)
		return target;
	target = xcalloc(1, sizeof(*target));
	target->name = rcstr_ref(group);
	target->entries = manifest_group(publisher->manifest, name);
	array_reserve(
		publisher->targets, publisher->targets_capacity, publisher->targets_count + 1);
	publisher->targets[publisher->targets_count++] = target;
	hash_put(&publisher->by_name, (struct slice){target->name->text, target->name->length},
		target);
	return target;
}

/* Each item gets its target, or an error. */
static void begin_items(struct publisher *publisher, struct publish_item *items,
	struct snapshot *const *snapshots, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct rcstr *group = snapshots[i]->group;

		items[i] = (struct publish_item){.snapshot = snapshots[i]};
		if (layout_group_is_valid((struct slice){group->text, group->length}))
			items[i].target = make_target(publisher, group);
		else
			items[i].error = -EINVAL;
	}
}

void publisher_publish_many(struct publisher *publisher, struct snapshot *const *snapshots,
	size_t count, struct publish_result *ret_results, int *ret_errors)
{
	struct publish_item *items = xcalloc(count ? count : 1, sizeof(*items));
	struct text_cache cache;
	struct publish_job_options options = {
		.publisher = &publisher->options,
		.writer = &publisher->writer,
		.cache = &cache,
		.on_foreign = on_foreign,
		.ctx = publisher,
	};
	int error = attach_again(publisher);

	text_cache_init(&cache);
	publisher->foreign = 0;
	options.manifest = publisher->manifest;
	if (!error)
		begin_items(publisher, items, snapshots, count);
	for (size_t done = 0; !error && done < count;)
		done += publish_batch_run(&options, &items[done], count - done);
	for (size_t i = 0; i < count; i++) {
		ret_results[i] = items[i].result;
		ret_errors[i] = error ? error : items[i].error;
	}
	if (publisher->foreign > FOREIGN_LINES && publisher->options.log)
		log_event(publisher->options.log, LOG_LEVEL_WARNING, "files-modified",
			LOG_NUMBER("count", (int64_t)publisher->foreign));
	text_cache_fini(&cache);
	free(items);
}

int publisher_publish(
	struct publisher *publisher, struct snapshot *snapshot, struct publish_result *ret_result)
{
	struct publish_result result;
	int error;

	publisher_publish_many(publisher, &snapshot, 1, &result, &error);
	if (!error)
		*ret_result = result;
	return error;
}

struct check {
	struct publisher *publisher;
	struct publish_target *target;
	bool is_lost;
	dev_t device;
	publisher_modified_cb callback;
	void *ctx;
	int count;
};

/* For a file whose time of change tells nothing, because it has other links. */
static bool has_attributes(
	const struct publisher *publisher, enum xds_type type, const struct stat *status)
{
	const struct publisher_options *options = &publisher->options;
	mode_t mode = xds_type_row(type)->is_secret ? options->secret_mode : options->mode;

	return (status->st_mode & 07777) == mode &&
	       (options->owner == (uid_t)-1 || options->owner == status->st_uid) &&
	       (options->group == (gid_t)-1 || options->group == status->st_gid);
}

static void check_file(struct check *check, struct manifest_entry *entry, enum file_format format)
{
	const struct publisher *publisher = check->publisher;
	const struct atomic_identity *known = manifest_file(publisher->manifest, entry, format);
	struct slice group = {check->target->name->text, check->target->name->length};
	char below[PUBLISH_PATH_BYTES], path[2 * PUBLISH_PATH_BYTES];
	struct atomic_identity found;
	struct stat status;

	publish_file_path(entry->type, entry->name, format, below);
	snprintf(
		path, sizeof(path), "%s/%s/%s", group.data, xds_type_row(entry->type)->stem, below);
	if (!check->is_lost &&
		!fstatat(publisher->claim.root_fd, path, &status, AT_SYMLINK_NOFOLLOW)) {
		found = atomic_identity_of(&status);
		if (status.st_dev == check->device && atomic_identity_equal(known, &found) &&
			(known->changed_ns || has_attributes(publisher, entry->type, &status)))
			return;
	}
	entry->is_suspect = true;
	check->target->has_suspects = true;
	check->count++;
	if (check->callback) {
		AUTO_FREE char *full = xasprintf("%s/%s", publisher->path, path);

		check->callback(check->ctx, group, full);
	}
}

static void check_target(struct check *check)
{
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		struct hash_entry *slot;
		size_t cursor = 0;

		while ((slot = hash_next(&check->target->entries->entries[type], &cursor))) {
			struct manifest_entry *entry = slot->value;

			for (int format = 0; format < FILE_FORMAT_COUNT && !entry->is_suspect;
				format++)
				if (check->publisher->options.formats[format])
					check_file(check, entry, (enum file_format)format);
		}
	}
}

int publisher_check(struct publisher *publisher, publisher_modified_cb callback, void *ctx)
{
	struct check check = {.publisher = publisher, .callback = callback, .ctx = ctx};
	struct stat status;

	if (!publisher->manifest)
		return -ENOENT;
	check.is_lost = claim_is_lost(&publisher->claim, publisher->path);
	if (fstat(publisher->claim.root_fd, &status))
		return -errno;
	check.device = status.st_dev;
	for (size_t i = 0; i < publisher->targets_count; i++) {
		check.target = publisher->targets[i];
		/* Otherwise the next publish compares everything anyway. */
		if (check.target->published)
			check_target(&check);
	}
	return check.count;
}

bool publisher_version(const struct publisher *publisher, struct slice group, enum xds_type type,
	struct version *ret_version)
{
	const struct publish_target *target = find_target(publisher, group);

	if (!target || !target->published)
		return false;
	*ret_version = *resource_set_version(target->published->sets[type]);
	return true;
}
