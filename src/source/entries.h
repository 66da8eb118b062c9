/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tree knows: its entries by path, each folder's children, and which links to look at again
 * when a path changes. No file system access. Threads: one at a time.
 */
#ifndef XDSPUB_SOURCE_ENTRIES_H
#define XDSPUB_SOURCE_ENTRIES_H

#include "base/hash.h"
#include "source/tree.h"

struct link_trigger;

struct tree_node {
	struct tree_entry entry;
	struct tree_node *parent; /* NULL: the root folder itself */
	struct tree_node **children;
	uint32_t children_count, children_capacity;
	uint32_t slot; /* in parent's children */
	uint32_t seen; /* generation of the folder scan that saw it last */
	/* Changed so shortly before it was looked at that another change could look the same. */
	bool is_fresh;
	uint32_t change;	       /* 1 + index in the changes of this scan; 0: none */
	struct link_trigger *triggers; /* links only: paths that it leads through */
	uint32_t link_slot;	       /* links only: in entries.links */
};

struct entries {
	struct hash by_path;
	struct tree_node *root;
	struct hash triggers; /* path to the first struct link_trigger */
	struct tree_node **links;
	size_t links_count, links_capacity;

	struct tree_change *changes; /* of the running scan; entry NULL: taken back */
	size_t changes_count, changes_capacity;
	struct tree_node **gone; /* removed ones, freed when the next scan starts */
	size_t gone_count, gone_capacity;
};

void entries_init(struct entries *entries);
void entries_fini(struct entries *entries);
/* Starts a scan: forgets the changes and frees what was removed. */
void entries_begin(struct entries *entries);
/* Sorts the changes by path and drops those that were taken back. */
void entries_finish(struct entries *entries);

struct tree_node *entries_find(const struct entries *entries, struct slice path);
struct tree_node *entries_add(struct entries *entries, struct tree_node *parent, struct slice path,
	enum tree_kind kind); /* notes TREE_ADDED */
void entries_note_modified(struct entries *entries, struct tree_node *node);
void entries_remove(struct entries *entries, struct tree_node *node); /* with all below it */

/* Replaces what a link leads to: its target within the root (NULL: nowhere). */
void entries_set_link(struct entries *entries, struct tree_node *node, const char *target);
void entries_clear_link(struct entries *entries, struct tree_node *node);
/* The link leads through `path`; is_target: that is where it ends. */
void entries_add_trigger(
	struct entries *entries, struct tree_node *link, struct slice path, bool is_target);

/* Each link that leads through exactly this path. The callback must not change links. */
typedef void (*entries_trigger_cb)(void *ctx, struct tree_node *link, bool is_target);
void entries_each_trigger(
	const struct entries *entries, struct slice path, entries_trigger_cb callback, void *ctx);

#endif
