/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each mount gave last, on disk, so that a start with a broken mount goes on with it: the
 * encoded resources of its files and its folders, as a journal in the state folder (mode 0600).
 * What changed in a mount costs one append. Threads: build. May block. Errors: negative errno.
 *
 * Records (numbers little-endian; text is u32 length and bytes):
 *   MOUNT   text at                           those that follow are about this mount
 *   UNIT    text path, u8 was_read            a file, with the items that follow
 *   ITEM    u8 is_delete, text stem of the type, text name, u64 TTL or 2^64-1, u32 line,
 *           u32 column, u32 number of aliases, each as text, text body; where its open config
 *           sources are, if it has some (open_body.h)
 *   GONE    text path                         no file of the mount any more
 *   FOLDER  text path, u8 is_there
 *   FORGET  text at                           all of a mount
 */
#ifndef XDSPUB_COMPILE_LAST_GOOD_H
#define XDSPUB_COMPILE_LAST_GOOD_H

#include "compile/unit.h"

struct last_good;

/* Opens or creates it in the state folder. *ret_problem: a static text when something of it was
 * lost, else NULL. -EBUSY: another instance has it. */
int last_good_open(const char *folder, struct last_good **ret_last_good, const char **ret_problem);
bool last_good_is_there(const char *folder);
void last_good_close(struct last_good *last_good); /* NULL is fine */

/* Hands out what is known of a mount, once. The content is the callee's; its items lack a unit. */
struct last_good_listener {
	/* Asked first, about every file: false once, and all of the mount is forgotten. */
	bool (*may_have)(void *ctx, const struct unit_content *content);
	void (*on_unit)(void *ctx, struct rcstr *path, struct unit_content *content, bool was_read,
		uint64_t bytes);
	void (*on_folder)(void *ctx, struct rcstr *path);
	void *ctx;
};
void last_good_take(
	struct last_good *last_good, struct slice at, const struct last_good_listener *listener);
/* Forgets the mounts that were never taken: they are not configured any more. */
void last_good_forget_others(struct last_good *last_good);

/* What follows is about this mount. Nothing is written before last_good_commit. */
void last_good_begin(struct last_good *last_good, struct slice at);
void last_good_put_unit(struct last_good *last_good, struct unit *unit);
void last_good_remove_unit(struct last_good *last_good, struct unit *unit);
void last_good_folder(struct last_good *last_good, struct slice path, bool is_there);
/* Writes and syncs. After an error all of it is still to be written: try again. */
int last_good_commit(struct last_good *last_good);

/* Most of the journal is about what has changed since. */
bool last_good_wants_rewrite(const struct last_good *last_good);
/* What is put from now until last_good_commit replaces all of it: everything that counts. Nothing
 * may be waiting to be written. On error the former journal stays. */
int last_good_rewrite(struct last_good *last_good);

#endif
