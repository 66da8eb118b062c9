/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of groups.yaml in one table: what the reader accepts, what `xdspub explain groups` says
 * and what editors are told. A new key is a row here and its reading in groups.c. Constant.
 */
#ifndef XDSPUB_COMPILE_GROUPS_KEYS_H
#define XDSPUB_COMPILE_GROUPS_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum groups_shape {
	GROUPS_TEXT,
	GROUPS_NAME,   /* a group's: lower-case letters, digits, '.', '_' and '-' */
	GROUPS_FOLDER, /* a path in the tree */
	GROUPS_BOOL,
	GROUPS_CHOICE,
	GROUPS_NUMBER, /* from 1 */
	GROUPS_NODE,   /* conditions in the shape of Envoy's Node: see match_fields() */
	GROUPS_COUNTS, /* type folders and numbers */
	GROUPS_NAMES,  /* type folders and lists of names or conditions for them */
	GROUPS_MAP,    /* the keys are the rows below it */
	GROUPS_OPEN    /* a mapping or list that another module describes */
};

struct groups_key {
	const char *path; /* dotted: "groups.layers"; entries of lists add nothing to it */
	enum groups_shape shape;
	bool is_list;	     /* of one or more */
	bool is_required;    /* in the mapping it is a key of */
	const char *choices; /* GROUPS_CHOICE: separated by spaces, the default first */
	const char *text;    /* for people: a sentence or a few */
	const char *example; /* as YAML on one line, or NULL */
};

const struct groups_key *groups_keys(size_t *ret_count);
/* The part of the row's path behind `prefix` ("" or "groups."), NULL: it is not a key of that
 * mapping itself. */
const char *groups_key_below(const struct groups_key *key, const char *prefix);

#endif
