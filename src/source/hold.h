/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks whether a tree is being changed on purpose: the file .xdspub-hold in its root, and the
 * index.lock of the git work tree it is in (also of a linked work tree). Costs two stat calls once
 * the repository is known. Threads: one at a time.
 */
#ifndef XDSPUB_SOURCE_HOLD_H
#define XDSPUB_SOURCE_HOLD_H

#include "source/settle.h"

struct hold {
	char *root;
	char *file; /* <root>/.xdspub-hold */
	char *lock; /* .../index.lock; NULL: no repository, as far as we know */
};

void hold_init(struct hold *hold, const char *root);
void hold_fini(struct hold *hold);
/* Looks for the repository again: the root may be another folder, or `git init` was run. */
void hold_locate(struct hold *hold);
struct settle_facts hold_look(const struct hold *hold);

#endif
