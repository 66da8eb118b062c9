/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Documents of explain.h, keys.h and of rules as text for a terminal. Pure. Threads: any.
 */
#ifndef XDSPUB_AUTHOR_EXPLAIN_TEXT_H
#define XDSPUB_AUTHOR_EXPLAIN_TEXT_H

#include <jansson.h>

#include "base/buf.h"

struct explain_style {
	unsigned width;	  /* columns */
	bool is_coloured; /* with escape sequences */
};

void explain_text(const json_t *document, const struct explain_style *style, struct buf *out);

#endif
