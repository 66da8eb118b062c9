/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Protobuf from strangers: a reader of fields, and protobuf-c behind a check that it lacks, driven
 * by its own descriptors: tags, lengths and wire types, UTF-8 without NUL in strings, how many and
 * how long. Nothing recurses. Messages in an unpacked one are declared, so they nest a few levels;
 * all else stays bytes (proto/xdspub). Threads: any; an arena belongs to one.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_WIRE_H
#define XDSPUB_SERVE_GRPC_GRPC_WIRE_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/limits.h"

enum grpc_wire_type {
	GRPC_WIRE_VARINT = 0,
	GRPC_WIRE_64BIT = 1,
	GRPC_WIRE_BYTES = 2,
	GRPC_WIRE_GROUP = 3,
	GRPC_WIRE_GROUP_END = 4, /* never returned */
	GRPC_WIRE_32BIT = 5
};

struct grpc_wire_field {
	uint32_t number;
	enum grpc_wire_type type;
	const char *start;  /* of its tag */
	uint64_t value;	    /* VARINT, 64BIT, 32BIT */
	struct slice bytes; /* BYTES: content. GROUP: what follows its tag, end tag included */
};

/* The next field of a serialized message, which becomes the rest of it. 1, 0: the end, -EINVAL:
 * damaged. A group is skipped as a whole, down to LIMIT_DEPTH. */
int grpc_wire_next(struct slice *rest, struct grpc_wire_field *ret_field);

/* Occurrences of unknown fields, and of singular fields after their first, in a message and all
 * that is in it. */
#define GRPC_WIRE_SPARE_FIELDS 1000
/* A string that no list holds: a version, a nonce, a type URL. */
#define GRPC_WIRE_TEXT_BYTES 4096

/*
 * Limits: grpc_message_bytes; request_names of each repeated field; resource_name_bytes for strings
 * in repeated fields; the two above. 0, -EINVAL, -E2BIG: `problem` says what is wrong, in one line
 * without the peer's text. Afterwards known fields have their own wire type, and strings are UTF-8
 * and hold no NUL.
 */
int grpc_wire_check(const ProtobufCMessageDescriptor *type, struct slice bytes,
	const struct limits *limits, char *problem, size_t problem_size);
/* Checks and unpacks. Everything is in the arena (don't free the message); the bytes are not
 * needed afterwards. */
int grpc_wire_unpack(const ProtobufCMessageDescriptor *type, struct slice bytes,
	const struct limits *limits, struct arena *arena, ProtobufCMessage **ret_message,
	char *problem, size_t problem_size);

#endif
