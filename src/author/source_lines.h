/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of files that diagnostics are about, to be shown with them. The last file stays in memory:
 * ask in the order of paths. What cannot be read, is no text or has changed meanwhile is not shown.
 * Threads: one at a time. Files larger than 16 MiB are not read.
 */
#ifndef XDSPUB_AUTHOR_SOURCE_LINES_H
#define XDSPUB_AUTHOR_SOURCE_LINES_H

#include "base/slice.h"

struct source_lines;

struct source_lines *source_lines_new(void);
void source_lines_free(struct source_lines *lines); /* NULL is fine */
/* False: there is no such line. `line` counts from 1; its end is not part of it. Borrowed until the
 * next call. */
bool source_lines_get(
	struct source_lines *lines, const char *path, uint32_t line, struct slice *ret_line);

#endif
