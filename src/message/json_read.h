/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON text (RFC 8259) to nodes, with positions and the full number range (numbers stay text).
 * Own reader: jansson has neither. Duplicate names are errors. No recursion beyond LIMIT_DEPTH.
 */
#ifndef XDSPUB_MESSAGE_JSON_READ_H
#define XDSPUB_MESSAGE_JSON_READ_H

#include "message/yaml_read.h"

int json_read(const struct read_options *options, struct slice text, struct arena *arena,
	struct diag_list *diags, struct node **ret_root);

#endif
