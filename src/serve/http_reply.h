/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An HTTP answer that any number of clients share, bytes included. Reference-counted; the bytes
 * live until the last client has them. Threads: the loop of the server that sends it.
 */
#ifndef XDSPUB_SERVE_HTTP_REPLY_H
#define XDSPUB_SERVE_HTTP_REPLY_H

#include <jansson.h>

#include "base/buf.h"

struct http_reply;

/* Empties `body`, which becomes the answer's. content_type: a literal, NULL for none. */
struct http_reply *http_reply_new(unsigned status, const char *content_type, struct buf *body);
/* {"error": {"code": 404, "message": "..."}} */
struct http_reply *http_reply_error(unsigned status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A document for people: indented, with a newline. Takes over the reference to `document`. */
struct http_reply *http_reply_json(unsigned status, json_t *document);
struct http_reply *http_reply_ref(struct http_reply *reply);
void http_reply_unref(struct http_reply *reply); /* NULL is fine */

/* At most two more headers, before the answer is first sent. name: a literal; value is copied. */
void http_reply_header(struct http_reply *reply, const char *name, const char *value);
unsigned http_reply_status(const struct http_reply *reply);
size_t http_reply_length(const struct http_reply *reply); /* bytes of body */

/* For the server: what libmicrohttpd sends; `closing` says so in a header. Borrowed. */
struct MHD_Response *http_reply_response(struct http_reply *reply, bool closing);

#endif
