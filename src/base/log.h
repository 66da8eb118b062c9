/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One event, one line of key=value on standard error, e.g.
 *   2026-01-02T03:04:05.678Z level=info event=published group=edge type=cds version=a0f3...
 * Where $JOURNAL_STREAM names the descriptor, the time is left out and the syslog priority "<6>"
 * put in front. Values that are empty or hold more than plain ASCII are quoted, with control bytes
 * escaped; they are cut at 4 KiB. Threads: any; a line is one write(2). errno stays as it is.
 * Only daemon/, cli/, publish/publisher.c, serve adapters and source/watch.c may call it.
 */
#ifndef XDSPUB_BASE_LOG_H
#define XDSPUB_BASE_LOG_H

#include "base/slice.h"

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARNING,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG
};

struct log {
	int fd;
	enum log_level level; /* lines above it are dropped */
	bool journal;	      /* systemd prefix instead of the time */
};

void log_init(struct log *log, int fd, enum log_level level);
/* "error", "warning", "info", "debug"; else -EINVAL. */
int log_level_parse(struct slice text, enum log_level *ret_level);

struct log_field {
	const char *key;
	enum {
		LOG_FIELD_TEXT,
		LOG_FIELD_NUMBER
	} kind;
	struct slice text;
	int64_t number;
};
#define LOG_TEXT(key_, value_)                                                                     \
	{                                                                                          \
		.key = (key_), .kind = LOG_FIELD_TEXT, .text = slice_of(value_)                    \
	}
#define LOG_SLICE(key_, value_)                                                                    \
	{                                                                                          \
		.key = (key_), .kind = LOG_FIELD_TEXT, .text = (value_)                            \
	}
#define LOG_NUMBER(key_, value_)                                                                   \
	{                                                                                          \
		.key = (key_), .kind = LOG_FIELD_NUMBER, .number = (value_)                        \
	}

void log_write(const struct log *log, enum log_level level, const char *event,
	const struct log_field *fields, size_t count);
/* log_event(log, LOG_LEVEL_INFO, "published", LOG_TEXT("group", name), LOG_NUMBER("files", n)); */
/* With no fields call log_write(log, level, event, NULL, 0). */
#define log_event(log, level, event, ...)                                                          \
	log_write(log, level, event, (struct log_field[]){__VA_ARGS__},                            \
		sizeof((struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))

#endif
