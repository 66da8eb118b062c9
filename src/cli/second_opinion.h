/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `check --with-envoy`: what an Envoy binary says of a group or a bootstrap. Envoy stops at the
 * first problem, so a group is tried again without what was refused, OPINION_TRIES times at most.
 * The synthesised bootstrap holds secrets: it is in a folder of its own, readable by the user
 * alone, while Envoy reads it. Threads: one at a time; blocks.
 */
#ifndef XDSPUB_CLI_SECOND_OPINION_H
#define XDSPUB_CLI_SECOND_OPINION_H

#include "base/diag.h"
#include "schema/schema.h"
#include "snapshot/snapshot.h"

#define OPINION_TRIES 20

struct second_opinion {
	const char *program;
	const struct schema *schema;
	int64_t timeout_ms; /* of each try */
};

/* Diagnostics have the paths of the resources. False: Envoy cannot be run, more of it is no use. */
bool second_opinion_group(const struct second_opinion *opinion, const struct snapshot *snapshot,
	struct diag_list *diags);
bool second_opinion_bootstrap(
	const struct second_opinion *opinion, const char *path, struct diag_list *diags);

#endif
