/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/text_read.h"

#include <errno.h>

#include "base/limits.h"
#include "base/suggestion.h"
#include "message/text_value.h"

static void read_fields(
	struct text_reader *reader, struct message *message, char closer, unsigned depth);

/* { ... } or < ... > into a new message; NULL: reported. */
static struct message *read_message(
	struct text_reader *reader, const struct schema_message *type, unsigned depth)
{
	const struct position at = reader->lex.position;
	char closer =
		reader->lex.kind == TEXT_MARK ? text_value_closer(*reader->lex.token.data) : '\0';
	struct message *message;

	if (closer != '}' && closer != '>') {
		text_value_syntax(reader, "\"{\"");
		return NULL;
	}
	if (depth > LIMIT_DEPTH) {
		text_value_too_deep(reader);
		return NULL;
	}
	message = message_new(reader->arena, type);
	if (text_value_no_memory(reader, message))
		return NULL;
	message->at = at;
	text_lex_next(&reader->lex);
	read_fields(reader, message, closer, depth);
	return reader->is_over ? NULL : message;
}

static void add_value(struct text_reader *reader, struct message *message,
	const struct schema_field *field, struct position at, const union message_value *value)
{
	struct message_field *entry = message_set(reader->arena, message, field);
	union message_value *slot;

	if (text_value_no_memory(reader, entry))
		return;
	if (entry->at.line == 0)
		entry->at = at;
	slot = field->is_repeated ? message_add(reader->arena, entry) : &entry->one;
	if (!text_value_no_memory(reader, slot))
		*slot = *value;
}

static void read_value(struct text_reader *reader, struct message *message,
	const struct schema_field *field, struct position at, unsigned depth)
{
	union message_value value = {.uint64 = 0};

	if (field->message) {
		value.message = read_message(reader, field->message, depth + 1);
		if (!value.message)
			return;
	} else if (!text_value_read(reader, field, &value)) {
		return;
	}
	if (!reader->is_over)
		add_value(reader, message, field, at, &value);
}

/* False: the field may not be set (again); reported. */
static bool check_singular(struct text_reader *reader, const struct message *message,
	const struct schema_field *field, struct position at)
{
	if (message_find(message, field->number)) {
		text_value_error(reader, at, "duplicate-field", "\"%s\" is set twice", field->name);
		return false;
	}
	for (uint32_t i = 0; field->oneof && i < message->fields_count; i++) {
		const struct schema_field *other = message->fields[i].field;

		if (other->oneof != field->oneof)
			continue;
		text_value_error(reader, at, "oneof-conflict",
			"\"%s\" and \"%s\" are both set, but only one of oneof \"%s\" may be",
			other->name, field->name, field->oneof->name);
		return false;
	}
	return true;
}

static void read_list(struct text_reader *reader, struct message *message,
	const struct schema_field *field, struct position at, unsigned depth)
{
	text_lex_next(&reader->lex);
	if (text_value_skip_mark(reader, ']'))
		return;
	while (!reader->is_over) {
		read_value(reader, message, field, at, depth);
		if (reader->is_over || text_value_skip_mark(reader, ']'))
			return;
		if (!text_value_skip_mark(reader, ','))
			text_value_syntax(reader, "\",\" or \"]\"");
	}
}

/* After the name. */
static void read_field_value(struct text_reader *reader, struct message *message,
	const struct schema_field *field, struct position at, unsigned depth)
{
	bool has_colon = text_value_skip_mark(reader, ':');

	if (!has_colon && !field->message) {
		text_value_syntax(reader, "\":\"");
		return;
	}
	if (!field->is_repeated && !check_singular(reader, message, field, at)) {
		text_value_skip(reader);
		return;
	}
	if (field->message && !text_lex_is(&reader->lex, '{') && !text_lex_is(&reader->lex, '<') &&
		!(text_lex_is(&reader->lex, '[') && field->is_repeated))
		text_value_wrong_type(reader, field);
	else if (field->is_repeated && text_lex_is(&reader->lex, '['))
		read_list(reader, message, field, at, depth);
	else
		read_value(reader, message, field, at, depth);
}

static void unknown_field(struct text_reader *reader, const struct schema_message *type,
	struct slice name, struct position at)
{
	struct suggestion suggestion;
	char phrase[256];

	suggestion_init(&suggestion, name);
	for (uint32_t i = 0; i < type->fields_count; i++)
		suggestion_offer(&suggestion, type->fields[i].name);
	text_value_error(reader, at, "unknown-field", "unknown field \"%.*s\" in %s (%s)%s",
		SLICE_ARG(text_value_shorten(name)), type->full_name,
		schema_label(reader->options->schema), suggestion_phrase(&suggestion, phrase));
	text_value_skip(reader);
}

/* Groups go by the name of their type. */
static const struct schema_field *find_field(const struct schema_message *type, struct slice name)
{
	const struct schema_field *field = schema_field_by_name(type, name);
	char lower[256];

	if (field && field->type != SCHEMA_GROUP)
		return slice_is(name, field->name) ? field : NULL;
	if (!type->is_proto2 || name.length >= sizeof(lower))
		return NULL;
	for (size_t i = 0; i < name.length; i++)
		lower[i] = name.data[i] >= 'A' && name.data[i] <= 'Z' ? (char)(name.data[i] | 0x20)
								      : name.data[i];
	field = schema_field_by_name(type, (struct slice){lower, name.length});
	if (!field || field->type != SCHEMA_GROUP)
		return NULL;
	const char *dot = strrchr(field->message->full_name, '.');
	return slice_is(name, dot ? dot + 1 : field->message->full_name) ? field : NULL;
}

/* The name between brackets: an extension, or the type URL of an Any's content. */
static bool read_bracket_name(struct text_reader *reader, struct slice *ret_name)
{
	struct text_lex *lex = &reader->lex;

	text_lex_next(lex);
	buf_reset(&reader->scratch);
	for (; !text_lex_is(lex, ']'); text_lex_next(lex)) {
		bool is_part = lex->kind == TEXT_NAME || lex->kind == TEXT_NUMBER ||
			       text_lex_is(lex, '.') || text_lex_is(lex, '/') ||
			       text_lex_is(lex, '-');

		if (!is_part) {
			text_value_syntax(reader, "the name of an extension, a type URL or \"]\"");
			return false;
		}
		buf_append_slice(&reader->scratch, lex->token);
	}
	text_lex_next(lex);
	*ret_name = arena_copy(reader->arena, reader->scratch.data, reader->scratch.length);
	return !text_value_no_memory(reader, ret_name->data);
}

static void read_any_content(struct text_reader *reader, struct message *any, struct slice url,
	struct position at, unsigned depth)
{
	const struct schema *schema = reader->options->schema;
	const struct schema_message *type = schema_find_type_url(schema, url);
	union message_value value = {.bytes = url};

	if (!type) {
		struct slice name = url;
		const char *slash = memrchr(url.data, '/', url.length);

		name.length -= (size_t)(slash + 1 - url.data);
		name.data = slash + 1;
		const char *nearest = schema_nearest_message(schema, name);
		text_value_error(reader, at, "unknown-type", "unknown type \"%.*s\" (%s)%s%s%s",
			SLICE_ARG(text_value_shorten(name)), schema_label(schema),
			nearest ? ", did you mean \"" : "", nearest ? nearest : "",
			nearest ? "\"?" : "");
		text_value_skip(reader);
		return;
	}
	if (any->fields_count) {
		text_value_error(
			reader, at, "duplicate-field", "the content of this Any is set twice");
		text_value_skip(reader);
		return;
	}
	text_value_skip_mark(reader, ':');
	any->any_content = read_message(reader, type, depth + 1);
	if (any->any_content)
		add_value(reader, any, &any->type->fields[0], at, &value);
}

/* A field whose name stands between brackets. */
static void read_bracket_field(struct text_reader *reader, struct message *message, unsigned depth)
{
	const struct position at = reader->lex.position;
	const struct schema_field *extension;
	struct slice name;

	if (!read_bracket_name(reader, &name))
		return;
	if (memchr(name.data, '/', name.length)) {
		if (message->type->well_known == SCHEMA_ANY) {
			read_any_content(reader, message, name, at, depth);
			return;
		}
		text_value_error(reader, at, "unknown-field",
			"a type URL stands only in an Any, and this is %s",
			message->type->full_name);
		text_value_skip(reader);
		return;
	}
	extension = schema_extension_by_name(reader->options->schema, name);
	if (extension && extension->parent == message->type) {
		read_field_value(reader, message, extension, at, depth);
		return;
	}
	text_value_error(reader, at, "unknown-field", "%s has no extension \"%.*s\" (%s)",
		message->type->full_name, SLICE_ARG(text_value_shorten(name)),
		schema_label(reader->options->schema));
	text_value_skip(reader);
}

static void read_field(struct text_reader *reader, struct message *message, unsigned depth)
{
	const struct position at = reader->lex.position;
	struct slice name = reader->lex.token;
	const struct schema_field *field;

	switch (reader->lex.kind) {
	case TEXT_NAME:
		text_lex_next(&reader->lex);
		field = find_field(message->type, name);
		if (!field)
			unknown_field(reader, message->type, name, at);
		else if (message->any_content)
			text_value_syntax(reader, "nothing besides the content of the Any");
		else
			read_field_value(reader, message, field, at, depth);
		break;
	case TEXT_NUMBER:
		text_value_error(reader, at, "unknown-field",
			"field %.*s is given by its number; fields of %s are read by name only",
			SLICE_ARG(text_value_shorten(name)), message->type->full_name);
		text_lex_next(&reader->lex);
		text_value_skip(reader);
		break;
	case TEXT_MARK:
		if (text_lex_is(&reader->lex, '[')) {
			read_bracket_field(reader, message, depth);
			break;
		}
		text_value_syntax(reader, "the name of a field");
		break;
	case TEXT_STRING:
	case TEXT_END:
	case TEXT_BAD:
		text_value_syntax(reader, "the name of a field");
		break;
	}
}

static void check_complete(struct text_reader *reader, const struct message *message)
{
	const struct schema_message *type = message->type;

	for (uint32_t i = 0; type->has_required && i < type->fields_count; i++)
		if (type->fields[i].is_required && !message_find(message, type->fields[i].number))
			text_value_error(reader, message->at, "missing-field",
				"required field \"%s\" of %s is missing", type->fields[i].name,
				type->full_name);
}

/* Up to `closer`, or to the end when that is NUL. */
static void read_fields(
	struct text_reader *reader, struct message *message, char closer, unsigned depth)
{
	while (!reader->is_over) {
		if (closer ? text_value_skip_mark(reader, closer) : reader->lex.kind == TEXT_END)
			break;
		read_field(reader, message, depth);
		if (!reader->is_over && !text_value_skip_mark(reader, ','))
			text_value_skip_mark(reader, ';');
	}
	for (uint32_t i = 0; i < message->fields_count; i++)
		if (message->fields[i].field->is_map)
			message_sort_map(&message->fields[i]);
	if (!reader->is_over)
		check_complete(reader, message);
}

int text_read(const struct text_read_options *options, const struct schema_message *type,
	struct slice text, struct arena *arena, struct diag_list *diags,
	struct message **ret_message)
{
	struct text_reader reader = {.options = options, .arena = arena, .diags = diags};
	struct message *message = message_new(arena, type);

	if (!message)
		return -ENOMEM;
	message->at = (struct position){1, 1};
	text_lex_init(&reader.lex, text);
	read_fields(&reader, message, '\0', 0);
	int rc = reader.is_bad ? -EBADMSG : reader.is_over ? -ENOMEM : buf_error(&reader.scratch);
	buf_fini(&reader.scratch);
	if (rc)
		return rc;
	*ret_message = message;
	return 0;
}
