/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of an HTTP/1.x answer, all of them, to its status and body. Pure. Threads: any. */
#ifndef XDSPUB_CLI_HTTP_ANSWER_H
#define XDSPUB_CLI_HTTP_ANSWER_H

#include "base/buf.h"

/* Appends the body, put together from its chunks. 0, -EPROTO (or out's error). A body that ends
 * before its length or its last chunk is -EPROTO. */
int http_answer_parse(struct slice text, struct buf *out, int *ret_status);

#endif
