/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint.h"

#include "lint/lint_grpc.h"
#include "lint/lint_listeners.h"
#include "lint/lint_references.h"
#include "lint/lint_routes.h"
#include "lint/lint_secrets.h"
#include "lint/lint_sources.h"

const char *const lint_profiles[] = {LINT_PROFILE_GRPC, NULL};

const struct lint *const lint_tables[] = {
	lint_references,
	lint_listeners,
	lint_routes,
	lint_sources,
	lint_secrets,
	lint_grpc,
	NULL,
};
