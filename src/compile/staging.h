/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What mounts give: all or nothing. What changed in a mount is kept apart as drafts. When nothing
 * is wrong with them the mount is opened: the drafts go into the layers on trial. What is found
 * wrong then closes it again, and what it gave last counts as before; else it is accepted. Threads:
 * build.
 */
#ifndef XDSPUB_COMPILE_STAGING_H
#define XDSPUB_COMPILE_STAGING_H

#include "compile/compiler.h"

/* ---- what is on disk; not while a mount is open ---- */

/* The unit's file appeared (again), or went. */
void staging_add(struct compiler *compiler, struct unit *unit);
void staging_remove(struct compiler *compiler, struct unit *unit);
void staging_folder(struct mount *mount, struct rcstr *path, bool is_added, struct shape *shape);
/* All of the mount was looked at for the first time: what counts from an earlier run and is not
 * there has gone meanwhile. */
void staging_reconcile(struct compiler *compiler, struct mount *mount);

/* ---- in a run ---- */

/* A file was read. */
void staging_take(struct compiler *compiler, struct unit *unit, struct unit_reading *reading);
/* Nobody uses the unit any more: what it says is forgotten. */
void staging_forget(struct compiler *compiler, struct unit *unit);
/* Opens what can be opened; true when that was something: groups and units may follow. */
bool staging_open(struct compiler *compiler);
/* After a report: closes the mounts that it is about; true when there were any. */
bool staging_close(struct compiler *compiler);
/* Accepts what is open. */
void staging_accept(struct compiler *compiler);

/* Errors that hold back a mount and no group. */
size_t staging_count_errors(const struct compiler *compiler);
/* Whether what the mount has is looked at, but does not count. */
static inline bool staging_is_held(const struct mount *mount)
{
	return !mount_is_root(mount) && !mount->is_open && !mount->is_good;
}
/* Whether the layer has files of the mount. */
bool staging_is_in_layer(
	const struct compiler *compiler, const struct mount *mount, const struct layer *layer);

#endif
