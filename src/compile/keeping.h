/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What mounts gave, from one run of the program to the next: between a compiler and the journal of
 * last_good.h. Without a journal nothing is kept. Threads: build. May block.
 */
#ifndef XDSPUB_COMPILE_KEEPING_H
#define XDSPUB_COMPILE_KEEPING_H

#include "compile/compiler.h"

/* Into a compiler that has not run yet. */
void keeping_load(struct compiler *compiler);
/* While no mount is open: writes what was accepted, and all of it anew now and then. 0 or a
 * negative errno: it is tried again with the next call. */
int keeping_save(struct compiler *compiler);

#endif
