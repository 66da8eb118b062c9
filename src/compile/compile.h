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

struct fence;
struct last_good;

/* A folder of the tree that comes from elsewhere. */
struct compile_mount {
	const char *path;	   /* on disk */
	const char *at;		   /* in the tree: "live/eds", no "." or "..", no "/" at the ends */
	const struct fence *fence; /* what it may define, NULL: anything; borrowed */
};

struct compile_options {
	const char *root;
	const struct compile_mount *mounts; /* besides the root; their order does not matter */
	size_t mounts_count;
	struct last_good *last_good;	/* what mounts gave in earlier runs; borrowed; NULL: none */
	const struct schema *schema;	/* borrowed for the compiler's life */
	const struct limits *limits;	/* copied */
	unsigned threads;		/* 0: as many as there are processors, at most 8 */
	const char *const *only_groups; /* configuration `groups`: build only these; NULL: all */
	size_t only_groups_count;
	/* Where what is built goes: problems with other transports are only noted. */
	bool has_files, has_rest;
	bool verbose; /* notes about replaced and deleted resources */
	/* Everything is looked at: what only resources together show, such as missing references
	 * (joins.h), and what silences nothing. Each run that has news then costs the tree. */
	bool is_thorough;
	const char *profile; /* one of lint_profiles, borrowed; NULL: none */
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

enum build_mount_state {
	BUILD_MOUNT_GOOD,
	BUILD_MOUNT_HELD,   /* what it gave last counts */
	BUILD_MOUNT_WAITING /* it has never given anything: what depends on it waits */
};
struct build_mount {
	const char *at; /* "": the root, whose errors hold back groups */
	enum build_mount_state state;
	char *reason; /* why it is not good; NULL */
	int error;    /* why it could not be looked at, a negative errno: worth trying again soon */
	size_t files; /* that are there now */
	size_t errors;	  /* in them */
	bool is_accepted; /* in this run: it gave something new */
};

/* The outcome of a run; owned by the compiler, valid until the next run. */
struct build {
	const struct build_group *groups; /* those to be built, in the order of groups.yaml */
	size_t groups_count;
	struct selector *selector;	  /* borrowed; NULL until a good groups.yaml was seen */
	const struct build_mount *mounts; /* the root first, then in the order of the options */
	size_t mounts_count;
	/* What mounts gave could not be written down: a negative errno; tried again in each run. */
	int last_good_error;
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
/* paths NULL: look at the whole tree; else only at these: paths of the whole tree, which may be in
 * mounts; the path of a mount means all of it, "" all of the root. 0, -ENOENT and the like when the
 * root cannot be read: the former build stays valid. With mounts, what they give still counts then,
 * and the error is in build.mounts[0]. */
int compiler_run(struct compiler *compiler, const char *const *paths, size_t count,
	int64_t now_wall_ms, struct rcstr *source, const struct build **ret_build);
/* The same for each mount by itself, [0] being the root: what a watch has seen below the root may
 * be in a folder that a mount hides. */
struct compile_look {
	bool is_wanted;		  /* look at this mount */
	int error;		  /* a negative errno: it would take for ever, do not try */
	const char *const *paths; /* NULL: at all of it; else of the whole tree */
	size_t count;
};
int compiler_look(struct compiler *compiler, const struct compile_look *looks, int64_t now_wall_ms,
	struct rcstr *source, const struct build **ret_build);
const struct build *compiler_build(const struct compiler *compiler); /* the last one, or NULL */
/* Rebuilds the selector of an earlier run from build.groups_text (see the state folder). */
int compile_selector(struct slice groups_text, struct selector **ret_selector);

#endif
