/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `source` of xdspub.yaml as a list: the root and the mounts of a tree. Immutable once read,
 * reference-counted; threads: any.
 */
#ifndef XDSPUB_DAEMON_MOUNT_SETTINGS_H
#define XDSPUB_DAEMON_MOUNT_SETTINGS_H

#include "base/diag.h"
#include "compile/compile.h"
#include "message/node.h"

#define MOUNT_SETTINGS_MAX 64

struct mount_setting {
	char *path, *at;
	struct fence *fence;	    /* NULL: it may define anything */
	int64_t quiet_ms, limit_ms; /* its own settle; -1: that of all */
};

struct mount_settings {
	unsigned references;
	struct mount_setting *items;
	size_t count;
	int64_t root_quiet_ms, root_limit_ms; /* -1: that of all */
	char *text;			      /* equal for equal settings; for the log, too */
};

/* Reads the list; *ret_root (malloc'ed) is the path of the entry without `at`. Relative paths are
 * below `folder`. 0, or -EBADMSG with diagnostics about `config`. */
int mount_settings_read(const struct node *list, const char *config, const char *folder,
	struct diag_list *diags, char **ret_root, struct mount_settings **ret_settings);
/* Adds `AT=PATH`, without a fence, to what `settings` holds alone (NULL: nothing yet). -EINVAL with
 * a sentence in `problem`. */
int mount_settings_add(struct mount_settings **settings, const char *text, struct buf *problem);

struct mount_settings *mount_settings_ref(struct mount_settings *settings); /* NULL stays NULL */
void mount_settings_unref(struct mount_settings *settings);		    /* NULL is fine */
bool mount_settings_equal(const struct mount_settings *a, const struct mount_settings *b);
/* malloc'ed array of settings->count, borrowing from the settings; NULL: there are none. */
struct compile_mount *mount_settings_for_compiler(const struct mount_settings *settings);

#endif
