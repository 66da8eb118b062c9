/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A first look at a client's JSON, before a recursive parser sees it: how deep, how many values,
 * and where one member of the outermost object lies. Says nothing about validity. Threads: any.
 */
#ifndef XDSPUB_SERVE_REST_JSON_SCAN_H
#define XDSPUB_SERVE_REST_JSON_SCAN_H

#include "base/slice.h"

struct json_scan {
	size_t depth;	     /* deepest nesting of objects and arrays */
	size_t values;	     /* at least the number of values */
	struct slice member; /* bytes of the member's value; data NULL: not there, or in doubt */
};

/* One pass; stops as soon as depth or values exceed their limit (the results then do). */
struct json_scan json_scan_text(
	struct slice text, const char *member, size_t depth_limit, size_t values_limit);

#endif
