/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/json_walk.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/text.h"
#include "message/number_format.h"
#include "message/wire_read.h"
#include "message/wkt_format.h"

struct walk {
	const struct json_walk_options *options;
	const struct json_walk_ops *ops;
	void *ctx;
	struct buf scratch; /* base64, field masks */
	const char *problem;
};

static void walk_message(struct walk *walk, const struct message *message, unsigned depth);

static void fail(struct walk *walk, const char *problem)
{
	if (!walk->problem)
		walk->problem = problem;
}

static void put_word(struct walk *walk, const char *word)
{
	walk->ops->literal(walk->ctx, slice_of(word), JSON_WORD);
}

static void put_double(struct walk *walk, double value, bool is_float)
{
	char text[NUMBER_FORMAT_BYTES];
	size_t length;

	if (!isfinite(value)) {
		walk->ops->string(walk->ctx, isnan(value) ? SLICE("NaN")
					     : value > 0  ? SLICE("Infinity")
							  : SLICE("-Infinity"));
		return;
	}
	length = is_float ? number_format_float(text, (float)value)
			  : number_format_double(text, value);
	walk->ops->literal(walk->ctx, (struct slice){text, length}, JSON_NUMBER);
}

static void put_integer(struct walk *walk, int64_t value)
{
	char text[NUMBER_FORMAT_BYTES];
	size_t length = number_format_i64(text, value);

	walk->ops->literal(walk->ctx, (struct slice){text, length}, JSON_INTEGER);
}

static void put_enum(struct walk *walk, const struct schema_enum *enumeration, int32_t number)
{
	const struct schema_enum_value *value;

	if (enumeration->is_null_value) {
		put_word(walk, "null");
		return;
	}
	value = schema_enum_by_number(enumeration, number);
	if (value)
		walk->ops->string(walk->ctx, slice_of(value->name));
	else
		put_integer(walk, number);
}

static void put_bytes(struct walk *walk, struct slice bytes)
{
	buf_reset(&walk->scratch);
	text_base64_encode(&walk->scratch, bytes);
	if (buf_error(&walk->scratch))
		fail(walk, "out of memory");
	else
		walk->ops->string(walk->ctx, buf_slice(&walk->scratch));
}

static void put_string(struct walk *walk, struct slice text, bool is_checked)
{
	if (!is_checked && !text_is_utf8(text))
		fail(walk, "a string is not valid UTF-8");
	else
		walk->ops->string(walk->ctx, text);
}

static void put_value(struct walk *walk, const struct schema_field *field,
	const union message_value *value, unsigned depth)
{
	char text[NUMBER_FORMAT_BYTES];
	size_t length;

	switch (field->type) {
	case SCHEMA_DOUBLE:
		put_double(walk, value->float64, false);
		break;
	case SCHEMA_FLOAT:
		put_double(walk, (double)value->float32, true);
		break;
	case SCHEMA_INT64:
	case SCHEMA_SFIXED64:
	case SCHEMA_SINT64:
		length = number_format_i64(text, value->int64);
		walk->ops->string(walk->ctx, (struct slice){text, length});
		break;
	case SCHEMA_UINT64:
	case SCHEMA_FIXED64:
		length = number_format_u64(text, value->uint64);
		walk->ops->string(walk->ctx, (struct slice){text, length});
		break;
	case SCHEMA_INT32:
	case SCHEMA_SFIXED32:
	case SCHEMA_SINT32:
		put_integer(walk, value->int32);
		break;
	case SCHEMA_UINT32:
	case SCHEMA_FIXED32:
		put_integer(walk, value->uint32);
		break;
	case SCHEMA_BOOL:
		put_word(walk, value->boolean ? "true" : "false");
		break;
	case SCHEMA_STRING:
		put_string(walk, value->bytes, field->check_utf8);
		break;
	case SCHEMA_BYTES:
		put_bytes(walk, value->bytes);
		break;
	case SCHEMA_ENUM:
		put_enum(walk, field->enumeration, value->int32);
		break;
	case SCHEMA_GROUP:
	case SCHEMA_MESSAGE:
		walk_message(walk, value->message, depth + 1);
		break;
	}
}

static void put_map_key(struct walk *walk, const struct message *entry)
{
	static const union message_value none = {.bytes = {"", 0}};
	const struct schema_field *field = &entry->type->fields[0];
	const struct message_field *set = message_find(entry, 1);
	const union message_value *key = set ? &set->one : &none;
	char text[NUMBER_FORMAT_BYTES];
	struct slice name = {text, 0};

	switch ((int)field->type) {
	case SCHEMA_STRING:
		name = set ? key->bytes : SLICE("");
		if (!field->check_utf8 && !text_is_utf8(name))
			fail(walk, "a map key is not valid UTF-8");
		break;
	case SCHEMA_BOOL:
		name = set && key->boolean ? SLICE("true") : SLICE("false");
		break;
	case SCHEMA_INT32:
	case SCHEMA_SINT32:
	case SCHEMA_SFIXED32:
		name.length = number_format_i64(text, set ? key->int32 : 0);
		break;
	case SCHEMA_UINT32:
	case SCHEMA_FIXED32:
		name.length = number_format_u64(text, set ? key->uint32 : 0);
		break;
	case SCHEMA_INT64:
	case SCHEMA_SINT64:
	case SCHEMA_SFIXED64:
		name.length = number_format_i64(text, set ? key->int64 : 0);
		break;
	default:
		name.length = number_format_u64(text, set ? key->uint64 : 0);
		break;
	}
	walk->ops->key(walk->ctx, name, false);
}

static void put_map_value(struct walk *walk, const struct message *entry, unsigned depth)
{
	static const union message_value none = {.bytes = {"", 0}}, zero;
	const struct schema_field *field = &entry->type->fields[1];
	const struct message_field *set = message_find(entry, 2);
	bool is_bytes = field->type == SCHEMA_STRING || field->type == SCHEMA_BYTES;

	if (!set && field->message) {
		const struct message empty = {.type = field->message};

		walk_message(walk, &empty, depth + 2);
		return;
	}
	/* The entry is a level of nesting of its own. */
	put_value(walk, field, set ? &set->one : is_bytes ? &none : &zero, depth + 1);
}

static void walk_map(struct walk *walk, const struct message_field *entry, unsigned depth)
{
	union message_value *copy = NULL;
	const union message_value *items =
		entry->count ? message_items_in_order(entry, &copy) : NULL;

	walk->ops->begin(walk->ctx, false);
	for (uint32_t i = 0; i < entry->count && !walk->problem; i++) {
		put_map_key(walk, items[i].message);
		put_map_value(walk, items[i].message, depth);
	}
	walk->ops->end(walk->ctx, false);
	free(copy);
}

static void walk_list(struct walk *walk, const struct message_field *entry, unsigned depth)
{
	walk->ops->begin(walk->ctx, true);
	for (uint32_t i = 0; i < entry->count && !walk->problem; i++)
		put_value(walk, entry->field, &entry->items[i], depth);
	walk->ops->end(walk->ctx, true);
}

static void put_field_name(struct walk *walk, const struct schema_field *field)
{
	if (!field->is_extension) {
		bool original = walk->options->original_names;

		walk->ops->key(walk->ctx,
			original ? (struct slice){field->name, field->name_length}
				 : (struct slice){field->json_name, field->json_name_length},
			original || !field->has_odd_json_name);
		return;
	}
	buf_reset(&walk->scratch);
	buf_printf(&walk->scratch, "[%s]", field->full_name);
	if (buf_error(&walk->scratch))
		fail(walk, "out of memory");
	else
		walk->ops->key(walk->ctx, buf_slice(&walk->scratch), false);
}

/* Keys and values, without the braces. */
static void walk_fields(struct walk *walk, const struct message *message, unsigned depth)
{
	for (uint32_t i = 0; i < message->fields_count && !walk->problem; i++) {
		const struct message_field *entry = &message->fields[i];

		if (entry->count == 0 || message_holds_default(entry))
			continue;
		put_field_name(walk, entry->field);
		if (entry->field->is_map)
			walk_map(walk, entry, depth);
		else if (entry->field->is_repeated)
			walk_list(walk, entry, depth);
		else
			put_value(walk, entry->field, &entry->one, depth);
	}
}

static void walk_value(struct walk *walk, const struct message *value, unsigned depth)
{
	const struct message_field *kind = value->fields_count ? &value->fields[0] : NULL;

	if (!kind)
		put_word(walk, "null");
	else if (kind->field->type == SCHEMA_DOUBLE && !isfinite(kind->one.float64))
		fail(walk, "a google.protobuf.Value holds NaN or an infinity");
	else
		put_value(walk, kind->field, &kind->one, depth);
}

static void walk_wrapper(struct walk *walk, const struct message *wrapper, unsigned depth)
{
	static const union message_value none = {.bytes = {"", 0}}, zero;
	const struct schema_field *field = &wrapper->type->fields[0];
	bool is_bytes = field->type == SCHEMA_STRING || field->type == SCHEMA_BYTES;

	if (wrapper->fields_count)
		put_value(walk, field, &wrapper->fields[0].one, depth);
	else
		put_value(walk, field, is_bytes ? &none : &zero, depth);
}

static void walk_text(struct walk *walk, const struct message *message)
{
	const char *problem = NULL;

	buf_reset(&walk->scratch);
	switch ((int)message->type->well_known) {
	case SCHEMA_DURATION:
		problem = wkt_format_duration(message, &walk->scratch);
		break;
	case SCHEMA_TIMESTAMP:
		problem = wkt_format_timestamp(message, &walk->scratch);
		break;
	default:
		problem = wkt_format_field_mask(message, &walk->scratch);
		break;
	}
	if (!problem && buf_error(&walk->scratch))
		problem = "out of memory";
	if (problem)
		fail(walk, problem);
	else
		walk->ops->string(walk->ctx, buf_slice(&walk->scratch));
}

static void walk_any_content(
	struct walk *walk, struct slice url, const struct message *content, unsigned depth)
{
	enum schema_well_known kind = content->type->well_known;

	if (depth >= LIMIT_DEPTH) {
		fail(walk, "nested deeper than 100 levels");
		return;
	}
	walk->ops->begin(walk->ctx, false);
	walk->ops->key(walk->ctx, SLICE("@type"), false);
	put_string(walk, url, true);
	/* Empty has a form like any other message, and is read back as such. */
	if (kind == SCHEMA_ORDINARY || kind == SCHEMA_EMPTY) {
		walk_fields(walk, content, depth + 1);
	} else {
		walk->ops->key(walk->ctx, SLICE("value"), true);
		walk_message(walk, content, depth + 1);
	}
	walk->ops->end(walk->ctx, false);
}

/* The content came as bytes although its type is known. */
static void walk_any_bytes(struct walk *walk, struct slice url, const struct schema_message *type,
	struct slice bytes, unsigned depth)
{
	const struct wire_read_options options = {
		.schema = walk->options->schema, .expand_any = true, .allow_partial = true};
	struct arena *arena = arena_new(0);
	struct message *content;
	struct wire_read_error error;

	if (wire_read(&options, type, bytes, arena, &content, &error))
		fail(walk, error.text);
	else
		walk_any_content(walk, url, content, depth);
	arena_free(arena);
}

static void walk_any(struct walk *walk, const struct message *any, unsigned depth)
{
	struct slice url = message_get_bytes(any, 1), bytes = message_get_bytes(any, 2);
	const struct schema_message *type;

	if (any->any_content) {
		walk_any_content(walk, url, any->any_content, depth);
		return;
	}
	type = schema_find_type_url(walk->options->schema, url);
	if (type) {
		walk_any_bytes(walk, url, type, bytes, depth);
		return;
	}
	if (url.length == 0 && bytes.length) {
		fail(walk, "an Any has a value but no type URL");
		return;
	}
	walk->ops->begin(walk->ctx, false);
	if (url.length) {
		walk->ops->key(walk->ctx, SLICE("@type"), false);
		put_string(walk, url, true);
	}
	if (url.length) { /* even if empty: without it, reading takes the type for a misspelt one */
		walk->ops->key(walk->ctx, SLICE("value"), true);
		put_bytes(walk, bytes);
	}
	walk->ops->end(walk->ctx, false);
}

static void walk_message(struct walk *walk, const struct message *message, unsigned depth)
{
	static const struct message_field none;

	if (depth > LIMIT_DEPTH) {
		fail(walk, "nested deeper than 100 levels");
		return;
	}
	switch (message->type->well_known) {
	case SCHEMA_ORDINARY:
	case SCHEMA_EMPTY:
		walk->ops->begin(walk->ctx, false);
		walk_fields(walk, message, depth);
		walk->ops->end(walk->ctx, false);
		break;
	case SCHEMA_ANY:
		walk_any(walk, message, depth);
		break;
	case SCHEMA_DURATION:
	case SCHEMA_TIMESTAMP:
	case SCHEMA_FIELD_MASK:
		walk_text(walk, message);
		break;
	case SCHEMA_STRUCT:
		walk_map(walk, message->fields_count ? &message->fields[0] : &none, depth);
		break;
	case SCHEMA_VALUE:
		walk_value(walk, message, depth);
		break;
	case SCHEMA_LIST_VALUE:
		walk_list(walk, message->fields_count ? &message->fields[0] : &none, depth);
		break;
	case SCHEMA_WRAPPER:
		walk_wrapper(walk, message, depth);
		break;
	}
}

int json_walk(const struct json_walk_options *options, const struct json_walk_ops *ops, void *ctx,
	const struct message *message, const char **ret_problem)
{
	struct walk walk = {.options = options, .ops = ops, .ctx = ctx};

	walk_message(&walk, message, 0);
	buf_fini(&walk.scratch);
	if (!walk.problem)
		return 0;
	*ret_problem = walk.problem;
	return -EBADMSG;
}
