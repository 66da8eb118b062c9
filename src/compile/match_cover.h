/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether one condition takes every node that another one takes. Pure. Threads: any. */
#ifndef XDSPUB_COMPILE_MATCH_COVER_H
#define XDSPUB_COMPILE_MATCH_COVER_H

#include "base/buf.h"
#include "snapshot/selector.h"

/* NULL is everyone. True is certain; false may mean that it cannot be told. */
bool match_covers(const struct match *wide, const struct match *narrow);
/* A text that only an equal condition has. */
void match_write(const struct match *match, struct buf *out);

#endif
