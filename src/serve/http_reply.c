/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/http_reply.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdlib.h>

#include "base/mem.h"

#define HEADERS_MAX 2

/* Outlives the reply: libmicrohttpd lets go of it when the last client has it. */
struct body {
	unsigned references;
	char *data;
	size_t length;
};

struct http_reply {
	unsigned references;
	unsigned status;
	const char *content_type;
	struct body *body;
	struct {
		const char *name;
		char *value;
	} headers[HEADERS_MAX];
	struct MHD_Response *responses[2]; /* made at first use; [1] closes the connection */
};

static void body_unref(void *cls)
{
	struct body *body = cls;

	if (--body->references)
		return;
	free(body->data);
	free(body);
}

struct http_reply *http_reply_new(unsigned status, const char *content_type, struct buf *body)
{
	struct http_reply *reply = xcalloc(1, sizeof(*reply));

	reply->references = 1;
	reply->status = status;
	reply->content_type = content_type;
	reply->body = xcalloc(1, sizeof(*reply->body));
	reply->body->references = 1;
	if (body)
		reply->body->data = buf_take(body, &reply->body->length);
	return reply;
}

struct http_reply *http_reply_error(unsigned status, const char *format, ...)
{
	struct buf text = BUF_INIT;
	va_list arguments;
	json_t *document, *message;

	va_start(arguments, format);
	message = json_vsprintf(format, arguments);
	va_end(arguments);
	/* NULL only when a client's bytes were no UTF-8 and got quoted raw. */
	if (!message)
		message = json_string(MHD_get_reason_phrase_for(status));
	document = json_pack("{s:{s:i,s:o}}", "error", "code", (int)status, "message", message);
	if (document) {
		char *line = json_dumps(document, JSON_COMPACT);

		if (line)
			buf_puts(&text, line);
		free(line);
		json_decref(document);
	}
	buf_putc(&text, '\n');
	return http_reply_new(status, "application/json", &text);
}

struct http_reply *http_reply_json(unsigned status, json_t *document)
{
	struct buf text = BUF_INIT;
	struct http_reply *reply;
	char *dump = document ? json_dumps(document, JSON_INDENT(2)) : NULL;

	if (dump) {
		buf_puts(&text, dump);
		buf_putc(&text, '\n');
		reply = http_reply_new(status, "application/json", &text);
	} else {
		reply = http_reply_error(MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
	}
	free(dump);
	json_decref(document);
	return reply;
}

struct http_reply *http_reply_ref(struct http_reply *reply)
{
	reply->references++;
	return reply;
}

void http_reply_unref(struct http_reply *reply)
{
	if (!reply || --reply->references)
		return;
	for (int i = 0; i < 2; i++)
		if (reply->responses[i])
			MHD_destroy_response(reply->responses[i]);
	for (int i = 0; i < HEADERS_MAX; i++)
		free(reply->headers[i].value);
	body_unref(reply->body);
	free(reply);
}

void http_reply_header(struct http_reply *reply, const char *name, const char *value)
{
	int i = reply->headers[0].name ? 1 : 0;

	assert(!reply->headers[i].name && !reply->responses[0] && !reply->responses[1]);
	reply->headers[i].name = name;
	reply->headers[i].value = xstrdup(value);
}

unsigned http_reply_status(const struct http_reply *reply)
{
	return reply->status;
}

size_t http_reply_length(const struct http_reply *reply)
{
	return reply->body->length;
}

static struct MHD_Response *make_response(struct http_reply *reply)
{
	struct body *body = reply->body;
	struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
		body->length, body->data, body_unref, body);

	/* A few hundred bytes: like every small allocation it must not fail. */
	if (!response)
		abort();
	body->references++;
	if (reply->content_type)
		MHD_add_response_header(
			response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->content_type);
	for (int i = 0; i < HEADERS_MAX && reply->headers[i].name; i++)
		MHD_add_response_header(response, reply->headers[i].name, reply->headers[i].value);
	return response;
}

struct MHD_Response *http_reply_response(struct http_reply *reply, bool closing)
{
	if (!reply->responses[closing]) {
		reply->responses[closing] = make_response(reply);
		if (closing)
			MHD_add_response_header(
				reply->responses[closing], MHD_HTTP_HEADER_CONNECTION, "close");
	}
	return reply->responses[closing];
}
