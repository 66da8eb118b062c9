/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `!include path` while one source file is read: the content of another YAML or JSON file of the
 * tree at this place. Relative to the file that says so; anchors are each file's own. A part that
 * is wanted at several places of one file is read once and shared like an alias.
 * Limits: LIMIT_INCLUDES files inside each other, the node limit of the file as a whole, the size
 * limit for each. Threads: any, one context each.
 */
#ifndef XDSPUB_COMPILE_INCLUDE_H
#define XDSPUB_COMPILE_INCLUDE_H

#include "base/limits.h"
#include "compile/mount.h"
#include "message/yaml_read.h"

struct include_file;

struct include {
	/* set by the caller */
	const struct mount *mount; /* of the source file */
	const struct limits *limits;
	struct arena *arena;
	struct diag_list *diags;
	const char *path; /* the source file */
	/* Told of every file that is wanted, there or not; may be called again for the same one. */
	void (*depend)(void *ctx, const char *path);
	void *depend_ctx; /* of both */
	/* Given the text of each YAML file that could be read; NULL: not wanted. */
	void (*take_yaml)(void *ctx, const char *path, struct slice text);

	bool must_retry; /* some file could not be read */

	/* private */
	struct include_file *files;
	size_t count, capacity;
	unsigned depth;
};

void include_fini(struct include *include);
/* read_include_cb with the context as `ctx`. */
int include_read(void *ctx, struct slice name, struct position at, uint64_t nodes_left,
	struct read_included *ret_included);

/* What a person can do about a path that cannot be read; `error` is a negative errno. */
const char *include_explain(int error);
/* Whether a part of the path is a name that no tree has (see tree_is_ignored). */
bool include_is_hidden(const char *path);

#endif
