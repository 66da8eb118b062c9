/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which units need another file (`!file`, `!include`), by its path. Threads: build. */
#ifndef XDSPUB_COMPILE_DEPENDENTS_H
#define XDSPUB_COMPILE_DEPENDENTS_H

#include "base/hash.h"
#include "compile/unit.h"

struct dependents_list {
	struct rcstr *path;
	struct unit **units;
	size_t count, capacity;
};

struct dependents {
	struct hash by_path;
};

void dependents_init(struct dependents *dependents);
void dependents_fini(struct dependents *dependents);
/* For all paths of one of its contents. */
void dependents_add(
	struct dependents *dependents, struct unit *unit, const struct unit_content *content);
void dependents_remove(
	struct dependents *dependents, struct unit *unit, const struct unit_content *content);
const struct dependents_list *dependents_find(
	const struct dependents *dependents, struct slice path); /* or NULL */

#endif
