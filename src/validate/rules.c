/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "validate/rules.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "message/wire_read.h"

/* Field numbers of the extensions of descriptor.proto's option messages. */
enum {
	OPTION_DEPRECATED = 3, /* FieldOptions.deprecated, MessageOptions.deprecated */
	VALUE_DEPRECATED = 1,  /* EnumValueOptions.deprecated */
	VALIDATE_RULES = 1071, /* validate.rules of a field, required of a oneof, disabled */
	VALIDATE_IGNORED = 1072,
	SENSITIVE_UDPA = 76569463,
	SENSITIVE_XDS = 61008053,
	STATUS_XDS = 226829418,
	STATUS_UDPA = 222707719, /* of files */
	DISALLOWED = 189503207,
	DEPRECATED_AT = 157299826,
	VALUE_DISALLOWED = 70100853,
	VALUE_DEPRECATED_AT = 181198657
};

struct rules_book {
	const struct schema *schema;
	struct arena *arena;
	struct hash types;  /* by address of the schema's message */
	struct hash files;  /* by name: whether they are unfinished */
	struct hash values; /* of enums, by address: their marks */
	struct pattern **patterns;
	size_t patterns_count, patterns_capacity;
};

struct rules_book *rules_book_new(const struct schema *schema)
{
	struct rules_book *book = xcalloc(1, sizeof(*book));

	book->schema = schema;
	book->arena = arena_new(0);
	hash_init(&book->types);
	hash_init(&book->files);
	hash_init(&book->values);
	return book;
}

void rules_book_free(struct rules_book *book)
{
	if (!book)
		return;
	for (size_t i = 0; i < book->patterns_count; i++)
		pattern_free(book->patterns[i]);
	free(book->patterns);
	hash_fini(&book->types);
	hash_fini(&book->files);
	hash_fini(&book->values);
	arena_free(book->arena);
	free(book);
}

/* Serialized options as a message; NULL: none, or the schema does not know their type. */
static const struct message *read_options(
	struct rules_book *book, const char *type_name, struct slice options)
{
	const struct schema_message *type =
		options.length ? schema_find_message(book->schema, slice_of(type_name)) : NULL;
	struct wire_read_options how = {.schema = book->schema, .allow_partial = true};
	struct wire_read_error error;
	struct message *message = NULL;

	if (!type || wire_read(&how, type, options, book->arena, &message, &error))
		return NULL;
	return message;
}

static bool get_bool(const struct message *message, uint32_t number)
{
	const struct message_field *entry = message ? message_find(message, number) : NULL;

	return entry && entry->field->type == SCHEMA_BOOL && entry->one.boolean;
}

static uint64_t get_count(const struct message *message, uint32_t number)
{
	const struct message_field *entry = message_find(message, number);

	return entry ? entry->one.uint64 : RULES_UNSET;
}

/* data NULL when unset. */
static struct slice get_text(const struct message *message, uint32_t number)
{
	const struct message_field *entry = message_find(message, number);

	if (!entry)
		return (struct slice){NULL, 0};
	return entry->one.bytes.data ? entry->one.bytes : SLICE("");
}

static const char *get_version(
	struct rules_book *book, const struct message *options, uint32_t number)
{
	const struct message_field *entry = options ? message_find(options, number) : NULL;

	if (!entry || entry->field->type != SCHEMA_STRING || entry->one.bytes.length == 0)
		return NULL;
	return arena_copy(book->arena, entry->one.bytes.data, entry->one.bytes.length).data;
}

/* work_in_progress of an xds or udpa status annotation */
static bool is_unfinished(const struct message *options, uint32_t number)
{
	const struct message_field *entry = options ? message_find(options, number) : NULL;

	return entry && entry->field->type == SCHEMA_MESSAGE && get_bool(entry->one.message, 1);
}

rules_integer rules_nanoseconds(const struct message *time)
{
	const struct message_field *seconds = message_find(time, 1), *nanos = message_find(time, 2);

	return (rules_integer)(seconds ? seconds->one.int64 : 0) * RULES_SECOND +
	       (nanos ? nanos->one.int32 : 0);
}

union rules_value rules_value_of(const struct schema_field *field, const union message_value *value)
{
	switch (field->type) {
	case SCHEMA_BOOL:
		return (union rules_value){.integer = value->boolean};
	case SCHEMA_INT32:
	case SCHEMA_SINT32:
	case SCHEMA_SFIXED32:
	case SCHEMA_ENUM:
		return (union rules_value){.integer = value->int32};
	case SCHEMA_UINT32:
	case SCHEMA_FIXED32:
		return (union rules_value){.integer = value->uint32};
	case SCHEMA_INT64:
	case SCHEMA_SINT64:
	case SCHEMA_SFIXED64:
		return (union rules_value){.integer = value->int64};
	case SCHEMA_UINT64:
	case SCHEMA_FIXED64:
		return (union rules_value){.integer = value->uint64};
	case SCHEMA_FLOAT:
		return (union rules_value){.floating = value->float32};
	case SCHEMA_DOUBLE:
		return (union rules_value){.floating = value->float64};
	case SCHEMA_STRING:
	case SCHEMA_BYTES:
		return (union rules_value){.text = value->bytes};
	case SCHEMA_MESSAGE:
	case SCHEMA_GROUP:
		break;
	}
	return (union rules_value){.integer = rules_nanoseconds(value->message)};
}

static bool read_one(const struct message *rules, uint32_t number, union rules_value *ret_value)
{
	const struct message_field *entry = message_find(rules, number);

	if (!entry)
		return false;
	*ret_value = rules_value_of(entry->field, &entry->one);
	return true;
}

static const union rules_value *read_list(
	struct rules_book *book, const struct message *rules, uint32_t number, uint32_t *ret_count)
{
	const struct message_field *entry = message_find(rules, number);
	union rules_value *values;

	*ret_count = 0;
	if (!entry || !entry->count)
		return NULL;
	values = arena_alloc(book->arena, entry->count * sizeof(*values));
	for (uint32_t i = 0; i < entry->count; i++)
		values[i] = rules_value_of(entry->field, &entry->items[i]);
	*ret_count = entry->count;
	return values;
}

/* const is field `first`; then lt, lte, gt, gte where they exist, in, not_in. */
static void read_bounds(struct rules_book *book, const struct message *rules, uint32_t first,
	bool has_order, uint32_t in, struct rules_bounds *bounds)
{
	bounds->has_const = read_one(rules, first, &bounds->constant);
	if (has_order) {
		bounds->has_less = read_one(rules, first + 1, &bounds->less);
		if (!bounds->has_less)
			bounds->has_less = bounds->may_equal_less =
				read_one(rules, first + 2, &bounds->less);
		bounds->has_more = read_one(rules, first + 3, &bounds->more);
		if (!bounds->has_more)
			bounds->has_more = bounds->may_equal_more =
				read_one(rules, first + 4, &bounds->more);
	}
	if (in) {
		bounds->in = read_list(book, rules, in, &bounds->in_count);
		bounds->not_in = read_list(book, rules, in + 1, &bounds->not_in_count);
	}
}

/* A pattern of the schema that we cannot read is no rule; the schema's tests would show it. */
static struct pattern *read_pattern(struct rules_book *book, struct slice text, bool is_bytes)
{
	struct pattern *pattern;
	char problem[160];

	if (!text.data || pattern_new(text, is_bytes, &pattern, problem, sizeof(problem)))
		return NULL;
	array_reserve(book->patterns, book->patterns_capacity, book->patterns_count + 1);
	return book->patterns[book->patterns_count++] = pattern;
}

static void read_string(
	struct rules_book *book, const struct message *rules, struct field_rules *to)
{
	static const struct {
		uint32_t number;
		enum rule rule;
	} formats[] = {{12, RULE_EMAIL}, {13, RULE_HOSTNAME}, {14, RULE_IP}, {15, RULE_IPV4},
		{16, RULE_IPV6}, {17, RULE_URI}, {18, RULE_URI_REF}, {21, RULE_ADDRESS},
		{22, RULE_UUID}};
	struct rules_text *text = to->text;
	const struct message_field *regex = message_find(rules, 24), *strict;

	read_bounds(book, rules, 1, false, 10, &to->bounds);
	text->lengths = (struct rules_lengths){.exact = get_count(rules, 19),
		.least = get_count(rules, 2),
		.most = get_count(rules, 3),
		.exact_bytes = get_count(rules, 20),
		.least_bytes = get_count(rules, 4),
		.most_bytes = get_count(rules, 5)};
	text->pattern_text = get_text(rules, 6);
	text->pattern = read_pattern(book, text->pattern_text, false);
	text->prefix = get_text(rules, 7);
	text->suffix = get_text(rules, 8);
	text->contains = get_text(rules, 9);
	text->not_contains = get_text(rules, 23);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (get_bool(rules, formats[i].number))
			text->format = formats[i].rule;
	if (regex && (regex->one.int32 == 1 || regex->one.int32 == 2)) {
		strict = message_find(rules, 25);
		text->format = RULE_WELL_KNOWN_REGEX;
		text->is_header_name = regex->one.int32 == 1;
		text->is_loose = strict && !strict->one.boolean;
	}
	to->ignore_empty = get_bool(rules, 26);
}

static void read_bytes(struct rules_book *book, const struct message *rules, struct field_rules *to)
{
	struct rules_text *text = to->text;

	read_bounds(book, rules, 1, false, 8, &to->bounds);
	text->lengths = (struct rules_lengths){.exact = get_count(rules, 13),
		.least = get_count(rules, 2),
		.most = get_count(rules, 3),
		.exact_bytes = RULES_UNSET,
		.least_bytes = RULES_UNSET,
		.most_bytes = RULES_UNSET};
	text->pattern_text = get_text(rules, 4);
	text->pattern = read_pattern(book, text->pattern_text, true);
	text->prefix = get_text(rules, 5);
	text->suffix = get_text(rules, 6);
	text->contains = get_text(rules, 7);
	if (get_bool(rules, 10))
		text->format = RULE_IP;
	else if (get_bool(rules, 11))
		text->format = RULE_IPV4;
	else if (get_bool(rules, 12))
		text->format = RULE_IPV6;
	to->ignore_empty = get_bool(rules, 14);
}

static void read_field_rules(
	struct rules_book *book, const struct message *rules, struct field_rules *to);

static struct field_rules *read_nested(struct rules_book *book, const struct field_rules *outer,
	const struct message *rules, uint32_t number)
{
	const struct message *nested = message_get_message(rules, number);
	struct field_rules *to;

	if (!nested)
		return NULL;
	to = arena_zalloc(book->arena, sizeof(*to));
	to->field = outer->field;
	to->is_sensitive = outer->is_sensitive;
	read_field_rules(book, nested, to);
	return to;
}

/* Which kind of rules a validate.FieldRules has, and the message with them. */
static const struct message *find_kind(const struct message *rules, enum rule_kind *ret_kind)
{
	for (uint32_t i = 0; i < rules->fields_count; i++) {
		const struct message_field *entry = &rules->fields[i];
		uint32_t number = entry->field->number;

		if (number >= KIND_FLOAT && number < KIND_COUNT &&
			entry->field->type == SCHEMA_MESSAGE &&
			(number != KIND_MESSAGE || rules->fields_count == 1)) {
			*ret_kind = (enum rule_kind)number;
			return entry->one.message;
		}
	}
	return NULL;
}

static void read_time(struct rules_book *book, const struct message *rules, struct field_rules *to)
{
	const struct message *within = message_get_message(rules, 9);

	to->is_required = get_bool(rules, 1);
	read_bounds(book, rules, 2, true, to->kind == KIND_DURATION ? 7 : 0, &to->bounds);
	if (to->kind == KIND_DURATION)
		return;
	to->lt_now = get_bool(rules, 7);
	to->gt_now = get_bool(rules, 8);
	to->within = within ? rules_nanoseconds(within) : 0;
}

static void read_field_rules(
	struct rules_book *book, const struct message *rules, struct field_rules *to)
{
	const struct message *general = message_get_message(rules, KIND_MESSAGE);
	const struct message *kind = find_kind(rules, &to->kind);

	to->least = to->most = RULES_UNSET;
	if (general) { /* it may stand beside the rules of a wrapper */
		to->is_skipped = get_bool(general, 1);
		to->is_required = get_bool(general, 2);
	}
	if (!kind)
		return;
	if (to->kind == KIND_STRING || to->kind == KIND_BYTES) {
		to->text = arena_zalloc(book->arena, sizeof(*to->text));
		to->text->format = RULE_COUNT;
	}
	switch ((int)to->kind) { /* numbers are the rest */
	case KIND_BOOL:
		read_bounds(book, kind, 1, false, 0, &to->bounds);
		break;
	case KIND_STRING:
		read_string(book, kind, to);
		break;
	case KIND_BYTES:
		read_bytes(book, kind, to);
		break;
	case KIND_ENUM:
		read_bounds(book, kind, 1, false, 3, &to->bounds);
		to->is_defined_only = get_bool(kind, 2);
		break;
	case KIND_REPEATED:
		to->least = get_count(kind, 1);
		to->most = get_count(kind, 2);
		to->is_unique = get_bool(kind, 3);
		to->items = read_nested(book, to, kind, 4);
		to->ignore_empty = get_bool(kind, 5);
		break;
	case KIND_MAP:
		to->least = get_count(kind, 1);
		to->most = get_count(kind, 2);
		to->is_no_sparse = get_bool(kind, 3);
		to->keys = read_nested(book, to, kind, 4);
		to->items = read_nested(book, to, kind, 5);
		to->ignore_empty = get_bool(kind, 6);
		break;
	case KIND_ANY:
		to->is_required = to->is_required || get_bool(kind, 1);
		to->bounds.in = read_list(book, kind, 2, &to->bounds.in_count);
		to->bounds.not_in = read_list(book, kind, 3, &to->bounds.not_in_count);
		break;
	case KIND_DURATION:
	case KIND_TIMESTAMP:
		read_time(book, kind, to);
		break;
	case KIND_MESSAGE:
		break;
	default:
		to->is_floating = to->kind == KIND_FLOAT || to->kind == KIND_DOUBLE;
		read_bounds(book, kind, 1, true, 6, &to->bounds);
		to->ignore_empty = get_bool(kind, 8);
		break;
	}
}

static bool has_old_values(struct rules_book *book, const struct schema_enum *enumeration)
{
	for (uint32_t i = 0; i < enumeration->values_count; i++)
		if (rules_value_marks(book, &enumeration->values[i]).is_deprecated)
			return true;
	return false;
}

/* False: there is nothing to say about the field. */
static bool read_field(
	struct rules_book *book, const struct schema_field *field, struct field_rules *to)
{
	const struct message *options =
		read_options(book, "google.protobuf.FieldOptions", field->options);
	const struct message_field *rules = options ? message_find(options, VALIDATE_RULES) : NULL;

	*to = (struct field_rules){.field = field};
	to->is_sensitive = get_bool(options, SENSITIVE_UDPA) || get_bool(options, SENSITIVE_XDS);
	to->is_deprecated = get_bool(options, OPTION_DEPRECATED);
	to->is_disallowed = get_bool(options, DISALLOWED);
	to->is_unfinished = is_unfinished(options, STATUS_XDS);
	to->deprecated_at = get_version(book, options, DEPRECATED_AT);
	to->has_old_values = field->enumeration && has_old_values(book, field->enumeration);
	if (rules && rules->field->type == SCHEMA_MESSAGE)
		read_field_rules(book, rules->one.message, to);
	to->is_wrapper = field->message && !field->is_repeated &&
			 field->message->well_known == SCHEMA_WRAPPER;
	if (to->items && field->message)
		to->items->is_wrapper = field->message->well_known == SCHEMA_WRAPPER;
	return to->kind || to->is_required || to->is_skipped || to->is_sensitive ||
	       to->is_deprecated || to->is_disallowed || to->is_unfinished || to->has_old_values;
}

/* The last length-delimited field with this number; empty when there is none. */
static struct slice find_bytes(struct slice bytes, uint32_t number)
{
	const char *at = bytes.data, *end = bytes.data + bytes.length;
	struct slice found = SLICE("");
	uint64_t tag, value;

	while (at && at < end) {
		at = wire_get_varint(at, end, &tag);
		if (!at || (tag & 7) == 0) {
			at = at ? wire_get_varint(at, end, &value) : NULL;
			continue;
		}
		if ((tag & 7) != 2)
			break; /* descriptors have nothing else */
		at = wire_get_varint(at, end, &value);
		if (!at || value > (uint64_t)(end - at))
			break;
		if (tag >> 3 == number)
			found = (struct slice){at, value};
		at += value;
	}
	return found;
}

/* work_in_progress of the file that declares the type */
static bool is_file_unfinished(struct rules_book *book, const struct schema_message *type)
{
	static const char yes, no;
	struct slice name = slice_of(type->file_name);
	const char *known = hash_get(&book->files, name);
	const struct message *options;

	if (!known) {
		options = read_options(book, "google.protobuf.FileOptions",
			find_bytes(schema_file(book->schema, slice_of(type->file_name)), 8));
		known = is_unfinished(options, STATUS_XDS) || is_unfinished(options, STATUS_UDPA)
				? &yes
				: &no;
		hash_put(&book->files, name, (char *)known);
	}
	return known == &yes;
}

static struct message_rules *read_message(
	struct rules_book *book, const struct schema_message *type)
{
	struct message_rules *rules = arena_zalloc(book->arena, sizeof(*rules));
	const struct message *options =
		read_options(book, "google.protobuf.MessageOptions", type->options);
	struct field_rules *fields = xcalloc(type->fields_count + 1, sizeof(*fields));

	rules->type = type;
	rules->is_disabled =
		get_bool(options, VALIDATE_RULES) || get_bool(options, VALIDATE_IGNORED);
	rules->is_unfinished = is_unfinished(options, STATUS_XDS) || is_file_unfinished(book, type);
	for (uint32_t i = 0; i < type->fields_count; i++)
		rules->fields_count +=
			read_field(book, &type->fields[i], &fields[rules->fields_count]);
	rules->fields = arena_alloc(book->arena, (rules->fields_count + 1) * sizeof(*fields));
	memcpy(rules->fields, fields, rules->fields_count * sizeof(*fields));
	free(fields);
	rules->required =
		arena_alloc(book->arena, (type->oneofs_count + 1) * sizeof(struct schema_oneof *));
	for (uint32_t i = 0; i < type->oneofs_count; i++) {
		const struct message *oneof =
			read_options(book, "google.protobuf.OneofOptions", type->oneofs[i].options);

		if (get_bool(oneof, VALIDATE_RULES))
			rules->required[rules->required_count++] = &type->oneofs[i];
	}
	return rules;
}

const struct message_rules *rules_of(struct rules_book *book, const struct schema_message *type)
{
	struct slice key = {(const char *)&type, sizeof(type)};
	struct message_rules *rules = hash_get(&book->types, key);

	if (rules)
		return rules;
	rules = read_message(book, type);
	key.data = (const char *)&rules->type;
	hash_put(&book->types, key, rules);
	return rules;
}

const struct field_rules *rules_of_field(struct rules_book *book, const struct schema_field *field)
{
	const struct message_rules *rules = rules_of(book, field->parent);

	for (uint32_t i = 0; rules && i < rules->fields_count; i++)
		if (rules->fields[i].field == field)
			return &rules->fields[i];
	return NULL;
}

struct value_marks rules_value_marks(struct rules_book *book, const struct schema_enum_value *value)
{
	struct {
		const struct schema_enum_value *value;
		struct value_marks marks;
	} * known;
	struct slice key = {(const char *)&value, sizeof(value)};
	const struct message *options;

	if (!value->options.length)
		return (struct value_marks){0};
	known = hash_get(&book->values, key);
	if (!known) {
		known = arena_zalloc(book->arena, sizeof(*known));
		known->value = value;
		options = read_options(book, "google.protobuf.EnumValueOptions", value->options);
		known->marks =
			(struct value_marks){.is_deprecated = get_bool(options, VALUE_DEPRECATED),
				.is_disallowed = get_bool(options, VALUE_DISALLOWED),
				.deprecated_at = get_version(book, options, VALUE_DEPRECATED_AT)};
		key.data = (const char *)&known->value;
		hash_put(&book->values, key, known);
	}
	return known->marks;
}
