/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a client subscribes to and holds, by name: immutable tables in which equal names and equal
 * tables exist once. Thousands of streams in the same state share one table, and what follows from
 * it is computed once (struct xds_memo). A table with many names is cut into pages by the buckets
 * of set versions (snapshot/version.h), and equal pages exist once, too: a table that differs by a
 * few names costs their pages, and a changed set is compared with the pages that its changed
 * buckets concern. Tables hold names and digests, no resource and no snapshot. They are made by
 * xds_draft.h. Threads: one at a time. Used by the protocol core alone.
 */
#ifndef XDSPUB_SERVE_XDS_TABLE_H
#define XDSPUB_SERVE_XDS_TABLE_H

#include <sys/queue.h>

#include "base/hash.h"
#include "serve/xds_answer.h"

struct xds_name {
	unsigned references;
	uint32_t length;
	uint8_t bucket; /* version_bucket() */
	char text[];
};

enum xds_entry_flag {
	XDS_SUBSCRIBED = 1, /* by name */
	XDS_HELD = 2,	    /* `digest` was sent */
	XDS_MISSING = 4,    /* was told that nothing has this name */
	XDS_OWED = 8,	    /* must be sent though it is held */
	XDS_PENDING = 16,   /* sent in the last response, without an answer yet (delta) */
	XDS_REJECTED = 32,  /* sent in a response that was refused (delta) */
	XDS_TARGET = 64,    /* sent because another name leads to it */
	XDS_ALIAS = 128,    /* held under another name; `digest` is that one's */
	XDS_GONE = 256,	    /* removed by the response that the next or these are about */
	XDS_EARLIER = 512,  /* as PENDING, in a response before the last */
	XDS_RESUMED = 1024, /* held since before this stream, and not sent on it */
	XDS_LEFT = 2048,    /* the client let go of it while it was on its way; alone with PENDING
			       or EARLIER (delta) */
	XDS_WAITED = 4096   /* owed because something waits for it, not because it was asked for:
			       its removal need not be told at once (xds_warm.h) */
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
	uint8_t page_bits; /* it has 1 << page_bits pages */
	bool is_delta : 1;
	bool is_wildcard : 1;
	bool is_wrapping : 1; /* SotW: TTLs are sent */
	bool is_tagged : 1; /* delta: versions say for which cluster they were sent (xds_warm.h) */
};

/* What comes out when entries are compared with the set that is served (xds_look.h). */
struct xds_look {
	uint64_t stamp; /* of what it was compared with; 0: nothing yet */
	int64_t ttl_ms; /* shortest of what there is; -1: none */
	uint32_t gone;	/* how much of what is held does not exist any more */
	bool has_news;
	bool has_again;	  /* what was refused is to be offered again, if it was */
	bool has_refused; /* there is something of that */
	bool has_changes; /* some entry will not stay as it is */
};

/* Entries by bucket and name. One page may belong to many tables of a kind. */
struct xds_page {
	unsigned references;
	uint32_t count;
	uint32_t subscribed; /* entries with XDS_SUBSCRIBED */
	uint32_t flags;	     /* of all entries together */
	uint64_t names_sum;  /* of xds_names_sum() of the subscribed names */
	struct xds_look look;
	struct xds_kind kind; /* from here on: the key */
	struct xds_entry entries[];
};

struct xds_table {
	struct xds_memo *memo;	 /* NULL until asked for */
	struct xds_page **pages; /* NULL when there is one page: `whole` */
	struct xds_page whole; /* references and sums of the table; the entries of the only page */
};

/* What an answer has besides what is new; bits. */
enum xds_step_form {
	XDS_STEP_WITH_GONE = 1, /* what is gone, too; a SotW set always leaves it out */
	XDS_STEP_TAGGED = 2	/* tags in versions, see xds_warm.h */
};
#define XDS_STEP_FORMS 4

/* What follows from a table with the current snapshot of its feed; computed on demand. */
struct xds_memo {
	struct xds_answer *answers[XDS_STEP_FORMS];
	struct xds_table *tables[XDS_STEP_FORMS]; /* the states after them; NULL: the same */
	struct xds_answer *refresh;
	struct xds_table *after_refresh; /* NULL: the same */
	struct xds_table *after_ack;	 /* delta; NULL until asked for */
	struct xds_table *after_nack;
	LIST_ENTRY(xds_memo) link;
	struct xds_table *owner;
};

LIST_HEAD(xds_memos, xds_memo);

struct xds_registry {
	struct hash names;
	struct hash pages;
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

/* A number for a list of names in any order: lists with as many names and the same sum are taken
 * for the same (64 bits of a hash with a secret seed; who beats that fools himself alone). */
static inline uint64_t xds_name_sum(struct slice name)
{
	return hash_bytes(name.data, name.length);
}

struct xds_table *xds_table_ref(struct xds_table *table);
void xds_table_unref(struct xds_registry *registry, struct xds_table *table); /* NULL is fine */
void xds_page_unref(struct xds_registry *registry, struct xds_page *page);

static inline size_t xds_table_pages(const struct xds_table *table)
{
	return (size_t)1 << table->whole.kind.page_bits;
}

/* The page, by number, where a bucket of set versions is. */
static inline size_t xds_page_number(const struct xds_kind *kind, unsigned bucket)
{
	return bucket >> (8 - kind->page_bits);
}

static inline bool xds_table_is_alone(const struct xds_table *table)
{
	return !table->pages;
}

static inline struct xds_page *xds_table_page(struct xds_table *table, size_t number)
{
	return table->pages ? table->pages[number] : &table->whole;
}

const struct xds_entry *xds_table_find(const struct xds_table *table, struct slice name);
const struct xds_entry *xds_table_find_name(
	const struct xds_table *table, const struct xds_name *name);
const struct xds_entry *xds_page_find(const struct xds_page *page, struct slice name);
/* Every entry once, by bucket and name; start with *cursor 0; NULL at the end. */
const struct xds_entry *xds_table_next(const struct xds_table *table, size_t *cursor);

/* The table's memo, made if there is none. */
struct xds_memo *xds_table_memo(struct xds_registry *registry, struct xds_table *table);
/* Forgets what was computed, and with it resources of the former snapshot. */
void xds_memo_drop(struct xds_registry *registry, struct xds_memo *memo);

#endif
