/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts a tree of nodes together from what a reader meets in a text, for yaml_read and json_read:
 * nesting and node limits, duplicate keys, merge keys. Owns scratch memory only; nodes go to the
 * arena. Problems become diagnostics; `error` says that the reader must stop.
 */
#ifndef XDSPUB_MESSAGE_NODE_BUILD_H
#define XDSPUB_MESSAGE_NODE_BUILD_H

#include "base/limits.h"
#include "message/node.h"

#define NODE_BUILD_SCRATCH 96 /* open items that need no memory of their own */

struct node_build_frame {
	struct node *node;
	size_t start; /* in scratch: first pair or item of this container */
	struct slice key;
	struct position key_at;
	bool is_key;  /* stands where a key belongs: reported, counts as a dropped key */
	bool has_key; /* the next node is a value */
	bool drops_key;
	bool has_merge;
	unsigned height; /* levels with this one */
	uint32_t anchor; /* index + 1 of the reader's anchor */
	uint64_t count;	 /* nodes before this one */
};

struct node_build {
	struct arena *arena;
	struct diag_list *diags;
	const char *path;
	uint32_t line_base; /* lower line numbers are taken for lines of the text itself */
	uint64_t limit;	    /* nodes */
	uint64_t count;	    /* nodes so far, aliases expanded */
	struct node *root;
	unsigned height; /* levels of the highest root so far */
	unsigned depth;
	bool is_bad; /* a problem was reported, reading can go on */
	int error;   /* 0, or the reader must stop: -EBADMSG, -ENOMEM */

	struct node_pair *pairs; /* of lists only `value` is used */
	size_t pairs_count, pairs_capacity;
	struct node_build_slots {
		uint32_t *items;
		size_t capacity;
	} slots;
	struct node_build_frame frames[LIMIT_DEPTH + 1]; /* frames[0] is outside of everything */
	struct node_pair first_pairs[NODE_BUILD_SCRATCH];
};

void node_build_init(struct node_build *build, struct arena *arena, struct diag_list *diags,
	const char *path, uint64_t limit, uint32_t line_base);
void node_build_fini(struct node_build *build);

/* Marks a key whose value is to be merged (`<<`). */
extern const char node_build_merge_key[];

static inline struct node_build_frame *node_build_top(struct node_build *build)
{
	return &build->frames[build->depth];
}

static inline bool node_build_wants_key(struct node_build *build)
{
	struct node_build_frame *top = node_build_top(build);

	return build->depth && top->node->kind == NODE_MAP && !top->has_key;
}

void node_build_key(
	struct node_build *build, struct slice key, struct position at, bool is_dropped);
/* A complete node goes to its place. */
void node_build_add(struct node_build *build, struct node *node, unsigned height);
/* Counts `nodes` against the limit. */
void node_build_count(struct node_build *build, uint64_t nodes, struct position at);
/* A list or a mapping begins; sets `error` when that is too deep. */
void node_build_open(struct node_build *build, struct node *node);
/* The innermost container is complete. */
void node_build_close(struct node_build *build);

/* `error` becomes -EBADMSG. */
void node_build_fail(struct node_build *build, struct position at, const char *rule,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A problem that does not end the reading. */
void node_build_complain(struct node_build *build, struct position at, const char *rule,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
