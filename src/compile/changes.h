/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at what changed on disk in a mount, and notes which units are to be read. Threads: build.
 */
#ifndef XDSPUB_COMPILE_CHANGES_H
#define XDSPUB_COMPILE_CHANGES_H

#include "compile/compiler.h"

/* 0 or the negative errno that the mount as a whole cannot be looked at for, also in mount->error:
 * nothing is noted then. */
int changes_look(struct compiler *compiler, struct mount *mount, const struct compile_look *look);

#endif
