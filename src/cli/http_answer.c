/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/http_answer.h"

#include <ctype.h>
#include <errno.h>
#include <strings.h>

#include "base/text.h"

/* The rest of a header line of that name, without white space around it; data NULL: absent. */
static struct slice find_header(struct slice head, const char *name)
{
	size_t length = strlen(name);

	while (head.length) {
		const char *end = memmem(head.data, head.length, "\r\n", 2);
		size_t line = end ? (size_t)(end - head.data) : head.length;

		if (line > length && head.data[length] == ':' &&
			strncasecmp(head.data, name, length) == 0) {
			struct slice value = {head.data + length + 1, line - length - 1};

			while (value.length && isspace((unsigned char)value.data[0]))
				value = (struct slice){value.data + 1, value.length - 1};
			while (value.length && isspace((unsigned char)value.data[value.length - 1]))
				value.length--;
			return value;
		}
		line += end ? 2 : 0;
		head = (struct slice){head.data + line, head.length - line};
	}
	return (struct slice){0};
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int join_chunks(struct slice text, struct buf *out)
{
	for (;;) {
		size_t size = 0, digits = 0;
		const char *end;

		while (digits < text.length && hex_digit(text.data[digits]) >= 0) {
			if (digits == 8)
				return -EPROTO;
			size = size * 16 + (size_t)hex_digit(text.data[digits++]);
		}
		end = memmem(text.data, text.length, "\r\n", 2);
		if (digits == 0 || !end)
			return -EPROTO;
		if (size == 0)
			return buf_error(out);
		text.length -= (size_t)(end + 2 - text.data);
		text.data = end + 2;
		if (text.length < 2 || size > text.length - 2)
			return -EPROTO;
		buf_append(out, text.data, size);
		text = (struct slice){text.data + size + 2, text.length - size - 2};
	}
}

int http_answer_parse(struct slice text, struct buf *out, int *ret_status)
{
	const char *end = text.length ? memmem(text.data, text.length, "\r\n\r\n", 4) : NULL;
	struct slice head, body, value;
	uint64_t length;

	if (!end || text.length < 13 || memcmp(text.data, "HTTP/1.", 7) != 0)
		return -EPROTO;
	for (int i = 9; i < 12; i++)
		if (!isdigit((unsigned char)text.data[i]))
			return -EPROTO;
	*ret_status = (text.data[9] - '0') * 100 + (text.data[10] - '0') * 10 + text.data[11] - '0';
	head = (struct slice){text.data, (size_t)(end - text.data)};
	body = (struct slice){end + 4, text.length - head.length - 4};
	value = find_header(head, "transfer-encoding");
	if (value.data && !(value.length == 7 && strncasecmp(value.data, "chunked", 7) == 0))
		return -EPROTO;
	if (value.data)
		return join_chunks(body, out);
	value = find_header(head, "content-length");
	if (value.data && (text_parse_u64(value, &length) < 0 || length > body.length))
		return -EPROTO;
	buf_append(out, body.data, value.data ? (size_t)length : body.length);
	return buf_error(out);
}
