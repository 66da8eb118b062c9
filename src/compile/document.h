/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The documents of one file to encoded resources: single ones, lists, `resources:` mappings,
 * wrappers with TTL and aliases, and `!delete`. Threads: any, one reader each.
 */
#ifndef XDSPUB_COMPILE_DOCUMENT_H
#define XDSPUB_COMPILE_DOCUMENT_H

#include "base/limits.h"
#include "compile/mount.h"
#include "compile/open_sources.h"
#include "lint/lint.h"
#include "message/bind.h"
#include "message/yaml_read.h"
#include "snapshot/resource.h"
#include "validate/validate.h"

struct document_resource {
	struct resource *resource;
	struct facts *facts; /* malloc'ed; NULL: none */
	bool is_delete;	     /* `!delete`: the resource has a type, a name and a place, no body */
};

struct document_reader {
	/* set by the caller */
	const struct bind_options *bind; /* path and schema too */
	const struct limits *limits;
	struct arena *arena;
	struct diag_list *diags;
	const struct xds_type_row *row; /* the type folder's; NULL: none */
	struct slice folder;		/* its path, for messages */
	struct slice routes;		/* virtual hosts: the folder of their route configuration */
	struct rcstr *path;		/* of the file */
	const struct mount *mount;	/* the file's: what it may define; NULL: anything */
	struct buf *scratch;
	struct validator *validator;
	const struct lint_plans *lints; /* NULL: lints are not wanted */
	struct facts_draft *facts;	/* free for use; NULL: facts are not wanted */
	struct facts_draft *broken;	/* takes the names of resources that have errors, or NULL */

	/* the outcome; the references are the caller's */
	struct document_resource *resources; /* malloc'ed */
	size_t count, capacity;
	bool hides_names; /* a resource that has errors, and no name that could be read */
	/* Outside of every type folder, and nothing in it says its type: not for us. */
	bool is_foreign;

	struct open_sources sources; /* private */
};

/* Goes on after errors; they are in `diags`. */
void document_read(struct document_reader *reader, const struct documents *documents);

#endif
