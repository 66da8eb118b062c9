/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/rest/json_indent.h"

#include "base/limits.h"

static void new_line(struct buf *out, size_t depth)
{
	buf_putc(out, '\n');
	buf_fill(out, ' ', 2 * (depth < 2 * LIMIT_DEPTH ? depth : 2 * LIMIT_DEPTH));
}

static const char *copy_string(const char *at, const char *end, struct buf *out)
{
	const char *start = at++;

	while (at < end && *at != '"')
		at += *at == '\\' && at + 1 < end ? 2 : 1;
	at += at < end;
	buf_append(out, start, (size_t)(at - start));
	return at;
}

static const char *skip_space(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
		at++;
	return at;
}

void json_indent(struct slice json, struct buf *out)
{
	const char *at = json.data, *end = json.data + json.length;
	size_t depth = 0;

	while ((at = skip_space(at, end)) < end) {
		char c = *at;

		if (c == '"') {
			at = copy_string(at, end, out);
			continue;
		}
		at++;
		if (c == '{' || c == '[') {
			const char *next = skip_space(at, end);

			buf_putc(out, c);
			if (next < end && (*next == '}' || *next == ']')) {
				buf_putc(out, *next);
				at = next + 1;
			} else {
				new_line(out, ++depth);
			}
		} else if (c == '}' || c == ']') {
			depth -= depth > 0;
			new_line(out, depth);
			buf_putc(out, c);
		} else {
			buf_putc(out, c);
			if (c == ',')
				new_line(out, depth);
			else if (c == ':')
				buf_putc(out, ' ');
		}
	}
	buf_putc(out, '\n');
}
