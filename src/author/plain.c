/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/plain.h"

#include <ctype.h>
#include <strings.h>

#include "base/text.h"

#define NARROWEST 20 /* columns beside the indent */

/* ---- marks ---- */

/* Behind the "]" of a mark that begins at `at`, which is "[#". */
static size_t mark_end(struct slice text, size_t at)
{
	size_t depth = 0;

	for (size_t i = at; i < text.length; i++) {
		depth += text.data[i] == '[';
		if (text.data[i] == ']' && --depth == 0)
			return i + 1;
	}
	return at; /* none: it is text */
}

static bool is_mark_at(struct slice text, size_t at)
{
	return text.length - at > 2 && text.data[at] == '[' && text.data[at + 1] == '#';
}

static struct slice trim(struct slice text)
{
	while (text.length && isspace((unsigned char)text.data[0])) {
		text.data++;
		text.length--;
	}
	while (text.length && isspace((unsigned char)text.data[text.length - 1]))
		text.length--;
	return text;
}

struct slice plain_next_mark(struct slice comment, const char *mark, size_t *cursor)
{
	size_t length = strlen(mark);

	for (size_t i = *cursor; i + length + 3 < comment.length; i++) {
		size_t end;

		if (!is_mark_at(comment, i) || memcmp(comment.data + i + 2, mark, length) != 0 ||
			comment.data[i + 2 + length] != ':')
			continue;
		end = mark_end(comment, i);
		if (end == i)
			continue;
		*cursor = end;
		i += length + 3;
		return trim((struct slice){comment.data + i, end - 1 - i});
	}
	*cursor = comment.length;
	return (struct slice){NULL, 0};
}

bool plain_has_mark(struct slice comment, const char *mark)
{
	size_t cursor = 0;

	return plain_next_mark(comment, mark, &cursor).data != NULL;
}

/* The comment without its marks; a line that held nothing else goes with it. */
static void drop_marks(struct buf *out, struct slice comment)
{
	for (size_t i = 0; i < comment.length; i++) {
		size_t end = is_mark_at(comment, i) ? mark_end(comment, i) : i;

		if (end == i) {
			buf_putc(out, comment.data[i]);
			continue;
		}
		i = end - 1;
		/* One blank is left of those around it. */
		if (out->length && out->data[out->length - 1] == ' ' && end < comment.length &&
			comment.data[end] == ' ')
			i++;
	}
}

/* ---- inline markup ---- */

static size_t find(struct slice text, size_t from, const char *what)
{
	const char *at = from < text.length
				 ? memmem(text.data + from, text.length - from, what, strlen(what))
				 : NULL;

	return at ? (size_t)(at - text.data) : text.length;
}

/* "envoy_v3_api_field_config.cluster.v3.Cluster.name" as "Cluster.name" */
static struct slice short_target(struct slice target)
{
	const struct slice api = SLICE("envoy_v3_api_"), extension = SLICE("extension_");

	if (target.length > api.length && memcmp(target.data, api.data, api.length) == 0) {
		for (size_t i = api.length; i + 1 < target.length; i++)
			if (target.data[i] == '.' && isupper((unsigned char)target.data[i + 1]))
				return (struct slice){target.data + i + 1, target.length - i - 1};
	}
	if (target.length > extension.length &&
		memcmp(target.data, extension.data, extension.length) == 0)
		return (struct slice){
			target.data + extension.length, target.length - extension.length};
	return target;
}

/* "text <target>": the text, and the target in *ret_target. */
static struct slice split_target(struct slice whole, struct slice *ret_target)
{
	const char *open = NULL;

	if (whole.length && whole.data[whole.length - 1] == '>')
		open = memrchr(whole.data, '<', whole.length);
	if (!open) {
		*ret_target = (struct slice){NULL, 0};
		return whole;
	}
	*ret_target = (struct slice){open + 1, whole.length - (size_t)(open - whole.data) - 2};
	return trim((struct slice){whole.data, (size_t)(open - whole.data)});
}

/* The length of ":ref:" before a backtick, or 0. */
static size_t role_length(struct slice text, size_t at)
{
	size_t i = at + 1;

	if (text.data[at] != ':')
		return 0;
	while (i < text.length && (islower((unsigned char)text.data[i]) || text.data[i] == '-'))
		i++;
	return i > at + 1 && i + 1 < text.length && text.data[i] == ':' && text.data[i + 1] == '`'
		       ? i + 1 - at
		       : 0;
}

static void put_role(struct buf *out, struct slice content)
{
	struct slice target, words = split_target(content, &target);

	buf_append_slice(out, words.length ? short_target(words) : short_target(target));
}

static void put_link(struct buf *out, struct slice content)
{
	struct slice target, words = split_target(content, &target);

	buf_append_slice(out, words);
	if (target.length)
		buf_printf(out, "%s(%.*s)", words.length ? " " : "", SLICE_ARG(target));
}

/* What begins at `at`, converted; where it ends, or `at` when it is ordinary text. */
static size_t put_inline(struct buf *out, struct slice text, size_t at)
{
	size_t role = role_length(text, at), end;

	if (role) {
		end = find(text, at + role + 1, "`");
		if (end == text.length)
			return at;
		put_role(out, (struct slice){text.data + at + role + 1, end - at - role - 1});
		return end + 1;
	}
	if (text.data[at] == '\\' && at + 1 < text.length && strchr("*_`|\\", text.data[at + 1])) {
		buf_putc(out, text.data[at + 1]);
		return at + 2;
	}
	if (text.length - at > 4 && memcmp(text.data + at, "``", 2) == 0) {
		end = find(text, at + 2, "``");
		if (end == text.length)
			return at;
		buf_printf(out, "`%.*s`", (int)(end - at - 2), text.data + at + 2);
		return end + 2;
	}
	if (text.data[at] == '`') {
		end = find(text, at + 1, "`_");
		/* The backtick that closes it is the next one. */
		if (end == text.length || find(text, at + 1, "`") != end)
			return at;
		put_link(out, (struct slice){text.data + at + 1, end - at - 1});
		return end + 2 + (end + 2 < text.length && text.data[end + 2] == '_');
	}
	if (text.length - at > 4 && memcmp(text.data + at, "**", 2) == 0) {
		end = find(text, at + 2, "**");
		if (end == text.length || end == at + 2)
			return at;
		buf_append(out, text.data + at + 2, end - at - 2);
		return end + 2;
	}
	return at;
}

static void put_paragraph(struct buf *out, struct slice text)
{
	for (size_t i = 0; i < text.length;) {
		size_t end = put_inline(out, text, i);

		if (end == i)
			buf_putc(out, text.data[i++]);
		else
			i = end;
	}
}

/* ---- blocks ---- */

struct writer {
	struct buf *out;
	size_t start;	      /* of the text in `out` */
	struct buf paragraph; /* as written, on one line */
	unsigned lead;	      /* blanks before a list item */
	bool is_item;	      /* the paragraph is one */
	size_t item_indent;   /* columns of its marker; continuations are indented further */
	bool is_spaced;	      /* an empty line stands before what comes */
	bool is_head;	      /* the paragraph is "Note:" as yet, its text comes */
	bool in_code;	      /* what is indented beyond code_indent is literal */
	bool is_code_head;    /* only options of the directive were seen */
	size_t code_indent, code_shift;
	bool was_code, was_item;
};

static void start_line(struct writer *writer, bool is_tight)
{
	if (writer->out->length == writer->start)
		return;
	buf_puts(writer->out, is_tight ? "\n" : "\n\n");
}

static void flush(struct writer *writer)
{
	struct buf line = BUF_INIT;

	if (writer->paragraph.length == 0)
		return;
	start_line(writer, writer->is_item && writer->was_item);
	buf_fill(writer->out, ' ', writer->lead);
	put_paragraph(&line, buf_slice(&writer->paragraph));
	text_quote(writer->out, buf_slice(&line), 0);
	buf_fini(&line);
	buf_reset(&writer->paragraph);
	writer->was_item = writer->is_item;
	writer->was_code = false;
	writer->lead = 0;
	writer->is_item = false;
}

static void put_code(struct writer *writer, struct slice line, size_t indent)
{
	if (!writer->was_code)
		writer->code_shift = indent;
	start_line(writer, writer->was_code && !writer->is_spaced);
	buf_fill(writer->out, ' ',
		4 + (indent > writer->code_shift ? indent - writer->code_shift : 0));
	text_quote(writer->out, line, 0);
	writer->was_code = true;
	writer->was_item = false;
}

/* The length of a list marker with its blank, or 0. */
static size_t marker_length(struct slice line)
{
	size_t i = 0;

	if (line.length > 2 && line.data[1] == ' ' && strchr("*-", line.data[0]))
		return 2;
	while (i < line.length && i < 3 &&
		(isdigit((unsigned char)line.data[i]) || line.data[0] == '#')) {
		i++;
		if (line.data[0] == '#')
			break;
	}
	return i && i + 2 < line.length && strchr(".)", line.data[i]) && line.data[i + 1] == ' '
		       ? i + 2
		       : 0;
}

static bool is_one_of(struct slice word, const char *const *words)
{
	for (; *words; words++)
		if (word.length == strlen(*words) &&
			strncasecmp(word.data, *words, word.length) == 0)
			return true;
	return false;
}

/* ".. note:: text"; false when the line is none. */
static bool take_directive(struct writer *writer, struct slice line, size_t indent)
{
	static const char *const literal[] = {"code-block", "code", "validated-code-block",
		"csv-table", "parsed-literal", "literalinclude", "math", NULL};
	static const char *const spoken[] = {
		"note", "attention", "warning", "tip", "important", "caution", "danger", NULL};
	size_t colons;
	struct slice name, rest;

	if (line.length < 4 || memcmp(line.data, ".. ", 3) != 0)
		return false;
	colons = find(line, 3, "::");
	flush(writer);
	if (colons == line.length)
		return true; /* a comment or a target */
	name = trim((struct slice){line.data + 3, colons - 3});
	rest = trim((struct slice){line.data + colons + 2, line.length - colons - 2});
	if (is_one_of(name, literal)) {
		writer->in_code = writer->is_code_head = true;
		writer->code_indent = indent;
	} else if (is_one_of(name, spoken)) {
		buf_putc(&writer->paragraph, (char)toupper((unsigned char)name.data[0]));
		for (size_t i = 1; i < name.length; i++)
			buf_putc(&writer->paragraph, (char)tolower((unsigned char)name.data[i]));
		buf_printf(&writer->paragraph, ":%s%.*s", rest.length ? " " : "", SLICE_ARG(rest));
		writer->is_head = rest.length == 0;
	}
	return true;
}

static bool take_code(struct writer *writer, struct slice line, size_t indent)
{
	if (!writer->in_code)
		return false;
	if (indent <= writer->code_indent) {
		writer->in_code = false;
		return false;
	}
	if (writer->is_code_head && line.data[0] == ':')
		return true; /* ":type-name: ..." */
	writer->is_code_head = false;
	put_code(writer, line, indent);
	return true;
}

static void take_text(struct writer *writer, struct slice line, size_t indent)
{
	size_t marker = writer->is_head ? 0 : marker_length(line);
	bool is_literal = line.length > 2 && memcmp(line.data + line.length - 2, "::", 2) == 0;

	if (marker) {
		flush(writer);
		writer->is_item = true;
		writer->item_indent = indent;
		writer->lead = indent >= 2 ? 2 : 0;
		if (line.data[0] == '#') {
			buf_puts(&writer->paragraph, "* ");
			line.data += marker;
			line.length -= marker;
		}
	} else if (writer->is_item && indent <= writer->item_indent && writer->is_spaced) {
		flush(writer);
	}
	if (writer->paragraph.length && writer->paragraph.data[writer->paragraph.length - 1] != ' ')
		buf_putc(&writer->paragraph, ' ');
	writer->is_head = false;
	buf_append(&writer->paragraph, line.data, line.length - is_literal);
	if (is_literal) {
		flush(writer);
		writer->in_code = true;
		writer->is_code_head = false;
		writer->code_indent = indent;
	}
}

static void take_line(struct writer *writer, struct slice line)
{
	size_t indent = 0;

	while (indent < line.length && (line.data[indent] == ' ' || line.data[indent] == '\t'))
		indent++;
	line.data += indent;
	line.length -= indent;
	line = trim(line);
	if (line.length == 0) {
		if (!writer->in_code && !writer->is_head)
			flush(writer);
		writer->is_spaced = true;
		return;
	}
	if (!take_code(writer, line, indent) && !take_directive(writer, line, indent)) {
		if (line.data[0] == '+' && line.length > 2 && line.data[1] == '-') {
			flush(writer); /* a table */
			put_code(writer, line, indent);
		} else {
			take_text(writer, line, indent);
		}
	}
	writer->is_spaced = false;
}

/* protoc leaves the blank behind the slashes. */
static bool is_shifted(struct slice text)
{
	for (size_t i = 0; i < text.length; i++) {
		if ((i == 0 || text.data[i - 1] == '\n') && text.data[i] != ' ' &&
			text.data[i] != '\n')
			return false;
	}
	return true;
}

void plain_text(struct buf *out, struct slice comment)
{
	struct buf bare = BUF_INIT;
	struct writer writer = {.out = out, .start = out->length};
	struct slice rest;
	size_t skip = is_shifted(comment);

	drop_marks(&bare, comment);
	rest = buf_slice(&bare);
	while (rest.length) {
		const char *end = memchr(rest.data, '\n', rest.length);
		size_t length = end ? (size_t)(end - rest.data) : rest.length;
		size_t drop = length && rest.data[0] == ' ' ? skip : 0;

		take_line(&writer, (struct slice){rest.data + drop, length - drop});
		rest.data += length + (end != NULL);
		rest.length -= length + (end != NULL);
	}
	flush(&writer);
	buf_fini(&writer.paragraph);
	buf_fini(&bare);
}

/* ---- wrapping ---- */

static size_t columns(struct slice text)
{
	size_t count = 0;

	for (size_t i = 0; i < text.length; i++)
		count += ((unsigned char)text.data[i] & 0xc0) != 0x80;
	return count;
}

/* How far the lines after the first of a list item are indented. */
static unsigned hang_of(struct slice line)
{
	unsigned lead = 0;

	while (lead < line.length && line.data[lead] == ' ')
		lead++;
	return lead + (unsigned)marker_length((struct slice){line.data + lead, line.length - lead});
}

static void wrap_line(struct buf *out, struct slice line, unsigned indent, unsigned width)
{
	unsigned hang = hang_of(line), at = 0;
	struct slice rest = line;

	if (width < indent + hang + NARROWEST)
		width = indent + hang + NARROWEST;
	buf_fill(out, ' ', indent);
	at = indent;
	/* The blanks before a list item and its marker stay as they are. */
	buf_append(out, rest.data, hang);
	at += hang;
	rest.data += hang;
	rest.length -= hang;
	for (bool is_first = true; rest.length; is_first = false) {
		const char *end = memchr(rest.data, ' ', rest.length);
		struct slice word = {rest.data, end ? (size_t)(end - rest.data) : rest.length};
		size_t size = columns(word);

		if (!is_first && at + 1 + size > width) {
			buf_putc(out, '\n');
			buf_fill(out, ' ', indent + hang);
			at = indent + hang;
		} else if (!is_first) {
			buf_putc(out, ' ');
			at++;
		}
		buf_append_slice(out, word);
		at += (unsigned)size;
		rest.data += word.length + (end != NULL);
		rest.length -= word.length + (end != NULL);
	}
	buf_putc(out, '\n');
}

void plain_wrap(struct buf *out, struct slice plain, unsigned indent, unsigned width)
{
	while (plain.length) {
		const char *end = memchr(plain.data, '\n', plain.length);
		struct slice line = {plain.data, end ? (size_t)(end - plain.data) : plain.length};

		if (line.length >= 4 && memcmp(line.data, "    ", 4) == 0) {
			buf_fill(out, ' ', indent);
			buf_append_slice(out, line);
			buf_putc(out, '\n');
		} else if (line.length) {
			wrap_line(out, line, indent, width);
		} else {
			buf_putc(out, '\n');
		}
		plain.data += line.length + (end != NULL);
		plain.length -= line.length + (end != NULL);
	}
}
