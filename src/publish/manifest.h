/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What we published: per file its type, name, version, source and identity, kept in memory and in
 * a journal, so that one changed file is one append. Groups that are gone stay in it, as their
 * files do. Threads: build. Errors: negative errno from the commits; memory is right all the same.
 *
 * A file is recorded twice: before the rename (the intent) and after it, with the time of change.
 * After a crash in between a file that matches the intent is known to be ours.
 */
#ifndef XDSPUB_PUBLISH_MANIFEST_H
#define XDSPUB_PUBLISH_MANIFEST_H

#include "base/hash.h"
#include "publish/atomic_file.h"
#include "publish/layout.h"

struct manifest_entry {
	enum xds_type type;
	struct slice name; /* empty for a set; own copy */
	struct version version;
	struct rcstr *source; /* NULL: unknown or a set */
	struct position at;
	uint32_t bytes;			/* of its records */
	bool is_suspect;		/* someone else changed a file of it: to be written again */
	struct atomic_identity files[]; /* one per format in use */
};

struct manifest_group {
	struct rcstr *name;
	struct hash entries[XDS_TYPE_COUNT]; /* struct manifest_entry by name */
};

struct manifest;

/* `formats`: those in use; records of others are skipped. A damaged manifest is set aside and
 * begun afresh: *ret_problem (a static text or NULL) says so. */
int manifest_open(int dirfd, const bool formats[FILE_FORMAT_COUNT], struct manifest **ret_manifest,
	const char **ret_problem);
void manifest_close(struct manifest *manifest);

size_t manifest_count(const struct manifest *manifest);
struct manifest_group *manifest_at(const struct manifest *manifest, size_t index);
struct manifest_group *manifest_group(
	struct manifest *manifest, struct slice name); /* made if new */
struct manifest_entry *manifest_find(
	const struct manifest_group *group, enum xds_type type, struct slice name);
/* NULL when there is no entry. */
struct atomic_identity *manifest_file(
	const struct manifest *manifest, struct manifest_entry *entry, enum file_format format);

struct manifest_record {
	struct manifest_group *group;
	enum xds_type type;
	struct slice name;
	enum file_format format;
	struct version version;
	struct rcstr *source;
	struct position at;
	struct atomic_identity identity;
};

/* Before the rename: to the journal only. */
void manifest_intend(struct manifest *manifest, const struct manifest_record *record);
/* After the rename: memory, and the time of change to the journal. */
void manifest_confirm(struct manifest *manifest, const struct manifest_record *record);
void manifest_forget(struct manifest *manifest, struct manifest_group *group, enum xds_type type,
	struct slice name);
/* Appends what was recorded since; on error it is dropped. */
int manifest_commit(struct manifest *manifest);

#endif
