/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that belongs to no tree, checked by itself: published files in every format, a plain
 * cds.yaml wherever it lies, a bootstrap of Envoy. Its messages are held to the schema and to the
 * rules of the Envoy API, names must differ within the file, and comments silence as in a tree;
 * `!include` and `!file` are errors here. Threads: one at a time per reader.
 */
#ifndef XDSPUB_AUTHOR_LOOSE_FILE_H
#define XDSPUB_AUTHOR_LOOSE_FILE_H

#include "base/diag.h"
#include "base/limits.h"
#include "lint/lint.h"
#include "schema/schema.h"

enum loose_kind {
	LOOSE_ANY, /* look what it is */
	LOOSE_RESOURCES,
	LOOSE_BOOTSTRAP
};

enum loose_format {
	LOOSE_YAML,
	LOOSE_JSON,
	LOOSE_PB,
	LOOSE_PB_TEXT,
	LOOSE_OTHER
};

struct loose_reader;

/* Schema and lints are borrowed; many readers may share them. */
struct loose_reader *loose_reader_new(
	const struct schema *schema, const struct lint_plans *lints, const struct limits *limits);
void loose_reader_free(struct loose_reader *reader); /* NULL is fine */
/* Adds what is wrong with the file at `path`. LOOSE_OTHER is read as YAML. Returns what it was
 * taken for: LOOSE_ANY when that could not be seen. */
enum loose_kind loose_check(struct loose_reader *reader, const char *path, enum loose_kind kind,
	struct diag_list *diags);

/* By the name of a file. */
enum loose_format loose_format_of(const char *path);

#endif
