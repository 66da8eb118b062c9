/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The comments of a YAML text, which nodes don't have. A "#" within quotes or in a block scalar is
 * none. The text must be one that yaml_read took (it has the checks for depth, UTF-8 and NUL
 * bytes). Threads: any.
 */
#ifndef XDSPUB_MESSAGE_YAML_COMMENTS_H
#define XDSPUB_MESSAGE_YAML_COMMENTS_H

#include "base/diag.h"
#include "base/slice.h"

struct yaml_comment {
	struct slice text;  /* from the "#" to the end of the line, which is not part of it */
	struct position at; /* of the "#" */
	/* The line it speaks of: its own, or, when it stands alone on it, the next one that is
	 * neither empty nor a comment; 0: there is none. */
	uint32_t line;
};

/* Calls back for each in order. Stops at what is no YAML. 0, -ENOMEM. */
int yaml_comments(
	struct slice text, void (*tell)(void *ctx, const struct yaml_comment *comment), void *ctx);

#endif
