/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sink "files": keeps <out>/<group>/... equal to the group's snapshot, each file by staging,
 * read back, fsync, rename (design: "Files"); many at once with two syncfs. Never sees YAML, schema
 * or configuration: encoding is injected. Threads: build; may block. Errors: negative errno, the
 * files of the failed publish are either old or new, never in between; calling publish again
 * completes it.
 */
#ifndef XDSPUB_PUBLISH_PUBLISHER_H
#define XDSPUB_PUBLISH_PUBLISHER_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/log.h"
#include "snapshot/snapshot.h"

enum file_format {
	FILE_FORMAT_YAML,
	FILE_FORMAT_JSON,
	FILE_FORMAT_PB,
	FILE_FORMAT_PB_TEXT
};
#define FILE_FORMAT_COUNT 4

/*
 * A file is begin, items with the separator between them, end. An item's bytes depend on the format
 * and the resource with its group alone, so that unchanged ones are taken over from the former
 * file. `body` is the message, with the paths of files in its open config sources. All append to
 * `out` and return 0 or a negative errno; they are called on the build thread only.
 */
struct publish_encoder {
	void *ctx;
	int (*begin)(void *ctx, enum file_format format, enum xds_type type,
		const struct version *version, size_t count, struct buf *out);
	int (*item)(void *ctx, enum file_format format, const struct resource *resource,
		struct slice body, struct buf *out);
	/* source: the snapshot's, e.g. the commit; may be empty. */
	int (*end)(void *ctx, enum file_format format, enum xds_type type, size_t count,
		struct slice source, struct buf *out);
	struct slice (*separator)(void *ctx, enum file_format format);
};

struct publisher_options {
	const char *path;
	const char
		*seen_as; /* absolute: how Envoy gets to `path`; NULL: as it is, links resolved */
	bool formats[FILE_FORMAT_COUNT];
	mode_t mode;	    /* 0644 */
	mode_t secret_mode; /* 0640 */
	mode_t folder_mode; /* 0755 */
	uid_t owner;	    /* (uid_t)-1: as it comes */
	gid_t group;	    /* (gid_t)-1: as it comes */
	struct publish_encoder encoder;
	const struct log *log; /* NULL: silent */
};

struct publish_result {
	size_t written; /* files renamed into place */
	size_t removed;
	size_t unchanged;
	uint64_t bytes;
};

struct publisher;

/* Locks the folder, makes or checks the marker, cleans leftovers. `sources` are folders the output
 * must not lie in (nor they in it). Refusals are explained in diags (path "" or the folder).
 * -EINVAL refused, -EBUSY locked by another instance, other negative errno. */
int publisher_open(const struct publisher_options *options, const char *const *sources,
	size_t sources_count, struct diag_list *diags, struct publisher **ret_publisher);
void publisher_close(struct publisher *publisher);

/* Makes the group's files equal to the snapshot; renames only what differs. */
int publisher_publish(
	struct publisher *publisher, struct snapshot *snapshot, struct publish_result *ret_result);
/* The same for many groups, which wait for the disk together; each has its own outcome. */
void publisher_publish_many(struct publisher *publisher, struct snapshot *const *snapshots,
	size_t count, struct publish_result *ret_results, int *ret_errors);
/* Looks for files changed by someone else; calls back per file with its path and marks it so
 * that the next publish of its group rewrites it. Returns how many, or negative errno. */
typedef void (*publisher_modified_cb)(void *ctx, struct slice group, const char *path);
int publisher_check(struct publisher *publisher, publisher_modified_cb callback, void *ctx);
/* The set versions that are in the files of a group right now; false when nothing is. */
bool publisher_version(const struct publisher *publisher, struct slice group, enum xds_type type,
	struct version *ret_version);

int file_format_parse(struct slice text, enum file_format *ret_format); /* "yaml", "pb" ... */
const char *file_format_extension(enum file_format format);

#endif
