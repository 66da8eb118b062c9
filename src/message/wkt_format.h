/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Duration, Timestamp and FieldMask as the JSON strings that stand for them. Each appends and
 * returns NULL, or a literal that says why the message has no such form. Threads: any.
 */
#ifndef XDSPUB_MESSAGE_WKT_FORMAT_H
#define XDSPUB_MESSAGE_WKT_FORMAT_H

#include "base/buf.h"
#include "message/message.h"

const char *wkt_format_duration(const struct message *duration, struct buf *out); /* 1.500s */
const char *wkt_format_timestamp(
	const struct message *timestamp, struct buf *out);			/* RFC 3339, Z */
const char *wkt_format_field_mask(const struct message *mask, struct buf *out); /* fooBar,baz */

#endif
