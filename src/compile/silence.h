/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the comments of a source file, and of the parts that it includes, silence (see
 * catalogue/ignore.h). Comments of JSON files don't exist; groups.yaml has `ignore:` for them.
 * A comment counts where its line is the place of a problem, or the place that includes it.
 * Threads: one at a time.
 */
#ifndef XDSPUB_COMPILE_SILENCE_H
#define XDSPUB_COMPILE_SILENCE_H

#include "base/diag.h"

struct silence_item {
	const char *path; /* of the file that has the comment; owned by the silence */
	const char *rule; /* from the catalogue */
	uint32_t line;	  /* which is silenced; 0: the whole file */
	struct position at;
	bool is_used;	   /* when the file was read */
	bool is_used_late; /* in the last report */
};

struct silence {
	struct silence_item *items;
	size_t count, capacity;
	char **paths;
	size_t paths_count, paths_capacity;
};

/* Reads the comments of a YAML text that yaml_read took; what is wrong with them are warnings.
 * *silence may be NULL and stays so when there are none. */
void silence_add(
	struct silence **silence, const char *path, struct slice text, struct diag_list *diags);
void silence_free(struct silence *silence); /* NULL is fine */
/* Whether a comment covers this; its item is then marked. NULL covers nothing. */
bool silence_covers(struct silence *silence, const struct diag *diag, bool is_late);
/* Warns of what covers nothing, unless there are errors, which hide what is behind them. For files
 * that nothing more is found out about. */
void silence_tell_idle(const struct silence *silence, struct diag_list *diags);
/* Takes what is covered out of the list, when a file has been read. */
void silence_apply(struct silence *silence, struct diag_list *diags);

#endif
