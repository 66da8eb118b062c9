/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Message to protobuf text format. Any contents of known types are expanded as [url] { ... } if the
 * URL begins with type.googleapis.com/ or type.googleprod.com/: libprotobuf reads no others.
 */
#ifndef XDSPUB_MESSAGE_TEXT_WRITE_H
#define XDSPUB_MESSAGE_TEXT_WRITE_H

#include "base/buf.h"
#include "message/message.h"

struct text_write_options {
	const struct schema *schema;
	unsigned indent;    /* levels of two spaces */
	bool print_unknown; /* unknown fields by number */
};

int text_write(const struct text_write_options *options, const struct message *message,
	struct buf *out, const char **ret_problem);

#endif
