/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Line breaks and two-space indentation for valid JSON, without parsing it. Threads: any. */
#ifndef XDSPUB_SERVE_REST_JSON_INDENT_H
#define XDSPUB_SERVE_REST_JSON_INDENT_H

#include "base/buf.h"

/* Appends with a final newline. Any bytes are safe; only valid JSON comes out as such. */
void json_indent(struct slice json, struct buf *out);

#endif
