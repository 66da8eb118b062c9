/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Listeners: addresses, filter chains that match alike, HTTP filters and their order. */
#ifndef XDSPUB_LINT_LINT_LISTENERS_H
#define XDSPUB_LINT_LINT_LISTENERS_H

#include "lint/lint.h"

extern const struct lint lint_listeners[];

#endif
