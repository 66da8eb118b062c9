/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of our own files (groups.yaml, xdspub.yaml) in one form, whatever table they come from:
 * for explaining them and for JSON Schemas. Pure. Threads: one at a time while adding.
 */
#ifndef XDSPUB_AUTHOR_KEYS_H
#define XDSPUB_AUTHOR_KEYS_H

#include <jansson.h>

#include "base/suggestion.h"
#include "schema/comments.h"

enum key_shape {
	KEY_TEXT,
	KEY_NAME,   /* of a group */
	KEY_FOLDER, /* a path in the tree */
	KEY_PATH,
	KEY_ADDRESS, /* host:port or unix:/path */
	KEY_BOOL,
	KEY_CHOICE,
	KEY_NUMBER,
	KEY_DURATION,
	KEY_SIZE,
	KEY_MODE,      /* octal */
	KEY_COUNTS,    /* type folders and numbers */
	KEY_NAMES,     /* type folders and lists of conditions */
	KEY_CONDITION, /* a text, or exact, prefix, suffix, contains, ignore_case; or a list */
	KEY_NUMBERS,   /* a whole number or a list of them */
	KEY_FREE,      /* conditions with keys of the user's own */
	KEY_MAP,       /* the keys are the rows below it */
	KEY_OPEN       /* anything */
};

struct key_row {
	const char *path; /* dotted: "groups.layers"; entries of lists add nothing to it */
	enum key_shape shape;
	bool is_list, is_required;
	bool may_be_list;	  /* one, or a list of them */
	const char *choices;	  /* KEY_CHOICE: separated by blanks */
	const char *preset;	  /* default, as one would write it, or NULL */
	int64_t minimum, maximum; /* KEY_NUMBER; both 0: no limit */
	const char *text;	  /* for people, or NULL */
	const char *example;	  /* or NULL */
	const char *other_name;	  /* accepted as well, or NULL */
	const char *flag;	  /* of the command line, or NULL */
	const char *reload;	  /* when a change counts, or NULL */
};

struct keys;

struct keys *keys_new(const char *file); /* "groups.yaml"; a literal */
void keys_free(struct keys *keys);	 /* NULL is fine */
/* Copies the texts of the row. Rows between (sections of a dotted path) are made when missing. */
void keys_add(struct keys *keys, const struct key_row *row);
/* groups.yaml; comments (may be NULL) say what the fields of Node are. */
struct keys *keys_of_groups(const struct comments *comments);

const char *keys_file(const struct keys *keys);
const struct key_row *keys_rows(const struct keys *keys, size_t *ret_count);
/* The name of a row in the mapping `parent` ("" the file, "groups"), NULL: it is not in it. */
const char *keys_name_in(const struct key_row *row, const char *parent);

/* The document for a path ("" for the whole file), NULL: there is no such key. */
json_t *keys_explain(const struct keys *keys, struct slice path);
/* Name, type, text ... of one row. */
json_t *keys_explain_row(const struct key_row *row);
void keys_offer(const struct keys *keys, struct suggestion *suggestion);

#endif
