/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only code that writes published files: whole into a staging folder of the same file system,
 * with owner, group and mode, read back and compared, then renamed (S.1-6, S.8, S.22). What is
 * staged is synced either file by file or, for many, with one syncfs by the caller.
 * Threads: build; may block. Errors: negative errno; the target is then as it was.
 */
#ifndef XDSPUB_PUBLISH_ATOMIC_FILE_H
#define XDSPUB_PUBLISH_ATOMIC_FILE_H

#include <sys/stat.h>
#include <sys/types.h>

#include "base/slice.h"

/* What tells whether a file is still the one we wrote. The device is that of the output folder. */
struct atomic_identity {
	uint64_t inode; /* 0: no file */
	uint64_t size;
	int64_t modified_ns;
	int64_t changed_ns; /* 0: not known: it was renamed but not looked at since, or it has other
			     * links, whose changes are its own */
};

struct atomic_writer {
	int root_fd;	/* the output folder: same file system */
	int staging_fd; /* where nobody watches (S.3) */
	uid_t owner;	/* (uid_t)-1: as it comes */
	gid_t group;
	uint64_t serial; /* of the next staged file; start with 0 */
};

struct atomic_file {
	uint64_t serial;
	int fd; /* -1 once closed */
	struct atomic_identity identity;
};

struct atomic_identity atomic_identity_of(const struct stat *status);
bool atomic_identity_equal(
	const struct atomic_identity *known, const struct atomic_identity *found);

/* Writes, reads back and compares. The descriptor stays open for atomic_sync. */
int atomic_stage(struct atomic_writer *writer, struct slice bytes, mode_t mode,
	struct atomic_file *ret_file);
/* Another name for a staged file with these very bytes and this mode: it is written and synced once
 * however many have it. An error (it is gone, no more links) means that it has to be written. */
int atomic_stage_link(
	struct atomic_writer *writer, const struct atomic_file *like, struct atomic_file *ret_file);
int atomic_sync(struct atomic_file *file);
void atomic_close(struct atomic_file *file); /* the staged file stays */
void atomic_discard(const struct atomic_writer *writer, struct atomic_file *file);
/* Renames onto dirfd/path and completes the identity. -EXDEV is an error like others (S.2). */
int atomic_place(
	const struct atomic_writer *writer, struct atomic_file *file, int dirfd, const char *path);
/* Everything staged or placed so far is on disk. */
int atomic_sync_all(const struct atomic_writer *writer);

/* Makes a folder with exactly this mode; one that exists is left alone. *ret_is_new may be NULL. */
int atomic_make_folder(const struct atomic_writer *writer, int dirfd, const char *name, mode_t mode,
	bool *ret_is_new);
int atomic_sync_folder(int dirfd, const char *path);
/* Removes everything in the staging folder. */
int atomic_clean(const struct atomic_writer *writer);

#endif
