/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comments that silence a rule where it is known to be wrong:
 *
 *   # xdspub: ignore RULE-ID[, RULE-ID] [reason]     the line it ends; alone: the next line
 *   # xdspub: ignore-file RULE-ID[, RULE-ID] [reason]
 *
 * Pure. Threads: any.
 */
#ifndef XDSPUB_CATALOGUE_IGNORE_H
#define XDSPUB_CATALOGUE_IGNORE_H

#include "base/slice.h"

/* A file without this text has no such comments. */
#define IGNORE_MARK "xdspub:"

#define IGNORE_IDS  32 /* in one comment */

enum ignore_kind {
	IGNORE_NONE, /* another comment */
	IGNORE_LINE,
	IGNORE_FILE,
	IGNORE_BAD /* begins like one, and is not understood: see problem */
};

struct ignore_comment {
	enum ignore_kind kind;
	struct slice ids[IGNORE_IDS]; /* within the comment, as they are written: known or not */
	size_t ids_count;
	const char *problem;
};

/* `text` begins with "#". */
void ignore_parse(struct slice text, struct ignore_comment *ret_comment);

#endif
