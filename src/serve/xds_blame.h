/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which resources a refusal talks about: clients put names into the text of a NACK, and people
 * want the source file and line. Threads: any.
 */
#ifndef XDSPUB_SERVE_XDS_BLAME_H
#define XDSPUB_SERVE_XDS_BLAME_H

#include "snapshot/resource_set.h"

/* The resources of the set whose names stand in the text as words, in the order of the text, each
 * once, at most `limit`; borrowed from the set. Returns how many. */
size_t xds_blame_find(
	const struct resource_set *set, struct slice text, struct resource **found, size_t limit);

#endif
