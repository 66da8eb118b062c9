/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of a serialized message, one after the other, without knowing its type: for looking
 * at descriptors before or besides unpacking them. Borrows everything. Threads: any.
 */
#ifndef XDSPUB_SCHEMA_RAW_H
#define XDSPUB_SCHEMA_RAW_H

#include "base/slice.h"

enum {
	RAW_VARINT = 0,
	RAW_64BIT = 1,
	RAW_BYTES = 2,
	RAW_32BIT = 5,
};

struct raw_cursor {
	const uint8_t *at, *end;
};

struct raw_field {
	uint32_t number;
	unsigned wire_type;
	const uint8_t *start; /* of the tag */
	uint64_t value;	      /* RAW_VARINT */
	struct slice bytes;   /* RAW_BYTES */
};

struct raw_cursor raw_cursor(struct slice bytes);
bool raw_varint(struct raw_cursor *cursor, uint64_t *ret_value);
/* The next field, or false: at the end (cursor->at == cursor->end) or where it is damaged. */
bool raw_next(struct raw_cursor *cursor, struct raw_field *ret_field);

#endif
