/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Protobuf binary to message. Merges repeated occurrences as protobuf demands, accepts packed and
 * unpacked, keeps unknown fields. Refuses: truncation, bad wire types and tags, nesting beyond
 * LIMIT_DEPTH, strings that are no UTF-8 (proto3) or hold NUL, unmatched groups.
 * Strings and bytes are borrowed from `bytes`, which must outlive the message.
 */
#ifndef XDSPUB_MESSAGE_WIRE_READ_H
#define XDSPUB_MESSAGE_WIRE_READ_H

#include "message/message.h"

struct wire_read_options {
	const struct schema *schema; /* for Any contents and extensions */
	bool expand_any;	     /* decode Any contents of known types (any_content) */
	bool allow_partial;	     /* required fields may be missing */
};

struct wire_read_error {
	size_t offset;	  /* in the input; nested Any contents count from their own start */
	const char *text; /* a literal: what is wrong */
	const struct schema_field *field; /* where known, else NULL */
};

/* 0, -EBADMSG (see error), -ENOMEM (arena limit). */
int wire_read(const struct wire_read_options *options, const struct schema_message *type,
	struct slice bytes, struct arena *arena, struct message **ret_message,
	struct wire_read_error *ret_error);

/* Past one varint before `end`; NULL when there is none. */
const char *wire_get_varint(const char *at, const char *end, uint64_t *ret_value);

#endif
