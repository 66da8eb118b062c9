/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which group a node belongs to: first match wins. Immutable once finished, reference-counted,
 * any thread. The node is JSON in Envoy's Node shape (snake_case or camelCase names), as REST
 * clients send it; gRPC converts. Keys below `metadata` are the user's own and compared as they
 * are. Where the node has a list, one matching element is enough. A missing field never matches.
 */
#ifndef XDSPUB_SNAPSHOT_SELECTOR_H
#define XDSPUB_SNAPSHOT_SELECTOR_H

#include <jansson.h>
#include <stdatomic.h>

#include "base/rcstr.h"

/* A condition tree in the shape of groups.yaml: maps are ANDed, lists ORed, leaves compare. */
enum match_kind {
	MATCH_ALL,
	MATCH_ANY,
	MATCH_FIELD,
	MATCH_EXACT,
	MATCH_PREFIX,
	MATCH_SUFFIX,
	MATCH_CONTAINS,
	MATCH_NUMBER,
	MATCH_BOOL
};

struct match {
	enum match_kind kind;
	bool ignore_case;
	struct slice text; /* FIELD: name; EXACT...CONTAINS: what to compare with */
	double number;
	bool boolean;
	struct match *children; /* ALL, ANY; FIELD has exactly one */
	size_t children_count;
};

/* A condition of ALL, ANY and EXACT...CONTAINS alone, on one text. */
bool match_allows_text(const struct match *match, struct slice text);

struct selector;
struct selector_builder;

struct selector_builder *selector_begin(void);
/* match NULL: everyone. Copies everything. In order of preference. */
void selector_add(struct selector_builder *builder, const char *group, const struct match *match);
struct selector *selector_finish(struct selector_builder *builder);
struct selector *selector_ref(struct selector *selector);
void selector_unref(struct selector *selector);

/* Same groups in the same order with the same conditions: no node moves between them. */
bool selector_equal(const struct selector *a, const struct selector *b);

size_t selector_count(const struct selector *selector);
struct rcstr *selector_group(const struct selector *selector, size_t index); /* borrowed */
/* The group's condition, borrowed; NULL: everyone. */
const struct match *selector_match(const struct selector *selector, size_t index);
/* Index of the group by name, or -1. */
int selector_find(const struct selector *selector, struct slice group);
/* Index of the node's group, -1: none. node NULL: a group only if a single group without match
 * serves everyone. */
int selector_select(const struct selector *selector, const json_t *node);

/* For explanations: the field of a node, in either spelling of its name (keys of metadata, which is
 * free form, as they are), NULL when it has none; whether a value fits. */
const json_t *match_field(const json_t *object, struct slice name, bool is_free_form);
bool match_holds(const struct match *match, const json_t *value, bool is_free_form);

#endif
