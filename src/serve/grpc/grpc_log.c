/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_log.h"

struct kind {
	const char *event;
	enum log_level level;
};

static const struct kind kinds[GRPC_LOG_KINDS] = {
	[GRPC_LOG_JOINED] = {"client-joined", LOG_LEVEL_INFO},
	[GRPC_LOG_LEFT] = {"client-left", LOG_LEVEL_INFO},
	[GRPC_LOG_REJECTED] = {"rejected", LOG_LEVEL_WARNING},
	[GRPC_LOG_NO_GROUP] = {"no-group", LOG_LEVEL_WARNING},
	[GRPC_LOG_MOVED] = {"client-moved", LOG_LEVEL_INFO},
	[GRPC_LOG_UNKNOWN_TYPE] = {"unknown-type", LOG_LEVEL_WARNING},
	[GRPC_LOG_REFUSED] = {"stream-refused", LOG_LEVEL_WARNING},
	[GRPC_LOG_LARGE] = {"large-response", LOG_LEVEL_WARNING},
};

void grpc_log_init(struct grpc_log *state, const struct log *log)
{
	*state = (struct grpc_log){.log = log, .window_ms = -1};
}

static void sum_up(struct grpc_log *state)
{
	for (int i = 0; i < GRPC_LOG_KINDS; i++) {
		if (state->more[i])
			log_event(state->log, kinds[i].level, kinds[i].event,
				LOG_TEXT("transport", "grpc"),
				LOG_NUMBER("more", (int64_t)state->more[i]));
		state->lines[i] = 0;
		state->more[i] = 0;
	}
	state->window_ms = -1;
}

static void open_window(struct grpc_log *state, int64_t now_ms)
{
	(void)grpc_log_turn(state, now_ms);
	if (state->window_ms < 0)
		state->window_ms = now_ms;
}

void grpc_log_write(struct grpc_log *state, int64_t now_ms, enum grpc_log_kind kind,
	const struct log_field *fields, size_t count)
{
	open_window(state, now_ms);
	if (state->lines[kind] == GRPC_LOG_LINES) {
		state->more[kind]++;
		return;
	}
	state->lines[kind]++;
	log_write(state->log, kinds[kind].level, kinds[kind].event, fields, count);
}

void grpc_log_count(struct grpc_log *state, int64_t now_ms, enum grpc_log_kind kind)
{
	open_window(state, now_ms);
	state->more[kind]++;
}

int64_t grpc_log_turn(struct grpc_log *state, int64_t now_ms)
{
	if (state->window_ms < 0)
		return -1;
	if (now_ms - state->window_ms >= GRPC_LOG_WINDOW_MS) {
		sum_up(state);
		return -1;
	}
	for (int i = 0; i < GRPC_LOG_KINDS; i++)
		if (state->more[i])
			return state->window_ms + GRPC_LOG_WINDOW_MS;
	return -1;
}

void grpc_log_end(struct grpc_log *state)
{
	sum_up(state);
}
