/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/record.h"

void record_put_number(struct buf *out, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		buf_putc(out, (char)(value >> (8 * i)));
}

void record_put_text(struct buf *out, struct slice text)
{
	record_put_number(out, text.length, 4);
	buf_append_slice(out, text);
}

uint64_t record_number(struct record_reader *reader, size_t size)
{
	uint64_t value = 0;

	if (reader->failed || reader->rest.length < size) {
		reader->failed = true;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)(uint8_t)reader->rest.data[i] << (8 * i);
	reader->rest.data += size;
	reader->rest.length -= size;
	return value;
}

struct slice record_text(struct record_reader *reader)
{
	size_t length = (size_t)record_number(reader, 4);
	struct slice text = {reader->rest.data, length};

	if (reader->failed || reader->rest.length < length) {
		reader->failed = true;
		return SLICE("");
	}
	reader->rest.data += length;
	reader->rest.length -= length;
	return text;
}
