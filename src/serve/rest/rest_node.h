/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nodes that have something open, known by the bytes of their JSON: a poll that repeats a node
 * costs one digest, no parsing and no matching. Threads: one at a time.
 */
#ifndef XDSPUB_SERVE_REST_REST_NODE_H
#define XDSPUB_SERVE_REST_REST_NODE_H

#include "base/buf.h"
#include "base/digest.h"
#include "base/hash.h"
#include "snapshot/selector.h"

struct rest_node {
	unsigned references;
	struct digest key;
	uint64_t generation; /* of the selector that chose the group */
	struct rcstr *group; /* NULL: none */
	char *id;	     /* for people: cut to 200 bytes, "" when absent */
	char *cluster;
};

struct rest_node_table {
	struct hash nodes;
	struct selector *selector; /* NULL before the first */
	uint64_t generation;
};

void rest_node_table_init(struct rest_node_table *table);
void rest_node_table_fini(struct rest_node_table *table); /* all nodes must be gone */
/* Takes over the reference. True when nodes may belong to other groups now. */
bool rest_node_table_set_selector(struct rest_node_table *table, struct selector *selector);
/* A new reference to the node with this JSON (data NULL: no node); there must be a selector.
 * -EINVAL and a sentence appended to `problem`. */
int rest_node_get(struct rest_node_table *table, struct slice json, struct rest_node **ret_node,
	struct buf *problem);
struct rest_node *rest_node_ref(struct rest_node *node);
void rest_node_unref(struct rest_node_table *table, struct rest_node *node); /* NULL is fine */

#endif
