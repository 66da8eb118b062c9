/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of a compiler, shared by compile.c (what happens) and report.c (what is said). */
#ifndef XDSPUB_COMPILE_COMPILER_H
#define XDSPUB_COMPILE_COMPILER_H

#include "compile/compile.h"
#include "compile/dependents.h"
#include "compile/layering.h"
#include "compile/shape.h"

struct unit_list {
	struct unit **units;
	size_t count, capacity;
};

struct compiler {
	const struct schema *schema;
	struct limits limits;
	unsigned threads;
	struct validator **validators; /* one per thread, each made when first needed */
	char **only_groups;	       /* NULL: all */
	size_t only_groups_count;
	bool verbose;
	bool is_thorough;

	struct tree *tree;
	struct hash units;	/* by path */
	struct unit_list queue; /* to read in this run */
	struct unit_list vocal; /* with something to say */
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

	struct build build;
	struct build_group *groups;
	struct diag_list *diags;
};

/* Writes compiler->diags, and what each layer and group is charged with. */
void report_make(struct compiler *compiler);
/* Whether the unit is used by a group that is built (or groups are not known yet). */
bool compiler_is_active(const struct compiler *compiler, const struct unit *unit);

#endif
