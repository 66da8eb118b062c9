/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Message to deterministic protobuf binary: fields by number, map entries by key, unknown fields
 * last in the order they came. Equal messages give equal bytes on every machine and release.
 */
#ifndef XDSPUB_MESSAGE_WIRE_WRITE_H
#define XDSPUB_MESSAGE_WIRE_WRITE_H

#include "base/buf.h"
#include "message/message.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_64BIT = 1,
	WIRE_BYTES = 2,
	WIRE_GROUP = 3,
	WIRE_GROUP_END = 4,
	WIRE_32BIT = 5,
};

/* How values of a field's type are encoded when not packed. */
static inline enum wire_type wire_type_of(enum schema_type type)
{
	static const uint8_t types[] = {
		[SCHEMA_DOUBLE] = WIRE_64BIT,
		[SCHEMA_FLOAT] = WIRE_32BIT,
		[SCHEMA_FIXED64] = WIRE_64BIT,
		[SCHEMA_FIXED32] = WIRE_32BIT,
		[SCHEMA_STRING] = WIRE_BYTES,
		[SCHEMA_GROUP] = WIRE_GROUP,
		[SCHEMA_MESSAGE] = WIRE_BYTES,
		[SCHEMA_BYTES] = WIRE_BYTES,
		[SCHEMA_SFIXED32] = WIRE_32BIT,
		[SCHEMA_SFIXED64] = WIRE_64BIT,
		[SCHEMA_SINT64] = WIRE_VARINT, /* and all that are not named */
	};

	return (enum wire_type)types[type];
}

/* Appends. -E2BIG when messages are nested beyond LIMIT_DEPTH. Errors are sticky in `out` (see
 * buf.h). Not const: sizes are cached in the message. */
void wire_write(struct message *message, struct buf *out);
size_t wire_size(struct message *message);

/* Where some messages are in what is written: each of them, and each message around them that has
 * its length in front of it. In the order of `at`, so outer ones come first. */
struct wire_span {
	uint32_t at;	/* of the length */
	uint32_t start; /* of the message */
	uint32_t end;
	int32_t outer;	/* the span around it, -1: none */
	int32_t target; /* which message it is, -1: one around them */
};

struct wire_trace {
	/* set by the caller: in the order in which they are written, see message_items_in_order */
	struct message *const *targets;
	size_t targets_count;
	/* the outcome; malloc'ed, offsets from where wire_write_traced began */
	struct wire_span *spans;
	size_t count, capacity;
};

/* wire_write() of a message below 4 GiB; notes where the targets are. */
void wire_write_traced(struct message *message, struct buf *out, struct wire_trace *trace);

/* Parts of the format, for responses that are put together from encoded resources. */
void wire_put_varint(struct buf *out, uint64_t value);
void wire_put_tag(struct buf *out, uint32_t number, unsigned wire_type);
void wire_put_bytes(struct buf *out, uint32_t number, struct slice bytes); /* tag, length, bytes */

#endif
