/* SPDX-License-Identifier: GPL-2.0-or-later */
/* References between resources: what is missing, and what nobody uses. */
#ifndef XDSPUB_LINT_LINT_REFERENCES_H
#define XDSPUB_LINT_LINT_REFERENCES_H

#include "lint/lint.h"

extern const struct lint lint_references[];

#endif
