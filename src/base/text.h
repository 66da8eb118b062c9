/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text helpers: UTF-8, quoting, numbers, units, base64. All pure. Threads: any. */
#ifndef XDSPUB_BASE_TEXT_H
#define XDSPUB_BASE_TEXT_H

#include "base/buf.h"
#include "base/slice.h"
#include "base/suggestion.h"

/* Strict UTF-8: no overlong forms, surrogates or code points above U+10FFFF. */
bool text_is_utf8(struct slice text);
/* For messages: control characters, invalid UTF-8 and what turns the writing direction escaped, cut
 * to `limit` bytes (0: no limit) with "...". Adds no quotes; doing it twice changes nothing. */
void text_quote(struct buf *out, struct slice text, size_t limit);

/* "250ms", "5s", "1m30s", "2h", "7d", "0": milliseconds, not negative. -EINVAL, -ERANGE. */
int text_parse_duration_ms(struct slice text, int64_t *ret_ms);
void text_format_duration_ms(
	struct buf *out, int64_t ms); /* in the largest unit that fits: "90s" */
/* "64MiB", "4KiB", "1000", "2GB": up to TB and TiB. -EINVAL, -ERANGE. */
int text_parse_size(struct slice text, uint64_t *ret_bytes);
/* The whole text must be one decimal number. -EINVAL, -ERANGE. */
int text_parse_i64(struct slice text, int64_t *ret_value);
int text_parse_u64(struct slice text, uint64_t *ret_value);
/* Digits with optional sign, point and exponent, as YAML 1.2 core and JSON have them, whatever the
 * locale is. No infinity or NaN in words. -ERANGE: too large for a double. */
int text_parse_double(struct slice text, double *ret_value);
/* The shortest digits that read back as the same value, whatever the locale is: 0.1, 1e+20, -0.
 * The value must be finite. */
void text_format_double(struct buf *out, double value);
void text_format_float(struct buf *out, float value);

/* Standard alphabet with padding. */
void text_base64_encode(struct buf *out, struct slice bytes);
/* Both alphabets, padding optional, no white space. -EINVAL (nothing is added), or out's error. */
int text_base64_decode(struct buf *out, struct slice text);

#endif
