/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where configuration comes from: config sources that Envoy refuses, or not for long. */
#ifndef XDSPUB_LINT_LINT_SOURCES_H
#define XDSPUB_LINT_LINT_SOURCES_H

#include "lint/lint.h"

extern const struct lint lint_sources[];

#endif
