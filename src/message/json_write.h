/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Message to canonical proto3 JSON (https://protobuf.dev/programming-guides/json): fields by
 * number, map entries by key, enums by name, 64-bit numbers as strings, shortest float that reads
 * back. Any contents that the schema does not know print as {"@type": ..., "value": base64}.
 * Unknown fields are not printed: see message_has_unknown().
 */
#ifndef XDSPUB_MESSAGE_JSON_WRITE_H
#define XDSPUB_MESSAGE_JSON_WRITE_H

#include "base/buf.h"
#include "message/message.h"

struct json_write_options {
	const struct schema *schema;
	bool original_names; /* snake_case as declared instead of lowerCamelCase */
	bool pretty;	     /* two spaces per level; else one line */
	unsigned indent;     /* levels to start from, when the text goes into a larger document */
};

/* 0, -EBADMSG: a value has no JSON form (a Duration out of range, a bad Any ...). */
int json_write(const struct json_write_options *options, const struct message *message,
	struct buf *out, const char **ret_problem);
void json_write_string(struct buf *out, struct slice text); /* quoted and escaped */

#endif
