/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What people read in the log about a loop's clients: a few lines of each kind, and then one that
 * sums up the rest, however many clients come, go or refuse something at once.
 * Threads: the loop's.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_LOG_H
#define XDSPUB_SERVE_GRPC_GRPC_LOG_H

#include "base/log.h"
#include "snapshot/types.h"

#define GRPC_LOG_LINES	   5	 /* of a kind in a window; then they are counted */
#define GRPC_LOG_WINDOW_MS 10000 /* from the first line */

enum grpc_log_kind {
	GRPC_LOG_JOINED,
	GRPC_LOG_LEFT,
	GRPC_LOG_REJECTED,
	GRPC_LOG_NO_GROUP,
	GRPC_LOG_MOVED,
	GRPC_LOG_UNKNOWN_TYPE,
	GRPC_LOG_REFUSED,
	GRPC_LOG_LARGE
};
#define GRPC_LOG_KINDS 8

struct grpc_log {
	const struct log *log;
	int64_t window_ms; /* when it began; -1: none is open */
	unsigned lines[GRPC_LOG_KINDS];
	uint64_t more[GRPC_LOG_KINDS];
};

void grpc_log_init(struct grpc_log *state, const struct log *log);
/* Writes the line, or counts it. */
void grpc_log_write(struct grpc_log *state, int64_t now_ms, enum grpc_log_kind kind,
	const struct log_field *fields, size_t count);
#define grpc_log_event(state, now_ms, kind, ...)                                                   \
	grpc_log_write(state, now_ms, kind,                                                        \
		(struct log_field[]){LOG_TEXT("transport", "grpc"), __VA_ARGS__},                  \
		sizeof((struct log_field[]){LOG_TEXT("transport", "grpc"), __VA_ARGS__}) /         \
			sizeof(struct log_field))
/* Counts it without a line. */
void grpc_log_count(struct grpc_log *state, int64_t now_ms, enum grpc_log_kind kind);
/* Sums up when the window is over; returns when it will be, -1: nothing to sum up. */
int64_t grpc_log_turn(struct grpc_log *state, int64_t now_ms);
/* Sums up now: the loop ends. */
void grpc_log_end(struct grpc_log *state);

#endif
