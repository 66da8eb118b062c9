/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moves what stands inline into resources of its own: route configurations of HTTP connection
 * managers to RDS, endpoints of STATIC clusters to EDS, certificates and validation contexts with
 * inline data to SDS, with the static secrets of the bootstrap. Names are kept where they are free;
 * equal ones are shared. Says as notes what is named anew and what cannot be moved.
 */
#ifndef XDSPUB_AUTHOR_IMPORT_SPLIT_H
#define XDSPUB_AUTHOR_IMPORT_SPLIT_H

#include "author/import_plan.h"

struct import_split_options {
	bool routes, endpoints, certificates;
	bool uses_self; /* config sources say `self: {}`, else `ads: {}` */
};

void import_split(struct import_plan *plan, const struct import_split_options *options);

#endif
