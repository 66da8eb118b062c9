/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an import is about to write: the resources with their messages and where their text stands,
 * and the bootstrap they came from. Filled by import_read (YAML, JSON) and import_dump (a config
 * dump), changed by import_split, divided by import_keep, written by import_write.
 * Owns its arena, texts and outlines. Threads: one at a time.
 */
#ifndef XDSPUB_AUTHOR_IMPORT_PLAN_H
#define XDSPUB_AUTHOR_IMPORT_PLAN_H

#include "author/source_cut.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/limits.h"
#include "message/message.h"
#include "snapshot/types.h"

/* A file that resources are cut out of. */
struct import_source {
	const char *path;
	char *text; /* malloc'ed */
	size_t length;
	struct outline outline; /* empty: nothing can be cut out (JSON) */
};

struct import_item {
	const struct xds_type_row *row;
	struct slice name;
	struct message *message; /* what the tree shall say; made and changed in the plan's arena */
	struct message *wrapper; /* the Resource around it, with TTL and aliases; NULL: none */
	int64_t ttl_ms;		 /* -1: none */
	const struct slice *aliases;
	size_t aliases_count;
	const struct import_source *source; /* NULL: its text is written anew */
	struct position at;		    /* of its text in there; for messages in any case */
	const char *path;		    /* for messages */
	struct source_edit *edits;	    /* malloc'ed */
	size_t edits_count, edits_capacity;
	const char *prefix; /* lines to put before it, e.g. a name it does not have; NULL */
	bool is_nested;	    /* its text is the value of the key that the prefix ends with */
	bool is_static;	    /* from static_resources of the bootstrap */
	bool is_kept;	    /* stays there, and does not go into the tree */
	bool is_redacted;   /* Envoy did not tell all: not to be served as it is */
};

struct import_plan {
	const struct schema *schema; /* borrowed */
	const struct limits *limits; /* borrowed */
	struct diag_list *diags;     /* borrowed */
	struct arena *arena;
	struct import_source **sources;
	size_t sources_count, sources_capacity;
	struct import_item **items; /* in the order they were found */
	size_t count, capacity;
	struct hash by_name[XDS_TYPE_COUNT]; /* the items; by the names in `items` */

	struct message *bootstrap;		      /* as it was, NULL: none was given */
	const struct import_source *bootstrap_source; /* NULL: there is no text of it */
	const char *bootstrap_path;
	bool has_dump; /* of a running Envoy: what it got from elsewhere is in it */
};

void import_plan_init(struct import_plan *plan, const struct schema *schema,
	const struct limits *limits, struct diag_list *diags);
void import_plan_fini(struct import_plan *plan);

/* Takes over the malloc'ed text; `path` is copied. */
struct import_source *import_plan_source(
	struct import_plan *plan, const char *path, char *text, size_t length);
/* A new item under the name in the message, which must not be empty. An equal one that is there
 * already is given back (ret_is_new false); one that differs is an error and NULL. */
struct import_item *import_plan_add(struct import_plan *plan, const struct xds_type_row *row,
	struct message *message, const char *path, bool *ret_is_new);
struct import_item *import_plan_find(
	const struct import_plan *plan, enum xds_type type, struct slice name);
/* `lines` is copied; see source_edit. Only for items with a source; otherwise nothing happens. */
void import_plan_edit(struct import_plan *plan, struct import_item *item, struct position key,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
/* "base", or with "-2", "-3" ... behind it: a name that no item of the type has. */
const char *import_plan_free_name(struct import_plan *plan, enum xds_type type, const char *base);
/* The singular text of a field, set. */
void import_plan_set_text(
	struct import_plan *plan, struct message *message, const char *field, struct slice text);
/* The field's message, made when it is not there. The field must exist. */
struct message *import_plan_sub(
	struct import_plan *plan, struct message *message, const char *field);
const struct schema_field *import_plan_field(const struct message *message, const char *field)
	__attribute__((returns_nonnull));

#endif
