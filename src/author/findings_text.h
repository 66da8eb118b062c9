/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Diagnostics for people: the line of diag_format, then the line of the source with a mark under
 * the place:
 *
 *   clusters/a.yaml:2:1: error: unknown field "lb_polcy", did you mean "lb_policy"? [unknown-field]
 *       2 | lb_polcy: RANDOM
 *         | ^~~~~~~~
 *
 * Tabs become blanks, wide and combining characters count as terminals show them, long lines are
 * cut around the mark, and what could act on a terminal is escaped. Threads: any, one source_lines
 * each.
 */
#ifndef XDSPUB_AUTHOR_FINDINGS_TEXT_H
#define XDSPUB_AUTHOR_FINDINGS_TEXT_H

#include "author/source_lines.h"
#include "base/diag.h"

/* The path is one that can be opened from here. `sources` NULL: without the line of the source. */
void findings_text_write(
	const struct diag *diag, struct source_lines *sources, bool is_coloured, struct buf *out);

#endif
