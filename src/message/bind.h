/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes to message: the proto3 JSON mapping, driven by the schema. All problems of a text become
 * diagnostics in one go, with "did you mean". Strict: unknown fields and values, wrong types,
 * range, oneof conflicts, both spellings of one field. Accepted with a warning, because Envoy
 * accepts it: see the table in bind.c. Threads: any; one arena per call.
 */
#ifndef XDSPUB_MESSAGE_BIND_H
#define XDSPUB_MESSAGE_BIND_H

#include "message/message.h"
#include "message/node.h"

/* Resolves `!file name`: bytes borrowed until the arena goes. Adds its own diagnostics. */
typedef int (*bind_file_cb)(void *ctx, struct slice name, struct position at, struct arena *arena,
	struct diag_list *diags, struct slice *ret_bytes);

struct bind_options {
	const struct schema *schema;
	const char *path;   /* for diagnostics */
	bool lenient;	    /* forgive what Envoy's reader forgives without a warning, and unknown
			     * fields with one */
	bool allow_partial; /* proto2 required fields may be missing */
	bind_file_cb read_file; /* NULL: `!file` is an error */
	void *read_file_ctx;
};

/* 0, -EBADMSG (see diags), -ENOMEM (arena limit). Any contents are any_content messages. */
int bind_message(const struct bind_options *options, const struct schema_message *type,
	const struct node *node, struct arena *arena, struct diag_list *diags,
	struct message **ret_message);

/* The type of a mapping with "@type": the message it names, without reading the rest. *ret_type is
 * NULL when there is no "@type"; unknown types and bad values are diagnostics and -EBADMSG. */
int bind_find_type(const struct bind_options *options, const struct node *node,
	struct diag_list *diags, const struct schema_message **ret_type);
/* Binds a mapping like an Any's content: "@type" is allowed and skipped, the rest is `type`. */
int bind_typed(const struct bind_options *options, const struct schema_message *type,
	const struct node *node, struct arena *arena, struct diag_list *diags,
	struct message **ret_message);

#endif
