/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "publish/publish_batch.h"

#include <stdlib.h>

#include "base/mem.h"

/* What is staged takes room on the disk beside what it replaces, and nobody sees it yet. */
#define STAGED_BYTES (256u << 20)
#define STAGED_FILES 16384

struct batch {
	const struct publish_job_options *options;
	struct publish_item *items;
	struct publish_job **jobs; /* NULL: has failed, or was never begun */
	size_t count;
	size_t staged;
	bool syncs_all; /* so many files that none of them stays open */
};

static void fail(struct batch *batch, size_t index, int error)
{
	publish_job_free(TAKE(batch->jobs[index]));
	batch->items[index].error = error;
}

static void fail_all(struct batch *batch, int error)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->jobs[i])
			fail(batch, i, error);
}

static void close_files(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->jobs[i])
			publish_job_close_files(batch->jobs[i]);
}

static void stage(struct batch *batch, size_t limit)
{
	uint64_t bytes = 0;

	while (batch->count < limit && bytes < STAGED_BYTES && batch->staged < STAGED_FILES) {
		size_t index = batch->count++;
		struct publish_item *item = &batch->items[index];
		int error = item->error;

		if (error)
			continue;
		batch->jobs[index] = publish_job_new(batch->options, item->target, item->snapshot);
		if (batch->syncs_all)
			publish_job_close_files(batch->jobs[index]);
		error = publish_job_stage(batch->jobs[index]);
		if (error) {
			fail(batch, index, error);
			continue;
		}
		bytes += publish_job_bytes(batch->jobs[index]);
		batch->staged += publish_job_staged(batch->jobs[index]);
		if (batch->staged > PUBLISH_SYNC_EACH && !batch->syncs_all) {
			batch->syncs_all = true;
			close_files(batch);
		}
	}
}

static int sync_staged(struct batch *batch)
{
	if (batch->syncs_all)
		return atomic_sync_all(batch->options->writer);
	for (size_t i = 0; i < batch->count; i++) {
		int error = batch->jobs[i] ? publish_job_sync(batch->jobs[i]) : 0;

		if (error)
			return error;
	}
	return 0;
}

static int sync_folders(struct batch *batch)
{
	size_t changes = 0;

	for (size_t i = 0; i < batch->count; i++)
		changes += batch->jobs[i] ? publish_job_changes(batch->jobs[i]) : 0;
	if (changes > PUBLISH_SYNC_EACH)
		return atomic_sync_all(batch->options->writer);
	for (size_t i = 0; i < batch->count; i++) {
		int error = batch->jobs[i] ? publish_job_sync_folders(batch->jobs[i]) : 0;

		if (error)
			return error;
	}
	return 0;
}

static int prepare(struct batch *batch)
{
	struct manifest *manifest = batch->options->manifest;
	int error = sync_staged(batch);

	for (size_t i = 0; i < batch->count && !error; i++)
		if (batch->jobs[i])
			publish_job_intend(batch->jobs[i]);
	/* After an error, too: what was found to be right stays known. */
	return error ? (manifest_commit(manifest), error) : manifest_commit(manifest);
}

static void place(struct batch *batch)
{
	int error;

	for (size_t i = 0; i < batch->count; i++) {
		error = batch->jobs[i] ? publish_job_place(batch->jobs[i]) : 0;
		if (error)
			fail(batch, i, error);
	}
	error = sync_folders(batch);
	if (error)
		fail_all(batch, error);
	/* Without these records the next start compares a little more: no failure. */
	manifest_commit(batch->options->manifest);
	for (size_t i = 0; i < batch->count; i++) {
		if (!batch->jobs[i])
			continue;
		publish_job_done(batch->jobs[i], &batch->items[i].result);
		publish_job_free(batch->jobs[i]);
	}
}

size_t publish_batch_run(
	const struct publish_job_options *options, struct publish_item *items, size_t count)
{
	struct batch batch = {.options = options,
		.items = items,
		.jobs = xcalloc(count ? count : 1, sizeof(struct publish_job *))};
	int error;

	stage(&batch, count);
	error = prepare(&batch);
	if (error)
		fail_all(&batch, error);
	else
		place(&batch);
	free(batch.jobs);
	return batch.count;
}
