/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growable byte buffer with a sticky error: append freely, check once with buf_error().
 * After an error appends do nothing. Threads: one at a time.
 * Limit: `limit_bytes` (0: none; set it before the first append); beyond it the error is -EFBIG;
 * out of memory is -ENOMEM. An append that does not fit adds nothing.
 */
#ifndef XDSPUB_BASE_BUF_H
#define XDSPUB_BASE_BUF_H

#include <stdarg.h>

#include "base/slice.h"

struct buf {
	char *data;
	size_t length;
	size_t capacity; /* one byte less than allocated: room for a NUL */
	size_t limit_bytes;
	int error; /* 0 or negative errno */
};

#define BUF_INIT ((struct buf){0})

void buf_fini(struct buf *buf);
void buf_reset(struct buf *buf); /* length 0, error cleared, memory kept */
/* Room for `more` bytes at data + length; NULL on error. Caller writes and adds to length. */
char *buf_reserve(struct buf *buf, size_t more);
void buf_append_slow(struct buf *buf, const void *data, size_t length);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *buf, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));
void buf_fill(struct buf *buf, char byte, size_t count);
/* NUL-terminated view (the NUL is not counted); "" when empty or failed. */
const char *buf_cstr(struct buf *buf);
/* For writers on top: sets the sticky error unless there is one. */
void buf_fail(struct buf *buf, int error);
/* Caller owns the malloc'ed bytes, with a NUL behind; NULL after an error. The buffer is empty
 * then. ret_length may be NULL. */
char *buf_take(struct buf *buf, size_t *ret_length);

static inline int buf_error(const struct buf *buf)
{
	return buf->error;
}

static inline void buf_append(struct buf *buf, const void *data, size_t length)
{
	if (length > buf->capacity - buf->length) {
		buf_append_slow(buf, data, length);
	} else if (length) {
		memcpy(buf->data + buf->length, data, length);
		buf->length += length;
	}
}

static inline void buf_append_slice(struct buf *buf, struct slice slice)
{
	buf_append(buf, slice.data, slice.length);
}

static inline void buf_puts(struct buf *buf, const char *text)
{
	buf_append(buf, text, strlen(text));
}

static inline void buf_putc(struct buf *buf, char byte)
{
	if (buf->length < buf->capacity)
		buf->data[buf->length++] = byte;
	else
		buf_append_slow(buf, &byte, 1);
}

static inline struct slice buf_slice(const struct buf *buf)
{
	return (struct slice){buf->data, buf->length};
}

#endif
