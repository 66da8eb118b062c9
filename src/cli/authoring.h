/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands for authors load: the schema with its comments, names and rules, and the keys
 * of our own files. Reads files; prints nothing.
 */
#ifndef XDSPUB_CLI_AUTHORING_H
#define XDSPUB_CLI_AUTHORING_H

#include "author/explain.h"
#include "author/keys.h"
#include "daemon/options.h"

struct authoring {
	struct schema *schema;	   /* this and what follows: NULL until they are loaded */
	struct comments *comments; /* empty when no file has any */
	struct names *names;
	struct rules_book *book;
	struct keys *groups, *settings; /* always there */
};

void authoring_init(struct authoring *authoring);
/* The descriptor sets that `options` name. For envoy.pb the comments are in envoy.doc.pb, when that
 * is there; otherwise in the set itself. 0 or a negative errno, with diagnostics; 0 with warnings.
 */
int authoring_load(
	struct authoring *authoring, const struct options *options, struct diag_list *diags);
void authoring_fini(struct authoring *authoring);
struct explain_from authoring_from(const struct authoring *authoring);
/* The keys of xdspub.yaml, from the table of options. */
struct keys *authoring_settings(void);

#endif
