/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/yaml_write.h"

#include <assert.h>

#include "base/limits.h"
#include "message/json_walk.h"

/* Keys of more than 1,024 bytes have to be introduced by "? ", and an escape is up to 6 bytes. */
#define KEY_BYTES_MOST 160
/* The longest word that has to be quoted although it looks like a name. */
#define SPECIAL_BYTES_MOST 8

enum place {
	PLACE_LINE, /* at the start of a line */
	PLACE_ITEM, /* after "- " */
	PLACE_KEY,  /* after "key:" */
};

struct level {
	bool is_list;
	bool is_empty;
	enum place begun; /* where it began */
	unsigned indent;
};

struct yaml_writer {
	struct buf *out;
	enum place place;
	bool after_explicit_key; /* one with "? " */
	bool has_plain_names;	 /* of fields: identifiers */
	unsigned indent;	 /* of the outermost */
	unsigned depth;		 /* levels in use */
	struct level levels[JSON_WALK_DEPTH];
};

enum {
	CLASS_LETTER = 1,
	CLASS_DIGIT = 2,
	CLASS_MARK = 4,	 /* may be inside a plain word: _ . / - */
	CLASS_FIRST = 8, /* may begin one */
};

static const uint8_t classes[256] = {
	['a' ... 'z'] = CLASS_LETTER | CLASS_FIRST,
	['A' ... 'Z'] = CLASS_LETTER | CLASS_FIRST,
	['0' ... '9'] = CLASS_DIGIT,
	['_'] = CLASS_MARK | CLASS_FIRST,
	['/'] = CLASS_MARK | CLASS_FIRST,
	['.'] = CLASS_MARK,
	['-'] = CLASS_MARK,
};

/* What some reader takes for a bool, null or a number. */
static bool is_special_word(struct slice text)
{
	static const char words[][SPECIAL_BYTES_MOST + 1] = {"y", "n", "yes", "no", "on", "off",
		"true", "false", "null", "nan", "inf", "infinity"};
	char lower[SPECIAL_BYTES_MOST + 1] = "";

	if (text.length >= sizeof(lower) || !memchr("ynotfiYNOTFI", text.data[0], 12))
		return false;
	for (size_t i = 0; i < text.length; i++)
		lower[i] = (char)(text.data[i] | 0x20);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memcmp(lower, words[i], sizeof(lower)) == 0)
			return true;
	return false;
}

/* Much less than YAML allows: what no reader of any version takes for anything but a string. Words
 * of letters and digits alone, such as versions, are quoted too (S.11), but not names of fields. */
static bool is_plain(struct slice text, bool is_name)
{
	const uint8_t *bytes = (const uint8_t *)text.data;
	unsigned seen = 0;

	if (!(classes[bytes[0]] & CLASS_FIRST))
		return false;
	for (size_t i = 0; i < text.length; i++) {
		if (!classes[bytes[i]])
			return false;
		seen |= classes[bytes[i]];
	}
	if ((seen & CLASS_DIGIT) && !(seen & CLASS_MARK) && !is_name)
		return false;
	return !is_special_word(text);
}

/* Length of the character at `at` that must be escaped, its code in *ret_code; 0: none there. */
static unsigned escaped_character(const uint8_t *at, size_t room, unsigned *ret_code)
{
	if (*at < 0x20 || *at == 0x7f || *at == '"' || *at == '\\') {
		*ret_code = *at;
		return 1;
	}
	if (*at == 0xc2 && room >= 2 && at[1] < 0xa0) { /* U+0080 to U+009F */
		*ret_code = at[1];
		return 2;
	}
	if (room < 3)
		return 0;
	if (*at == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9)) {
		*ret_code = 0x2000 + (at[2] & 0x3fu); /* line and paragraph separators */
		return 3;
	}
	if (*at == 0xef && at[1] == 0xbb && at[2] == 0xbf) {
		*ret_code = 0xfeff; /* byte order mark */
		return 3;
	}
	if (*at == 0xef && at[1] == 0xbf && at[2] >= 0xbe) {
		*ret_code = 0xffc0 + (at[2] & 0x3fu); /* U+FFFE, U+FFFF */
		return 3;
	}
	return 0;
}

static void put_escape(struct buf *out, unsigned code)
{
	switch (code) {
	case '\n':
		buf_append(out, "\\n", 2);
		break;
	case '\t':
		buf_append(out, "\\t", 2);
		break;
	case '\r':
		buf_append(out, "\\r", 2);
		break;
	case '"':
		buf_append(out, "\\\"", 2);
		break;
	case '\\':
		buf_append(out, "\\\\", 2);
		break;
	default:
		buf_printf(out, code > 0xff ? "\\u%04x" : "\\x%02x", code);
		break;
	}
}

static void put_quoted(struct buf *out, struct slice text)
{
	const uint8_t *at = (const uint8_t *)text.data, *end = at + text.length, *start = at;

	buf_putc(out, '"');
	while (at < end) {
		unsigned code, length = 0;

		/* Most bytes: printable ASCII and what no special character begins with. */
		if (*at < 0x20 || *at == '"' || *at == '\\' || *at >= 0x7f)
			length = escaped_character(at, (size_t)(end - at), &code);
		if (length == 0) {
			at++;
			continue;
		}
		buf_append(out, start, (size_t)(at - start));
		put_escape(out, code);
		at += length;
		start = at;
	}
	buf_append(out, start, (size_t)(at - start));
	buf_putc(out, '"');
}

static void put_string(struct buf *out, struct slice text, bool is_name)
{
	if (text.length == 0)
		buf_append(out, "\"\"", 2);
	else if (is_plain(text, is_name))
		buf_append_slice(out, text);
	else
		put_quoted(out, text);
}

void yaml_write_string(struct buf *out, struct slice text)
{
	put_string(out, text, false);
}

/* To where a key or "- " of the innermost level goes. */
static void begin_child(struct yaml_writer *writer, struct level *level)
{
	bool is_first = level->is_empty;

	level->is_empty = false;
	if (is_first && level->begun == PLACE_ITEM)
		return;
	if (is_first && level->begun == PLACE_KEY)
		buf_putc(writer->out, '\n');
	buf_fill(writer->out, ' ', level->indent);
}

static struct level *innermost(struct yaml_writer *writer)
{
	return writer->depth ? &writer->levels[writer->depth - 1] : NULL;
}

/* "- " if the innermost level is a list. */
static void before_value(struct yaml_writer *writer)
{
	struct level *level = innermost(writer);

	if (level && level->is_list) {
		begin_child(writer, level);
		buf_append(writer->out, "- ", 2);
		writer->place = PLACE_ITEM;
	}
}

/* What stands in the line of its key or "- ": scalars, {} and []. */
static void put_inline(struct yaml_writer *writer, enum place place)
{
	if (place == PLACE_KEY)
		buf_putc(writer->out, ' ');
	else if (place == PLACE_LINE)
		buf_fill(writer->out, ' ', writer->indent);
	writer->after_explicit_key = false;
}

static void on_begin(void *ctx, bool is_list)
{
	struct yaml_writer *writer = ctx;
	unsigned indent = writer->indent;

	before_value(writer);
	const struct level *outer = innermost(writer);
	/* A list under a key starts in the column of the key. */
	if (outer)
		indent = outer->indent +
			 (is_list && !outer->is_list && !writer->after_explicit_key ? 0 : 2);
	writer->after_explicit_key = false;
	assert(writer->depth < JSON_WALK_DEPTH);
	writer->levels[writer->depth++] = (struct level){
		.is_list = is_list, .is_empty = true, .begun = writer->place, .indent = indent};
}

static void on_end(void *ctx, bool is_list)
{
	struct yaml_writer *writer = ctx;
	const struct level *level = &writer->levels[--writer->depth];

	if (!level->is_empty)
		return;
	put_inline(writer, level->begun);
	buf_append(writer->out, is_list ? "[]\n" : "{}\n", 3);
}

static void on_key(void *ctx, struct slice name, bool is_name)
{
	struct yaml_writer *writer = ctx;
	struct level *level = innermost(writer);

	begin_child(writer, level);
	if (is_name && writer->has_plain_names && name.length > SPECIAL_BYTES_MOST) {
		buf_append_slice(writer->out, name);
	} else if (name.length > KEY_BYTES_MOST) {
		buf_append(writer->out, "? ", 2);
		yaml_write_string(writer->out, name);
		buf_putc(writer->out, '\n');
		buf_fill(writer->out, ' ', level->indent);
		writer->after_explicit_key = true;
	} else {
		put_string(writer->out, name, is_name);
	}
	buf_putc(writer->out, ':');
	writer->place = PLACE_KEY;
}

static void on_string(void *ctx, struct slice text)
{
	struct yaml_writer *writer = ctx;

	before_value(writer);
	put_inline(writer, writer->place);
	yaml_write_string(writer->out, text);
	buf_putc(writer->out, '\n');
}

/* YAML 1.1 wants a point in every float, and readers of Envoy's kind turn whole numbers beyond 32
 * bits into strings unless they look like a float. */
static void put_number(struct buf *out, struct slice text)
{
	const char *exponent = memchr(text.data, 'e', text.length);
	size_t digits = exponent ? (size_t)(exponent - text.data) : text.length;
	bool is_whole = !memchr(text.data, '.', digits);
	bool is_small = !exponent && digits < 10;

	buf_append(out, text.data, digits);
	if (is_whole && !is_small)
		buf_append(out, ".0", 2);
	buf_append(out, text.data + digits, text.length - digits);
}

static void on_literal(void *ctx, struct slice text, enum json_literal kind)
{
	struct yaml_writer *writer = ctx;

	before_value(writer);
	put_inline(writer, writer->place);
	if (kind == JSON_NUMBER)
		put_number(writer->out, text);
	else
		buf_append_slice(writer->out, text);
	buf_putc(writer->out, '\n');
}

int yaml_write(const struct yaml_write_options *options, const struct message *message,
	struct buf *out, const char **ret_problem)
{
	static const struct json_walk_ops ops = {on_begin, on_end, on_key, on_string, on_literal};
	const struct json_walk_options walk = {options->schema, !options->camel_case};
	struct yaml_writer writer;

	/* Not the levels: they are written before they are read. */
	writer.out = out;
	writer.place = options->continue_line ? PLACE_ITEM : PLACE_LINE;
	writer.after_explicit_key = false;
	writer.has_plain_names = !options->camel_case;
	writer.indent = options->indent;
	writer.depth = 0;
	return json_walk(&walk, &ops, &writer, message, ret_problem);
}
