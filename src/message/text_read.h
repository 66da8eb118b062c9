/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Protobuf text format to message, with positions; all problems become diagnostics. */
#ifndef XDSPUB_MESSAGE_TEXT_READ_H
#define XDSPUB_MESSAGE_TEXT_READ_H

#include "message/message.h"

struct text_read_options {
	const struct schema *schema;
	const char *path; /* for diagnostics */
};

/* 0, -EBADMSG (see diags), -ENOMEM. Strings are copied into the arena. */
int text_read(const struct text_read_options *options, const struct schema_message *type,
	struct slice text, struct arena *arena, struct diag_list *diags,
	struct message **ret_message);

#endif
