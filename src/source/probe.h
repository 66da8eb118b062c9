/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a folder answers: on a network file system whose server is away a look at it may take for
 * ever, and nothing can interrupt that. So a thread of its own looks first; while that one is stuck
 * nobody else should try. Threads: one at a time per probe.
 */
#ifndef XDSPUB_SOURCE_PROBE_H
#define XDSPUB_SOURCE_PROBE_H

#include <stdint.h>

struct probe;

struct probe *probe_new(const char *path);
/* Does not wait for a thread that is stuck. NULL is fine. */
void probe_free(struct probe *probe);
/* 0: it answers, were it that it is not there. -ETIMEDOUT: not within this time, or a former look
 * has not come back yet; or another negative errno when there can be no thread. */
int probe_ask(struct probe *probe, int64_t patience_ms);

#endif
