/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An append-only file of checksummed records in batches, so that one change costs one append.
 * A batch counts only when its commit record is whole. Open keeps what is whole from the start on
 * and cuts off the rest: a torn tail, or everything from the first damaged byte's batch on.
 * Owner: one process, one thread (an exclusive flock is held). May block. Errors: negative errno;
 * after a failed append the file is cut back to the last commit and the batch is still there, so
 * that the caller may try again or abandon it. Limit: a body has at most 64 MiB.
 * Layout: 16-byte header (magic of 8 bytes, u32 format, u32 zero), then records: u32 length of
 * the body, u32 CRC-32C over kind and body, u8 kind, body. Kind 0 without a body is the commit.
 * Little-endian. `<name>.new` beside it is ours while a rewrite runs.
 */
#ifndef XDSPUB_BASE_JOURNAL_H
#define XDSPUB_BASE_JOURNAL_H

#include "base/buf.h"

#define JOURNAL_COMMIT	   0
#define JOURNAL_BODY_BYTES (64u << 20)

struct journal;

/* Called for each record of a committed batch, in order; non-zero stops and is returned by open.
 * The body is gone after the call. */
typedef int (*journal_replay_cb)(void *ctx, uint8_t kind, struct slice body);

/* Opens or creates `name` (no '/') below `dirfd` with `mode`. -EBUSY: another process has it
 * locked. -EBADMSG: not a journal of this magic and format. Replays before it returns. */
int journal_open(int dirfd, const char *name, unsigned mode, const char magic[static 8],
	uint32_t format, journal_replay_cb replay, void *ctx, struct journal **ret_journal);
void journal_close(struct journal *journal); /* an uncommitted batch is dropped; NULL is fine */
/* Bytes that open cut off; 0: the file was whole. */
uint64_t journal_dropped(const struct journal *journal);

/* Adds a record to the batch in memory. kind is 1..255. What goes wrong is told by commit. */
void journal_add(struct journal *journal, uint8_t kind, const struct slice *parts, size_t count);
/* Appends the batch with its commit in one write and, if asked, fdatasync. An empty batch adds
 * nothing. */
int journal_commit(struct journal *journal, bool sync);
void journal_abandon(struct journal *journal); /* drops the batch, or the rewrite that runs */

uint64_t journal_size(const struct journal *journal); /* bytes on disk */
/* Replaces the file: records added between begin and commit go to a new file that is synced and
 * renamed over the old one by journal_commit. On failure the old file stays and the rewrite is
 * over. There must be no open batch. */
int journal_rewrite_begin(struct journal *journal);

#endif
