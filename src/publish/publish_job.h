/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One publish of one group: plan, stage, sync, rename in order, remove, sync. Until the first
 * rename a failure leaves everything as it was; later ones leave whole files, old or new, and the
 * next run compares all of them. Threads: build; may block.
 */
#ifndef XDSPUB_PUBLISH_PUBLISH_JOB_H
#define XDSPUB_PUBLISH_PUBLISH_JOB_H

#include "publish/manifest.h"
#include "publish/set_text.h"

/* What a group's files hold, between publishes. */
struct publish_target {
	struct rcstr *name;
	struct manifest_group *entries; /* the manifest's */
	struct snapshot *published;	/* NULL: not known, compare everything */
	bool has_suspects;		/* some entry is to be written again */
	struct set_text texts[XDS_TYPE_COUNT][FILE_FORMAT_COUNT];
};

void publish_target_fini(struct publish_target *target);
/* The files may have changed in any way: compare everything next time. */
void publish_target_doubt(struct publish_target *target);

struct publish_job_options {
	const struct publisher_options *publisher;
	struct atomic_writer *writer;
	struct manifest *manifest;
	/* A file that someone else changed or deleted is about to be replaced. Path below the
	 * output folder. */
	void (*on_foreign)(void *ctx, const char *path, bool is_missing);
	void *ctx;
};

int publish_job_run(const struct publish_job_options *options, struct publish_target *target,
	struct snapshot *snapshot, struct publish_result *ret_result);

#define PUBLISH_PATH_BYTES (2 * LAYOUT_NAME_BYTES + 64)
/* <stem>.<ext> or <name>/<stem>.<ext>, below the type's folder. */
void publish_file_path(enum xds_type type, struct slice name, enum file_format format,
	char out[static PUBLISH_PATH_BYTES]);

#endif
