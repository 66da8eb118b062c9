/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A piece of a YAML text as a text of its own, with the comments that belong to it: moved to the
 * left margin, aliases put in where what they name stays behind, keys replaced on request. Made for
 * mappings in block style; what it cannot do it refuses, and because comments and indentation are
 * guessed at, callers read the result and compare. Pure. Threads: any.
 */
#ifndef XDSPUB_AUTHOR_SOURCE_CUT_H
#define XDSPUB_AUTHOR_SOURCE_CUT_H

#include "base/buf.h"
#include "message/yaml_outline.h"

/* What happens to one key of the piece: it and its value give way to `lines` (which end with a line
 * feed and are moved to its column); "" takes them out. */
struct source_edit {
	struct position at; /* of the key */
	const char *lines;
};

struct source_cut {
	const struct outline *outline;
	const struct source_edit *edits;
	size_t edits_count;
	const char *prefix; /* lines before the first key; may be NULL */
};

/* What a piece takes up in its text. */
struct source_span {
	size_t start, end;  /* from its first byte to behind its last */
	size_t lines_start; /* with the comments above it, "- " and what follows on its lines; */
	size_t lines_end;   /* whole lines. Equal to start and end when it shares its lines */
	size_t column;	    /* of its keys, from 0 */
	size_t dash;	    /* column of the "- " before it; SIZE_MAX: none */
	bool owns_lines;
};

/* The mapping that begins at `at` to the end of `out`. NULL, or why it cannot be done (a literal;
 * then `out` is as it was). */
const char *source_cut_map(const struct source_cut *cut, struct position at, struct buf *out);

/* False when there is no mapping there. */
bool source_cut_span(
	const struct outline *outline, struct position at, struct source_span *ret_span);
/* The lines of a key and its value, with the comments above. */
bool source_cut_key_span(
	const struct outline *outline, struct position key, struct source_span *ret_span);

#endif
