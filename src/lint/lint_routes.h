/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Route tables: domains, routes that nothing reaches, weights. */
#ifndef XDSPUB_LINT_LINT_ROUTES_H
#define XDSPUB_LINT_LINT_ROUTES_H

#include "lint/lint.h"

extern const struct lint lint_routes[];

#endif
