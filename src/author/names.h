/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What people call the types of a schema: "Cluster", "cluster", "http_connection_manager",
 * "cds", "clusters", full names and type URLs. Borrows the schema and the comments. Threads: any
 * once made.
 *
 * Also which message types go into which Any: Envoy's comments name the category of the field
 * ("envoy.filters.http") and of the extension's file ("envoy.filters.http.router").
 */
#ifndef XDSPUB_AUTHOR_NAMES_H
#define XDSPUB_AUTHOR_NAMES_H

#include "base/suggestion.h"
#include "schema/comments.h"
#include "schema/schema.h"

struct names;

struct names_extension {
	const struct schema_message *message;
	struct slice name; /* "envoy.filters.http.router" */
	bool is_main;	   /* the message is called as the extension: Router */
};

struct names *names_new(const struct schema *schema, const struct comments *comments);
void names_free(struct names *names); /* NULL is fine */

/* "HttpConnectionManager" of "envoy...v3.HttpConnectionManager", "Cluster.LbPolicy" of a type
 * inside of a type. */
const char *names_short(const struct schema *schema, const char *full_name);

/* The message types that a name without package may mean, best guess first; the whole number,
 * which may be larger than `limit`. */
size_t names_find(const struct names *names, struct slice name, const struct schema_message **out,
	size_t limit);
/* Offers every name that names_find would take. */
void names_offer(const struct names *names, struct suggestion *suggestion);
/* The names that begin so, for completion, without regard to case; each is a message. */
typedef void (*names_cb)(void *ctx, const char *name, const struct schema_message *message);
void names_beginning(const struct names *names, struct slice start, names_cb tell, void *ctx);

/* The categories that a field's comment names, joined by blanks; "" when there are none. For a
 * field without one that of `outer`, the field that its message was reached by (may be NULL). */
void names_categories(const struct names *names, const struct schema_field *field,
	const struct schema_field *outer, struct buf *out);
/* The extensions of these categories by full name; the array is borrowed until the next call. */
const struct names_extension *names_fitting(
	struct names *names, struct slice categories, size_t *ret_count);
/* The extension that a message configures; data NULL: none that we know of. */
struct slice names_extension_of(const struct names *names, const struct schema_message *message);

#endif
