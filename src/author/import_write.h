/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of an imported tree: one for each resource, cut out of the text it came from where that
 * reads as the same message, else written anew; and groups.yaml where one is needed. Pure.
 */
#ifndef XDSPUB_AUTHOR_IMPORT_WRITE_H
#define XDSPUB_AUTHOR_IMPORT_WRITE_H

#include "author/import_plan.h"
#include "compile/compile.h"

#define IMPORT_BOOTSTRAP_FILE                                                                      \
	"_bootstrap.yaml" /* in the root: no resource, as it begins with "_" */

struct import_file {
	char *path; /* in the tree */
	struct buf text;
};

struct import_files {
	struct import_file *items;
	size_t count, capacity;
};

/* False when something cannot be written (see the plan's diags). */
bool import_write(struct import_plan *plan, struct import_files *ret_files);
void import_files_add(
	struct import_files *files, const char *path, struct buf *text); /* takes it */
void import_files_fini(struct import_files *files);

/* Whether a build of the tree has exactly what the plan says; else it adds errors. */
bool import_verify(const struct import_plan *plan, const struct build *build);
/* "3 listeners, 5 clusters": what goes into the tree. */
void import_count(const struct import_plan *plan, struct buf *out);

#endif
