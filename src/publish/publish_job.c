/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "publish/publish_job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

struct staged {
	const struct layout_step *step;
	enum file_format format;
	bool is_new;		/* its folder may be missing */
	struct version version; /* for the manifest, see file_body_stamp */
	struct atomic_file file;
};

struct publish_job {
	struct publish_job_options options;
	struct publish_target *target;
	struct snapshot *snapshot;
	struct publish_result result;
	bool compares_all;
	dev_t device;
	int group_fd;
	int type_fds[XDS_TYPE_COUNT];
	bool is_group_new;
	bool is_type_new[XDS_TYPE_COUNT];
	bool is_type_changed[XDS_TYPE_COUNT]; /* a folder was made or removed in it */
	struct layout_plan plan;
	struct staged *staged;
	size_t count;
	size_t capacity;
	struct set_text *texts[XDS_TYPE_COUNT][FILE_FORMAT_COUNT]; /* of what is staged */
	bool syncs_each; /* staged files stay open for it */
	bool is_placing; /* something may have been renamed */
	struct buf text;
	struct buf former;
	struct file_body body;
};

void publish_target_doubt(struct publish_target *target)
{
	snapshot_unref(target->published);
	target->published = NULL;
}

void publish_target_fini(struct publish_target *target)
{
	publish_target_doubt(target);
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		for (int format = 0; format < FILE_FORMAT_COUNT; format++)
			set_text_unref(target->texts[type][format]);
	rcstr_unref(target->name);
}

void publish_file_path(enum xds_type type, struct slice name, enum file_format format,
	char out[static PUBLISH_PATH_BYTES])
{
	const struct xds_type_row *row = xds_type_row(type);
	const char *extension = file_format_extension(format);
	char folder[LAYOUT_NAME_BYTES + 1];

	if (row->files == XDS_FILE_SET) {
		snprintf(out, PUBLISH_PATH_BYTES, "%s.%s", row->stem, extension);
		return;
	}
	layout_name(name, folder);
	snprintf(out, PUBLISH_PATH_BYTES, "%s/%s.%s", folder, row->stem, extension);
}

/* Folders */

static mode_t folder_mode(const struct publish_job *job, enum xds_type type)
{
	mode_t mode = job->options.publisher->folder_mode;

	return xds_type_row(type)->is_secret ? mode & ~(mode_t)0007 : mode;
}

static int open_or_make(const struct atomic_writer *writer, int dirfd, const char *name,
	mode_t mode, bool *ret_is_new, int *ret_fd)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int error;

	*ret_fd = openat(dirfd, name, flags);
	if (*ret_fd >= 0)
		return 0;
	if (errno != ENOENT)
		return -errno;
	error = atomic_make_folder(writer, dirfd, name, mode, ret_is_new);
	if (error)
		return error;
	*ret_fd = openat(dirfd, name, flags);
	return *ret_fd < 0 ? -errno : 0;
}

/* The type's folder, made if it is missing. */
static int open_type(struct publish_job *job, enum xds_type type, int *ret_fd)
{
	const struct publish_job_options *options = &job->options;
	const char *stem = xds_type_row(type)->stem, *group = job->target->name->text;
	int error;

	*ret_fd = job->type_fds[type];
	if (*ret_fd >= 0)
		return 0;
	if (job->group_fd < 0) {
		error = open_or_make(options->writer, options->writer->root_fd, group,
			options->publisher->folder_mode, &job->is_group_new, &job->group_fd);
		if (error)
			return error;
	}
	error = open_or_make(options->writer, job->group_fd, stem, folder_mode(job, type),
		&job->is_type_new[type], &job->type_fds[type]);
	*ret_fd = job->type_fds[type];
	return error;
}

static int make_resource_folder(struct publish_job *job, enum xds_type type, struct slice name)
{
	char folder[LAYOUT_NAME_BYTES + 1];

	if (xds_type_row(type)->files == XDS_FILE_SET)
		return 0;
	layout_name(name, folder);
	job->is_type_changed[type] = true;
	return atomic_make_folder(
		job->options.writer, job->type_fds[type], folder, folder_mode(job, type), NULL);
}

/* Planning */

static void plan_everything(struct publish_job *job)
{
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		const struct xds_type_row *row = xds_type_row((enum xds_type)type);
		const struct resource_set *set = job->snapshot->sets[type];
		struct resource *resource;
		struct hash_entry *slot;
		uint64_t cursor = 0;
		size_t at = 0;

		if (row->files == XDS_FILE_SET &&
			(row->must_not_be_empty || resource_set_count(set) ||
				manifest_find(job->target->entries, row->type, SLICE(""))))
			layout_plan_add(&job->plan,
				(struct layout_step){LAYOUT_WRITE, row->type, SLICE(""), NULL});
		if (row->files != XDS_FILE_EACH)
			continue;
		while ((resource = resource_set_next(set, &cursor)))
			layout_plan_add(&job->plan, (struct layout_step){LAYOUT_WRITE, row->type,
							    resource->name, resource});
		while ((slot = hash_next(&job->target->entries->entries[type], &at)))
			if (!resource_set_find(set, slot->key))
				layout_plan_add(&job->plan, (struct layout_step){LAYOUT_REMOVE,
								    row->type, slot->key, NULL});
	}
}

static size_t count_files(const struct publish_job *job)
{
	size_t count = 0, formats = 0;

	for (int format = 0; format < FILE_FORMAT_COUNT; format++)
		formats += job->options.publisher->formats[format];
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		const struct xds_type_row *row = xds_type_row((enum xds_type)type);

		if (row->files == XDS_FILE_EACH)
			count += resource_set_count(job->snapshot->sets[type]);
		else if (row->files == XDS_FILE_SET)
			count += manifest_find(job->target->entries, row->type, SLICE("")) != NULL;
	}
	return count * formats;
}

/* Staging */

/* One file: what it should be and what is there. */
struct look {
	const struct layout_step *step;
	enum file_format format;
	struct version version; /* of what is in it */
	struct version stamp;	/* see file_body_stamp */
	int type_fd;
	char path[PUBLISH_PATH_BYTES];
	struct manifest_entry *entry; /* NULL: never written */
	struct atomic_identity known; /* inode 0: none */
	struct stat status;
	bool is_there;
	bool is_ours; /* what is there is what we wrote */
};

static mode_t file_mode(const struct publish_job *job, enum xds_type type)
{
	const struct publisher_options *options = job->options.publisher;

	return xds_type_row(type)->is_secret ? options->secret_mode : options->mode;
}

static bool has_attributes(const struct publish_job *job, const struct look *look)
{
	const struct publisher_options *options = job->options.publisher;

	return S_ISREG(look->status.st_mode) &&
	       (look->status.st_mode & 07777) == file_mode(job, look->step->type) &&
	       (options->owner == (uid_t)-1 || options->owner == look->status.st_uid) &&
	       (options->group == (gid_t)-1 || options->group == look->status.st_gid);
}

static int look_at(struct publish_job *job, struct look *look)
{
	const struct layout_step *step = look->step;
	const struct atomic_identity *known;
	struct atomic_identity found;

	look->entry = manifest_find(job->target->entries, step->type, step->name);
	known = manifest_file(job->options.manifest, look->entry, look->format);
	look->known = known ? *known : (struct atomic_identity){0};
	if (job->is_type_new[step->type])
		return 0;
	if (fstatat(look->type_fd, look->path, &look->status, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	look->is_there = true;
	found = atomic_identity_of(&look->status);
	look->is_ours = look->known.inode && look->status.st_dev == job->device &&
			atomic_identity_equal(&look->known, &found);
	return 0;
}

static void tell_foreign(const struct publish_job *job, const struct look *look)
{
	char path[2 * PUBLISH_PATH_BYTES];

	if (look->known.inode == 0 || look->known.changed_ns == 0 || look->is_ours ||
		look->entry->is_suspect || !job->options.on_foreign)
		return;
	snprintf(path, sizeof(path), "%s/%s/%s", job->target->name->text,
		xds_type_row(look->step->type)->stem, look->path);
	job->options.on_foreign(job->options.ctx, path, !look->is_there);
}

/* Opens the file that was looked at; negative on any doubt. */
static int open_former(const struct look *look)
{
	int fd = openat(look->type_fd, look->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd >= 0 && (fstat(fd, &status) || !S_ISREG(status.st_mode) ||
			       status.st_ino != look->status.st_ino ||
			       status.st_size != look->status.st_size)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Whether it is still the one that was looked at, after it was read. */
static bool is_unchanged(int fd, const struct look *look)
{
	struct atomic_identity found, was = atomic_identity_of(&look->status);
	struct stat status;

	if (fstat(fd, &status))
		return false;
	found = atomic_identity_of(&status);
	return atomic_identity_equal(&was, &found);
}

/* Files of groups that share a set are the same, except for paths of other files. */
static bool is_shared(const struct publish_job *job, const struct look *look)
{
	return !resource_set_has_path(job->snapshot->sets[look->step->type]);
}

/* The very same file as another group's, composed a moment ago. */
static bool take_cached(struct publish_job *job, const struct look *look)
{
	const struct text_cache_entry *entry = text_cache_find(job->options.cache,
		job->snapshot->sets[look->step->type], look->format, job->snapshot->source);

	if (!entry)
		return false;
	buf_append_slice(&job->text, entry->bytes);
	job->texts[look->step->type][look->format] = set_text_ref(entry->text);
	return true;
}

static int compose_set(struct publish_job *job, const struct look *look, struct slice source)
{
	const struct publish_encoder *encoder = &job->options.publisher->encoder;
	struct resource_set *set = job->snapshot->sets[look->step->type];
	const struct set_text *former = job->target->texts[look->step->type][look->format];
	struct set_text **text = &job->texts[look->step->type][look->format];
	AUTO_CLOSE int fd = -1;
	int error;

	if (former && look->is_ours && (size_t)look->status.st_size == former->length)
		fd = open_former(look);
	error = set_text_compose(encoder, &job->body, set, source, former, fd, &job->text, text);
	if (fd < 0 || (!error && is_unchanged(fd, look)))
		return error;
	/* Someone wrote into the file while it was read. */
	set_text_unref(TAKE(*text));
	buf_reset(&job->text);
	return set_text_compose(encoder, &job->body, set, source, former, -1, &job->text, text);
}

static int encode_set(struct publish_job *job, const struct look *look, struct slice source)
{
	int error;

	set_text_unref(TAKE(job->texts[look->step->type][look->format]));
	if (is_shared(job, look) && take_cached(job, look))
		return buf_error(&job->text);
	error = compose_set(job, look, source);
	if (!error && is_shared(job, look))
		text_cache_put(job->options.cache, job->texts[look->step->type][look->format],
			look->format, job->snapshot->source, buf_slice(&job->text));
	return error;
}

static int encode(struct publish_job *job, const struct look *look)
{
	const struct publish_encoder *encoder = &job->options.publisher->encoder;
	const struct layout_step *step = look->step;
	struct slice source = SLICE(""), body;
	int error;

	job->body.format = look->format;
	if (job->snapshot->source)
		source = (struct slice){job->snapshot->source->text, job->snapshot->source->length};
	buf_reset(&job->text);
	if (!step->resource)
		return encode_set(job, look, source);
	error = file_body_make(&job->body, step->resource, &body);
	if (!error)
		error = encoder->begin(
			encoder->ctx, look->format, step->type, &look->version, 1, &job->text);
	if (!error)
		error = encoder->item(encoder->ctx, look->format, step->resource, body, &job->text);
	if (!error)
		error = encoder->end(encoder->ctx, look->format, step->type, 1, source, &job->text);
	return error ? error : buf_error(&job->text);
}

static struct manifest_record record_of(const struct publish_job *job,
	const struct layout_step *step, enum file_format format, const struct version *version,
	struct atomic_identity identity)
{
	return (struct manifest_record){
		.group = job->target->entries,
		.type = step->type,
		.name = step->name,
		.format = format,
		.version = *version,
		.source = step->resource ? step->resource->path : NULL,
		.at = step->resource ? step->resource->at : (struct position){0},
		.identity = identity,
	};
}

/* What was composed is in the file now. */
static void keep_text(struct publish_job *job, enum xds_type type, enum file_format format)
{
	set_text_unref(job->target->texts[type][format]);
	job->target->texts[type][format] = TAKE(job->texts[type][format]);
}

/* What is there is right: know it as it is. */
static void adopt(struct publish_job *job, const struct look *look)
{
	struct manifest_record record = record_of(
		job, look->step, look->format, &look->stamp, atomic_identity_of(&look->status));

	if (!look->step->resource && job->texts[look->step->type][look->format])
		keep_text(job, look->step->type, look->format);
	if (look->is_ours && look->known.changed_ns)
		return;
	manifest_intend(job->options.manifest, &record);
	manifest_confirm(job->options.manifest, &record);
}

/* Only when everything is compared: a file may be right already (S.7). */
static bool is_right(struct publish_job *job, const struct look *look)
{
	AUTO_CLOSE int fd = -1;

	if (!look->is_there || !has_attributes(job, look) ||
		(size_t)look->status.st_size != job->text.length)
		return false;
	fd = open_former(look);
	buf_reset(&job->former);
	return fd >= 0 && file_read_fd(fd, job->text.length, &job->former) == 0 &&
	       slice_equal(buf_slice(&job->former), buf_slice(&job->text));
}

void publish_job_close_files(struct publish_job *job)
{
	job->syncs_each = false;
	for (size_t i = 0; i < job->count; i++)
		atomic_close(&job->staged[i].file);
}

/* The text to a file in the staging folder; the same one as another group's where that is still
 * there. */
static int stage_text(struct publish_job *job, const struct look *look, struct atomic_file *file)
{
	struct text_cache_entry *cached = NULL;
	int error;

	if (!look->step->resource)
		cached = text_cache_find(job->options.cache, job->snapshot->sets[look->step->type],
			look->format, job->snapshot->source);
	if (cached && cached->staged.identity.inode &&
		atomic_stage_link(job->options.writer, &cached->staged, file) == 0)
		return 0;
	error = atomic_stage(
		job->options.writer, buf_slice(&job->text), file_mode(job, look->step->type), file);
	if (error)
		return error;
	job->result.bytes += job->text.length;
	if (cached)
		cached->staged = *file;
	return 0;
}

static int stage_file(struct publish_job *job, const struct layout_step *step,
	enum file_format format, const struct version *version)
{
	const char *seen_as = job->body.seen_as;
	struct look look = {.step = step, .format = format, .version = *version};
	struct staged staged;
	int error = open_type(job, step->type, &look.type_fd);

	if (error)
		return error;
	look.stamp = file_body_stamp(version,
		step->resource ? resource_has_path(step->resource)
			       : resource_set_has_path(job->snapshot->sets[step->type]),
		seen_as);
	publish_file_path(step->type, step->name, format, look.path);
	error = look_at(job, &look);
	if (error)
		return error;
	if (job->compares_all && look.is_ours && version_equal(&look.entry->version, &look.stamp) &&
		has_attributes(job, &look)) {
		adopt(job, &look);
		return 0;
	}
	error = encode(job, &look);
	if (error)
		return error;
	if (job->compares_all && is_right(job, &look)) {
		adopt(job, &look);
		return 0;
	}
	tell_foreign(job, &look);
	staged = (struct staged){step, format, !look.is_there, look.stamp, {0}};
	error = stage_text(job, &look, &staged.file);
	if (error)
		return error;
	array_reserve(job->staged, job->capacity, job->count + 1);
	job->staged[job->count++] = staged;
	if (!job->syncs_each)
		atomic_close(&job->staged[job->count - 1].file);
	else if (job->count > PUBLISH_SYNC_EACH)
		publish_job_close_files(job);
	return 0;
}

static int stage_all(struct publish_job *job)
{
	for (size_t i = 0; i < job->plan.count; i++) {
		struct layout_step *step = &job->plan.steps[i];
		struct version version;

		if (step->action != LAYOUT_WRITE)
			continue;
		version = step->resource ? version_of(step->type, &step->resource, 1)
					 : *resource_set_version(job->snapshot->sets[step->type]);
		for (int format = 0; format < FILE_FORMAT_COUNT; format++) {
			int error = 0;

			if (job->options.publisher->formats[format])
				error = stage_file(job, step, (enum file_format)format, &version);
			if (error)
				return error;
		}
	}
	return 0;
}

/* Many groups at once would have too many of them open. */
static void close_folders(struct publish_job *job)
{
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		if (job->type_fds[type] >= 0)
			close(job->type_fds[type]);
		job->type_fds[type] = -1;
	}
	if (job->group_fd >= 0)
		close(job->group_fd);
	job->group_fd = -1;
}

int publish_job_stage(struct publish_job *job)
{
	struct stat status;
	int error;

	if (fstat(job->options.writer->root_fd, &status))
		return -errno;
	job->device = status.st_dev;
	if (job->compares_all)
		plan_everything(job);
	else
		layout_plan_difference(&job->plan, job->target->published, job->snapshot);
	layout_plan_sort(&job->plan);
	error = stage_all(job);
	close_folders(job);
	buf_fini(&job->text);
	buf_fini(&job->former);
	buf_fini(&job->body.scratch);
	return error;
}

size_t publish_job_staged(const struct publish_job *job)
{
	return job->count;
}

uint64_t publish_job_bytes(const struct publish_job *job)
{
	return job->result.bytes;
}

int publish_job_sync(struct publish_job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		int error = atomic_sync(&job->staged[i].file);

		if (error)
			return error;
	}
	return 0;
}

/* From here on files change */

static int place(struct publish_job *job, struct staged *staged)
{
	const struct layout_step *step = staged->step;
	struct manifest_record record;
	struct manifest_entry *entry;
	char path[PUBLISH_PATH_BYTES];
	int type_fd, error = open_type(job, step->type, &type_fd);

	publish_file_path(step->type, step->name, staged->format, path);
	if (!error && staged->is_new)
		error = make_resource_folder(job, step->type, step->name);
	if (!error)
		error = atomic_place(job->options.writer, &staged->file, type_fd, path);
	atomic_close(&staged->file);
	if (error)
		return error;
	record = record_of(job, step, staged->format, &staged->version, staged->file.identity);
	manifest_confirm(job->options.manifest, &record);
	entry = manifest_find(job->target->entries, step->type, step->name);
	entry->is_suspect = false;
	if (!step->resource)
		keep_text(job, step->type, staged->format);
	job->result.written++;
	return 0;
}

/* Every extension: files of a format that is not in use any more belong to the resource too. */
static int remove_step(struct publish_job *job, const struct layout_step *step)
{
	char path[PUBLISH_PATH_BYTES];
	char folder[LAYOUT_NAME_BYTES + 1];
	int type_fd, error;

	error = open_type(job, step->type, &type_fd);
	if (error)
		return error;
	for (int format = 0; format < FILE_FORMAT_COUNT; format++) {
		publish_file_path(step->type, step->name, (enum file_format)format, path);
		if (unlinkat(type_fd, path, 0) == 0)
			job->result.removed++;
		else if (errno != ENOENT && errno != ENOTDIR)
			return -errno;
	}
	layout_name(step->name, folder);
	/* What others have put into it keeps the folder. */
	if (unlinkat(type_fd, folder, AT_REMOVEDIR) && errno != ENOENT && errno != ENOTEMPTY &&
		errno != EEXIST && errno != ENOTDIR)
		return -errno;
	job->is_type_changed[step->type] = true;
	manifest_forget(job->options.manifest, job->target->entries, step->type, step->name);
	return 0;
}

void publish_job_intend(struct publish_job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		const struct staged *staged = &job->staged[i];
		struct manifest_record record = record_of(
			job, staged->step, staged->format, &staged->version, staged->file.identity);

		manifest_intend(job->options.manifest, &record);
	}
}

int publish_job_place(struct publish_job *job)
{
	int error = 0;

	job->is_placing = true;
	for (size_t i = 0; i < job->count && !error; i++)
		error = place(job, &job->staged[i]);
	for (size_t i = 0; i < job->plan.count && !error; i++)
		if (job->plan.steps[i].action == LAYOUT_REMOVE)
			error = remove_step(job, &job->plan.steps[i]);
	close_folders(job);
	return error;
}

size_t publish_job_changes(const struct publish_job *job)
{
	return job->result.written + job->result.removed;
}

static int sync_type_folders(struct publish_job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		const struct layout_step *step = job->staged[i].step;
		char folder[LAYOUT_NAME_BYTES + 1] = ".";
		int type_fd, error;

		if (i && job->staged[i - 1].step == step)
			continue;
		if (step->resource)
			layout_name(step->name, folder);
		error = open_type(job, step->type, &type_fd);
		if (!error)
			error = atomic_sync_folder(type_fd, folder);
		if (error)
			return error;
	}
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		int type_fd, error;

		if (!job->is_type_changed[type] && !job->is_type_new[type])
			continue;
		error = open_type(job, (enum xds_type)type, &type_fd);
		if (error)
			return error;
		if (job->is_type_changed[type] && fsync(type_fd))
			return -errno;
		if (job->is_type_new[type] && fsync(job->group_fd))
			return -errno;
	}
	return job->is_group_new && fsync(job->options.writer->root_fd) ? -errno : 0;
}

int publish_job_sync_folders(struct publish_job *job)
{
	int error = sync_type_folders(job);

	close_folders(job);
	return error;
}

void publish_job_done(struct publish_job *job, struct publish_result *ret_result)
{
	snapshot_unref(job->target->published);
	job->target->published = snapshot_ref(job->snapshot);
	job->target->has_suspects = false;
	job->is_placing = false;
	job->result.unchanged = count_files(job) - job->result.written;
	*ret_result = job->result;
}

struct publish_job *publish_job_new(const struct publish_job_options *options,
	struct publish_target *target, struct snapshot *snapshot)
{
	struct publish_job *job = xcalloc(1, sizeof(*job));

	job->options = *options;
	job->target = target;
	job->snapshot = snapshot_ref(snapshot);
	job->compares_all = !target->published || target->has_suspects;
	job->syncs_each = true;
	job->group_fd = -1;
	job->body.seen_as = options->publisher->seen_as;
	job->body.group = (struct slice){snapshot->group->text, snapshot->group->length};
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		job->type_fds[type] = -1;
	return job;
}

void publish_job_free(struct publish_job *job)
{
	if (!job)
		return;
	/* It did not come to its end. */
	if (job->is_placing)
		publish_target_doubt(job->target);
	for (size_t i = job->result.written; i < job->count; i++)
		atomic_discard(job->options.writer, &job->staged[i].file);
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		for (int format = 0; format < FILE_FORMAT_COUNT; format++)
			set_text_unref(job->texts[type][format]);
	close_folders(job);
	layout_plan_fini(&job->plan);
	snapshot_unref(job->snapshot);
	free(job->staged);
	buf_fini(&job->text);
	buf_fini(&job->former);
	buf_fini(&job->body.scratch);
	free(job);
}
