/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Certificates and keys that stand in the tree; files of the Envoy host are not looked at. */
#ifndef XDSPUB_LINT_LINT_SECRETS_H
#define XDSPUB_LINT_LINT_SECRETS_H

#include "lint/lint.h"

extern const struct lint lint_secrets[];

#endif
