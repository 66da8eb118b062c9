/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report says about mounts, and whom they hold back. Threads: build. */
#ifndef XDSPUB_COMPILE_REPORT_MOUNTS_H
#define XDSPUB_COMPILE_REPORT_MOUNTS_H

#include "compile/compiler.h"

/* What is wrong with a mount by itself goes to mount->diags; the errors in there. */
size_t report_mount(struct compiler *compiler, struct mount *mount);
/* Why a mount is not good, in a line; nothing when it is. */
void report_reason(const struct mount *mount, struct buf *out);
/* Adds what is wrong with held mounts, and charges the layers that wait for them. */
void report_mounts(struct compiler *compiler);
/* The path is in a mount that has never given anything. */
bool report_is_waiting(const struct compiler *compiler, struct slice path);

#endif
