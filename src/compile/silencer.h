/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a report is silenced: by comments in the files (see silence.h) and by `ignore:` in
 * groups.yaml; and which of these silence nothing. Used by report.c, in this order: begin, unit
 * and covers as problems come, apply, finish. Threads: build.
 */
#ifndef XDSPUB_COMPILE_SILENCER_H
#define XDSPUB_COMPILE_SILENCER_H

#include "compile/compiler.h"

void silencer_begin(struct compiler *compiler);
/* The unit's problems without those that groups.yaml silences for all groups that use it: its own
 * list, or `scratch`. */
const struct diag_list *silencer_unit(
	struct compiler *compiler, const struct unit *unit, struct diag_list *scratch);
/* The same for what it might say instead. */
const struct diag_list *silencer_content(struct compiler *compiler, const struct unit *unit,
	const struct unit_content *content, struct diag_list *scratch);
/* Whether a problem that was found when files were put together is silenced. `group` NULL: it is
 * not about one group. Ask before a group is charged with it. */
bool silencer_covers(struct compiler *compiler, const struct group *group, const struct diag *diag);
/* Takes what is covered out of the list. */
void silencer_apply(struct compiler *compiler, struct diag_list *diags);
/* Adds warnings about what silences nothing. */
void silencer_finish(struct compiler *compiler, struct diag_list *diags);

#endif
