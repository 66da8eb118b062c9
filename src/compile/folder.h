/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a path says about its file: whether it is a source of resources at all, and of which type.
 * Pure. Threads: any.
 */
#ifndef XDSPUB_COMPILE_FOLDER_H
#define XDSPUB_COMPILE_FOLDER_H

#include "snapshot/types.h"

#define FOLDER_GROUPS_FILE "groups.yaml"

struct slice folder_parent(struct slice path); /* "a/b" of "a/b/c"; "" of "a" */
struct slice folder_name(struct slice path);   /* the last component */
/* Whether `path` is `folder` or below it; "" is the root. */
bool folder_holds(struct slice folder, struct slice path);

enum folder_format {
	FOLDER_OTHER,
	FOLDER_YAML,
	FOLDER_JSON
};
enum folder_format folder_format(struct slice path); /* by the file's extension */
/* .yaml, .yml or .json, no component starts with '_', and not groups.yaml in the root. */
bool folder_is_source(struct slice path);

/* The nearest folder above `path` that carries the name of a type; NULL when there is none. */
const struct xds_type_row *folder_type(struct slice path, struct slice *ret_folder);
/* The type whose folder's name is one or two letters away from this name, NULL when none is. */
const struct xds_type_row *folder_near_miss(struct slice name);
/* True for names that are nearly groups.yaml, such as groups.yml. */
bool folder_is_misspelt_groups(struct slice path);

/* A path as written in a YAML file in `folder`, made relative to the root, in `out` (`size`
 * bytes): "..", "." and "//" are worked out. 0, -EXDEV: it leaves the root or is absolute,
 * -ENAMETOOLONG, -EINVAL: empty or with a NUL byte. */
int folder_resolve(struct slice folder, struct slice relative, char *out, size_t size);

#endif
