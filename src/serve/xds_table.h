/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a client subscribes to and holds, by name: immutable tables in which equal names and equal
 * tables exist once. Thousands of streams in the same state share one table, and what follows from
 * it is computed once (struct xds_memo). No resource, no snapshot is held by a table itself.
 * Threads: one at a time. Used by the protocol core alone.
 */
#ifndef XDSPUB_SERVE_XDS_TABLE_H
#define XDSPUB_SERVE_XDS_TABLE_H

#include <sys/queue.h>

#include "base/hash.h"
#include "serve/xds_answer.h"

struct xds_name {
	unsigned references;
	uint32_t length;
	char text[];
};

enum xds_entry_flag {
	XDS_SUBSCRIBED = 1, /* by name */
	XDS_HELD = 2,	    /* `digest` was sent */
	XDS_MISSING = 4,    /* was told that nothing has this name */
	XDS_OWED = 8,	    /* must be sent though it is held */
	XDS_PENDING = 16,   /* sent in the last response, without an answer yet (delta) */
	XDS_REJECTED = 32,  /* sent in a response that was refused (delta) */
	XDS_TARGET = 64,    /* sent because an alias leads to it */
	XDS_ALIAS = 128,    /* held under another name; `digest` is that one's */
	XDS_GONE = 256,	    /* removed by the response that the next or these are about */
	XDS_EARLIER = 512   /* as PENDING, in a response before the last */
};

struct xds_entry {
	struct xds_name *name;
	struct digest digest; /* zero unless held */
	uint64_t flags;
};

/* What every entry of a table has in common; part of its identity. */
struct xds_kind {
	uint32_t feed; /* number */
	uint8_t type;
	bool is_delta;
	bool is_wildcard;
	bool is_wrapping; /* SotW: TTLs are sent */
};

struct xds_table;

/* What follows from a table with the current snapshot of its feed; computed on demand. */
struct xds_memo {
	struct xds_answer *answers[2]; /* what is new; what is new and what is gone */
	struct xds_table *tables[2];   /* the states after them; NULL: no other */
	struct xds_answer *refresh;
	LIST_ENTRY(xds_memo) link;
	struct xds_table *owner;
};

struct xds_table {
	unsigned references;
	bool has_news;	/* valid for `generation`, and the two below */
	bool has_gone;	/* something held does not exist any more */
	bool has_again; /* what was refused is to be offered again, if it was */
	uint64_t generation;
	int64_t ttl_ms; /* shortest of what is held; -1: none */
	struct xds_memo *memo;
	struct xds_table *after_ack; /* delta: the same without PENDING; NULL until asked for */
	struct xds_table *after_nack;
	size_t subscribed; /* entries with XDS_SUBSCRIBED */
	size_t count;
	struct xds_kind kind;	    /* from here on: the key */
	struct xds_entry entries[]; /* by name */
};

LIST_HEAD(xds_memos, xds_memo);

struct xds_registry {
	struct hash names;
	struct hash tables;
	struct xds_memos memos;
};

void xds_registry_init(struct xds_registry *registry);
void xds_registry_fini(struct xds_registry *registry); /* all names and tables must be gone */

struct xds_name *xds_name_get(struct xds_registry *registry, struct slice text); /* a reference */
struct xds_name *xds_name_ref(struct xds_name *name);
void xds_name_unref(struct xds_registry *registry, struct xds_name *name);

static inline struct slice xds_name_slice(const struct xds_name *name)
{
	return (struct slice){name->text, name->length};
}

struct xds_table *xds_table_ref(struct xds_table *table);
void xds_table_unref(struct xds_registry *registry, struct xds_table *table); /* NULL is fine */
const struct xds_entry *xds_table_find(const struct xds_table *table, struct slice name);
/* The table's memo, made if there is none. */
struct xds_memo *xds_table_memo(struct xds_registry *registry, struct xds_table *table);
/* Forgets what was computed, and with it resources of the former snapshot. */
void xds_memo_drop(struct xds_registry *registry, struct xds_memo *memo);

/* A table in the making; entries are added by ascending name. */
struct xds_draft {
	struct xds_registry *registry;
	struct xds_table *table;
	size_t capacity;
};
void xds_draft_init(struct xds_draft *draft, struct xds_registry *registry, struct xds_kind kind,
	size_t expected);
/* digest NULL: not held. Takes its own reference to the name. */
void xds_draft_add(struct xds_draft *draft, struct xds_name *name, const struct digest *digest,
	uint64_t flags);
/* Same with the text of the name. */
void xds_draft_add_text(
	struct xds_draft *draft, struct slice text, const struct digest *digest, uint64_t flags);
/* A reference to the one table with this content. Consumes the draft. */
struct xds_table *xds_draft_finish(struct xds_draft *draft);

#endif
