/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `PATH --mode validate -c FILE` as a child with limits: a time, CPU seconds, no core, bounded
 * output. Threads: one at a time; may block for as long as `timeout_ms`.
 */
#ifndef XDSPUB_CLI_ENVOY_RUN_H
#define XDSPUB_CLI_ENVOY_RUN_H

#include "base/buf.h"

#define ENVOY_RUN_OUTPUT ((size_t)1 << 20) /* bytes kept of what it says */

struct envoy_run {
	const char *program;
	const char *config; /* a file */
	int64_t timeout_ms;
};

/* `ret_status` is the child's exit status, 128 + the signal that ended it. `out` gets what it
 * printed. 0, -ETIMEDOUT (it was killed), or another negative errno when it could not be run. */
int envoy_run_validate(const struct envoy_run *run, int *ret_status, struct buf *out);

#endif
