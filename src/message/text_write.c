/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/text_write.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/text.h"
#include "message/number_format.h"
#include "message/wire_read.h"
#include "message/wire_write.h"

struct text_writer {
	const struct text_write_options *options;
	struct buf *out;
	unsigned level; /* of indentation */
	const char *problem;
};

static void put_body(struct text_writer *writer, const struct message *message, unsigned depth);

static void fail(struct text_writer *writer, const char *problem)
{
	if (!writer->problem)
		writer->problem = problem;
}

static void put_indent(struct text_writer *writer)
{
	buf_fill(writer->out, ' ', 2 * (size_t)writer->level);
}

static void put_octal(struct buf *out, uint8_t byte)
{
	buf_append(out,
		(char[]){'\\', (char)('0' + (byte >> 6)), (char)('0' + (byte >> 3 & 7)),
			(char)('0' + (byte & 7))},
		4);
}

/* In double quotes. Bytes beyond ASCII stay as they are in text and become octal in bytes. */
static void put_quoted(struct buf *out, struct slice text, bool is_text)
{
	size_t start = 0;

	buf_putc(out, '"');
	for (size_t i = 0; i < text.length; i++) {
		static const char short_forms[] = "\nn\rr\tt\"\"\\\\";
		uint8_t byte = (uint8_t)text.data[i];
		const char *form = NULL;

		if (byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7f &&
			(is_text || byte < 0x80))
			continue;
		buf_append(out, text.data + start, i - start);
		start = i + 1;
		for (size_t k = 0; k + 1 < sizeof(short_forms); k += 2)
			if ((uint8_t)short_forms[k] == byte)
				form = &short_forms[k + 1];
		if (form)
			buf_append(out, (char[]){'\\', *form}, 2);
		else
			put_octal(out, byte);
	}
	if (start < text.length)
		buf_append(out, text.data + start, text.length - start);
	buf_putc(out, '"');
}

static void put_float(struct buf *out, double value, bool is_float)
{
	char text[NUMBER_FORMAT_BYTES];

	if (isnan(value))
		buf_puts(out, "nan");
	else if (isinf(value))
		buf_puts(out, value > 0 ? "inf" : "-inf");
	else
		buf_append(out, text,
			is_float ? number_format_float(text, (float)value)
				 : number_format_double(text, value));
}

static void put_scalar(struct text_writer *writer, const struct schema_field *field,
	const union message_value *value)
{
	const struct schema_enum_value *name;
	struct buf *out = writer->out;
	char text[NUMBER_FORMAT_BYTES];

	switch (field->type) {
	case SCHEMA_DOUBLE:
		put_float(out, value->float64, false);
		break;
	case SCHEMA_FLOAT:
		put_float(out, (double)value->float32, true);
		break;
	case SCHEMA_INT64:
	case SCHEMA_SFIXED64:
	case SCHEMA_SINT64:
		buf_append(out, text, number_format_i64(text, value->int64));
		break;
	case SCHEMA_UINT64:
	case SCHEMA_FIXED64:
		buf_append(out, text, number_format_u64(text, value->uint64));
		break;
	case SCHEMA_INT32:
	case SCHEMA_SFIXED32:
	case SCHEMA_SINT32:
		buf_append(out, text, number_format_i64(text, value->int32));
		break;
	case SCHEMA_UINT32:
	case SCHEMA_FIXED32:
		buf_append(out, text, number_format_u64(text, value->uint32));
		break;
	case SCHEMA_BOOL:
		buf_puts(out, value->boolean ? "true" : "false");
		break;
	case SCHEMA_STRING:
		put_quoted(out, value->bytes, field->check_utf8 || text_is_utf8(value->bytes));
		break;
	case SCHEMA_BYTES:
		put_quoted(out, value->bytes, false);
		break;
	case SCHEMA_ENUM:
		name = schema_enum_by_number(field->enumeration, value->int32);
		if (name)
			buf_puts(out, name->name);
		else
			buf_append(out, text, number_format_i64(text, value->int32));
		break;
	case SCHEMA_GROUP:
	case SCHEMA_MESSAGE:
		break;
	}
}

static void put_name(struct text_writer *writer, const struct schema_field *field)
{
	struct buf *out = writer->out;

	put_indent(writer);
	if (field->is_extension) {
		buf_putc(out, '[');
		buf_puts(out, field->full_name);
		buf_putc(out, ']');
	} else if (field->type == SCHEMA_GROUP) {
		assert(field->message);
		const char *dot = strrchr(field->message->full_name, '.');

		buf_puts(out, dot ? dot + 1 : field->message->full_name);
	} else {
		buf_append(out, field->name, field->name_length);
	}
}

static void put_value(struct text_writer *writer, const struct schema_field *field,
	const union message_value *value, unsigned depth)
{
	put_name(writer, field);
	if (!field->message) {
		buf_append(writer->out, ": ", 2);
		put_scalar(writer, field, value);
		buf_putc(writer->out, '\n');
		return;
	}
	buf_append(writer->out, " {\n", 3);
	writer->level++;
	put_body(writer, value->message, depth + 1);
	writer->level--;
	put_indent(writer);
	buf_append(writer->out, "}\n", 2);
}

/* Key and value are always there, like in binary. */
static void put_map_entry(struct text_writer *writer, const struct message *entry, unsigned depth)
{
	static const union message_value text = {.bytes = {"", 0}}, zero;

	for (uint32_t number = 1; number <= 2; number++) {
		const struct schema_field *field = &entry->type->fields[number - 1];
		const struct message_field *set = message_find(entry, number);
		const struct message empty = {.type = field->message};
		const union message_value none = {.message = (struct message *)(uintptr_t)&empty};
		bool is_text = field->type == SCHEMA_STRING || field->type == SCHEMA_BYTES;

		put_value(writer, field,
			set		 ? &set->one
			: field->message ? &none
			: is_text	 ? &text
					 : &zero,
			depth);
	}
}

static void put_repeated(
	struct text_writer *writer, const struct message_field *entry, unsigned depth)
{
	union message_value *copy;

	if (entry->count == 0)
		return;
	const union message_value *items = message_items_in_order(entry, &copy);
	for (uint32_t i = 0; i < entry->count && !writer->problem; i++)
		put_value(writer, entry->field, &items[i], depth);
	free(copy);
}

static void put_any(
	struct text_writer *writer, struct slice url, const struct message *content, unsigned depth)
{
	put_indent(writer);
	buf_putc(writer->out, '[');
	buf_append_slice(writer->out, url);
	buf_append(writer->out, "] {\n", 4);
	writer->level++;
	put_body(writer, content, depth + 1);
	writer->level--;
	put_indent(writer);
	buf_append(writer->out, "}\n", 2);
}

/* libprotobuf reads no other URLs between brackets. */
static bool is_bracket_name(struct slice url)
{
	static const char *const prefixes[] = {"type.googleapis.com/", "type.googleprod.com/"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t length = strlen(prefixes[i]);

		if (url.length > length && memcmp(url.data, prefixes[i], length) == 0)
			return !memchr(url.data + length, '/', url.length - length);
	}
	return false;
}

/* An Any whose content is known prints as [url] { ... }; true when that was done. */
static bool put_expanded(struct text_writer *writer, const struct message *any, unsigned depth)
{
	const struct wire_read_options options = {
		.schema = writer->options->schema, .expand_any = true, .allow_partial = true};
	struct slice url = message_get_bytes(any, 1);
	const struct schema_message *type = schema_find_type_url(options.schema, url);
	struct message *content = any->any_content;
	struct wire_read_error error;
	struct arena *arena = NULL;

	if (!type || !is_bracket_name(url))
		return false;
	if (!content) {
		arena = arena_new(0);
		if (wire_read(&options, type, message_get_bytes(any, 2), arena, &content, &error))
			content = NULL;
	}
	if (content)
		put_any(writer, url, content, depth);
	arena_free(arena);
	return content != NULL;
}

/* As fields, for a type URL that cannot stand between brackets. */
static void put_any_value(struct text_writer *writer, const struct message *any)
{
	struct buf bytes = BUF_INIT;

	wire_write(any->any_content, &bytes);
	if (bytes.length) {
		put_name(writer, &any->type->fields[1]);
		buf_append(writer->out, ": ", 2);
		put_quoted(writer->out, buf_slice(&bytes), false);
		buf_putc(writer->out, '\n');
	}
	buf_fini(&bytes);
}

/* One unknown field; the bytes are well-formed. Groups nest by `level` alone. */
static const char *put_unknown(struct text_writer *writer, const char *at, const char *end)
{
	uint64_t tag, value;

	at = wire_get_varint(at, end, &tag);
	if (!at)
		return NULL;
	if ((tag & 7) == WIRE_GROUP_END) {
		writer->level--;
		put_indent(writer);
		buf_append(writer->out, "}\n", 2);
		return at;
	}
	put_indent(writer);
	buf_printf(writer->out, "%" PRIu64, tag >> 3);
	switch (tag & 7) {
	case WIRE_VARINT:
		at = wire_get_varint(at, end, &value);
		if (at)
			buf_printf(writer->out, ": %" PRIu64 "\n", value);
		return at;
	case WIRE_64BIT:
		if (end - at < 8)
			return NULL;
		memcpy(&value, at, 8);
		buf_printf(writer->out, ": 0x%016" PRIx64 "\n", le64toh(value));
		return at + 8;
	case WIRE_32BIT: {
		uint32_t word;

		if (end - at < 4)
			return NULL;
		memcpy(&word, at, 4);
		buf_printf(writer->out, ": 0x%08" PRIx32 "\n", le32toh(word));
		return at + 4;
	}
	case WIRE_BYTES:
		at = wire_get_varint(at, end, &value);
		if (!at || value > (uint64_t)(end - at))
			return NULL;
		buf_append(writer->out, ": ", 2);
		put_quoted(writer->out, (struct slice){at, value}, false);
		buf_putc(writer->out, '\n');
		return at + value;
	case WIRE_GROUP:
		buf_append(writer->out, " {\n", 3);
		writer->level++;
		return at;
	default:
		return NULL;
	}
}

static void put_body(struct text_writer *writer, const struct message *message, unsigned depth)
{
	if (depth > LIMIT_DEPTH) {
		fail(writer, "nested deeper than 100 levels");
		return;
	}
	if (message->type->is_map_entry) {
		put_map_entry(writer, message, depth);
	} else if (message->type->well_known != SCHEMA_ANY ||
		   !put_expanded(writer, message, depth)) {
		for (uint32_t i = 0; i < message->fields_count && !writer->problem; i++) {
			const struct message_field *entry = &message->fields[i];

			if (entry->field->is_repeated)
				put_repeated(writer, entry, depth);
			else if (!message_holds_default(entry))
				put_value(writer, entry->field, &entry->one, depth);
		}
		if (message->any_content)
			put_any_value(writer, message);
	}
	if (!writer->options->print_unknown || !message->unknown.length)
		return;
	const char *at = message->unknown.data, *end = at + message->unknown.length;
	while (at && at < end)
		at = put_unknown(writer, at, end);
}

int text_write(const struct text_write_options *options, const struct message *message,
	struct buf *out, const char **ret_problem)
{
	struct text_writer writer = {.options = options, .out = out, .level = options->indent};

	put_body(&writer, message, 0);
	if (!writer.problem)
		return 0;
	*ret_problem = writer.problem;
	return -EBADMSG;
}
