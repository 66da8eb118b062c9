/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line on a terminal's standard error while something takes longer than a second, gone when it
 * is over. Elsewhere nothing. A thread of its own.
 */
#ifndef XDSPUB_CLI_PROGRESS_H
#define XDSPUB_CLI_PROGRESS_H

struct progress;

/* "checking", "tree": both are borrowed until progress_stop. May return NULL. */
struct progress *progress_start(const char *doing, const char *what);
void progress_stop(struct progress *progress); /* NULL is fine */

#endif
