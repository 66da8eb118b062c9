/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schema/raw.h"

struct raw_cursor raw_cursor(struct slice bytes)
{
	const uint8_t *start = (const uint8_t *)(bytes.data ? bytes.data : "");

	return (struct raw_cursor){start, start + bytes.length};
}

bool raw_varint(struct raw_cursor *cursor, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && cursor->at < cursor->end; shift += 7) {
		uint8_t byte = *cursor->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

static bool damaged(struct raw_cursor *cursor, const struct raw_field *field)
{
	cursor->at = field->start;
	return false;
}

bool raw_next(struct raw_cursor *cursor, struct raw_field *ret_field)
{
	uint64_t tag, length = 0;

	*ret_field = (struct raw_field){.start = cursor->at};
	if (cursor->at == cursor->end)
		return false;
	if (!raw_varint(cursor, &tag) || tag >> 3 == 0 || tag >> 32)
		return damaged(cursor, ret_field);
	ret_field->number = (uint32_t)(tag >> 3);
	ret_field->wire_type = tag & 7;
	switch (ret_field->wire_type) {
	case RAW_VARINT:
		return raw_varint(cursor, &ret_field->value) || damaged(cursor, ret_field);
	case RAW_64BIT:
		length = 8;
		break;
	case RAW_32BIT:
		length = 4;
		break;
	case RAW_BYTES:
		if (!raw_varint(cursor, &length))
			return damaged(cursor, ret_field);
		break;
	default:
		return damaged(cursor, ret_field);
	}
	if (length > (uint64_t)(cursor->end - cursor->at))
		return damaged(cursor, ret_field);
	if (ret_field->wire_type == RAW_BYTES)
		ret_field->bytes = (struct slice){(const char *)cursor->at, length};
	cursor->at += length;
	return true;
}
