/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schema/schema_check.h"

#include <stdlib.h>

#include "base/mem.h"

enum {
	CLASS_LETTER = 1, /* and '_' */
	CLASS_DIGIT = 2,
	CLASS_ODD = 4, /* JSON escapes it */
};

static const uint8_t classes[256] = {
	[0x01 ... 0x1f] = CLASS_ODD,
	[0x7f] = CLASS_ODD,
	['"'] = CLASS_ODD,
	['\\'] = CLASS_ODD,
	['0' ... '9'] = CLASS_DIGIT,
	['A' ... 'Z'] = CLASS_LETTER,
	['a' ... 'z'] = CLASS_LETTER,
	['_'] = CLASS_LETTER,
};

static const char *skip_identifier(const char *at)
{
	const uint8_t *byte = (const uint8_t *)at;

	if (classes[*byte] == CLASS_LETTER)
		while (classes[*byte] & (CLASS_LETTER | CLASS_DIGIT))
			byte++;
	return (const char *)byte;
}

bool schema_check_identifier(const char *name)
{
	const char *end = skip_identifier(name);

	return end > name && !*end;
}

bool schema_check_dotted(const char *name, bool may_be_empty)
{
	if (!*name)
		return may_be_empty;
	for (;;) {
		const char *end = skip_identifier(name);

		if (end == name || (*end && *end != '.'))
			return false;
		if (!*end)
			return true;
		name = end + 1;
	}
}

bool schema_check_is_odd(const char *name)
{
	while (*name)
		if (classes[(uint8_t)*name++] == CLASS_ODD)
			return true;
	return false;
}

static bool is_map_key(const struct schema_field *field)
{
	return field->type != SCHEMA_DOUBLE && field->type != SCHEMA_FLOAT &&
	       field->type != SCHEMA_GROUP && field->type != SCHEMA_MESSAGE &&
	       field->type != SCHEMA_BYTES && field->type != SCHEMA_ENUM;
}

const char *schema_check_map_entry(const struct schema_message *message)
{
	const struct schema_field *fields = message->fields;

	if (message->fields_count != 2 || fields[0].number != 1 || fields[1].number != 2 ||
		fields[0].is_repeated || fields[1].is_repeated || fields[0].is_required ||
		fields[1].is_required || fields[0].oneof || fields[1].oneof ||
		fields[1].type == SCHEMA_GROUP || message->has_extensions)
		return "a map entry must have the two fields key = 1 and value = 2";
	if (!is_map_key(&fields[0]))
		return "a map key must be a string, an integer or a bool";
	return NULL;
}

struct shape_field {
	const char *name;
	enum schema_type type;
	bool is_repeated;
	const char *type_name; /* messages and enums */
};

struct shape {
	const char *name;
	enum schema_well_known kind;
	unsigned fields_count;
	struct shape_field fields[6]; /* number is index + 1 */
};

#define FIELD(name, type)                                                                          \
	{                                                                                          \
		(name), (type), false, NULL                                                        \
	}
#define FIELD_OF(name, type, of)                                                                   \
	{                                                                                          \
		(name), (type), false, "google.protobuf." of                                       \
	}
#define REPEATED(name, type)                                                                       \
	{                                                                                          \
		(name), (type), true, NULL                                                         \
	}
#define REPEATED_OF(name, type, of)                                                                \
	{                                                                                          \
		(name), (type), true, "google.protobuf." of                                        \
	}

/* clang-format off */
static const struct shape shapes[] = {
	{"Any", SCHEMA_ANY, 2, {FIELD("type_url", SCHEMA_STRING), FIELD("value", SCHEMA_BYTES)}},
	{"Duration", SCHEMA_DURATION, 2,
		{FIELD("seconds", SCHEMA_INT64), FIELD("nanos", SCHEMA_INT32)}},
	{"Timestamp", SCHEMA_TIMESTAMP, 2,
		{FIELD("seconds", SCHEMA_INT64), FIELD("nanos", SCHEMA_INT32)}},
	{"FieldMask", SCHEMA_FIELD_MASK, 1, {REPEATED("paths", SCHEMA_STRING)}},
	{"Struct", SCHEMA_STRUCT, 1, {REPEATED_OF("fields", SCHEMA_MESSAGE, "Struct.FieldsEntry")}},
	{"Value", SCHEMA_VALUE, 6, {
		FIELD_OF("null_value", SCHEMA_ENUM, "NullValue"),
		FIELD("number_value", SCHEMA_DOUBLE),
		FIELD("string_value", SCHEMA_STRING),
		FIELD("bool_value", SCHEMA_BOOL),
		FIELD_OF("struct_value", SCHEMA_MESSAGE, "Struct"),
		FIELD_OF("list_value", SCHEMA_MESSAGE, "ListValue")}},
	{"ListValue", SCHEMA_LIST_VALUE, 1, {REPEATED_OF("values", SCHEMA_MESSAGE, "Value")}},
	{"DoubleValue", SCHEMA_WRAPPER, 1, {FIELD("value", SCHEMA_DOUBLE)}},
	{"FloatValue", SCHEMA_WRAPPER, 1, {FIELD("value", SCHEMA_FLOAT)}},
	{"Int64Value", SCHEMA_WRAPPER, 1, {FIELD("value", SCHEMA_INT64)}},
	{"UInt64Value", SCHEMA_WRAPPER, 1, {FIELD("value", SCHEMA_UINT64)}},
	{"Int32Value", SCHEMA_WRAPPER, 1, {FIELD("value", SCHEMA_INT32)}},
	{"UInt32Value", SCHEMA_WRAPPER, 1, {FIELD("value", SCHEMA_UINT32)}},
	{"BoolValue", SCHEMA_WRAPPER, 1, {FIELD("value", SCHEMA_BOOL)}},
	{"StringValue", SCHEMA_WRAPPER, 1, {FIELD("value", SCHEMA_STRING)}},
	{"BytesValue", SCHEMA_WRAPPER, 1, {FIELD("value", SCHEMA_BYTES)}},
	{"Empty", SCHEMA_EMPTY, 0, {{NULL, 0, false, NULL}}},
	/* The writers rely on this one, although it is no well-known type by itself. */
	{"Struct.FieldsEntry", SCHEMA_ORDINARY, 2,
		{FIELD("key", SCHEMA_STRING), FIELD_OF("value", SCHEMA_MESSAGE, "Value")}},
};
/* clang-format on */

static bool has_shape(const struct schema_message *message, const struct shape *shape)
{
	if (message->fields_count != shape->fields_count || message->has_extensions ||
		message->is_proto2)
		return false;
	for (unsigned i = 0; i < shape->fields_count; i++) {
		const struct schema_field *field = &message->fields[i];
		const struct shape_field *wanted = &shape->fields[i];
		const char *type_name = field->message	     ? field->message->full_name
					: field->enumeration ? field->enumeration->full_name
							     : NULL;

		if (field->number != i + 1 || field->type != wanted->type ||
			field->is_repeated != wanted->is_repeated ||
			strcmp(field->name, wanted->name) != 0)
			return false;
		if (wanted->type_name && (!type_name || strcmp(type_name, wanted->type_name) != 0))
			return false;
		if (shape->kind == SCHEMA_STRUCT && !field->is_map)
			return false;
		if (shape->kind == SCHEMA_VALUE && field->oneof != &message->oneofs[0])
			return false;
	}
	return true;
}

const char *schema_check_well_known(struct schema_message *message)
{
	const char prefix[] = "google.protobuf.";

	if (strncmp(message->full_name, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (strcmp(message->full_name + sizeof(prefix) - 1, shapes[i].name) != 0)
			continue;
		if (!has_shape(message, &shapes[i]) ||
			(shapes[i].kind == SCHEMA_VALUE && message->oneofs_count == 0))
			return "this well-known type has other fields than protobuf's own";
		message->well_known = shapes[i].kind;
	}
	return NULL;
}

/* Calls edge(from, to) for every message-typed field, extensions included: `from` reaches `to`. */
#define FOR_EACH_EDGE(schema, from, to, ...)                                                       \
	do {                                                                                       \
		for (size_t m_ = 0; m_ < (schema)->messages_count; m_++) {                         \
			const struct schema_message *from = &(schema)->messages[m_];               \
			for (uint32_t f_ = 0; f_ < from->fields_count; f_++) {                     \
				const struct schema_message *to = from->fields[f_].message;        \
				if (to)                                                            \
					__VA_ARGS__                                                \
			}                                                                          \
		}                                                                                  \
		for (size_t e_ = 0; e_ < (schema)->extensions_count; e_++) {                       \
			const struct schema_message *from = (schema)->extensions[e_].parent;       \
			const struct schema_message *to = (schema)->extensions[e_].message;        \
			if (to)                                                                    \
				__VA_ARGS__                                                        \
		}                                                                                  \
	} while (0)

/* Breadth first along reversed edges: linear however the types are chained. */
void schema_check_required(struct schema *schema)
{
	size_t count = schema->messages_count, edges = 0, queued = 0;
	const struct schema_message *base = schema->messages;

	AUTO_FREE uint32_t *queue = xmalloc((count + 1) * sizeof(*queue));
	for (size_t i = 0; i < count; i++)
		if (schema->messages[i].has_required)
			queue[queued++] = (uint32_t)i;
	if (queued == 0)
		return;
	/* starts[i]: end, later start, of the users of message i in `users`. */
	AUTO_FREE uint32_t *starts = xcalloc(count + 1, sizeof(*starts));
	FOR_EACH_EDGE(schema, from, to, {
		(void)from;
		starts[to - base]++;
		edges++;
	});
	AUTO_FREE uint32_t *users = xmalloc((edges + 1) * sizeof(*users));
	for (size_t i = 1; i <= count; i++)
		starts[i] += starts[i - 1];
	FOR_EACH_EDGE(schema, from, to, { users[--starts[to - base]] = (uint32_t)(from - base); });
	for (size_t at = 0; at < queued; at++) {
		for (uint32_t u = starts[queue[at]]; u < starts[queue[at] + 1]; u++) {
			if (schema->messages[users[u]].has_required)
				continue;
			schema->messages[users[u]].has_required = true;
			queue[queued++] = users[u];
		}
	}
}
