/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can only be said about resources together (lint.h: judge, missing, unused), for all groups
 * that are built. Looks at the whole tree, once: what a layer shares with others is looked at in
 * one of them. Threads: build.
 */
#ifndef XDSPUB_COMPILE_JOINS_H
#define XDSPUB_COMPILE_JOINS_H

#include "compile/compiler.h"

/* A group has this to answer for; `text` is that of the finding. */
typedef void (*joins_charge_cb)(void *ctx, struct group *group, enum diag_level level,
	const char *path, struct position at, const char *rule, const char *text);

void joins_report(
	struct compiler *compiler, struct diag_list *diags, joins_charge_cb charge, void *ctx);

#endif
