/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The facts of a tree by the names they speak of: per layer all, and per stack of layers the names
 * that are missing. Lives while one report is made; refers to items and facts. Threads: build.
 */
#ifndef XDSPUB_COMPILE_JOINS_INDEX_H
#define XDSPUB_COMPILE_JOINS_INDEX_H

#include "compile/compiler.h"
#include "lint/facts.h"

/* A fact of an item. */
struct joins_use {
	const struct unit_item *item;
	const struct fact *fact;
};

struct joins_uses {
	struct joins_use *all;
	size_t count, capacity;
};

struct joins_index {
	struct layering *layering;
	struct hash counts;  /* by stack and kind, see joins_count */
	struct hash missing; /* by the stack's address */
	struct hash hidden;  /* layers with a file that could not be read, by address */
	struct hash broken;  /* layers with a resource that could not be read */
};

/* Also tells items whether they are used. */
void joins_index_init(struct joins_index *index, struct compiler *compiler);
void joins_index_fini(struct joins_index *index);

/* A key as fact_key makes them: of a reference, and what it names. */
enum xds_type joins_key_type(struct slice key);
struct slice joins_key_name(struct slice key);
int joins_compare_places(const struct unit_item *a, const struct fact *a_fact,
	const struct unit_item *b, const struct fact *b_fact);

/* The names that something in the stack refers to, and that it does not have. */
const struct hash *joins_missing(const struct joins_index *index, const struct stack *stack);
/* The facts with this key in resources that the stack's last layers decide on, in the order of
 * their places; the caller frees `all`. */
void joins_live(const struct stack *stack, struct slice key, struct joins_uses *ret_uses);
/* The keys of a kind that the layers of a stack have, live or not, sorted; malloc'ed. */
struct slice *joins_keys(const struct stack *stack, enum fact_kind kind, size_t *ret_count);
/* How many different names live facts of a kind have, and the first key of these. */
size_t joins_count(struct joins_index *index, const struct stack *stack, enum fact_kind kind,
	struct slice *ret_first);
/* Whether something that a FACT_SOURCE of this key asks for is in the tree. */
bool joins_source_is_ours(const struct joins_index *index, struct slice key);
/* Whether something in the stack names resources of a type at run time. */
bool joins_takes_any(const struct stack *stack, enum xds_type type);
bool joins_group_is_hidden(const struct joins_index *index, const struct group *group);
bool joins_layer_is_broken(const struct joins_index *index, const struct layer *layer);

#endif
