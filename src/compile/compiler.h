/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of a compiler, shared by compile.c (what happens), staging.c (what mounts give) and
 * report.c (what is said). */
#ifndef XDSPUB_COMPILE_COMPILER_H
#define XDSPUB_COMPILE_COMPILER_H

#include "compile/compile.h"
#include "compile/dependents.h"
#include "compile/layering.h"
#include "compile/mount.h"
#include "compile/shape.h"

struct compiler {
	const struct schema *schema;
	struct limits limits;
	unsigned threads;
	struct validator **validators; /* one per thread, each made when first needed */
	char **only_groups;	       /* NULL: all */
	size_t only_groups_count;
	bool verbose;
	const char *profile;
	bool is_thorough;
	struct lint_plans *lints; /* made when first needed */
	bool has_files, has_rest; /* what is built goes there */

	struct mounts mounts;
	struct last_good *last_good; /* borrowed; NULL: mounts forget with the program */
	struct hash units;	     /* by path */
	struct unit_list queue;	     /* to read in this run */
	struct unit_list vocal;	     /* with something to say */
	struct dependents dependents;
	struct shape shape;

	struct layering *layering;	/* NULL until a good groups.yaml (or a tree without one) */
	struct diag_list *groups_diags; /* about groups.yaml itself */
	struct silence *groups_silence; /* its comments; NULL: none silences anything */
	bool had_groups;		/* groups.yaml was there once */
	bool groups_changed;		/* look at groups.yaml in this run */
	bool groups_are_good;

	/* What was replaced in this run: layering_update still needs the names. */
	struct unit_content *retired;
	size_t retired_count, retired_capacity;
	struct unit_list removed;

	bool names_changed; /* in this run: something appeared or went */
	bool misses_layers; /* of the layering: some folder does not exist */
	size_t resources;   /* in all units */
	bool is_over;	    /* more resources than the limit allows */
	bool is_news;	    /* diagnostics may have changed */
	size_t tree_errors; /* of the last report: hold back every group */
	bool root_changed;  /* in this run */

	struct build build;
	struct build_group *groups;
	struct build_mount *build_mounts; /* one for each mount */
	struct diag_list *diags;
};

/* Writes compiler->diags, and what each layer and group is charged with. */
void report_make(struct compiler *compiler);
/* The first error, or NULL. */
const struct diag *report_first_of(const struct diag_list *diags);
/* Errors that the last report charges a group with. */
size_t report_group_errors(const struct group *group);
/* Whether the unit is used by a group that is built (or groups are not known yet). */
bool compiler_is_active(const struct compiler *compiler, const struct unit *unit);
/* Whether another folder may mean other groups. */
bool compiler_depends_on_folders(const struct compiler *compiler);

/* ---- units, for compile.c and staging.c ---- */

void unit_list_add(struct unit_list *list, struct unit *unit);
/* The unit is to be read; at once if anybody uses it. */
void compiler_enqueue(struct compiler *compiler, struct unit *unit);
void compiler_dequeue(struct compiler *compiler, struct unit *unit);
/* Where its items are concerned, the unit's content goes into its layer, or out of it. */
void compiler_add_items(struct compiler *compiler, struct unit *unit);
void compiler_remove_items(struct compiler *compiler, struct unit *unit);
/* Keeps the content till the run ends, since others still point into it, and leaves it empty. */
void compiler_retire(struct compiler *compiler, struct unit_content *content);
/* The same for a content that is in no layer, with its dependencies: of a unit of the root. */
void compiler_retire_content(struct compiler *compiler, struct unit *unit);
/* The unit says something now, or nothing any more. */
void compiler_update_vocal(struct compiler *compiler, struct unit *unit);
/* A unit without content; it is not to be read yet. */
struct unit *compiler_add_unit(struct compiler *compiler, struct mount *mount, struct rcstr *path);
/* Forgets the unit, which has no content. */
void compiler_drop_unit(struct compiler *compiler, struct unit *unit);
/* A resource that is the same as before, place included, stays the same object. */
void compiler_keep_same(struct unit *unit, struct unit_content *content);
size_t compiler_count_resources(const struct unit_content *content);

#endif
