/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Envoy's reader accepts although the proto3 JSON mapping does not, and what we do:
 *
 *   one value where a list belongs           taken as a list of one      warning
 *   a list in a list                         flattened                   warning
 *   null in a list                           left out                    warning
 *   null in a map                            an empty value              warning
 *   {seconds: 5} for a Duration, {value: 5}  read field by field         warning
 *     for a wrapper, {paths: ...} and so on
 *   "true" for a bool                        taken                       warning
 *   enum names in another case, with "-"     taken                       warning
 *   quoted enum numbers                      taken                       warning
 *   snake_case in a FieldMask                taken                       warning
 *   no "value" for a Duration etc. in an Any an empty one                warning
 *   yes, on, no, off for a bool              error with a suggestion     lenient: taken
 *   0644 for a number                        error, as readers differ    lenient: octal
 *   unknown fields                           error with a suggestion     lenient: warning
 *   duplicate keys                           error (in the readers)
 *
 * Lenient, what is "warning" above is accepted silently.
 */
#include "message/bind.h"

#include <errno.h>
#include <stdio.h>

#include "message/bind_context.h"

static const struct schema_field *find_extension(
	struct bind_context *bind, const struct schema_message *type, struct slice key)
{
	const struct schema_field *field;

	if (key.length < 3 || key.data[0] != '[' || key.data[key.length - 1] != ']')
		return NULL;
	field = schema_extension_by_name(
		bind->options->schema, (struct slice){key.data + 1, key.length - 2});
	return field && field->parent == type ? field : NULL;
}

/* The place for a value in the order of numbers. NULL: the field is there already. */
static struct message_field *insert(
	struct message *message, const struct schema_field *field, struct position at)
{
	uint32_t i = message->fields_count;

	while (i > 0 && message->fields[i - 1].field->number >= field->number) {
		if (message->fields[i - 1].field == field)
			return NULL;
		i--;
	}
	for (uint32_t j = message->fields_count++; j > i; j--)
		message->fields[j] = message->fields[j - 1];
	message->fields[i] =
		(struct message_field){.field = field, .at = at, .count = 1, .items = NULL};
	return &message->fields[i];
}

static void complain_twice(struct bind_context *bind, const struct message *message,
	const struct schema_field *field, const struct node_pair *pair)
{
	const struct message_field *first = message_find(message, field->number);
	char quoted[BIND_TEXT], place[256];

	bind_error(bind, pair->key_at, "duplicate-key",
		"\"%s\" is field \"%s\" again, which is already at %s",
		bind_quote(pair->key, quoted), field->name,
		diag_list_place(bind->diags, first->at, place));
}

static void check_oneof(struct bind_context *bind, const struct message *message,
	const struct schema_field *field, struct position at)
{
	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct message_field *other = &message->fields[i];
		char place[256];

		if (other->field->oneof != field->oneof || other->field == field)
			continue;
		bind_error(bind, at, "oneof-conflict",
			"only one of \"%s\" can be set: \"%s\" here, but \"%s\" at %s",
			field->oneof->name, field->name, other->field->name,
			diag_list_place(bind->diags, other->at, place));
		return;
	}
}

static bool add_item(
	struct bind_context *bind, struct message_field *entry, const union message_value *value)
{
	if (entry->count == entry->capacity) {
		uint32_t capacity = entry->capacity ? entry->capacity * 2 : 4;

		entry->items = arena_grow(bind->arena, entry->items,
			entry->capacity * sizeof(*value), capacity * sizeof(*value));
		if (!entry->items) {
			entry->count = entry->capacity = 0;
			return false;
		}
		entry->capacity = capacity;
	}
	entry->items[entry->count++] = *value;
	return true;
}

/* Lists may stand in lists only where the item is a list itself. */
static bool takes_lists(const struct schema_field *field)
{
	return field->message && (field->message->well_known == SCHEMA_VALUE ||
					 field->message->well_known == SCHEMA_LIST_VALUE);
}

static bool takes_null(const struct schema_field *field)
{
	return (field->message && field->message->well_known == SCHEMA_VALUE) ||
	       (field->enumeration && field->enumeration->is_null_value);
}

/* Recursion ends with the depth of the nodes. */
static bool bind_items(struct bind_context *bind, const struct schema_field *field,
	const struct node *list, struct message_field *entry)
{
	bool is_good = true;

	for (size_t i = 0; i < list->items_count; i++) {
		const struct node *item = list->items[i];
		union message_value value;

		if (item->kind == NODE_LIST && !takes_lists(field)) {
			bind_forgive(bind, item->at,
				"a list in the list \"%s\": its items are taken as if they stood "
				"outside",
				field->name);
			is_good &= bind_items(bind, field, item, entry);
		} else if (bind_is_null(item) && !takes_null(field)) {
			bind_forgive(
				bind, item->at, "null in the list \"%s\" is left out", field->name);
		} else {
			is_good &= bind_value(bind, field, item, &value) &&
				   add_item(bind, entry, &value);
		}
	}
	return is_good;
}

static bool bind_list(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, struct message_field *entry)
{
	union message_value value;

	if (node->kind == NODE_LIST) {
		if (node->items_count <= UINT32_MAX / 2) {
			entry->items = bind_alloc(bind, node->items_count * sizeof(*entry->items));
			entry->capacity = entry->items ? (uint32_t)node->items_count : 0;
		}
		return bind_items(bind, field, node, entry);
	}
	if (!bind_value(bind, field, node, &value))
		return false;
	bind_forgive(bind, node->at, "one value where \"%s\" wants a list: write \"- \" before it",
		field->name);
	return add_item(bind, entry, &value);
}

/* In the one spelling that stands for the number. */
static bool is_plain_integer(struct slice text)
{
	size_t start = text.length && text.data[0] == '-';

	for (size_t i = start; i < text.length; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
	}
	if (text.length == start)
		return false;
	return text.data[start] != '0' || text.length == 1;
}

static bool bind_map_key(struct bind_context *bind, const struct schema_field *map,
	const struct node_pair *pair, union message_value *value)
{
	struct schema_field field = map->message->fields[0];
	char quoted[BIND_TEXT];
	/* Keys are text in JSON; read as if unquoted. */
	struct node key = {.is_plain = true, .at = pair->key_at, .text = pair->key};
	struct slice text = pair->key;

	field.name = map->name; /* what problems are about */
	if (field.type == SCHEMA_STRING) {
		value->bytes = text;
		return true;
	}
	if (field.type == SCHEMA_BOOL ? slice_is(text, "true") || slice_is(text, "false")
				      : is_plain_integer(text))
		return bind_scalar(bind, &field, &key, value);
	bind_error(bind, pair->key_at, "wrong-type", "\"%s\" is no key for \"%s\", which wants %s",
		bind_quote(text, quoted), map->name,
		field.type == SCHEMA_BOOL ? "true or false" : "whole numbers");
	return false;
}

static bool bind_map_value(struct bind_context *bind, const struct schema_field *field,
	const struct node_pair *pair, union message_value *value)
{
	char quoted[BIND_TEXT];

	if (!bind_is_null(pair->value) || takes_null(field))
		return bind_value(bind, field, pair->value, value);
	bind_forgive(bind, pair->value->at,
		"null for \"%s\" in the map \"%s\" stands for an empty value",
		bind_quote(pair->key, quoted), field->name);
	memset(value, 0, sizeof(*value));
	if (field->type == SCHEMA_STRING || field->type == SCHEMA_BYTES)
		value->bytes = SLICE("");
	if (field->type != SCHEMA_MESSAGE)
		return true;
	value->message = bind_new_message(bind, field->message, pair->value->at, 0);
	return value->message != NULL;
}

static bool bind_map(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, struct message_field *entry)
{
	const struct schema_field *key_field = &field->message->fields[0];
	const struct schema_field *value_field = &field->message->fields[1];
	struct schema_field named = *value_field; /* what problems are about */
	bool is_good = true;

	if (node->kind != NODE_MAP) {
		bind_wrong_type(bind, node, field, "a mapping");
		return false;
	}
	entry->items = bind_alloc(bind, node->pairs_count * sizeof(*entry->items));
	if (!entry->items || !bind_enter(bind, node->at))
		return false;
	entry->capacity = (uint32_t)node->pairs_count;
	named.name = field->name;
	for (size_t i = 0; i < node->pairs_count; i++) {
		const struct node_pair *pair = &node->pairs[i];
		struct message *item = bind_new_message(bind, field->message, pair->key_at, 2);
		union message_value key, value;

		if (!item)
			break;
		bool has_key = bind_map_key(bind, field, pair, &key);

		if (!bind_map_value(bind, &named, pair, &value) || !has_key) {
			is_good = false;
			continue;
		}
		bind_append(item, key_field, pair->key_at)->one = key;
		bind_append(item, value_field, pair->value->at)->one = value;
		entry->items[entry->count++].message = item;
	}
	bind->depth--;
	message_sort_map(entry);
	return is_good;
}

bool bind_value(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, union message_value *value)
{
	if (field->type != SCHEMA_MESSAGE && field->type != SCHEMA_GROUP)
		return bind_scalar(bind, field, node, value);
	value->message = bind_node(bind, field->message, field, node);
	return value->message != NULL;
}

/* False: nothing was set (null, an empty list, or an error that was reported). */
static bool bind_entry(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, struct message_field *entry)
{
	if (!field->is_repeated)
		return bind_value(bind, field, node, &entry->one);
	entry->count = 0;
	if (field->is_map)
		return bind_map(bind, field, node, entry) && entry->count;
	return bind_list(bind, field, node, entry) && entry->count;
}

static void check_required(
	struct bind_context *bind, const struct message *message, const struct node *node)
{
	const struct schema_message *type = message->type;
	struct buf missing = BUF_INIT;

	for (uint32_t i = 0; i < type->fields_count; i++) {
		if (type->fields[i].is_required && !message_find(message, type->fields[i].number))
			buf_printf(&missing, "%s\"%s\"", missing.length ? ", " : "",
				type->fields[i].name);
	}
	if (missing.length)
		bind_error(bind, node->at, "missing-field", "%s needs %s", type->full_name,
			buf_cstr(&missing));
	buf_fini(&missing);
}

/* Takes out what equals being unset, and what failed (count 0). */
static void drop_unset(struct message *message)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct message_field *entry = &message->fields[i];

		if (entry->count == 0 || message_holds_default(entry))
			continue;
		if (kept != i)
			message->fields[kept] = *entry;
		kept++;
	}
	message->fields_count = kept;
}

static bool is_unset(const struct schema_field *field, const struct node *value)
{
	if (!bind_is_null(value))
		return false;
	if (field->is_repeated)
		return true;
	/* An enum value may be called NULL. */
	return !takes_null(field) &&
	       !(field->enumeration && schema_enum_by_name(field->enumeration, value->text));
}

struct message *bind_fields(struct bind_context *bind, const struct schema_message *type,
	const struct node *node, bool has_type_key)
{
	struct bind_frame frame = {bind->frame, type};
	struct message *message = bind_new_message(bind, type, node->at, node->pairs_count);
	bool is_sparse = false;

	if (!message)
		return NULL;
	/* cppcheck-suppress autoVariables ; put back below */
	bind->frame = &frame;
	for (size_t i = 0; i < node->pairs_count; i++) {
		const struct node_pair *pair = &node->pairs[i];
		const struct schema_field *field = schema_field_by_name(type, pair->key);
		struct message_field *entry;

		if (!field)
			field = find_extension(bind, type, pair->key);
		if (!field) {
			if (!has_type_key || !slice_is(pair->key, "@type"))
				bind_unknown_field(bind, type, pair);
			continue;
		}
		if (is_unset(field, pair->value))
			continue;
		entry = insert(message, field, pair->key_at);
		if (!entry) {
			complain_twice(bind, message, field, pair);
			continue;
		}
		if (field->oneof)
			check_oneof(bind, message, field, pair->key_at);
		if (!bind_entry(bind, field, pair->value, entry)) {
			entry->count = 0;
			is_sparse = true;
		} else {
			is_sparse |= message_holds_default(entry);
		}
	}
	bind->frame = frame.parent;
	/* Before what failed is dropped: that was reported already. */
	if (type->has_required && !bind->options->allow_partial)
		check_required(bind, message, node);
	if (is_sparse)
		drop_unset(message);
	return message;
}

struct message *bind_node(struct bind_context *bind, const struct schema_message *type,
	const struct schema_field *field, const struct node *node)
{
	struct message *message = NULL;

	if (node->tag == NODE_TAG_DELETE || node->tag == NODE_TAG_FILE) {
		bind_error(bind, node->at, "wrong-type",
			node->tag == NODE_TAG_FILE ? "\"!file\" gives text or bytes, not a message"
						   : "\"!delete\" belongs before a whole resource");
		return NULL;
	}
	if (!bind_enter(bind, node->at))
		return NULL;
	if (type->well_known == SCHEMA_ANY)
		message = bind_any(bind, type, field, node);
	else if (type->well_known != SCHEMA_ORDINARY && type->well_known != SCHEMA_EMPTY)
		message = bind_well_known(bind, type, field, node);
	else if (node->kind == NODE_MAP)
		message = bind_fields(bind, type, node, false);
	else
		bind_wrong_type(bind, node, field, "a mapping");
	bind->depth--;
	return message;
}

static int finish(
	const struct bind_context *bind, struct message *message, struct message **ret_message)
{
	if (arena_failed(bind->arena))
		return -ENOMEM;
	if (bind->is_bad || !message)
		return -EBADMSG;
	*ret_message = message;
	return 0;
}

int bind_message(const struct bind_options *options, const struct schema_message *type,
	const struct node *node, struct arena *arena, struct diag_list *diags,
	struct message **ret_message)
{
	struct bind_context bind = {.options = options, .arena = arena, .diags = diags};
	struct message *message = bind_node(&bind, type, NULL, node);

	return finish(&bind, message, ret_message);
}

int bind_find_type(const struct bind_options *options, const struct node *node,
	struct diag_list *diags, const struct schema_message **ret_type)
{
	struct bind_context bind = {.options = options, .diags = diags};
	const struct node_pair *pair = node_find(node, "@type");

	*ret_type = NULL;
	return pair ? bind_type_url(&bind, pair, ret_type) : 0;
}

int bind_typed(const struct bind_options *options, const struct schema_message *type,
	const struct node *node, struct arena *arena, struct diag_list *diags,
	struct message **ret_message)
{
	struct bind_context bind = {.options = options, .arena = arena, .diags = diags};
	struct message *message = NULL;

	if (node->kind != NODE_MAP)
		bind_wrong_type(&bind, node, NULL, "a mapping");
	else
		message = bind_any_content(&bind, type, node);
	return finish(&bind, message, ret_message);
}
