/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/explain.h"

#include <stdlib.h>

#include "author/plain.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "snapshot/types.h"
#include "validate/rules_words.h"

#define TREE_FIELDS 20000

static const char *const scalars[] = {
	[SCHEMA_DOUBLE] = "double",
	[SCHEMA_FLOAT] = "float",
	[SCHEMA_INT64] = "int64",
	[SCHEMA_UINT64] = "uint64",
	[SCHEMA_INT32] = "int32",
	[SCHEMA_FIXED64] = "uint64",
	[SCHEMA_FIXED32] = "uint32",
	[SCHEMA_BOOL] = "bool",
	[SCHEMA_STRING] = "string",
	[SCHEMA_BYTES] = "bytes",
	[SCHEMA_UINT32] = "uint32",
	[SCHEMA_SFIXED32] = "int32",
	[SCHEMA_SFIXED64] = "int64",
	[SCHEMA_SINT32] = "int32",
	[SCHEMA_SINT64] = "int64",
	[SCHEMA_ENUM] = NULL,
};

/* How values of such messages are written. */
static const char *const formats[] = {
	[SCHEMA_ANY] = "a mapping with \"@type\" and the fields of that message",
	[SCHEMA_DURATION] = "seconds, such as 0.25s",
	[SCHEMA_TIMESTAMP] = "a time, such as 2006-01-02T15:04:05Z",
	[SCHEMA_FIELD_MASK] = "names of fields separated by commas",
	[SCHEMA_STRUCT] = "any mapping",
	[SCHEMA_VALUE] = "any value",
	[SCHEMA_LIST_VALUE] = "any list",
	[SCHEMA_EMPTY] = "{}",
};

/* Descriptor sets of others may hold anything: what is no UTF-8 is escaped. */
static void set_text(json_t *to, const char *key, struct slice text)
{
	struct buf quoted = BUF_INIT;

	if (text.length && !text_is_utf8(text)) {
		text_quote(&quoted, text, 0);
		text = buf_slice(&quoted);
	}
	if (text.length)
		json_object_set_new(to, key, json_stringn_nocheck(text.data, text.length));
	buf_fini(&quoted);
}

static void set_string(json_t *to, const char *key, const char *text)
{
	if (text)
		set_text(to, key, slice_of(text));
}

static void set_flag(json_t *to, const char *key, bool is_set)
{
	if (is_set)
		json_object_set_new(to, key, json_true());
}

void explain_comment(json_t *to, struct slice comment)
{
	struct buf text = BUF_INIT;

	plain_text(&text, comment);
	set_text(to, "description", buf_slice(&text));
	set_flag(to, "not_implemented", plain_has_mark(comment, "not-implemented-hide"));
	buf_fini(&text);
}

/* ---- fields ---- */

static const char *scalar_of(const struct schema_field *field)
{
	const struct schema_message *message = field->message;

	if (message && message->well_known == SCHEMA_WRAPPER)
		return scalars[message->fields[0].type];
	return message || field->enumeration ? NULL : scalars[field->type];
}

const char *explain_scalar(const struct schema_field *field)
{
	return scalar_of(field->is_map ? &field->message->fields[1] : field);
}

/* "map[string]RouteAction", "[]uint32" */
static void put_type(const struct explain_from *from, const struct schema_field *field, json_t *to)
{
	const struct schema_message *message = path_message_of(field);
	const struct schema_enum *enumeration = path_enum_of(field);
	const char *scalar = explain_scalar(field);
	struct buf text = BUF_INIT;

	if (field->is_map)
		buf_printf(&text, "map[%s]", scalars[field->message->fields[0].type]);
	else if (field->is_repeated)
		buf_puts(&text, "[]");
	if (scalar)
		buf_puts(&text, scalar);
	else if (enumeration)
		buf_puts(&text, names_short(from->schema, enumeration->full_name));
	else if (message)
		buf_puts(&text, names_short(from->schema, message->full_name));
	set_text(to, "type", buf_slice(&text));
	buf_fini(&text);
	if (message && !scalar) {
		set_string(to, "message", message->full_name);
		set_string(to, "format", formats[message->well_known]);
	}
	if (enumeration)
		set_string(to, "enum", enumeration->full_name);
	set_flag(to, "is_wrapper", scalar && message);
}

/* What an unset field counts as, where unset and that cannot be told apart; or of proto2. */
static void put_default(const struct schema_field *field, json_t *to)
{
	const struct schema_enum_value *zero;

	if (field->default_text) {
		set_string(to, "default", field->default_text);
		return;
	}
	if (field->is_repeated || field->message || field->has_presence)
		return;
	switch ((int)field->type) {
	case SCHEMA_BOOL:
		set_string(to, "default", "false");
		break;
	case SCHEMA_ENUM:
		zero = schema_enum_by_number(field->enumeration, 0);
		set_string(to, "default", zero ? zero->name : NULL);
		break;
	case SCHEMA_STRING:
	case SCHEMA_BYTES:
		break; /* empty, as one would think */
	default:
		set_string(to, "default", "0");
		break;
	}
}

static void add_rule(void *ctx, const char *id, const char *text)
{
	json_t *rule = json_object();

	set_string(rule, "id", id);
	set_string(rule, "text", text);
	json_array_append_new(ctx, rule);
}

static void put_rules(const struct explain_from *from, const struct schema_field *field, json_t *to)
{
	const struct field_rules *rules = rules_of_field(from->book, field);
	json_t *list;

	if (!rules)
		return;
	list = json_array();
	rules_words(rules, add_rule, list);
	if (json_array_size(list))
		json_object_set(to, "rules", list);
	json_decref(list);
	/* In a oneof: if it is the one. */
	set_flag(to, "required", rules->is_required && !field->oneof);
	set_flag(to, "deprecated", rules->is_deprecated);
	set_string(to, "deprecated_at", rules->deprecated_at);
	set_flag(to, "disallowed", rules->is_disallowed);
	set_flag(to, "work_in_progress", rules->is_unfinished);
	set_flag(to, "sensitive", rules->is_sensitive);
}

json_t *explain_field(const struct explain_from *from, const struct schema_field *field)
{
	json_t *to = json_object();

	set_string(to, "name", field->name);
	if (strcmp(field->name, field->json_name) != 0)
		set_string(to, "json_name", field->json_name);
	json_object_set_new(to, "number", json_integer(field->number));
	put_type(from, field, to);
	if (field->oneof)
		set_string(to, "oneof", field->oneof->name);
	put_default(field, to);
	put_rules(from, field, to);
	explain_comment(to, comments_find(from->comments, field->parent->full_name, field->name));
	return to;
}

/* ---- what is below ---- */

/* A tree that is being made: the messages it is in, to see cycles. */
struct tree {
	const struct explain_from *from;
	unsigned depth;
	const struct schema_message *above[LIMIT_DEPTH + 1];
	unsigned level;
	size_t count;
};

static json_t *make_tree(struct tree *tree, const struct schema_message *message);

static bool is_above(const struct tree *tree, const struct schema_message *message)
{
	for (unsigned i = 0; i < tree->level; i++)
		if (tree->above[i] == message)
			return true;
	return false;
}

static json_t *make_leaf(struct tree *tree, const struct schema_field *field)
{
	const struct schema_message *message = path_message_of(field);
	json_t *leaf = json_object();

	tree->count++;
	set_string(leaf, "name", field->name);
	put_type(tree->from, field, leaf);
	if (field->oneof)
		set_string(leaf, "oneof", field->oneof->name);
	put_rules(tree->from, field, leaf);
	json_object_del(leaf, "rules");
	if (!message || message->well_known != SCHEMA_ORDINARY)
		return leaf;
	if (is_above(tree, message))
		set_flag(leaf, "cycle", true);
	else if (tree->level == tree->depth || tree->count >= TREE_FIELDS)
		set_flag(leaf, "cut", message->fields_count > 0);
	else
		json_object_set_new(leaf, "fields", make_tree(tree, message));
	return leaf;
}

static json_t *make_tree(struct tree *tree, const struct schema_message *message)
{
	json_t *list = json_array();

	tree->above[tree->level++] = message;
	for (uint32_t i = 0; i < message->fields_count && tree->count < TREE_FIELDS; i++)
		json_array_append_new(list, make_leaf(tree, &message->fields[i]));
	tree->level--;
	return list;
}

static json_t *make_fields(
	const struct explain_from *from, const struct schema_message *message, unsigned depth)
{
	struct tree tree = {.from = from, .depth = depth < LIMIT_DEPTH ? depth : LIMIT_DEPTH};
	json_t *list;

	if (depth)
		return make_tree(&tree, message);
	list = json_array();
	for (uint32_t i = 0; i < message->fields_count; i++)
		json_array_append_new(list, explain_field(from, &message->fields[i]));
	return list;
}

static bool is_required(const struct explain_from *from, const struct schema_oneof *oneof)
{
	const struct message_rules *rules = rules_of(from->book, oneof->parent);

	for (uint32_t i = 0; rules && i < rules->required_count; i++)
		if (rules->required[i] == oneof)
			return true;
	return false;
}

static json_t *make_oneof(const struct explain_from *from, const struct schema_oneof *oneof)
{
	json_t *to = json_object(), *members = json_array();

	set_string(to, "name", oneof->name);
	set_flag(to, "required", is_required(from, oneof));
	for (uint32_t i = 0; i < oneof->fields_count; i++)
		json_array_append_new(members, json_string_nocheck(oneof->fields[i]->name));
	json_object_set_new(to, "members", members);
	explain_comment(to, comments_find(from->comments, oneof->parent->full_name, oneof->name));
	return to;
}

static void put_oneofs(
	const struct explain_from *from, const struct schema_message *message, json_t *to)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < message->oneofs_count; i++)
		json_array_append_new(list, make_oneof(from, &message->oneofs[i]));
	if (json_array_size(list))
		json_object_set(to, "oneofs", list);
	json_decref(list);
}

static json_t *make_value(const struct explain_from *from, const struct schema_enum *enumeration,
	const struct schema_enum_value *value)
{
	struct value_marks marks = rules_value_marks(from->book, value);
	json_t *to = json_object();

	set_string(to, "name", value->name);
	json_object_set_new(to, "number", json_integer(value->number));
	set_flag(to, "deprecated", marks.is_deprecated);
	set_string(to, "deprecated_at", marks.deprecated_at);
	set_flag(to, "disallowed", marks.is_disallowed);
	explain_comment(to, comments_find(from->comments, enumeration->full_name, value->name));
	return to;
}

static void put_values(
	const struct explain_from *from, const struct schema_enum *enumeration, json_t *to)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < enumeration->values_count; i++)
		json_array_append_new(list, make_value(from, enumeration, &enumeration->values[i]));
	json_object_set_new(to, "values", list);
}

/* The messages that an Any may hold, as far as comments tell. */
static void put_fitting(const struct explain_from *from, const struct path *path, json_t *to)
{
	const struct names_extension *fitting;
	struct buf categories = BUF_INIT;
	json_t *list = json_array();
	size_t count;

	names_categories(from->names, path->field, path->outer, &categories);
	fitting = names_fitting(from->names, buf_slice(&categories), &count);
	for (size_t i = 0; i < count; i++) {
		json_t *one = json_object();
		const char *name = fitting[i].message->full_name;

		set_string(one, "name", names_short(from->schema, name));
		set_string(one, "full_name", name);
		set_text(one, "extension", fitting[i].name);
		json_array_append_new(list, one);
	}
	if (count)
		json_object_set(to, "fitting", list);
	json_decref(list);
	buf_fini(&categories);
}

/* ---- documents ---- */

static void put_message(const struct explain_from *from, const struct schema_message *message,
	unsigned depth, json_t *to)
{
	if (message->well_known != SCHEMA_ORDINARY)
		return;
	put_oneofs(from, message, to);
	json_object_set_new(to, "fields", make_fields(from, message, depth));
}

static json_t *explain_message(
	const struct explain_from *from, const struct schema_message *message, unsigned depth)
{
	const struct xds_type_row *row = xds_type_by_message(slice_of(message->full_name));
	const struct message_rules *rules = rules_of(from->book, message);
	json_t *to = json_object();

	set_string(to, "kind", "message");
	set_string(to, "name", names_short(from->schema, message->full_name));
	set_string(to, "full_name", message->full_name);
	set_string(to, "file", message->file_name);
	if (row) {
		set_string(to, "resource", row->name);
		set_string(to, "folder", row->folder);
	}
	set_text(to, "extension", names_extension_of(from->names, message));
	set_string(to, "format", formats[message->well_known]);
	set_flag(to, "work_in_progress", rules && rules->is_unfinished);
	explain_comment(to, comments_find(from->comments, message->full_name, NULL));
	put_message(from, message, depth, to);
	return to;
}

static json_t *explain_one_field(
	const struct explain_from *from, const struct path *path, unsigned depth)
{
	const struct schema_field *field = path->field;
	json_t *to = json_object(), *own = explain_field(from, field);

	set_string(to, "kind", "field");
	set_string(to, "parent", field->parent->full_name);
	set_string(to, "parent_name", names_short(from->schema, field->parent->full_name));
	json_object_update(to, own);
	json_decref(own);
	if (path->enumeration)
		put_values(from, path->enumeration, to);
	if (!path->message)
		return to;
	if (path->message->well_known == SCHEMA_ANY) {
		put_fitting(from, path, to);
	} else if (path->message->well_known == SCHEMA_ORDINARY) {
		json_t *about = json_object();

		explain_comment(
			about, comments_find(from->comments, path->message->full_name, NULL));
		if (json_object_size(about))
			json_object_set(to, "message_comment", about);
		json_decref(about);
		put_message(from, path->message, depth, to);
	}
	return to;
}

static json_t *explain_oneof(const struct explain_from *from, const struct schema_oneof *oneof)
{
	json_t *to = make_oneof(from, oneof), *list = json_array();

	set_string(to, "kind", "oneof");
	set_string(to, "parent", oneof->parent->full_name);
	set_string(to, "parent_name", names_short(from->schema, oneof->parent->full_name));
	for (uint32_t i = 0; i < oneof->fields_count; i++)
		json_array_append_new(list, explain_field(from, oneof->fields[i]));
	json_object_set_new(to, "fields", list);
	return to;
}

static json_t *explain_enum(const struct explain_from *from, const struct schema_enum *enumeration)
{
	json_t *to = json_object();

	set_string(to, "kind", "enum");
	set_string(to, "name", names_short(from->schema, enumeration->full_name));
	set_string(to, "full_name", enumeration->full_name);
	explain_comment(to, comments_find(from->comments, enumeration->full_name, NULL));
	put_values(from, enumeration, to);
	return to;
}

static json_t *explain_value(const struct explain_from *from, const struct path *path)
{
	json_t *to = make_value(from, path->enumeration, path->value);

	set_string(to, "kind", "value");
	set_string(to, "parent", path->enumeration->full_name);
	set_string(to, "parent_name", names_short(from->schema, path->enumeration->full_name));
	return to;
}

json_t *explain_path(const struct explain_from *from, const struct path *path, unsigned depth)
{
	switch (path->kind) {
	case PATH_MESSAGE:
		return explain_message(from, path->message, depth);
	case PATH_FIELD:
		return explain_one_field(from, path, depth);
	case PATH_ONEOF:
		return explain_oneof(from, path->oneof);
	case PATH_ENUM:
		return explain_enum(from, path->enumeration);
	case PATH_VALUE:
		return explain_value(from, path);
	}
	return NULL;
}
