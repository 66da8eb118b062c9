/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is this a text at all? What yaml_read and json_read ask first. */
#ifndef XDSPUB_MESSAGE_READ_TEXT_H
#define XDSPUB_MESSAGE_READ_TEXT_H

#include "message/node_build.h"

/* Refuses UTF-16, NUL bytes and invalid UTF-8 (false; build->error is set). Takes a byte order
 * mark off `text`. */
bool read_text_check(struct node_build *build, struct slice *text, bool *ret_is_ascii);
/* Counts lines and bytes up to `offset`. */
struct position read_text_position(struct slice text, size_t offset);

#endif
