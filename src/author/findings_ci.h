/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Diagnostics as systems for continuous integration read them. Pure. Threads: any. */
#ifndef XDSPUB_AUTHOR_FINDINGS_CI_H
#define XDSPUB_AUTHOR_FINDINGS_CI_H

#include "base/diag.h"

/* A workflow command of GitHub: `::error file=a.yaml,line=2,col=1,title=RULE::text`. */
void findings_ci_github(const struct diag *diag, struct buf *out);

struct findings_junit {
	const char *const
		*checked; /* what was looked at: a test case each, when nothing was found */
	size_t checked_count;
	bool is_strict; /* warnings are failures, too */
	bool has_notes;
};

/* A whole XML document: a test case for each finding. */
void findings_ci_junit(
	const struct findings_junit *options, const struct diag_list *diags, struct buf *out);

#endif
