/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * groups.yaml: who gets which layers. Read strictly, with all problems at once. Immutable once
 * read, but for the marks of groups_ignore. Threads: any.
 */
#ifndef XDSPUB_COMPILE_GROUPS_H
#define XDSPUB_COMPILE_GROUPS_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/hash.h"
#include "compile/groups_each.h"
#include "schema/schema.h"
#include "snapshot/config_sources.h"
#include "snapshot/selector.h"
#include "snapshot/types.h"

#define GROUPS_NAME_BYTES 128 /* of a group's name: it becomes a folder */

struct external;

struct groups_layer {
	struct slice path; /* relative to the root without "/" at the ends; "" is the root */
	struct position at;
};

/* A rule whose warnings are not wanted. */
struct groups_ignore {
	const char *rule; /* from the catalogue */
	struct position at;
	bool *is_used; /* in the last report; shared by the groups of one each: */
};

struct groups_entry {
	const char *name;
	struct position at;
	const struct match *match; /* NULL: everyone */
	struct groups_layer *layers;
	size_t layers_count;
	bool allow_empty;
	uint32_t at_least[XDS_TYPE_COUNT]; /* 0: no floor */
	struct position at_least_at;
	struct groups_ignore *ignores;
	size_t ignores_count;
	const struct external *external; /* NULL: it says nothing */
	/* What is in open config sources; of struct groups. Equal ones are one object. */
	struct config_sources *sources;
	uint16_t
		sources_said[SOURCE_TRANSPORTS]; /* bits of types that groups.yaml names them for */
	uint32_t source;			 /* which item of groups: it comes from */
	struct slice folder; /* the one that each: made it for; data NULL: no each: */
};

struct groups_each {
	struct groups_pattern pattern;
	struct position at;
};

struct groups {
	struct arena *arena;
	struct groups_entry *entries;
	size_t count;
	struct groups_ignore *ignores; /* for the whole tree */
	size_t ignores_count;
	const struct external *external; /* of every group; NULL: nothing is said */
	bool isolate_tree;		 /* one error holds back every group */
	bool is_default;		 /* made up because there is no groups.yaml */
	bool has_each;			 /* other folders may mean other groups */
	struct groups_each *eaches;
	size_t eaches_count;
	struct slice text; /* what it was read from; then, as comments, the folders each: found */
	struct selector *selector;
	struct hash sources; /* struct config_sources by digest */
};

/* 0, -EBADMSG: see diags. `path` is for diagnostics. `folders`: all those of the tree, a struct
 * rcstr by path, for each:; NULL: none. schema NULL: config_sources is not looked at. */
int groups_read(const char *path, struct slice text, const struct hash *folders,
	const struct schema *schema, struct diag_list *diags, struct groups **ret_groups);
/* The one group of a tree without groups.yaml. */
struct groups *groups_new_default(void);
void groups_free(struct groups *groups); /* NULL is fine */
/* Whether a text is that of groups_new_default. */
bool groups_text_is_default(struct slice text);

#endif
