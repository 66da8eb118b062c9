/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder that groups name as a layer: what its files define, by type and name. Items belong to
 * their units; a layer only links them. Threads: build.
 */
#ifndef XDSPUB_COMPILE_LAYER_H
#define XDSPUB_COMPILE_LAYER_H

#include "base/hash.h"
#include "compile/unit.h"

struct group;
struct stack;

struct layer {
	struct slice path;		   /* borrowed from groups.yaml's reading; "" is the root */
	struct hash items[XDS_TYPE_COUNT]; /* name to the first struct unit_item of that name */
	/* Names that are defined more than once, or defined and deleted. */
	struct hash conflicts[XDS_TYPE_COUNT];
	struct group **groups; /* that are built and take this layer */
	size_t groups_count, groups_capacity;
	struct stack **stacks; /* of these groups, that end with this layer */
	size_t stacks_count, stacks_capacity;
	size_t units_count;
	size_t open_places[SOURCE_TYPES]; /* open config sources, by what they lead to */
	size_t lost_places; /* those among them that lead to no file, though their type has some */
	bool is_there;	    /* the folder exists */
	size_t turn;	    /* the last one of layering.turns that looked at it */

	/* While a report is made, see joins_index.h: facts by key, and the keys of those that are
	 * no references. */
	struct hash uses;
	struct slice *judged;
	size_t judged_count, judged_capacity;

	/* of the last report */
	size_t errors, warnings;
	const struct diag *first_error;
	const struct diag *unit_error; /* the first one of its files, wherever it is shown */
};

struct layer *layer_new(struct slice path);
void layer_free(struct layer *layer);
/* Items of one name are kept in the order of their places, so that the outcome does not depend on
 * the order in which files were read. True: it is or was not the only one of its name. */
bool layer_add(struct layer *layer, struct unit_item *item);
bool layer_remove(struct layer *layer, struct unit_item *item);
/* Which of the counts of open places are not 0, as bits. */
unsigned layer_open_types(const struct layer *layer);
struct unit_item *layer_find(const struct layer *layer, enum xds_type type, struct slice name);

#endif
