/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "message/bind_context.h"
#include "message/number.h"
#include "message/time_text.h"

/* The fields of google.protobuf.Value by index (number - 1). */
enum {
	VALUE_NULL,
	VALUE_NUMBER,
	VALUE_STRING,
	VALUE_BOOL,
	VALUE_STRUCT,
	VALUE_LIST
};

static struct message *bind_span(struct bind_context *bind, const struct schema_message *type,
	struct position at, int64_t seconds, int32_t nanos)
{
	struct message *message = bind_new_message(bind, type, at, 2);

	if (!message)
		return NULL;
	if (seconds)
		bind_append(message, &type->fields[0], at)->one.int64 = seconds;
	if (nanos)
		bind_append(message, &type->fields[1], at)->one.int32 = nanos;
	return message;
}

static struct message *bind_duration(struct bind_context *bind, const struct schema_message *type,
	const struct schema_field *field, const struct node *node)
{
	const char *name = field ? field->name : "value";
	char quoted[BIND_TEXT], better[TIME_TEXT_MOST];
	int64_t seconds;
	int32_t nanos;
	int rc;

	if (node->is_json && node->is_plain) {
		bind_wrong_type(bind, node, field, "a duration such as \"1.5s\"");
		return NULL;
	}
	rc = time_text_parse_duration(node->text, &seconds, &nanos);
	if (rc == 0)
		return bind_span(bind, type, node->at, seconds, nanos);
	bind_quote(node->text, quoted);
	if (rc == -ERANGE)
		bind_error(bind, node->at, "out-of-range",
			"\"%s\" is out of range for the duration \"%s\" (10,000 years)", quoted,
			name);
	else if (time_text_guess_duration(node->text, better))
		bind_error(bind, node->at, "bad-value",
			"\"%s\" is no duration for \"%s\", did you mean \"%s\"?", quoted, name,
			better);
	else
		bind_error(bind, node->at, "bad-value",
			"\"%s\" is no duration for \"%s\": write seconds such as \"1.5s\"", quoted,
			name);
	return NULL;
}

static struct message *bind_timestamp(struct bind_context *bind, const struct schema_message *type,
	const struct schema_field *field, const struct node *node)
{
	char quoted[BIND_TEXT];
	int64_t seconds;
	int32_t nanos;

	if ((node->is_json && node->is_plain) ||
		time_text_parse_timestamp(node->text, &seconds, &nanos)) {
		bind_error(bind, node->at, "bad-value",
			"\"%s\" is no time for \"%s\": write it like 2006-01-02T15:04:05Z, years "
			"1 to 9999",
			bind_quote(node->text, quoted), field ? field->name : "value");
		return NULL;
	}
	return bind_span(bind, type, node->at, seconds, nanos);
}

/* Field names and dots that JSON can express: its form has no "_", but upper case for "_x". */
static bool check_path(struct bind_context *bind, const struct node *node, struct slice path)
{
	char quoted[BIND_TEXT];
	bool is_good = path.length > 0;

	for (size_t i = 0; i < path.length; i++) {
		char c = path.data[i], next = i + 1 < path.length ? path.data[i + 1] : '\0';

		is_good &= (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
			   (c == '_' && next >= 'a' && next <= 'z');
	}
	if (!is_good)
		bind_error(bind, node->at, "bad-value", "\"%s\" is no field path",
			bind_quote(path, quoted));
	return is_good;
}

/* fooBar.baz to foo_bar.baz */
static bool snake_path(struct bind_context *bind, const struct node *node, struct slice path,
	struct slice *ret_path)
{
	char *out = bind_alloc(bind, path.length * 2 + 1);
	size_t length = 0;
	bool has_underscore = false;

	if (!out)
		return false;
	for (size_t i = 0; i < path.length; i++) {
		char c = path.data[i];
		bool is_upper = c >= 'A' && c <= 'Z';

		has_underscore |= c == '_';
		if (is_upper)
			out[length++] = '_';
		out[length++] = is_upper ? (char)(c | 32) : c;
	}
	if (has_underscore)
		bind_forgive(bind, node->at,
			"field paths are written in lowerCamelCase, without underscores");
	*ret_path = (struct slice){out, length};
	return check_path(bind, node, *ret_path);
}

static struct message *bind_mask(
	struct bind_context *bind, const struct schema_message *type, const struct node *node)
{
	struct message *message = bind_new_message(bind, type, node->at, 1);
	struct slice rest = node->text;
	struct message_field *entry;
	uint32_t commas = 0;

	if (!message || rest.length == 0)
		return message;
	for (size_t i = 0; i < rest.length; i++)
		commas += rest.data[i] == ',';
	entry = bind_append(message, &type->fields[0], node->at);
	entry->items = bind_alloc(bind, (commas + 1) * sizeof(*entry->items));
	if (!entry->items)
		return NULL;
	entry->capacity = commas + 1;
	entry->count = 0;
	for (uint32_t i = 0; i <= commas; i++) {
		const char *comma = memchr(rest.data, ',', rest.length);
		struct slice path = {rest.data, comma ? (size_t)(comma - rest.data) : rest.length};

		if (path.length == 0) {
			bind_error(bind, node->at, "bad-value", "an empty path in a field mask");
			return NULL;
		}
		if (!snake_path(bind, node, path, &entry->items[entry->count].bytes))
			return NULL;
		entry->count++;
		rest.data += path.length + 1;
		rest.length -= comma ? path.length + 1 : path.length;
	}
	return message;
}

static struct message *bind_struct(
	struct bind_context *bind, const struct schema_message *type, const struct node *node)
{
	struct message *message = bind_new_message(bind, type, node->at, 1);
	const struct schema_field *fields = &type->fields[0];
	const struct schema_message *pair_type = fields->message;
	struct message_field *entry;

	if (!message || node->pairs_count == 0)
		return message;
	if (!bind_enter(bind, node->at))
		return NULL;
	entry = bind_append(message, fields, node->at);
	entry->items = bind_alloc(bind, node->pairs_count * sizeof(*entry->items));
	if (!entry->items)
		return NULL;
	entry->capacity = (uint32_t)node->pairs_count;
	entry->count = 0;
	for (size_t i = 0; i < node->pairs_count; i++) {
		const struct node_pair *pair = &node->pairs[i];
		struct message *item = bind_new_message(bind, pair_type, pair->key_at, 2);
		struct message *value;

		if (!item)
			return NULL;
		value = bind_node(bind, pair_type->fields[1].message, NULL, pair->value);
		if (!value)
			continue;
		bind_append(item, &pair_type->fields[0], pair->key_at)->one.bytes = pair->key;
		bind_append(item, &pair_type->fields[1], pair->value->at)->one.message = value;
		entry->items[entry->count++].message = item;
	}
	bind->depth--;
	message_sort_map(entry);
	return message;
}

static struct message *bind_list_value(
	struct bind_context *bind, const struct schema_message *type, const struct node *node)
{
	struct message *message = bind_new_message(bind, type, node->at, 1);
	struct message_field *entry;

	if (!message || node->items_count == 0)
		return message;
	entry = bind_append(message, &type->fields[0], node->at);
	entry->items = bind_alloc(bind, node->items_count * sizeof(*entry->items));
	if (!entry->items)
		return NULL;
	entry->capacity = (uint32_t)node->items_count;
	entry->count = 0;
	for (size_t i = 0; i < node->items_count; i++) {
		struct message *value =
			bind_node(bind, type->fields[0].message, NULL, node->items[i]);

		if (value)
			entry->items[entry->count++].message = value;
	}
	return message;
}

/* Free-form values have no schema that decides: say where readers disagree. */
static void warn_ambiguous(
	struct bind_context *bind, const struct node *node, const struct node_value *resolved)
{
	char quoted[BIND_TEXT];
	enum number_form form;

	bind_quote(node->text, quoted);
	if (resolved->kind == NODE_STRING) {
		bind_warning(bind, node->at, "ambiguous-value",
			"%s is text here and in YAML 1.2, but something else in YAML 1.1: quote it",
			quoted);
		return;
	}
	form = number_form(node->text);
	if (form == NUMBER_DECIMAL)
		bind_warning(bind, node->at, "ambiguous-value",
			"%s is a number here and in YAML 1.2, but text in YAML 1.1: write %s, or "
			"quote it",
			quoted, "it with a point");
	else if (form == NUMBER_LEADING_ZERO || form == NUMBER_OCTAL)
		bind_warning(bind, node->at, "ambiguous-value",
			"%s is %.0f here and in YAML 1.2, but not in YAML 1.1 and Envoy's reader: "
			"write the decimal number, or quote it",
			quoted, resolved->number);
	else
		bind_warning(bind, node->at, "ambiguous-value",
			"%s is a number here, but Envoy's YAML reader makes text of whole numbers "
			"beyond 32 bits: quote it if it is a name",
			quoted);
}

static bool check_precision(
	struct bind_context *bind, const struct node *node, const struct node_value *resolved)
{
	char quoted[BIND_TEXT];
	uint64_t magnitude;
	bool is_negative;

	if (!isfinite(resolved->number)) {
		bind_error(bind, node->at, "out-of-range",
			"%s has no place in a free-form value: quote it",
			bind_quote(node->text, quoted));
		return false;
	}
	if (resolved->kind != NODE_INTEGER || fabs(resolved->number) < 9007199254740992.0)
		return true;
	if (number_to_integer(number_form(node->text), node->text, &is_negative, &magnitude) ||
		resolved->number >= 18446744073709551616.0 ||
		(uint64_t)fabs(resolved->number) != magnitude)
		bind_warning(bind, node->at, "lost-precision",
			"%s loses digits: numbers in free-form values are doubles; quote it",
			bind_quote(node->text, quoted));
	return true;
}

static struct message *bind_free_scalar(
	struct bind_context *bind, const struct schema_message *type, const struct node *node)
{
	struct message *message = bind_new_message(bind, type, node->at, 1);
	struct node_value resolved = node_resolve(node);
	const struct schema_field *fields = type->fields;

	if (!message)
		return NULL;
	if (resolved.differs_in_yaml11 && !node->is_json && !bind->options->lenient)
		warn_ambiguous(bind, node, &resolved);
	switch (resolved.kind) {
	case NODE_NULL:
		bind_append(message, &fields[VALUE_NULL], node->at)->one.int32 = 0;
		break;
	case NODE_BOOL:
		bind_append(message, &fields[VALUE_BOOL], node->at)->one.boolean = resolved.boolean;
		break;
	case NODE_INTEGER:
	case NODE_FLOAT:
		if (!check_precision(bind, node, &resolved))
			return NULL;
		bind_append(message, &fields[VALUE_NUMBER], node->at)->one.float64 =
			resolved.number;
		break;
	case NODE_STRING:
		bind_append(message, &fields[VALUE_STRING], node->at)->one.bytes = node->text;
		break;
	}
	return message;
}

static struct message *bind_free_value(
	struct bind_context *bind, const struct schema_message *type, const struct node *node)
{
	const struct schema_field *field =
		&type->fields[node->kind == NODE_MAP ? VALUE_STRUCT : VALUE_LIST];
	struct message *message, *content;

	if (node->kind == NODE_SCALAR)
		return bind_free_scalar(bind, type, node);
	message = bind_new_message(bind, type, node->at, 1);
	content = bind_node(bind, field->message, NULL, node);
	if (!message || !content)
		return NULL;
	bind_append(message, field, node->at)->one.message = content;
	return message;
}

static struct message *bind_wrapper(struct bind_context *bind, const struct schema_message *type,
	const struct schema_field *field, const struct node *node)
{
	struct message *message = bind_new_message(bind, type, node->at, 1);
	struct schema_field inner = type->fields[0];
	struct message_field *entry;

	if (!message)
		return NULL;
	if (field)
		inner.name = field->name; /* what problems are about */
	entry = bind_append(message, &type->fields[0], node->at);
	if (!bind_value(bind, &inner, node, &entry->one))
		return NULL;
	if (message_holds_default(entry))
		message->fields_count = 0;
	return message;
}

/* Envoy's reader takes the fields of a message that has a form of its own. */
static struct message *bind_plain_fields(struct bind_context *bind,
	const struct schema_message *type, const struct schema_field *field,
	const struct node *node, const char *better)
{
	struct message *message = bind_fields(bind, type, node, false);
	const struct message_field *first, *second;
	bool is_duration = type->well_known == SCHEMA_DURATION;

	bind_forgive(bind, node->at, "the fields of %s%s%s: write %s", type->full_name,
		field ? " for " : "", field ? field->name : "", better);
	if (!message)
		return NULL;
	first = message_find(message, 1);
	second = message_find(message, 2);
	for (uint32_t i = 0; type->well_known == SCHEMA_FIELD_MASK && first && i < first->count;
		i++)
		check_path(bind, node, first->items[i].bytes);
	if ((is_duration || type->well_known == SCHEMA_TIMESTAMP) &&
		!time_text_is_valid(
			is_duration, first ? first->one.int64 : 0, second ? second->one.int32 : 0))
		bind_error(bind, node->at, "out-of-range",
			"seconds and nanos are out of range for a %s", type->full_name);
	return message;
}

struct message *bind_well_known(struct bind_context *bind, const struct schema_message *type,
	const struct schema_field *field, const struct node *node)
{
	switch (type->well_known) {
	case SCHEMA_DURATION:
		if (node->kind == NODE_MAP)
			return bind_plain_fields(
				bind, type, field, node, "one text such as \"5s\"");
		if (node->kind == NODE_SCALAR)
			return bind_duration(bind, type, field, node);
		bind_wrong_type(bind, node, field, "a duration such as \"1.5s\"");
		return NULL;
	case SCHEMA_TIMESTAMP:
		if (node->kind == NODE_MAP)
			return bind_plain_fields(
				bind, type, field, node, "one text such as 2006-01-02T15:04:05Z");
		if (node->kind == NODE_SCALAR)
			return bind_timestamp(bind, type, field, node);
		bind_wrong_type(bind, node, field, "a time such as 2006-01-02T15:04:05Z");
		return NULL;
	case SCHEMA_FIELD_MASK:
		if (node->kind == NODE_MAP)
			return bind_plain_fields(
				bind, type, field, node, "one text such as \"a,b.c\"");
		if (node->kind == NODE_SCALAR && !(node->is_json && node->is_plain))
			return bind_mask(bind, type, node);
		bind_wrong_type(bind, node, field, "field paths such as \"a,b.c\"");
		return NULL;
	case SCHEMA_STRUCT:
		if (node->kind == NODE_MAP)
			return bind_struct(bind, type, node);
		bind_wrong_type(bind, node, field, "a mapping");
		return NULL;
	case SCHEMA_LIST_VALUE:
		if (node->kind == NODE_LIST)
			return bind_list_value(bind, type, node);
		bind_wrong_type(bind, node, field, "a list");
		return NULL;
	case SCHEMA_VALUE:
		return bind_free_value(bind, type, node);
	case SCHEMA_WRAPPER:
		if (node->kind == NODE_MAP)
			return bind_plain_fields(bind, type, field, node, "the value alone");
		return bind_wrapper(bind, type, field, node);
	case SCHEMA_ORDINARY:
	case SCHEMA_ANY:
	case SCHEMA_EMPTY:
		break;
	}
	__builtin_unreachable();
}
