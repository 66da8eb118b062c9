/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Diagnostics as SARIF 2.1.0, the format of code scanning services: one run, the rules that were
 * found with their pages of the manual, places relative to the current folder, and fingerprints
 * that stay the same when lines move. Threads: any, one source_lines each.
 */
#ifndef XDSPUB_AUTHOR_FINDINGS_SARIF_H
#define XDSPUB_AUTHOR_FINDINGS_SARIF_H

#include <jansson.h>

#include "author/source_lines.h"
#include "base/diag.h"

struct findings_sarif {
	const char *version; /* of the program */
	const char *folder;  /* the absolute path that paths are relative to */
	bool has_notes;	     /* notes are wanted, too */
};

/* Paths in `diags` are such that can be opened from the folder. New reference. */
json_t *findings_sarif_make(const struct findings_sarif *options, const struct diag_list *diags,
	struct source_lines *sources);

#endif
