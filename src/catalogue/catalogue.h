/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every rule id that a diagnostic may have, and what is told about it: xdspub explain,
 * xdspub-rules(7) and SARIF print from here. A row in one of the rules_*.def, or one of the
 * families of validate.rules in catalogue.c:
 *
 *   ERROR(id, reason, page)    always an error: the input cannot be used as it is
 *   CHOICE(id, reason, page)   an error unless it is silenced: right in some surroundings
 *   WARNING(id, reason, page)  may be silenced
 *   NOTE(id, reason, page)     may be silenced; shown on request
 *
 * The reason is one line without a capital or a full stop. The page is plain text in lines of at
 * most 79 columns, each with its line feed: paragraphs are parted by empty lines, lines that begin
 * with four spaces are examples. A test compares the ids with those that src/ uses.
 * Everything here is constant. Threads: any.
 */
#ifndef XDSPUB_CATALOGUE_CATALOGUE_H
#define XDSPUB_CATALOGUE_CATALOGUE_H

#include "base/diag.h"

enum catalogue_area {
	CATALOGUE_READ,	  /* files as such */
	CATALOGUE_BIND,	  /* values and the schema */
	CATALOGUE_API,	  /* what the Envoy API demands beyond types */
	CATALOGUE_VALUES, /* validate.rules: "string.min_len" */
	CATALOGUE_TREE,
	CATALOGUE_GROUPS,
	CATALOGUE_REFERENCES,
	CATALOGUE_LINT,
	CATALOGUE_PROGRAM
};
#define CATALOGUE_AREAS 9

struct catalogue_entry {
	const char *id;
	enum catalogue_area area;
	enum diag_level level; /* the usual one; an id may come at a lower or higher one, too */
	bool is_silenceable;
	const char *reason;
	const char *page;
};

/* In the order of areas. */
size_t catalogue_count(void);
const struct catalogue_entry *catalogue_get(size_t index);
const struct catalogue_entry *catalogue_find(struct slice id); /* NULL: there is none */
const char *catalogue_area_title(enum catalogue_area area);    /* "Values and the schema" */
/* Whether a diagnostic of this id and level may be silenced. */
bool catalogue_may_silence(struct slice id, enum diag_level level);
/* `, did you mean "unknown-field"?` or nothing. */
const char *catalogue_suggest(struct slice id, char out[static 256]);
/* Whether an id fits a pattern of the command line: an id, or one with stars ("string.*"). */
bool catalogue_matches(struct slice pattern, struct slice id);
bool catalogue_matches_any(struct slice pattern);

#endif
