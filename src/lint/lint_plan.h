/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in messages of a type there is something for lints to look at: worked out from the schema
 * once, so that a walk passes by all that nobody looks at. Immutable. Threads: any.
 */
#ifndef XDSPUB_LINT_LINT_PLAN_H
#define XDSPUB_LINT_LINT_PLAN_H

#include "lint/lint.h"
#include "lint/reference.h"

struct lint_plan;

struct lint_plan_field {
	const struct schema_field *field;
	/* NULL: nothing is below it, or nobody knows before it is met (Any). */
	const struct lint_plan *below;
	const struct reference *reference; /* NULL: it names nothing */
};

struct lint_plan {
	const struct schema_message *type;
	const struct lint **lints;
	struct lint_plan_field *fields; /* by ascending number; only those with something to see */
	uint32_t lints_count, fields_count;
};

/* NULL: there is nothing to look at in such a message. */
const struct lint_plan *lint_plan_of(
	const struct lint_plans *plans, const struct schema_message *type);
size_t lint_plans_count(const struct lint_plans *plans);

#endif
