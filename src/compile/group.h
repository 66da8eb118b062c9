/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A group of groups.yaml that is built, with the stack of its layers. Its candidate follows the
 * tree whether or not the group is held back. Threads: build.
 */
#ifndef XDSPUB_COMPILE_GROUP_H
#define XDSPUB_COMPILE_GROUP_H

#include "compile/groups.h"
#include "compile/stack.h"
#include "snapshot/snapshot.h"

struct group {
	const struct groups_entry *entry; /* in groups.yaml's reading */
	struct rcstr *name;
	struct layer **layers; /* in order: later ones win */
	size_t layers_count;
	struct stack *stack;	    /* of these layers */
	struct snapshot *candidate; /* of the sets when it was last wanted; NULL: none yet */
	unsigned empty_types;	    /* bits of types that should not be empty and are */
	uint64_t lack;		    /* see group_find_lack */
	/* of the last report: what is wrong with the group itself */
	size_t errors, warnings;
	char *first_error;
	char *held_reason;
};

struct group *group_new(const struct groups_entry *entry);
void group_free(struct group *group);

/* The item that decides, NULL when no layer says anything; `from` is the number of layers to look
 * at, from the first (all: layers_count). *ret_layer is its layer's index. */
struct unit_item *group_find(const struct group *group, enum xds_type type, struct slice name,
	size_t from, size_t *ret_layer);
/* What the group should serve. Borrowed. */
struct resource_set *group_set(const struct group *group, enum xds_type type);
/* Types of the sets that must not be empty and are, as bits. */
unsigned group_find_empty(const struct group *group);
/* 0: no set is short of at_least; else a number that tells how short which sets are. */
uint64_t group_find_lack(const struct group *group);
/* A snapshot of the sets, the former object when nothing changed. Borrowed. */
struct snapshot *group_snapshot(struct group *group, struct rcstr *source, int64_t now_wall_ms);

#endif
