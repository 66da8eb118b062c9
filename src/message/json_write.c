/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/json_write.h"

#include "message/json_walk.h"

struct json_writer {
	struct buf *out;
	unsigned depth;	 /* objects and lists that are open */
	unsigned indent; /* of the outermost */
	bool is_pretty;
	bool has_items; /* in the innermost object or list */
	bool after_key;
};

/* How many bytes from `at` on need no escape. Eight at a time; the tests are exact enough that a
 * word is only looked at byte by byte when it may hold one that does. */
static size_t plain_run(const char *at, const char *end)
{
	const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
	const char *start = at;
	uint64_t word;

	for (; end - at >= 8; at += 8) {
		memcpy(&word, at, 8);
		uint64_t quote = word ^ (ones * '"'), backslash = word ^ (ones * '\\');
		uint64_t delete = word ^ (ones * 0x7f);
		uint64_t hits = ((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) |
				((backslash - ones) & ~backslash) | ((delete - ones) & ~delete);

		if (hits & highs)
			break;
	}
	while (at < end && (uint8_t)*at >= 0x20 && *at != '"' && *at != '\\' && *at != 0x7f)
		at++;
	return (size_t)(at - start);
}

static void put_escape(struct buf *out, uint8_t byte)
{
	static const char short_forms[] = "\bb\tt\nn\ff\rr\"\"\\\\";
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; i + 1 < sizeof(short_forms); i += 2) {
		if ((uint8_t)short_forms[i] == byte) {
			buf_append(out, (char[]){'\\', short_forms[i + 1]}, 2);
			return;
		}
	}
	buf_append(out, (char[]){'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]}, 6);
}

void json_write_string(struct buf *out, struct slice text)
{
	char *to;

	if (text.length == 0) {
		buf_append(out, "\"\"", 2);
		return;
	}
	const char *at = text.data, *end = at + text.length;
	size_t run = plain_run(at, end);
	if (run == text.length) {
		to = buf_reserve(out, run + 2);
		if (!to)
			return;
		to[0] = '"';
		memcpy(to + 1, at, run);
		to[run + 1] = '"';
		out->length += run + 2;
		return;
	}
	buf_putc(out, '"');
	for (;;) {
		buf_append(out, at, run);
		at += run;
		if (at == end)
			break;
		put_escape(out, (uint8_t)*at++);
		run = plain_run(at, end);
	}
	buf_putc(out, '"');
}

static void put_line(struct json_writer *writer)
{
	buf_putc(writer->out, '\n');
	buf_fill(writer->out, ' ', 2 * ((size_t)writer->indent + writer->depth));
}

/* Before a key, and before a value that follows no key. */
static inline void put_separator(struct json_writer *writer)
{
	if (writer->has_items)
		buf_putc(writer->out, ',');
	writer->has_items = true;
	if (writer->is_pretty)
		put_line(writer);
}

static inline void before_value(struct json_writer *writer)
{
	if (!writer->after_key && writer->depth > 0)
		put_separator(writer);
	writer->after_key = false;
}

static void on_begin(void *ctx, bool is_list)
{
	struct json_writer *writer = ctx;

	before_value(writer);
	buf_putc(writer->out, is_list ? '[' : '{');
	writer->depth++;
	writer->has_items = false;
}

static void on_end(void *ctx, bool is_list)
{
	struct json_writer *writer = ctx;

	writer->depth--;
	if (writer->is_pretty && writer->has_items)
		put_line(writer);
	buf_putc(writer->out, is_list ? ']' : '}');
	writer->has_items = true;
}

static void on_key(void *ctx, struct slice name, bool is_name)
{
	struct json_writer *writer = ctx;
	struct buf *out = writer->out;

	put_separator(writer);
	writer->after_key = true;
	if (!is_name) {
		json_write_string(out, name);
		buf_append(out, ": ", writer->is_pretty ? 2 : 1);
		return;
	}
	char *to = buf_reserve(out, name.length + 4);
	if (!to)
		return;
	*to++ = '"';
	memcpy(to, name.data, name.length);
	memcpy(to + name.length, "\": ", 3);
	out->length += name.length + (writer->is_pretty ? 4 : 3);
}

static void on_string(void *ctx, struct slice text)
{
	struct json_writer *writer = ctx;

	before_value(writer);
	json_write_string(writer->out, text);
}

static void on_literal(void *ctx, struct slice text, enum json_literal kind)
{
	struct json_writer *writer = ctx;

	(void)kind;
	before_value(writer);
	buf_append_slice(writer->out, text);
}

int json_write(const struct json_write_options *options, const struct message *message,
	struct buf *out, const char **ret_problem)
{
	static const struct json_walk_ops ops = {on_begin, on_end, on_key, on_string, on_literal};
	const struct json_walk_options walk = {options->schema, options->original_names};
	struct json_writer writer = {
		.out = out, .indent = options->indent, .is_pretty = options->pretty};

	return json_walk(&walk, &ops, &writer, message, ret_problem);
}
