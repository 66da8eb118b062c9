/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint.h"

#include "lint/lint_references.h"

const struct lint *const lint_tables[] = {
	lint_references,
	NULL,
};
