/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layers of a group, from the first one on: for each type and name the resource of the last
 * layer that says something about it. Stacks form a tree, since groups share their first layers,
 * and so do their sets: a layer that says nothing about a type has the very set below it, and one
 * that says a little shares all other buckets. Resources with open config sources are bound to
 * those of the root, so groups with different ones share no stacks. Threads: build.
 */
#ifndef XDSPUB_COMPILE_STACK_H
#define XDSPUB_COMPILE_STACK_H

#include "compile/layer.h"
#include "compile/virtual_hosts.h"

struct stack {
	struct stack *parent; /* without the last layer; NULL: this one has no layer */
	struct layer *layer;  /* the last one; NULL: none, this is a root */
	struct stack *first_child, *next_sibling;
	struct resource_set *sets[XDS_TYPE_COUNT]; /* as the layers have them */
	/* NULL: there are none, or they and the route configurations are those of the parent. */
	struct virtual_hosts *hosts;
	struct resource_set_builder *builders[XDS_TYPE_COUNT]; /* NULL: nothing changed yet */
	struct stack *former; /* while it is finished for the first time */
	size_t groups_count;  /* that have it as their own or below it */
	bool is_told;	      /* free for who looks at the stacks of all groups */
	/* Of the root, for all that stand on it: what is in open config sources; a reference. */
	struct config_sources *sources;
	uint32_t number; /* of the sources: the root's place among the roots */
};

/* What the last layer of a stack does to what is below it, in numbers of names. */
struct stack_sums {
	size_t adds[XDS_TYPE_COUNT], replaces[XDS_TYPE_COUNT], deletes[XDS_TYPE_COUNT];
};

struct stacks {
	struct stack **roots; /* no layer, no resources; one for each different sources */
	size_t roots_count, roots_capacity;
	struct hash by_sources; /* roots by digest */
	struct hash by_end;	/* by parent and layer */
	bool are_fresh;		/* no set was made yet */
};

void stacks_init(struct stacks *stacks);
void stacks_fini(struct stacks *stacks);
/* The stack without layers for groups with these config sources. The empty sets are those of
 * `former` (NULL: new ones). */
struct stack *stacks_root(
	struct stacks *stacks, struct config_sources *sources, const struct stacks *former);
/* The same if there is one, or NULL. */
struct stack *stacks_find_root(const struct stacks *stacks, const struct config_sources *sources);
/* The stack with one more layer. */
struct stack *stacks_push(struct stacks *stacks, struct stack *parent, struct layer *layer);
struct stack *stacks_find(const struct stacks *stacks, struct stack *parent, struct layer *layer);

/* The next one in an order in which parents come before their children, within `top`; NULL: that
 * was the last one. */
struct stack *stack_next(const struct stack *top, const struct stack *stack);
/* The item that decides, NULL when no layer says anything. */
struct unit_item *stack_find(const struct stack *stack, enum xds_type type, struct slice name);
struct stack_sums stack_sum(const struct stack *stack); /* one with a layer */

/* Something about this name changed in the last layer of `top`. */
void stack_update(struct stack *top, enum xds_type type, struct slice name);
/* What is to be served: virtual hosts are where they belong. Borrowed. */
struct resource_set *stack_set(const struct stack *stack, enum xds_type type);
/* Its own or that of a parent; NULL: there are no virtual hosts. */
struct virtual_hosts *stack_hosts(const struct stack *stack);
/* Makes the new sets of all updates. True when what is wrong with virtual hosts may have changed.
 * `former`, as found by the callback for each stack (NULL:
 * none), is the one whose sets are taken where they hold the very same resources. */
typedef struct stack *(*stacks_former_cb)(void *ctx, const struct stack *stack);
bool stacks_finish(struct stacks *stacks, stacks_former_cb find_former, void *ctx);

#endif
