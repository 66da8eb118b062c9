/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a schema says about a type, a field, a oneof or an enum value, as a JSON document: type,
 * fields, rules in words, defaults, deprecation, sensitivity and the authors' comment. The text
 * for people (explain_text.h) is written from the same document. Pure.
 * Threads: one at a time. Limits: a tree has at most 20,000 fields and LIMIT_DEPTH levels.
 */
#ifndef XDSPUB_AUTHOR_EXPLAIN_H
#define XDSPUB_AUTHOR_EXPLAIN_H

#include <jansson.h>

#include "author/path.h"
#include "validate/rules.h"

/* Everything borrowed. */
struct explain_from {
	const struct schema *schema;
	const struct comments *comments;
	struct names *names;
	struct rules_book *book;
};

/* How deep the tree of fields goes; 0: the fields themselves, with what is said about them. */
json_t *explain_path(const struct explain_from *from, const struct path *path, unsigned depth);

/* ---- what JSON Schemas are made from, too ---- */

/* Adds the plain text of a comment as "description", and "not_implemented". */
void explain_comment(json_t *to, struct slice comment);
/* One field: name, json_name, type, marks, rules; without what is below. */
json_t *explain_field(const struct explain_from *from, const struct schema_field *field);
/* "uint32": a scalar's, or that of the wrapper's inside; NULL for other messages and enums. */
const char *explain_scalar(const struct schema_field *field);

#endif
