/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schema/schema_fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "schema/schema_check.h"
#include "schema/schema_index.h"

#define LABEL_REQUIRED	  GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__LABEL__LABEL_REQUIRED
#define LABEL_REPEATED	  GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__LABEL__LABEL_REPEATED

#define NAME_LIMIT_BYTES  4096 /* a JSON name */
#define FIELDS_LIMIT	  1000000
#define NUMBER_LIMIT	  536870911 /* 2^29 - 1: the rest of a 32-bit tag is the wire type */
#define NUMBER_RESERVED_A 19000
#define NUMBER_RESERVED_Z 19999

static bool can_be_packed(enum schema_type type)
{
	return type != SCHEMA_STRING && type != SCHEMA_BYTES && type != SCHEMA_MESSAGE &&
	       type != SCHEMA_GROUP;
}

/* lowerCamelCase as protoc makes it: '_' goes, the letter after it becomes a capital. */
static char *make_json_name(struct arena *arena, const char *name)
{
	char *json = arena_alloc(arena, strlen(name) + 1), *to = json;
	bool capital = false;

	if (!json)
		return NULL;
	for (; *name; name++) {
		if (*name == '_') {
			capital = true;
			continue;
		}
		*to++ = capital && *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name;
		capital = false;
	}
	*to = '\0';
	return json;
}

/* Names share one allocation: `name` is the end of `full_name`, and json_name may be `name`. */
static bool set_names(struct schema_builder *builder, const struct descset_file *file,
	const char *scope, const Google__Protobuf__FieldDescriptorProto *proto,
	struct schema_field *field)
{
	char *full = schema_build_name(builder, file, scope, proto->name);

	if (!full)
		return false;
	field->full_name = full;
	field->name_length = (uint16_t)strlen(proto->name);
	field->name = full + strlen(full) - field->name_length;
	if (!proto->json_name || strcmp(proto->json_name, field->name) == 0) {
		field->json_name = proto->json_name ? field->name
						    : make_json_name(builder->arena, field->name);
	} else {
		size_t length = strlen(proto->json_name);

		if (length == 0 || length > NAME_LIMIT_BYTES ||
			!text_is_utf8(slice_of(proto->json_name))) {
			schema_build_problem(builder, file, full,
				"its JSON name is empty, too long or not UTF-8");
			return false;
		}
		field->has_odd_json_name = schema_check_is_odd(proto->json_name);
		field->json_name = arena_strdup(builder->arena, proto->json_name);
	}
	if (!field->json_name) {
		builder->is_full = true;
		return false;
	}
	field->json_name_length = (uint16_t)strlen(field->json_name);
	return true;
}

/* The type, and what it refers to. NULL, or what is wrong. */
static const char *set_type(struct schema_builder *builder, const char *scope,
	const Google__Protobuf__FieldDescriptorProto *proto, struct schema_field *field)
{
	const void *object = NULL;
	enum schema_symbol kind = SYMBOL_NONE;

	if (proto->type_name)
		kind = schema_build_resolve(builder, scope, proto->type_name, &object);
	if (proto->has_type) {
		if ((int)proto->type < SCHEMA_DOUBLE || (int)proto->type > SCHEMA_SINT64)
			return "its type is not known";
		field->type = (enum schema_type)proto->type;
	} else {
		field->type = kind == SYMBOL_ENUM ? SCHEMA_ENUM : SCHEMA_MESSAGE;
	}
	if (field->type == SCHEMA_MESSAGE || field->type == SCHEMA_GROUP) {
		if (kind != SYMBOL_MESSAGE)
			return "its message type is not declared in the set";
		field->message = object;
	} else if (field->type == SCHEMA_ENUM) {
		if (kind != SYMBOL_ENUM)
			return "its enum type is not declared in the set";
		field->enumeration = object;
	} else if (proto->type_name) {
		return "a scalar field names a type";
	}
	return NULL;
}

static const char *check_number(const Google__Protobuf__FieldDescriptorProto *proto, int64_t limit)
{
	if (proto->number < 1 || proto->number > limit)
		return "its number is out of range";
	if (proto->number >= NUMBER_RESERVED_A && proto->number <= NUMBER_RESERVED_Z &&
		limit == NUMBER_LIMIT)
		return "its number is reserved for protobuf (19000 to 19999)";
	return NULL;
}

/* What fields and extensions have in common. NULL, or what is wrong. */
static const char *set_common(struct schema_builder *builder, const struct descset_file *file,
	const char *scope, const Google__Protobuf__FieldDescriptorProto *proto,
	struct schema_field *field)
{
	bool is_proto2 = schema_build_is_proto2(file);
	int label = proto->has_label ? (int)proto->label : 1;
	const char *problem = set_type(builder, scope, proto, field);

	if (problem)
		return problem;
	if (label < 1 || label > 3)
		return "its label is not known";
	if (++builder->fields_count > FIELDS_LIMIT)
		return "the schema has more than 1,000,000 fields";
	field->number = (uint32_t)proto->number;
	field->is_repeated = label == LABEL_REPEATED;
	field->is_required = label == LABEL_REQUIRED;
	if (field->type == SCHEMA_GROUP && !is_proto2)
		return "proto3 has no groups";
	if (field->is_required && !is_proto2)
		return "proto3 has no required fields";
	if (field->is_repeated && can_be_packed(field->type))
		field->is_packed = proto->options && proto->options->has_packed
					   ? proto->options->packed
					   : !is_proto2;
	field->check_utf8 = field->type == SCHEMA_STRING && !is_proto2;
	field->has_presence = !field->is_repeated && (field->message || is_proto2);
	if (proto->default_value) {
		field->default_text = arena_strdup(builder->arena, proto->default_value);
		builder->is_full = builder->is_full || !field->default_text;
	}
	field->options =
		schema_build_options(builder, proto->options ? &proto->options->base : NULL);
	return NULL;
}

static const char *set_map(const struct schema_builder *builder, struct schema_field *field)
{
	if (!field->message || !field->message->is_map_entry)
		return NULL;
	size_t entry = (size_t)(field->message - builder->schema->messages);
	if (!field->is_repeated || field->is_extension || field->type != SCHEMA_MESSAGE ||
		builder->declared[entry].parent != field->parent)
		return "a map entry type may only be used by the repeated field it was made for";
	field->is_map = true;
	return NULL;
}

/* Room for the real oneofs. `map[i]` is the oneof of declaration i, NULL for those that only
 * carry a proto3 `optional`. */
static bool build_oneofs(struct schema_builder *builder, size_t index, struct schema_oneof **map)
{
	const struct schema_declared *declared = &builder->declared[index];
	const Google__Protobuf__DescriptorProto *proto = declared->proto;
	struct schema_message *message = &builder->schema->messages[index];
	AUTO_FREE uint32_t *members = xcalloc(proto->n_oneof_decl + 1, sizeof(*members));
	AUTO_FREE bool *synthetic = xcalloc(proto->n_oneof_decl + 1, sizeof(*synthetic));
	struct schema_oneof *oneofs =
		arena_zalloc(builder->arena, (proto->n_oneof_decl + 1) * sizeof(*oneofs));

	builder->is_full = builder->is_full || !oneofs;
	if (!oneofs)
		return false;
	for (size_t i = 0; i < proto->n_field; i++) {
		const Google__Protobuf__FieldDescriptorProto *field = proto->field[i];

		if (!field->has_oneof_index)
			continue;
		if (field->oneof_index < 0 || (size_t)field->oneof_index >= proto->n_oneof_decl ||
			(field->has_label && (int)field->label != 1)) {
			schema_build_problem(builder, declared->file, message->full_name,
				"field %.100s is no proper member of a oneof",
				field->name ? field->name : "");
			return false;
		}
		members[field->oneof_index]++;
		synthetic[field->oneof_index] |= field->proto3_optional;
	}
	message->oneofs = oneofs;
	for (size_t i = 0; i < proto->n_oneof_decl; i++) {
		const Google__Protobuf__OneofDescriptorProto *oneof_proto = proto->oneof_decl[i];
		struct schema_oneof *oneof = &oneofs[message->oneofs_count];

		if (members[i] == 0 || (synthetic[i] && members[i] != 1)) {
			schema_build_problem(builder, declared->file, message->full_name,
				"oneof %.100s has %" PRIu32 " fields",
				oneof_proto->name ? oneof_proto->name : "", members[i]);
			return false;
		}
		if (synthetic[i])
			continue;
		char *full = schema_build_name(
			builder, declared->file, message->full_name, oneof_proto->name);
		oneof->fields = arena_zalloc(
			builder->arena, members[i] * sizeof(const struct schema_field *));
		if (!full || !oneof->fields) {
			builder->is_full = builder->is_full || !oneof->fields;
			return false;
		}
		oneof->name = full + strlen(full) - strlen(oneof_proto->name);
		oneof->parent = message;
		oneof->options = schema_build_options(
			builder, oneof_proto->options ? &oneof_proto->options->base : NULL);
		map[i] = oneof;
		message->oneofs_count++;
	}
	return true;
}

static int compare_protos(const void *left, const void *right)
{
	const Google__Protobuf__FieldDescriptorProto *const *a = left, *const *b = right;

	return ((*a)->number > (*b)->number) - ((*a)->number < (*b)->number);
}

static const char *build_field(struct schema_builder *builder, const struct schema_message *message,
	const struct descset_file *file, const Google__Protobuf__FieldDescriptorProto *proto,
	struct schema_oneof *const *map, struct schema_field *field)
{
	const char *problem = check_number(proto, NUMBER_LIMIT);

	field->parent = message;
	if (!problem)
		problem = set_common(builder, file, message->full_name, proto, field);
	if (!problem)
		problem = set_map(builder, field);
	if (problem)
		return problem;
	if (proto->extendee)
		return "a field of a message names a message to extend";
	if (proto->has_oneof_index) {
		struct schema_oneof *oneof = map[proto->oneof_index];

		field->has_presence = true;
		field->oneof = oneof;
		if (oneof)
			oneof->fields[oneof->fields_count++] = field;
		if (field->is_required)
			return "a member of a oneof cannot be required";
	} else if (proto->proto3_optional) {
		return "a proto3 `optional` field has no oneof of its own";
	}
	return NULL;
}

static bool build_fields(struct schema_builder *builder, size_t index, struct schema_oneof **map)
{
	const struct schema_declared *declared = &builder->declared[index];
	struct schema_message *message = &builder->schema->messages[index];
	size_t count = declared->proto->n_field;
	const Google__Protobuf__FieldDescriptorProto **protos =
		xmalloc((count + 1) * sizeof(*protos));
	struct schema_field *fields = arena_zalloc(builder->arena, (count + 1) * sizeof(*fields));
	bool is_fine = fields != NULL, is_sorted = true;

	builder->is_full = builder->is_full || !fields;
	for (size_t i = 0; i < count; i++) {
		protos[i] = declared->proto->field[i];
		is_sorted = is_sorted && (i == 0 || protos[i - 1]->number <= protos[i]->number);
	}
	if (!is_sorted)
		qsort(protos, count, sizeof(*protos), compare_protos);
	message->fields = fields;
	for (size_t i = 0; is_fine && i < count; i++) {
		const char *problem;

		is_fine = set_names(
			builder, declared->file, message->full_name, protos[i], &fields[i]);
		if (!is_fine)
			break;
		problem = build_field(builder, message, declared->file, protos[i], map, &fields[i]);
		if (!problem && i > 0 && fields[i - 1].number == fields[i].number)
			problem = "another field has the same number";
		if (problem) {
			schema_build_problem(builder, declared->file, fields[i].full_name,
				"number %" PRId32 ": %s", protos[i]->number, problem);
			is_fine = false;
		}
		message->has_required = message->has_required || fields[i].is_required;
		message->fields_count++;
	}
	free(protos);
	return is_fine;
}

void schema_fields_message(struct schema_builder *builder, size_t index)
{
	const struct schema_declared *declared = &builder->declared[index];
	struct schema_message *message = &builder->schema->messages[index];
	const struct schema_field *first, *second;
	struct schema_oneof **map = xcalloc(declared->proto->n_oneof_decl + 1, sizeof(*map));
	bool is_fine = build_oneofs(builder, index, map) && build_fields(builder, index, map);

	free(map);
	if (!is_fine)
		return;
	if (message->is_message_set &&
		(message->fields_count || !message->has_extensions || !message->is_proto2))
		schema_build_problem(builder, declared->file, message->full_name,
			"a message set must be a proto2 message with extensions and no fields");
	int rc = schema_index_message(builder->arena, message, &first, &second);
	if (rc == -EEXIST)
		schema_build_problem(builder, declared->file, message->full_name,
			"fields %s and %s have the same name or JSON name", first->name,
			second->name);
	builder->is_full = builder->is_full || rc == -ENOMEM;
}

static bool in_extension_range(
	const struct schema_builder *builder, const struct schema_message *message, int64_t number)
{
	size_t index = (size_t)(message - builder->schema->messages);
	const Google__Protobuf__DescriptorProto *proto = builder->declared[index].proto;

	for (size_t i = 0; i < proto->n_extension_range; i++)
		if (number >= proto->extension_range[i]->start &&
			number < proto->extension_range[i]->end)
			return true;
	/* The open end of a message set, 2^31 - 1, is inside. */
	return message->is_message_set && number == INT32_MAX;
}

void schema_fields_extension(struct schema_builder *builder, const struct descset_file *file,
	const char *scope, const Google__Protobuf__FieldDescriptorProto *proto,
	struct schema_field *extension)
{
	const void *extendee = NULL;
	const char *problem = NULL;

	if (!set_names(builder, file, scope, proto, extension))
		return;
	extension->is_extension = true;
	if (!proto->extendee ||
		schema_build_resolve(builder, scope, proto->extendee, &extendee) != SYMBOL_MESSAGE)
		problem = "the message it extends is not declared in the set";
	extension->parent = extendee;
	if (!problem)
		problem = check_number(
			proto, extension->parent->is_message_set ? INT32_MAX : NUMBER_LIMIT);
	if (!problem && !in_extension_range(builder, extension->parent, proto->number))
		problem = "its number is in no extension range of the message it extends";
	if (!problem)
		problem = set_common(builder, file, scope, proto, extension);
	if (!problem)
		problem = set_map(builder, extension);
	if (!problem && (extension->is_required || proto->has_oneof_index))
		problem = "an extension can be neither required nor in a oneof";
	if (!problem && extension->parent->is_message_set &&
		(extension->type != SCHEMA_MESSAGE || extension->is_repeated))
		problem = "an extension of a message set must be a single message";
	extension->has_presence = !extension->is_repeated;
	if (problem)
		schema_build_problem(builder, file, extension->full_name, "number %" PRId32 ": %s",
			proto->number, problem);
}
