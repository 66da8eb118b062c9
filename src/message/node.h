/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a YAML or JSON text says before a schema gives it meaning: scalars, lists and mappings with
 * positions. Aliases are expanded by sharing nodes, merge keys are resolved, keys tagged !ignore
 * are gone. Lives in an arena; immutable once read. Depth is at most LIMIT_DEPTH.
 */
#ifndef XDSPUB_MESSAGE_NODE_H
#define XDSPUB_MESSAGE_NODE_H

#include "base/arena.h"
#include "base/diag.h"

enum node_kind {
	NODE_SCALAR,
	NODE_LIST,
	NODE_MAP
};

enum node_tag {
	NODE_TAG_NONE,
	NODE_TAG_STRING, /* !!str, or "!" */
	NODE_TAG_OTHER,	 /* !!int, !!float, !!bool, !!null (all is_plain), !!map, !!seq, !!binary */
	NODE_TAG_FILE,	 /* !file */
	NODE_TAG_DELETE, /* !delete */
	NODE_TAG_INCLUDE, /* !include, while it is read: its place is taken by what it names */
};

struct node;

struct node_pair {
	struct slice key;
	struct position key_at;
	struct node *value;
	bool from_merge; /* came through `<<` */
};

struct node {
	enum node_kind kind : 8;
	enum node_tag tag : 8;
	bool is_plain; /* scalar: unquoted (YAML) or number, true, false, null (JSON) */
	bool is_json;  /* from a JSON text: JSON's own rules for plain scalars */
	struct position at;
	uint32_t
		origin; /* of what stands here by `!include`: its own line; 0: it is not included */
	union {
		struct slice text; /* scalar; UTF-8 without NUL */
		struct {
			struct node **items;
			size_t items_count;
		};
		struct {
			struct node_pair *pairs; /* in source order, keys unique */
			size_t pairs_count;
		};
	};
};

/* NULL when absent or not a mapping. */
const struct node_pair *node_find(const struct node *map, const char *key);

/* What a plain scalar means under the YAML 1.2 core schema (or JSON); quoted ones are strings. */
enum node_scalar {
	NODE_NULL,
	NODE_BOOL,
	NODE_INTEGER,
	NODE_FLOAT,
	NODE_STRING
};
struct node_value {
	enum node_scalar kind;
	bool boolean;
	double number; /* INTEGER and FLOAT */
	/* YAML 1.1 (and so Envoy's reader) would take it for something else: yes, 0777, 1:30 ... */
	bool differs_in_yaml11;
};
struct node_value node_resolve(const struct node *scalar);

#endif
