/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schema/schema_build.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "schema/schema_check.h"
#include "schema/schema_fields.h"
#include "schema/schema_index.h"

#define NAME_LIMIT_BYTES 4096

/* Objects are aligned to 8, so the low bits of a symbol's pointer say what it is. */
#define SYMBOL_MASK ((uintptr_t)7)

enum schema_symbol schema_symbol(
	const struct schema *schema, struct slice name, const void **ret_object)
{
	uintptr_t tagged = (uintptr_t)hash_get(&schema->symbols, name);

	*ret_object = (const void *)(tagged & ~SYMBOL_MASK);
	return (enum schema_symbol)(tagged & SYMBOL_MASK);
}

void schema_build_problem(struct schema_builder *builder, const struct descset_file *file,
	const char *what, const char *format, ...)
{
	struct buf text = BUF_INIT;
	char detail[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(detail, sizeof(detail), format, arguments);
	va_end(arguments);
	buf_printf(&text, "%s: %.200s: %s", file->proto->name, what, detail);
	diag_error(builder->diags, file->set_name, (struct position){0}, "schema-invalid", "%s",
		buf_cstr(&text));
	buf_fini(&text);
	builder->is_bad = true;
}

char *schema_build_name(struct schema_builder *builder, const struct descset_file *file,
	const char *scope, const char *name)
{
	if (!name || !schema_check_identifier(name)) {
		schema_build_problem(
			builder, file, scope, "\"%.100s\" is no valid name", name ? name : "");
		return NULL;
	}
	size_t scope_length = strlen(scope), length = strlen(name);
	if (scope_length + length >= NAME_LIMIT_BYTES) {
		schema_build_problem(builder, file, scope, "a name in it is longer than %d bytes",
			NAME_LIMIT_BYTES);
		return NULL;
	}
	char *full = arena_alloc(builder->arena, scope_length + length + 2);
	if (!full) {
		builder->is_full = true;
		return NULL;
	}
	memcpy(full, scope, scope_length);
	if (scope_length)
		full[scope_length++] = '.';
	memcpy(full + scope_length, name, length + 1);
	return full;
}

struct slice schema_build_options(struct schema_builder *builder, const ProtobufCMessage *options)
{
	if (!options)
		return (struct slice){0};
	size_t size = protobuf_c_message_get_packed_size(options);
	char *bytes = arena_alloc(builder->arena, size + 1);
	if (!bytes) {
		builder->is_full = true;
		return (struct slice){0};
	}
	protobuf_c_message_pack(options, (uint8_t *)bytes);
	return (struct slice){bytes, size};
}

bool schema_build_is_proto2(const struct descset_file *file)
{
	const char *syntax = file->proto->syntax;

	return !syntax || !syntax[0] || strcmp(syntax, "proto2") == 0;
}

enum schema_symbol schema_build_resolve(const struct schema_builder *builder, const char *scope,
	const char *type_name, const void **ret_object)
{
	char name[2 * NAME_LIMIT_BYTES + 2];
	size_t scope_length = strlen(scope), length = strlen(type_name);

	if (type_name[0] == '.')
		return schema_symbol(
			builder->schema, (struct slice){type_name + 1, length - 1}, ret_object);
	if (length > NAME_LIMIT_BYTES || scope_length > NAME_LIMIT_BYTES)
		return SYMBOL_NONE;
	memcpy(name, scope, scope_length);
	for (;;) {
		size_t start = scope_length ? scope_length + 1 : 0;

		if (scope_length)
			name[scope_length] = '.';
		memcpy(name + start, type_name, length);
		enum schema_symbol kind = schema_symbol(
			builder->schema, (struct slice){name, start + length}, ret_object);
		if (kind != SYMBOL_NONE || scope_length == 0)
			return kind;
		const char *dot = memrchr(scope, '.', scope_length);
		scope_length = dot ? (size_t)(dot - scope) : 0;
	}
}

void schema_build_enter(struct schema_builder *builder, const struct descset_file *file,
	const char *full_name, enum schema_symbol kind, const void *object)
{
	struct slice name = slice_of(full_name);

	assert(((uintptr_t)object & SYMBOL_MASK) == 0);
	if (hash_get(&builder->schema->symbols, name))
		schema_build_problem(builder, file, full_name, "declared twice");
	else
		hash_put(&builder->schema->symbols, name, (void *)((uintptr_t)object | kind));
}

static const char *package_of(const struct descset_file *file)
{
	return file->proto->package ? file->proto->package : "";
}

static void check_file(struct schema_builder *builder, const struct descset_file *file)
{
	const Google__Protobuf__FileDescriptorProto *proto = file->proto;

	if (!schema_check_dotted(package_of(file), true) ||
		strlen(package_of(file)) >= NAME_LIMIT_BYTES)
		schema_build_problem(
			builder, file, "package", "\"%.100s\" is no valid name", package_of(file));
	if (!schema_build_is_proto2(file) && strcmp(proto->syntax, "proto3") != 0)
		schema_build_problem(builder, file, "syntax",
			"\"%.40s\" is not known, only proto2 and proto3 are", proto->syntax);
	for (size_t i = 0; i < proto->n_dependency; i++)
		if (!descset_find(builder->set, proto->dependency[i]))
			schema_build_problem(builder, file, "import",
				"%.200s is missing; make the set with --include_imports or add a "
				"set that has it",
				proto->dependency[i]);
}

static void declare(struct schema_builder *builder, const Google__Protobuf__DescriptorProto *proto,
	const struct descset_file *file)
{
	array_reserve(builder->declared, builder->declared_capacity, builder->declared_count + 1);
	builder->declared[builder->declared_count++] =
		(struct schema_declared){.proto = proto, .file = file};
}

/* Lists all messages breadth first; nested ones get their parent's index + 1 for the time being,
 * because schema->messages is allocated when the count is known. */
static void list_messages(struct schema_builder *builder, size_t **ret_parents)
{
	size_t files_count, *parents = NULL, capacity = 0;
	const struct descset_file *files = descset_files(builder->set, &files_count);

	for (size_t f = 0; f < files_count; f++)
		for (size_t i = 0; i < files[f].proto->n_message_type; i++)
			declare(builder, files[f].proto->message_type[i], &files[f]);
	array_reserve(parents, capacity, builder->declared_count + 1);
	memset(parents, 0, capacity * sizeof(*parents));
	for (size_t at = 0; at < builder->declared_count; at++) {
		const struct schema_declared outer = builder->declared[at];

		for (size_t i = 0; i < outer.proto->n_nested_type; i++) {
			declare(builder, outer.proto->nested_type[i], outer.file);
			array_reserve(parents, capacity, builder->declared_count + 1);
			parents[builder->declared_count - 1] = at + 1;
		}
	}
	*ret_parents = parents;
}

static const char *kept_name(const struct schema *schema, const struct descset_file *file)
{
	const struct schema_kept_file *kept = hash_get(&schema->files, slice_of(file->proto->name));

	return kept->name;
}

static void declare_messages(struct schema_builder *builder)
{
	struct schema *schema = builder->schema;
	size_t *parents;

	list_messages(builder, &parents);
	schema->messages_count = builder->declared_count;
	schema->messages = arena_zalloc(
		builder->arena, (schema->messages_count + 1) * sizeof(*schema->messages));
	builder->is_full = builder->is_full || !schema->messages;
	for (size_t i = 0; i < builder->declared_count && !builder->is_full; i++) {
		struct schema_declared *declared = &builder->declared[i];
		struct schema_message *message = &schema->messages[i];
		const Google__Protobuf__DescriptorProto *proto = declared->proto;
		const Google__Protobuf__MessageOptions *options = proto->options;

		if (parents[i])
			declared->parent = &schema->messages[parents[i] - 1];
		message->full_name = schema_build_name(builder, declared->file,
			declared->parent ? declared->parent->full_name : package_of(declared->file),
			proto->name);
		/* A name for what is nested in it; the build fails anyway. */
		if (!message->full_name)
			message->full_name = "";
		else
			schema_build_enter(builder, declared->file, message->full_name,
				SYMBOL_MESSAGE, message);
		message->file_name = kept_name(schema, declared->file);
		message->is_proto2 = schema_build_is_proto2(declared->file);
		message->has_extensions = proto->n_extension_range > 0;
		message->is_map_entry = options && options->map_entry;
		message->is_message_set = options && options->message_set_wire_format;
		message->options = schema_build_options(builder, options ? &options->base : NULL);
	}
	free(parents);
}

static void build_enum(struct schema_builder *builder, const struct descset_file *file,
	const char *scope, const Google__Protobuf__EnumDescriptorProto *proto,
	struct schema_enum *enumeration)
{
	const char *twice;
	struct schema_enum_value *values =
		arena_zalloc(builder->arena, (proto->n_value + 1) * sizeof(*values));

	enumeration->full_name = schema_build_name(builder, file, scope, proto->name);
	if (!values)
		builder->is_full = true;
	if (!values || !enumeration->full_name)
		return;
	if (proto->n_value == 0) {
		schema_build_problem(
			builder, file, enumeration->full_name, "an enum without values");
		return;
	}
	enumeration->is_closed = schema_build_is_proto2(file);
	enumeration->is_null_value =
		strcmp(enumeration->full_name, "google.protobuf.NullValue") == 0;
	enumeration->values = values;
	enumeration->values_count = (uint32_t)proto->n_value;
	for (size_t i = 0; i < proto->n_value; i++) {
		const Google__Protobuf__EnumValueDescriptorProto *value = proto->value[i];

		if (!value->name || !schema_check_identifier(value->name)) {
			schema_build_problem(builder, file, enumeration->full_name,
				"\"%.100s\" is no valid name for a value",
				value->name ? value->name : "");
			return;
		}
		values[i].name = arena_strdup(builder->arena, value->name);
		values[i].number = value->number;
		values[i].options = schema_build_options(
			builder, value->options ? &value->options->base : NULL);
		if (!values[i].name) {
			builder->is_full = true;
			return;
		}
	}
	if (!enumeration->is_closed && values[0].number != 0)
		schema_build_problem(builder, file, enumeration->full_name,
			"the first value of a proto3 enum must be 0");
	int rc = schema_index_enum(builder->arena, enumeration, &twice);
	if (rc == -EEXIST)
		schema_build_problem(builder, file, enumeration->full_name,
			"value %.100s is declared twice", twice);
	builder->is_full = builder->is_full || rc == -ENOMEM;
	schema_build_enter(builder, file, enumeration->full_name, SYMBOL_ENUM, enumeration);
}

static void build_enums(struct schema_builder *builder)
{
	struct schema *schema = builder->schema;
	size_t files_count, count = 0;
	const struct descset_file *files = descset_files(builder->set, &files_count);

	for (size_t f = 0; f < files_count; f++)
		count += files[f].proto->n_enum_type;
	for (size_t i = 0; i < builder->declared_count; i++)
		count += builder->declared[i].proto->n_enum_type;
	schema->enums = arena_zalloc(builder->arena, (count + 1) * sizeof(*schema->enums));
	if (!schema->enums) {
		builder->is_full = true;
		return;
	}
	for (size_t f = 0; f < files_count; f++)
		for (size_t i = 0; i < files[f].proto->n_enum_type; i++)
			build_enum(builder, &files[f], package_of(&files[f]),
				files[f].proto->enum_type[i],
				&schema->enums[schema->enums_count++]);
	for (size_t m = 0; m < builder->declared_count; m++) {
		const struct schema_declared *declared = &builder->declared[m];

		for (size_t i = 0; i < declared->proto->n_enum_type; i++)
			build_enum(builder, declared->file, schema->messages[m].full_name,
				declared->proto->enum_type[i],
				&schema->enums[schema->enums_count++]);
	}
}

static const struct schema_message *method_type(struct schema_builder *builder,
	const struct descset_file *file, const char *service, const char *type_name)
{
	const void *object;

	if (!type_name ||
		schema_build_resolve(builder, service, type_name, &object) != SYMBOL_MESSAGE) {
		schema_build_problem(builder, file, service, "type %.200s is not known",
			type_name ? type_name : "\"\"");
		return NULL;
	}
	return object;
}

static void build_service(struct schema_builder *builder, const struct descset_file *file,
	const Google__Protobuf__ServiceDescriptorProto *proto, struct schema_service *service)
{
	struct schema_method *methods =
		arena_zalloc(builder->arena, (proto->n_method + 1) * sizeof(*methods));

	service->full_name = schema_build_name(builder, file, package_of(file), proto->name);
	builder->is_full = builder->is_full || !methods;
	if (!methods || !service->full_name)
		return;
	service->methods = methods;
	service->methods_count = (uint32_t)proto->n_method;
	for (size_t i = 0; i < proto->n_method; i++) {
		const Google__Protobuf__MethodDescriptorProto *method = proto->method[i];
		char *full = schema_build_name(builder, file, service->full_name, method->name);

		if (!full)
			return;
		methods[i].name = full + strlen(full) - strlen(method->name);
		methods[i].input =
			method_type(builder, file, service->full_name, method->input_type);
		methods[i].output =
			method_type(builder, file, service->full_name, method->output_type);
		methods[i].is_client_streaming = method->client_streaming;
		methods[i].is_server_streaming = method->server_streaming;
		methods[i].options = schema_build_options(
			builder, method->options ? &method->options->base : NULL);
	}
	schema_build_enter(builder, file, service->full_name, SYMBOL_SERVICE, service);
}

static void build_services(struct schema_builder *builder)
{
	struct schema *schema = builder->schema;
	size_t files_count, count = 0;
	const struct descset_file *files = descset_files(builder->set, &files_count);

	for (size_t f = 0; f < files_count; f++)
		count += files[f].proto->n_service;
	schema->services = arena_zalloc(builder->arena, (count + 1) * sizeof(*schema->services));
	if (!schema->services) {
		builder->is_full = true;
		return;
	}
	for (size_t f = 0; f < files_count; f++)
		for (size_t i = 0; i < files[f].proto->n_service; i++)
			build_service(builder, &files[f], files[f].proto->service[i],
				&schema->services[schema->services_count++]);
}

static int compare_extensions(const void *left, const void *right)
{
	const struct schema_field *a = left, *b = right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static void build_extensions(struct schema_builder *builder)
{
	struct schema *schema = builder->schema;
	size_t files_count, count = 0;
	const struct descset_file *files = descset_files(builder->set, &files_count);

	for (size_t f = 0; f < files_count; f++)
		count += files[f].proto->n_extension;
	for (size_t i = 0; i < builder->declared_count; i++)
		count += builder->declared[i].proto->n_extension;
	struct schema_field *list = arena_zalloc(builder->arena, (count + 1) * sizeof(*list));
	if (!list) {
		builder->is_full = true;
		return;
	}
	schema->extensions = list;
	for (size_t f = 0; f < files_count; f++)
		for (size_t i = 0; i < files[f].proto->n_extension; i++)
			schema_fields_extension(builder, &files[f], package_of(&files[f]),
				files[f].proto->extension[i], &list[schema->extensions_count++]);
	for (size_t m = 0; m < builder->declared_count; m++) {
		const struct schema_declared *declared = &builder->declared[m];

		for (size_t i = 0; i < declared->proto->n_extension; i++)
			schema_fields_extension(builder, declared->file,
				schema->messages[m].full_name, declared->proto->extension[i],
				&list[schema->extensions_count++]);
	}
	if (builder->is_bad || builder->is_full)
		return;
	qsort(list, count, sizeof(*list), compare_extensions);
	for (size_t i = 0; i < count; i++) {
		const struct descset_file *file = &files[0];

		if (i > 0 && compare_extensions(&list[i - 1], &list[i]) == 0)
			schema_build_problem(builder, file, list[i].full_name,
				"has the same number as %s, %" PRIu32, list[i - 1].full_name,
				list[i].number);
		schema_build_enter(builder, file, list[i].full_name, SYMBOL_EXTENSION, &list[i]);
	}
}

static void keep_files(struct schema_builder *builder)
{
	size_t count;
	const struct descset_file *files = descset_files(builder->set, &count);

	hash_reserve(&builder->schema->files, count);
	for (size_t i = 0; i < count; i++) {
		struct schema_kept_file *kept = arena_alloc(builder->arena, sizeof(*kept));

		if (kept) {
			kept->name = arena_strdup(builder->arena, files[i].proto->name);
			kept->bytes = files[i].is_borrowed
					      ? files[i].bytes
					      : arena_copy(builder->arena, files[i].bytes.data,
							files[i].bytes.length);
		}
		if (!kept || arena_failed(builder->arena)) {
			builder->is_full = true;
			return;
		}
		hash_put(&builder->schema->files, slice_of(kept->name), kept);
		check_file(builder, &files[i]);
	}
}

static void check_messages(struct schema_builder *builder)
{
	for (size_t i = 0; i < builder->schema->messages_count; i++) {
		struct schema_message *message = &builder->schema->messages[i];
		const struct descset_file *file = builder->declared[i].file;
		const char *problem = schema_check_well_known(message);

		if (!problem && message->is_map_entry)
			problem =
				builder->declared[i].parent
					? schema_check_map_entry(message)
					: "a map entry must be nested in the message that uses it";
		if (problem)
			schema_build_problem(builder, file, message->full_name, "%s", problem);
	}
}

int schema_build(struct schema *schema, const struct descset *set, struct diag_list *diags)
{
	struct schema_builder builder = {
		.schema = schema, .arena = schema->arena, .diags = diags, .set = set};
	static void (*const steps[])(struct schema_builder *) = {
		keep_files, declare_messages, build_enums, build_services};
	const size_t steps_count = sizeof(steps) / sizeof(steps[0]);

	for (size_t i = 0; i < steps_count && !builder.is_full; i++)
		steps[i](&builder);
	for (size_t i = 0; i < builder.declared_count && !builder.is_full; i++)
		schema_fields_message(&builder, i);
	if (!builder.is_full)
		build_extensions(&builder);
	/* What follows relies on tables without holes. */
	if (!builder.is_full && !builder.is_bad) {
		check_messages(&builder);
		schema_check_required(schema);
	}
	free(builder.declared);
	if (builder.is_full)
		return -ENOMEM;
	return builder.is_bad ? -EINVAL : 0;
}
