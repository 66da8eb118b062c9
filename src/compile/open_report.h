/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open config sources that a transport has nothing for: a warning where it is used, else a note.
 * Threads: build.
 */
#ifndef XDSPUB_COMPILE_OPEN_REPORT_H
#define XDSPUB_COMPILE_OPEN_REPORT_H

#include "compile/compiler.h"

void open_report(struct compiler *compiler, struct diag_list *diags);

#endif
