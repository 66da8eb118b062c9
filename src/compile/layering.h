/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One reading of groups.yaml at work: its layers and groups, and which of them a change concerns.
 * Items are those of units that live at least until the next layering_update. Threads: build.
 */
#ifndef XDSPUB_COMPILE_LAYERING_H
#define XDSPUB_COMPILE_LAYERING_H

#include "compile/group.h"

struct layering {
	struct groups *groups;
	struct layer **layers;
	size_t layers_count;
	struct hash layers_by_path;
	struct stacks stacks; /* of the groups to build */
	struct group **built; /* the groups to build, in the order of groups.yaml */
	size_t built_count;
	size_t deletes_count; /* deletions in all layers */
	size_t turns;	      /* of looking for those that delete nothing */
	struct hash idle;     /* deletions that delete nothing; by their resource's address */
	struct layering_key *keys;
	size_t keys_count, keys_capacity;
	/* Until the first update: the reading before, whose sets and snapshots stay where nothing
	 * differs. */
	struct layering *former;
};

/* Takes over `groups` and `former` (NULL: none). Builds only the groups named, or all (names
 * NULL). */
struct layering *layering_new(struct groups *groups, const char *const *names, size_t names_count,
	struct layering *former);
void layering_free(struct layering *layering); /* NULL is fine */

/* The layer a path belongs to: that of the nearest folder above it, or NULL. */
struct layer *layering_layer_of(const struct layering *layering, struct slice path);
/* Links the unit's items into its layer, or takes them out again; notes what changed. True when
 * that touched names that are defined more than once, or there are other kinds of open config
 * sources now. */
bool layering_add_items(struct layering *layering, struct unit *unit);
bool layering_remove_items(struct layering *layering, struct unit *unit);
/* Brings the groups up to date with what was noted. True when idle deletions or problems with
 * virtual hosts changed. */
bool layering_update(struct layering *layering);

#endif
