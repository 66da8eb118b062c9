/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Message to YAML block style that both YAML 1.1 and 1.2 readers, Envoy's among them, read as the
 * same JSON: every string that could be taken for something else is quoted. Same content and field
 * names as json_write with original names.
 */
#ifndef XDSPUB_MESSAGE_YAML_WRITE_H
#define XDSPUB_MESSAGE_YAML_WRITE_H

#include "base/buf.h"
#include "message/message.h"

struct yaml_write_options {
	const struct schema *schema;
	unsigned indent; /* spaces before each line */
	bool camel_case; /* lowerCamelCase instead of names as declared */
	/* The first line starts here already (after "- "): no spaces before it. */
	bool continue_line;
};

int yaml_write(const struct yaml_write_options *options, const struct message *message,
	struct buf *out, const char **ret_problem);
void yaml_write_string(struct buf *out, struct slice text); /* quoted where it must be */

#endif
