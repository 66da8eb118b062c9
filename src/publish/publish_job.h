/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One publish of one group, in steps, so that many groups wait for the disk together (see
 * publish_batch.h): plan and stage, sync, rename in order and remove, sync the folders. Until the
 * first rename a failure leaves everything as it was; later ones leave whole files, old or new, and
 * the next run compares all of them. No descriptor stays open between the steps but those of the
 * first few staged files. Threads: build; may block. Errors: negative errno.
 */
#ifndef XDSPUB_PUBLISH_PUBLISH_JOB_H
#define XDSPUB_PUBLISH_PUBLISH_JOB_H

#include "publish/manifest.h"
#include "publish/text_cache.h"

/* Up to this many files are synced one by one; more with one syncfs, which may also have to wait
 * for what others have written. */
#define PUBLISH_SYNC_EACH 32

/* What a group's files hold, between publishes. */
struct publish_target {
	struct rcstr *name;
	struct manifest_group *entries; /* the manifest's */
	struct snapshot *published;	/* NULL: not known, compare everything */
	bool has_suspects;		/* some entry is to be written again */
	struct set_text *texts[XDS_TYPE_COUNT][FILE_FORMAT_COUNT]; /* NULL: not known */
};

void publish_target_fini(struct publish_target *target);
/* The files may have changed in any way: compare everything next time. */
void publish_target_doubt(struct publish_target *target);

struct publish_job_options {
	const struct publisher_options *publisher;
	struct atomic_writer *writer;
	struct manifest *manifest;
	struct text_cache *cache;
	/* A file that someone else changed or deleted is about to be replaced. Path below the
	 * output folder. */
	void (*on_foreign)(void *ctx, const char *path, bool is_missing);
	void *ctx;
};

struct publish_job;

/* Everything is borrowed until the job is freed. */
struct publish_job *publish_job_new(const struct publish_job_options *options,
	struct publish_target *target, struct snapshot *snapshot);
/* Removes what is staged and not placed. NULL is fine. */
void publish_job_free(struct publish_job *job);

int publish_job_stage(struct publish_job *job);
size_t publish_job_staged(const struct publish_job *job); /* files to be synced */
uint64_t publish_job_bytes(const struct publish_job *job);
void publish_job_close_files(struct publish_job *job); /* they will be synced as a whole */
int publish_job_sync(struct publish_job *job);	       /* one by one */
/* What is about to be renamed, to the manifest's journal; the caller commits. */
void publish_job_intend(struct publish_job *job);
int publish_job_place(struct publish_job *job);
size_t publish_job_changes(const struct publish_job *job); /* files placed or removed */
int publish_job_sync_folders(struct publish_job *job);
/* The files are those of the snapshot. */
void publish_job_done(struct publish_job *job, struct publish_result *ret_result);

#define PUBLISH_PATH_BYTES (2 * LAYOUT_NAME_BYTES + 64)
/* <stem>.<ext> or <name>/<stem>.<ext>, below the type's folder. */
void publish_file_path(enum xds_type type, struct slice name, enum file_format format,
	char out[static PUBLISH_PATH_BYTES]);

#endif
