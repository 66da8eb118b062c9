/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nodes that have streams on a loop, known by the bytes of their Node message: which group
 * each belongs to and what its client understands. A node that comes again costs one digest, no
 * parsing and no matching. What no group can be chosen by (extensions, listening addresses: most
 * of an Envoy's node) is not kept. Threads: the loop's.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_NODE_H
#define XDSPUB_SERVE_GRPC_GRPC_NODE_H

#include "base/digest.h"
#include "base/hash.h"
#include "serve/grpc/grpc_server.h"
#include "serve/xds_admission.h"

#define GRPC_NODE_BYTES (128u << 10) /* of what is kept of one; more is refused */

struct grpc_node {
	unsigned references;
	unsigned streams; /* that are counted as the client's; grpc_journal.h */
	uint64_t generation;
	struct digest key;
	struct rcstr *group; /* NULL: none */
	struct xds_client client;
	char *id, *cluster; /* for people: cut to 200 bytes, "" when absent */
	bool is_named;	    /* the client sent a node */
	size_t length;
	char bytes[]; /* Node, without what is not kept */
};

struct grpc_node_table {
	const struct grpc_schema *schema;
	struct hash nodes;
	struct selector *selector; /* NULL before the first */
	uint64_t generation;
};

void grpc_node_table_init(struct grpc_node_table *table, const struct grpc_schema *schema);
void grpc_node_table_fini(struct grpc_node_table *table); /* all nodes must be gone */
/* Takes over the reference. True when nodes may belong to other groups now. */
bool grpc_node_table_set_selector(struct grpc_node_table *table, struct selector *selector);

/* What a refused node is known by: "" when it could not be read. */
struct grpc_node_names {
	char id[208], cluster[208];
};
/* data NULL: the first message had no node. A reference in *ret_node when the status is OK; when
 * no group matches, *ret_names says who it was. */
struct xds_admission grpc_node_admit(struct grpc_node_table *table, struct slice bytes,
	struct grpc_node **ret_node, struct grpc_node_names *ret_names);
/* The same once more, after grpc_node_table_set_selector(); node->group says the outcome. */
struct xds_admission grpc_node_admit_again(struct grpc_node_table *table, struct grpc_node *node);
struct grpc_node *grpc_node_ref(struct grpc_node *node);
void grpc_node_unref(struct grpc_node_table *table, struct grpc_node *node); /* NULL is fine */

#endif
