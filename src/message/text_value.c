/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/text_value.h"

#include <errno.h>
#include <math.h>

#include "base/limits.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "message/number.h"

void text_value_error(
	struct text_reader *reader, struct position at, const char *rule, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	diag_vadd(reader->diags, DIAG_ERROR, reader->options->path, at, rule, format, arguments);
	va_end(arguments);
	reader->is_bad = true;
}

static const char *describe_token(const struct text_lex *lex, char out[static TEXT_VALUE_SHOWN + 8])
{
	struct buf text = {
		.data = out, .capacity = TEXT_VALUE_SHOWN + 7, .limit_bytes = TEXT_VALUE_SHOWN + 7};

	if (lex->kind == TEXT_END)
		return "the end";
	text_quote(&text, lex->token, TEXT_VALUE_SHOWN);
	out[text.length] = '\0';
	return out;
}

void text_value_syntax(struct text_reader *reader, const char *expected)
{
	char found[TEXT_VALUE_SHOWN + 8];

	if (reader->is_over)
		return;
	if (reader->lex.kind == TEXT_BAD)
		text_value_error(reader, reader->lex.position, "syntax", "%s", reader->lex.problem);
	else
		text_value_error(reader, reader->lex.position, "syntax", "expected %s, found %s",
			expected, describe_token(&reader->lex, found));
	reader->is_over = true;
}

void text_value_too_deep(struct text_reader *reader)
{
	text_value_error(reader, reader->lex.position, "too-deep",
		"messages are nested more than %d levels deep", LIMIT_DEPTH);
	reader->is_over = true;
}

/* Past brackets and what is in them. They must match; nothing else is looked at. */
static void skip_brackets(struct text_reader *reader)
{
	struct text_lex *lex = &reader->lex;
	char closers[3 * LIMIT_DEPTH];
	size_t depth = 0;

	do {
		char mark = lex->kind == TEXT_MARK ? *lex->token.data : '\0';
		char wanted = depth ? closers[depth - 1] : '\0';
		bool is_closer = mark == '}' || mark == '>' || mark == ']';

		if (lex->kind == TEXT_END || lex->kind == TEXT_BAD ||
			(is_closer && mark != wanted)) {
			text_value_syntax(reader, "a closing bracket");
			return;
		}
		if (text_value_closer(mark)) {
			if (depth == sizeof(closers)) {
				text_value_too_deep(reader);
				return;
			}
			closers[depth++] = text_value_closer(mark);
		} else if (is_closer) {
			depth--;
		}
		text_lex_next(lex);
	} while (depth > 0);
}

/* Past the value of a field that cannot be read. */
void text_value_skip(struct text_reader *reader)
{
	struct text_lex *lex = &reader->lex;

	text_value_skip_mark(reader, ':');
	text_value_skip_mark(reader, '-');
	if (lex->kind == TEXT_MARK && text_value_closer(*lex->token.data)) {
		skip_brackets(reader);
	} else if (lex->kind == TEXT_STRING) {
		while (lex->kind == TEXT_STRING)
			text_lex_next(lex);
	} else if (lex->kind == TEXT_NAME || lex->kind == TEXT_NUMBER) {
		text_lex_next(lex);
	} else {
		text_value_syntax(reader, "a value");
	}
}

static const char *describe_type(enum schema_type type)
{
	switch ((int)type) {
	case SCHEMA_STRING:
	case SCHEMA_BYTES:
		return "a quoted string";
	case SCHEMA_GROUP:
	case SCHEMA_MESSAGE:
		return "a message in braces";
	}
	return number_type_words(type);
}

/* What stands there is no value of the field's type: says so and goes past it. */
void text_value_wrong_type(struct text_reader *reader, const struct schema_field *field)
{
	const struct text_lex *lex = &reader->lex;
	char found[TEXT_VALUE_SHOWN + 8];

	if (lex->kind == TEXT_END || lex->kind == TEXT_BAD) {
		text_value_syntax(reader, describe_type(field->type));
		return;
	}
	text_value_error(reader, lex->position, "wrong-type", "expected %s for \"%s\", found %s",
		describe_type(field->type), field->name, describe_token(lex, found));
	text_value_skip(reader);
}

/* Largest magnitudes of the whole number types. */
static uint64_t magnitude_limit(enum schema_type type, bool is_negative)
{
	switch (type) {
	case SCHEMA_INT32:
	case SCHEMA_SINT32:
	case SCHEMA_SFIXED32:
	case SCHEMA_ENUM:
		return (uint64_t)INT32_MAX + is_negative;
	case SCHEMA_UINT32:
	case SCHEMA_FIXED32:
		return is_negative ? 0 : UINT32_MAX;
	case SCHEMA_UINT64:
	case SCHEMA_FIXED64:
		return is_negative ? 0 : UINT64_MAX;
	case SCHEMA_BOOL:
		return !is_negative;
	case SCHEMA_INT64:
	case SCHEMA_SINT64:
	case SCHEMA_SFIXED64:
	case SCHEMA_DOUBLE:
	case SCHEMA_FLOAT:
	case SCHEMA_STRING:
	case SCHEMA_BYTES:
	case SCHEMA_GROUP:
	case SCHEMA_MESSAGE:
		break;
	}
	return (uint64_t)INT64_MAX + is_negative;
}

static bool out_of_range(
	struct text_reader *reader, const struct schema_field *field, bool is_negative)
{
	char found[TEXT_VALUE_SHOWN + 8];

	text_value_error(reader, reader->lex.position, "out-of-range",
		"%s%s is out of range for \"%s\"", is_negative ? "-" : "",
		describe_token(&reader->lex, found), field->name);
	text_lex_next(&reader->lex);
	return false;
}

static bool read_integer(
	struct text_reader *reader, const struct schema_field *field, union message_value *value)
{
	bool is_negative = text_value_skip_mark(reader, '-');
	uint64_t magnitude = 0;
	int rc = reader->lex.kind == TEXT_NUMBER ? text_lex_integer(reader->lex.token, &magnitude)
						 : -EINVAL;

	if (rc == -EINVAL) {
		text_value_wrong_type(reader, field);
		return false;
	}
	if (rc || magnitude > magnitude_limit(field->type, is_negative))
		return out_of_range(reader, field, is_negative);
	value->uint64 = is_negative ? 0 - magnitude : magnitude;
	if (field->type == SCHEMA_BOOL)
		value->boolean = magnitude != 0;
	text_lex_next(&reader->lex);
	return true;
}

static bool is_word(struct slice token, const char *lower)
{
	size_t i = 0;

	for (; i < token.length && lower[i]; i++)
		if ((token.data[i] | 0x20) != lower[i])
			return false;
	return i == token.length && !lower[i];
}

static bool read_float(
	struct text_reader *reader, const struct schema_field *field, union message_value *value)
{
	bool is_negative = text_value_skip_mark(reader, '-');
	struct slice token = reader->lex.token;
	double number = 0;
	int rc = 0;

	if (reader->lex.kind == TEXT_NUMBER)
		rc = text_lex_float(token, &number);
	else if (reader->lex.kind != TEXT_NAME)
		rc = -EINVAL;
	else if (is_word(token, "inf") || is_word(token, "infinity"))
		number = INFINITY;
	else if (is_word(token, "nan"))
		number = NAN;
	else
		rc = -EINVAL;
	if (rc == -ERANGE ||
		(field->type == SCHEMA_FLOAT && isfinite(number) && !rc && isinf((float)number)))
		return out_of_range(reader, field, is_negative);
	if (rc) {
		text_value_wrong_type(reader, field);
		return false;
	}
	if (is_negative)
		number = -number;
	if (field->type == SCHEMA_FLOAT)
		value->float32 = (float)number;
	else
		value->float64 = number;
	text_lex_next(&reader->lex);
	return true;
}

static bool read_boolean(
	struct text_reader *reader, const struct schema_field *field, union message_value *value)
{
	struct slice token = reader->lex.token;

	if (reader->lex.kind == TEXT_NUMBER)
		return read_integer(reader, field, value);
	if (reader->lex.kind == TEXT_NAME &&
		(slice_is(token, "true") || slice_is(token, "True") || slice_is(token, "t"))) {
		value->boolean = true;
	} else if (reader->lex.kind != TEXT_NAME ||
		   !(slice_is(token, "false") || slice_is(token, "False") ||
			   slice_is(token, "f"))) {
		text_value_wrong_type(reader, field);
		return false;
	}
	text_lex_next(&reader->lex);
	return true;
}

static bool read_enum(
	struct text_reader *reader, const struct schema_field *field, union message_value *value)
{
	const struct schema_enum *enumeration = field->enumeration;
	const struct position at = reader->lex.position;
	struct slice token = reader->lex.token;
	const struct schema_enum_value *found;
	struct suggestion suggestion;
	char phrase[256];

	if (reader->lex.kind != TEXT_NAME) {
		if (!read_integer(reader, field, value))
			return false;
		if (!enumeration->is_closed || schema_enum_by_number(enumeration, value->int32))
			return true;
		text_value_error(reader, at, "unknown-enum-value", "%s has no value with number %d",
			enumeration->full_name, value->int32);
		return false;
	}
	found = schema_enum_by_name(enumeration, token);
	text_lex_next(&reader->lex);
	if (found) {
		value->int32 = found->number;
		return true;
	}
	suggestion_init(&suggestion, token);
	for (uint32_t i = 0; i < enumeration->values_count; i++)
		suggestion_offer(&suggestion, enumeration->values[i].name);
	text_value_error(reader, at, "unknown-enum-value", "%s has no value \"%.*s\"%s",
		enumeration->full_name, SLICE_ARG(text_value_shorten(token)),
		suggestion_phrase(&suggestion, phrase));
	return false;
}

/* One string or several in a row. */
static bool read_bytes(
	struct text_reader *reader, const struct schema_field *field, union message_value *value)
{
	const struct position at = reader->lex.position;
	const char *problem = NULL;

	if (reader->lex.kind != TEXT_STRING) {
		text_value_wrong_type(reader, field);
		return false;
	}
	buf_reset(&reader->scratch);
	for (; reader->lex.kind == TEXT_STRING; text_lex_next(&reader->lex)) {
		if (!problem)
			problem = text_lex_unquote(reader->lex.token, &reader->scratch);
	}
	struct slice bytes = buf_slice(&reader->scratch);
	if (!problem && field->type == SCHEMA_STRING && bytes.length) {
		if (memchr(bytes.data, '\0', bytes.length))
			problem = "a string holds a NUL byte";
		else if (field->check_utf8 && !text_is_utf8(bytes))
			problem = "a string is not valid UTF-8";
	}
	if (problem) {
		text_value_error(reader, at, "bad-value", "\"%s\": %s", field->name, problem);
		return false;
	}
	value->bytes = arena_copy(reader->arena, bytes.data, bytes.length);
	return !text_value_no_memory(reader, value->bytes.data);
}

/* Any type but messages. False: reported. */
bool text_value_read(
	struct text_reader *reader, const struct schema_field *field, union message_value *value)
{
	switch (field->type) {
	case SCHEMA_STRING:
	case SCHEMA_BYTES:
		return read_bytes(reader, field, value);
	case SCHEMA_DOUBLE:
	case SCHEMA_FLOAT:
		return read_float(reader, field, value);
	case SCHEMA_BOOL:
		return read_boolean(reader, field, value);
	case SCHEMA_ENUM:
		return read_enum(reader, field, value);
	case SCHEMA_INT64:
	case SCHEMA_UINT64:
	case SCHEMA_INT32:
	case SCHEMA_FIXED64:
	case SCHEMA_FIXED32:
	case SCHEMA_UINT32:
	case SCHEMA_SFIXED32:
	case SCHEMA_SFIXED64:
	case SCHEMA_SINT32:
	case SCHEMA_SINT64:
	case SCHEMA_GROUP:
	case SCHEMA_MESSAGE:
		break;
	}
	return read_integer(reader, field, value);
}
