/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comments of .proto files as plain text for people. Envoy's are reStructuredText with marks of its
 * documentation tool ("[#not-implemented-hide:]"); others come through nearly as they are. Pure.
 * Plain text has a line for each paragraph, list item ("* ", "1. ") and line of code (four spaces),
 * and an empty line between paragraphs. Control characters are escaped. Threads: any.
 */
#ifndef XDSPUB_AUTHOR_PLAIN_H
#define XDSPUB_AUTHOR_PLAIN_H

#include "base/buf.h"

/* Appends the text without a line feed at its end; nothing for an empty one. */
void plain_text(struct buf *out, struct slice comment);
/* Breaks plain text into lines of at most `width` columns where it can, `indent` of them blank at
 * the left; a line feed ends each. */
void plain_wrap(struct buf *out, struct slice plain, unsigned indent, unsigned width);
/* Whether the comment has a mark: "not-implemented-hide". */
bool plain_has_mark(struct slice comment, const char *mark);
/* The next value of a mark ("extension-category") from *cursor on, which begins as 0; data NULL
 * when there are no more. */
struct slice plain_next_mark(struct slice comment, const char *mark, size_t *cursor);

#endif
