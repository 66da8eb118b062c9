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

struct read_options {
	const char *path;     /* for diagnostics; ends up in them as it is */
	uint64_t nodes_limit; /* after alias expansion; 0: LIMITS_DEFAULT */
};

struct documents {
	struct node **roots; /* one per document; a document without content is left out */
	struct position *starts;
	size_t count;
	bool has_merge_keys; /* a `<<` was resolved; Envoy's own reader would not */
};

/* 0, -EBADMSG (see diags), -ENOMEM. Scalars may borrow from `text`, which must outlive the arena's
 * use. After -EBADMSG ret_documents holds nothing, or, when the reader could go on (a duplicate
 * key, an unknown tag or alias), all documents without the bad parts: good for finding more. */
int yaml_read(const struct read_options *options, struct slice text, struct arena *arena,
	struct diag_list *diags, struct documents *ret_documents);

#endif
