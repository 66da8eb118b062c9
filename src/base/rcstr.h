/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A reference-counted immutable string, for paths that many objects share. Threads: any. */
#ifndef XDSPUB_BASE_RCSTR_H
#define XDSPUB_BASE_RCSTR_H

#include <stdatomic.h>

#include "base/slice.h"

struct rcstr {
	atomic_uint references;
	uint32_t length;
	char text[]; /* NUL-terminated */
};

struct rcstr *rcstr_new(const char *text, size_t length);
struct rcstr *rcstr_ref(struct rcstr *string); /* NULL stays NULL */
void rcstr_unref(struct rcstr *string);	       /* NULL is fine */

#endif
