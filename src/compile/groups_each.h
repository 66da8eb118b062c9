/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `each: env/<star>/<star>` of groups.yaml: the folders of the tree that a pattern matches, with
 * what the stars stand for, and `{1}`, `{2}` ... in texts replaced by that. A star is one or more
 * bytes of one name; at most one in each name. Type folders, parts (`_`) and what is in them are
 * no folders here. Pure. Threads: any.
 */
#ifndef XDSPUB_COMPILE_GROUPS_EACH_H
#define XDSPUB_COMPILE_GROUPS_EACH_H

#include "base/arena.h"
#include "base/hash.h"
#include "message/node.h"

#define GROUPS_STARS_MAX 9

struct groups_pattern {
	struct slice path; /* without "./" and "//" */
	unsigned stars;
};

struct groups_found {
	struct slice folder;
	struct slice captures[GROUPS_STARS_MAX];
};

/* NULL, or what is wrong with the pattern. The path is copied to the arena. */
const char *groups_pattern_read(
	struct slice text, struct arena *arena, struct groups_pattern *ret_pattern);
/* False: the folder does not match. Captures point into `folder`. */
bool groups_pattern_match(
	const struct groups_pattern *pattern, struct slice folder, struct groups_found *ret_found);
/* Whether a folder below this one, which is not known yet, could match. */
bool groups_pattern_may_match_below(const struct groups_pattern *pattern, struct slice folder);
/* All that match among the keys of `folders` (NULL: none), by path; in the arena. */
struct groups_found *groups_pattern_find(const struct groups_pattern *pattern,
	const struct hash *folders, struct arena *arena, size_t *ret_count);

/* The node with all captures in its texts replaced; shares what has none. A capture that the
 * pattern does not have: NULL, and *ret_bad is the text with it. `found` NULL: there are none. */
const struct node *groups_substitute(const struct node *node, const struct groups_found *found,
	unsigned stars, struct arena *arena, const struct node **ret_bad);

#endif
