/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Durations and times as proto3 JSON writes them. Pure. Threads: any. */
#ifndef XDSPUB_MESSAGE_TIME_TEXT_H
#define XDSPUB_MESSAGE_TIME_TEXT_H

#include "base/slice.h"

#define TIME_TEXT_MOST 48

/* "1.5s", "-0.000000001s": seconds and nanos have the same sign. -EINVAL, -ERANGE (10,000 years).
 */
int time_text_parse_duration(struct slice text, int64_t *ret_seconds, int32_t *ret_nanos);
/* What "250ms", "5m", "5", "1h" are in seconds, for suggestions. */
bool time_text_guess_duration(struct slice text, char out[static TIME_TEXT_MOST]);
/* RFC 3339 with "Z" or an offset, years 0001 to 9999. -EINVAL, -ERANGE. */
int time_text_parse_timestamp(struct slice text, int64_t *ret_seconds, int32_t *ret_nanos);
/* The rules for the fields of a Duration or Timestamp. */
bool time_text_is_valid(bool is_duration, int64_t seconds, int32_t nanos);

#endif
