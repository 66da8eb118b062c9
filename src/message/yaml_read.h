/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML text (libyaml events) to nodes, one per document. All problems become diagnostics: syntax,
 * tabs, duplicate keys, unknown anchors, too deep (LIMIT_DEPTH, checked before libyaml's quadratic
 * flow handling can bite), more nodes than the limit after aliases, keys that are no scalars,
 * unknown tags, NUL bytes, invalid UTF-8, binary files.
 * Also reads JSON texts (json_read) into the same nodes. Threads: any, one arena per call.
 */
#ifndef XDSPUB_MESSAGE_YAML_READ_H
#define XDSPUB_MESSAGE_YAML_READ_H

#include "message/node.h"

/* What another file has to say at the place of `!include name`. */
struct read_included {
	struct node *root; /* a node of its own for this place; shares what is below it */
	unsigned height;   /* levels of lists and mappings */
	uint64_t count;	   /* nodes, aliases expanded; at most nodes_left */
};
/* 0, -EBADMSG (with its own diagnostics), -ENOMEM. `at` is the place of the tag. */
typedef int (*read_include_cb)(void *ctx, struct slice name, struct position at,
	uint64_t nodes_left, struct read_included *ret_included);

struct read_options {
	const char *path;	 /* for diagnostics; ends up in them as it is */
	uint64_t nodes_limit;	 /* after alias expansion; 0: LIMITS_DEFAULT */
	uint32_t line_base;	 /* of an included file: see diag_list_include */
	read_include_cb include; /* NULL: `!include` is an error */
	void *include_ctx;
};

struct documents {
	struct node **roots; /* one per document; a document without content is left out */
	struct position *starts;
	size_t count;
	bool has_merge_keys; /* a `<<` was resolved; Envoy's own reader would not */
	unsigned height;     /* levels of the deepest one */
	uint64_t nodes;	     /* of all, aliases expanded */
};

/* 0, -EBADMSG (see diags), -ENOMEM. Scalars may borrow from `text`, which must outlive the arena's
 * use. After -EBADMSG ret_documents holds nothing, or, when the reader could go on (a duplicate
 * key, an unknown tag or alias), all documents without the bad parts: good for finding more. */
int yaml_read(const struct read_options *options, struct slice text, struct arena *arena,
	struct diag_list *diags, struct documents *ret_documents);

#endif
