/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is remarkable about the tree's folders and names, apart from what files say: paths that
 * cannot be looked at, folders that are nearly type folders, type folders that do not stand in
 * the root, files that are nearly groups.yaml. Kept up to date change by change. Threads: build.
 */
#ifndef XDSPUB_COMPILE_SHAPE_H
#define XDSPUB_COMPILE_SHAPE_H

#include "base/hash.h"
#include "compile/layering.h"
#include "source/tree.h"

struct shape_problem {
	struct rcstr *path;
	int error;
	bool is_folder;
};

/* A folder with a count of the source files below it. */
struct shape_folder {
	struct rcstr *path;
	const struct xds_type_row *row;
	size_t files;
};

struct shape {
	struct hash folders;  /* struct rcstr: every folder, for suggestions */
	struct hash problems; /* struct shape_problem */
	struct hash near;     /* struct shape_folder: one or two letters from a type folder */
	struct hash nested;   /* struct shape_folder: type folders that are not in the root */
	struct hash misspelt; /* struct rcstr: nearly groups.yaml */
	struct hash parts; /* struct rcstr: YAML and JSON files that are only good for !include */
};

void shape_init(struct shape *shape);
void shape_fini(struct shape *shape);
/* An entry of the tree appeared, changed or went. True when there is something new to say. */
bool shape_change(struct shape *shape, enum tree_change_kind kind, const struct tree_entry *entry);
/* Which folders there are, as far as groups and layers are concerned: apart from what is on disk,
 * since a mount that is held has those that it had. */
void shape_add_folder(struct shape *shape, struct rcstr *path);
void shape_remove_folder(struct shape *shape, struct slice path);
bool shape_has_folder(const struct shape *shape, struct slice path);
/* A source file appeared (or went). */
bool shape_add_file(struct shape *shape, struct slice path);
bool shape_remove_file(struct shape *shape, struct slice path);
/* Whether the file is below a folder that is nearly a type folder (and so has its diagnostic). */
bool shape_is_near(const struct shape *shape, const struct layering *layering, struct slice path);

/* Adds the diagnostics about paths that `is_wanted`. `concern` is told each path that holds back
 * its layer (or layers). */
struct shape_listener {
	bool (*is_wanted)(void *ctx, struct slice path);
	void (*concern)(void *ctx, struct slice path, bool is_folder);
	void *ctx;
};
void shape_report(const struct shape *shape, const struct layering *layering,
	struct diag_list *diags, const struct shape_listener *listener);
/* The folder whose path is nearest to a misspelt one: a phrase for messages or "". */
const char *shape_suggest_folder(
	const struct shape *shape, struct slice path, char out[static 256]);

#endif
