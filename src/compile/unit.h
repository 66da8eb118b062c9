/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one source file contributes: its encoded resources, what is wrong with it, and which other
 * files it needs (`!file`, `!include`). Reading a unit is free of side effects and may run on any
 * thread, one reader each; the unit itself belongs to the build thread.
 */
#ifndef XDSPUB_COMPILE_UNIT_H
#define XDSPUB_COMPILE_UNIT_H

#include "compile/document.h"
#include "compile/mount.h"
#include "compile/silence.h"

struct layer;
struct unit;

/* A resource (or deletion) in its layer's index. */
struct unit_item {
	struct unit_item *next_same; /* another one of the same type and name in this layer */
	struct unit *unit;
	struct resource *resource;
	struct facts *facts;	 /* owned; NULL: none, or not wanted */
	struct resource **bound; /* see unit_item_bind; NULL: not made yet */
	uint32_t bound_count;
	bool is_delete;
	bool is_used; /* of the last report that joined facts: something refers to it */
	bool is_idle; /* a deletion that finds nothing to delete in any group */
};

/* What a reading found. */
struct unit_content {
	uint64_t hash, size; /* of the file's bytes */
	struct unit_item *items;
	uint32_t items_count;
	uint32_t dependencies_count;
	struct rcstr **dependencies; /* paths, as they would be in the tree */
	struct diag_list *diags;     /* NULL: nothing to say */
	struct silence *silence;     /* NULL: no comment silences anything */
	struct facts *broken;	     /* the names of resources that have errors; NULL: none */
	bool hides_names;	     /* it may have resources that nobody can see for errors */
	bool is_foreign;	     /* outside of type folders and without "@type" */
	bool is_read;		     /* hash and size mean something */
	/* Something could not be read: the next look at the whole tree tries again, since what was
	 * in the way need not show in the file (too many open files, a server that is away); and
	 * when something appears or goes, which may be what was meant. */
	bool must_retry;
};

/* What a file of a mount says that does not count yet, because the mount as a whole has to be good
 * for that. While the mount is open, it is the other way round: the unit's content is what is on
 * trial, and this is what it goes back to. */
struct unit_draft {
	struct unit_content content;
	bool was_read;
	bool is_gone;	  /* the file is not there any more */
	bool was_counted; /* what it goes back to: the file was part of what counts */
	uint32_t slot;	  /* 1 + index in the mount's drafts */
};

struct unit {
	struct rcstr *path;
	struct mount *mount;
	struct layer *layer; /* NULL: no group names a folder above it */
	struct unit_content content;
	struct unit_draft *draft; /* NULL: the content is what the file says */
	bool is_counted;	  /* part of what counts; always true in the root */
	uint64_t kept_bytes;	  /* in the journal of last good content, about */
	uint32_t vocal; /* 1 + index in the compiler's list of units with something to say */
	uint32_t queue; /* 1 + index in the list of units to read */
	bool was_read;	/* content says something */
	bool is_stale;	/* the file is to be read */
	bool is_linked; /* its items are in its layer */
	bool must_bind; /* a file it needs has changed: the same bytes don't say the same */
};

struct unit_reader {
	const struct schema *schema;
	const struct limits *limits;
	struct validator *validator; /* borrowed */
	/* free to set after unit_reader_init */
	const struct lint_plans *lints; /* borrowed; needed to read */
	bool wants_facts;
	/* private */
	struct facts_draft facts, broken;
	struct arena *arena;
	struct buf text, body;
	struct diag_list *diags;
	struct rcstr **dependencies;
	size_t dependencies_count, dependencies_capacity;
	bool must_retry;
	struct silence *silence;
	struct unit *unit;
};

struct unit_reading {
	bool is_unchanged; /* the bytes are those of the unit's content: `content` is empty */
	struct unit_content content;
	uint64_t bytes_read, bytes_encoded;
	size_t encoded;
};

void unit_reader_init(struct unit_reader *reader, const struct schema *schema,
	const struct limits *limits, struct validator *validator);
void unit_reader_fini(struct unit_reader *reader);
/* Never fails: what goes wrong is in the reading's diagnostics. */
void unit_reader_read(
	struct unit_reader *reader, struct unit *unit, struct unit_reading *ret_reading);
/* What the unit's file says, parts put in, but not yet resources; valid until the reader is used
 * again. Positions are those of reader->diags. 0 or negative errno; -ESTALE: the file has changed
 * since the unit was read. */
int unit_reader_parse(
	struct unit_reader *reader, struct unit *unit, struct documents *ret_documents);

struct unit *unit_new(struct mount *mount, struct rcstr *path); /* takes a reference */
void unit_free(struct unit *unit);
void unit_content_fini(struct unit_content *content);

/* The item's resource as it is served where these sources stand in open ones: itself when it has
 * none, else one and the same object each time. `number` is that of the sources among all that are
 * in use. Borrowed. */
struct resource *unit_item_bind(
	struct unit_item *item, struct config_sources *sources, uint32_t number);
/* Takes what was bound for another item of the very same resource, too. */
void unit_item_share(struct unit_item *item, const struct unit_item *other);
/* The sources in use are other ones: what was bound moves to its new number, if it has one. */
typedef int64_t (*unit_number_cb)(void *ctx, const struct config_sources *sources); /* -1: none */
void unit_renumber(struct unit *unit, unit_number_cb number_of, void *ctx);

#endif
