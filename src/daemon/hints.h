/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths to look at again, each once; too many become "everything". Threads: one at a time, the
 * owner locks. Limit: HINTS_LIMIT paths.
 */
#ifndef XDSPUB_DAEMON_HINTS_H
#define XDSPUB_DAEMON_HINTS_H

#include "base/hash.h"

#define HINTS_LIMIT 10000

struct hints {
	bool is_everything;
	struct hash paths; /* keys and values are the same owned text */
};

void hints_init(struct hints *hints);
void hints_fini(struct hints *hints);
void hints_add(struct hints *hints, const char *path); /* NULL: everything */
void hints_move(struct hints *to, struct hints *from); /* `to` was empty; `from` will be */
/* malloc'ed array in byte order, the texts stay with the hints; NULL: everything. */
const char **hints_list(const struct hints *hints, size_t *ret_count);

#endif
