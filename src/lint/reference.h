/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which fields of the API name another resource: one table, each row with what the API says.
 * What a field names under conditions is in lint_references.c. Constant.
 */
#ifndef XDSPUB_LINT_REFERENCE_H
#define XDSPUB_LINT_REFERENCE_H

#include <stdbool.h>

#include "snapshot/types.h"

enum reference_meaning {
	REFERENCE_NAME,	      /* the field names a resource of `type` */
	REFERENCE_CONDITION,  /* it does so under conditions: see lint_references.c */
	REFERENCE_BOOTSTRAP,  /* what it names must be in the bootstrap itself */
	REFERENCE_UNKNOWABLE, /* it says where the name comes from at run time */
	REFERENCE_NONE,	      /* it looks like a reference and is none */
};

struct reference {
	const char *message; /* full name */
	const char *field;
	enum reference_meaning meaning;
	bool is_refused; /* Envoy refuses the resource when there is none of that name */
	enum xds_type type;
	const char *source; /* what the comment of the field says */
};

extern const struct reference references[]; /* ends with a row without message */

#endif
