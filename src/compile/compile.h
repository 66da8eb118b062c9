/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree to snapshots: reads what changed, binds and encodes it, and brings each group's set up
 * to date. Keeps what it knows between runs; a run costs what changed. Threads: one at a time
 * (build); parses with up to `threads` workers of its own. Errors in the tree are diagnostics and
 * hold back their group (or the tree); bad luck is a negative errno and changes nothing.
 */
#ifndef XDSPUB_COMPILE_COMPILE_H
#define XDSPUB_COMPILE_COMPILE_H

#include "base/diag.h"
#include "base/limits.h"
#include "schema/schema.h"
#include "snapshot/selector.h"
#include "snapshot/snapshot.h"

struct compile_options {
	const char *root;
	const struct schema *schema;	/* borrowed for the compiler's life */
	const struct limits *limits;	/* copied */
	unsigned threads;		/* 0: as many as there are processors, at most 8 */
	const char *const *only_groups; /* configuration `groups`: build only these; NULL: all */
	size_t only_groups_count;
	bool verbose; /* notes about replaced and deleted resources */
	/* Everything is looked at: what silences nothing is said. */
	bool is_thorough;
	/* build.groups_text of an earlier run, from the state folder, so that a groups.yaml that
	 * vanished meanwhile is noticed; copied. Empty: nothing is known. */
	struct slice former_groups;
};

struct build_group {
	struct rcstr *name;
	struct snapshot *target; /* what this group should serve; NULL while it is held */
	bool is_held;
	size_t errors, warnings; /* that count for this group */
	const char *held_reason; /* e.g. "3 errors, first: clusters/a.yaml:3:5: ..."; NULL */
	bool is_changed;	 /* target differs from the former build's target */
};

/* The outcome of a run; owned by the compiler, valid until the next run. */
struct build {
	const struct build_group *groups; /* those to be built, in the order of groups.yaml */
	size_t groups_count;
	struct selector *selector;     /* borrowed; NULL until a good groups.yaml was seen */
	const struct diag_list *diags; /* everything that is wrong with the tree now, sorted */
	bool groups_are_good;	       /* groups.yaml itself (or its absence) is fine */
	struct slice groups_text;      /* the text the selector came from, for the state folder */
	size_t files, files_read;
	size_t resources, resources_encoded;
	uint64_t bytes_read, bytes_encoded;
};

struct compiler;

struct compiler *compiler_new(const struct compile_options *options);
void compiler_free(struct compiler *compiler);
/* paths NULL: look at the whole tree; else only at these (relative to the root). 0, -ENOENT and
 * the like when the root cannot be read: the former build stays valid. */
int compiler_run(struct compiler *compiler, const char *const *paths, size_t count,
	int64_t now_wall_ms, struct rcstr *source, const struct build **ret_build);
const struct build *compiler_build(const struct compiler *compiler); /* the last one, or NULL */
/* Rebuilds the selector of an earlier run from build.groups_text (see the state folder). */
int compile_selector(struct slice groups_text, struct selector **ret_selector);

#endif
