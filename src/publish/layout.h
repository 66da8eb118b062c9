/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where files go and what has to be done in which order, as a function of values: no file is
 * touched here. Paths: <group>/<stem>/<stem>.<ext> for whole sets,
 * <group>/<stem>/<name>/<stem>.<ext> for one resource each; `name` is the resource's, made safe.
 * Threads: any.
 */
#ifndef XDSPUB_PUBLISH_LAYOUT_H
#define XDSPUB_PUBLISH_LAYOUT_H

#include "publish/publisher.h"

#define LAYOUT_NAME_BYTES 200 /* the longest folder name that is made of a resource name */

/* A resource name as a folder name: bytes outside A-Za-z0-9_- and a '.' that is not the first
 * become %XX; what is longer than LAYOUT_NAME_BYTES becomes a prefix, '~' and a digest. Different
 * names give different folder names. */
void layout_name(struct slice name, char out[static LAYOUT_NAME_BYTES + 1]);
/* [a-z0-9][a-z0-9._-]*, at most 200 bytes. */
bool layout_group_is_valid(struct slice group);

enum layout_action {
	LAYOUT_WRITE,
	LAYOUT_REMOVE
};

struct layout_step {
	enum layout_action action;
	enum xds_type type;
	struct slice name;	   /* of the one resource; data NULL: the whole set */
	struct resource *resource; /* to write; NULL for a set and for removal; borrowed */
};

struct layout_plan {
	struct layout_step *steps;
	size_t count;
	size_t capacity;
};

void layout_plan_fini(struct layout_plan *plan);
void layout_plan_add(struct layout_plan *plan, struct layout_step step);
/* What differs between what the files hold and what they should hold. A set without
 * must_not_be_empty gets no file before it holds something. */
void layout_plan_difference(
	struct layout_plan *plan, const struct snapshot *published, const struct snapshot *target);
/* Writes in the order of references, leaves first: SDS, EDS, RTDS, ECDS, CDS, RDS, SRDS, LDS; then
 * removals the other way round (S.23). By name within a type. */
void layout_plan_sort(struct layout_plan *plan);

#endif
