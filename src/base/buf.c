/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define CAPACITY_FIRST 63

void buf_fini(struct buf *buf)
{
	free(buf->data);
	*buf = BUF_INIT;
}

void buf_reset(struct buf *buf)
{
	buf->length = 0;
	buf->error = 0;
}

/* The capacity shrinks to the length, so that the inline appends fail without a look at error. */
void buf_fail(struct buf *buf, int error)
{
	if (!buf->error)
		buf->error = error;
	buf->capacity = buf->length;
}

char *buf_reserve(struct buf *buf, size_t more)
{
	size_t limit = buf->limit_bytes ? buf->limit_bytes : SIZE_MAX / 2;
	size_t capacity;
	char *data;

	if (buf->error)
		return NULL;
	if (buf->data && more <= buf->capacity - buf->length)
		return buf->data + buf->length;
	if (limit < buf->length || more > limit - buf->length) {
		buf_fail(buf, -EFBIG);
		return NULL;
	}
	capacity = buf->capacity < limit / 2 ? buf->capacity * 2 + 1 : limit;
	if (capacity < CAPACITY_FIRST)
		capacity = CAPACITY_FIRST < limit ? CAPACITY_FIRST : limit;
	if (capacity < buf->length + more)
		capacity = buf->length + more;
	data = realloc(buf->data, capacity + 1);
	if (!data) {
		buf_fail(buf, -ENOMEM);
		return NULL;
	}
	buf->data = data;
	buf->capacity = capacity;
	return data + buf->length;
}

void buf_append_slow(struct buf *buf, const void *data, size_t length)
{
	char *room = buf_reserve(buf, length);

	if (room && length) {
		memcpy(room, data, length);
		buf->length += length;
	}
}

void buf_fill(struct buf *buf, char byte, size_t count)
{
	char *room = buf_reserve(buf, count);

	if (room && count) {
		memset(room, byte, count);
		buf->length += count;
	}
}

void buf_vprintf(struct buf *buf, const char *format, va_list arguments)
{
	va_list again;
	size_t room = buf->capacity - buf->length;
	int length;

	if (buf->error)
		return;
	va_copy(again, arguments);
	/* The byte kept for a NUL may be written by vsnprintf. */
	length = buf->data ? vsnprintf(buf->data + buf->length, room + 1, format, arguments)
			   : vsnprintf(NULL, 0, format, arguments);
	if (length < 0) {
		buf_fail(buf, -EINVAL);
	} else if (buf->data && (size_t)length <= room) {
		buf->length += (size_t)length;
	} else if (buf_reserve(buf, (size_t)length)) {
		vsnprintf(buf->data + buf->length, (size_t)length + 1, format, again);
		buf->length += (size_t)length;
	}
	va_end(again);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	buf_vprintf(buf, format, arguments);
	va_end(arguments);
}

const char *buf_cstr(struct buf *buf)
{
	if (buf->error || !buf->data)
		return "";
	buf->data[buf->length] = '\0';
	return buf->data;
}

char *buf_take(struct buf *buf, size_t *ret_length)
{
	char *data = NULL;

	if (buf_reserve(buf, 0)) {
		data = buf->data;
		data[buf->length] = '\0';
		buf->data = NULL;
		if (ret_length)
			*ret_length = buf->length;
	}
	free(buf->data);
	*buf = (struct buf){.limit_bytes = buf->limit_bytes};
	return data;
}
