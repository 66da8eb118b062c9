/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_reflection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include "serve/grpc/grpc_inbox.h"
#include "serve/grpc/grpc_services.h"
#include "serve/grpc/grpc_wire.h"

#define ARENA_BYTES (16u << 20)
/* Of one response; clients take 4 MiB. What is left out they ask for by its name. */
#define FILES_BYTES (2u << 20)
#define SHOWN_BYTES 120

/* Fields of google.protobuf.FileDescriptorProto. */
enum {
	FILE_NAME = 1,
	FILE_DEPENDENCY = 3
};

struct reflection {
	struct grpc_service_call base;
	struct grpc_inbox inbox;
	struct hash sent; /* names of files; they and the values are the schema's */
	bool is_half_closed;
	bool is_ended;
};

typedef Grpc__Reflection__V1__ServerReflectionRequest request_message;
typedef Grpc__Reflection__V1__ServerReflectionResponse response_message;

void *grpc_reflection_open(struct grpc_dispatch *dispatch, struct grpc_call *call)
{
	struct reflection *reflection = xcalloc(1, sizeof(*reflection));

	grpc_service_call_init(&reflection->base, dispatch, call);
	hash_init(&reflection->sent);
	dispatch->heavy_count++;
	return reflection;
}

static void refuse(struct reflection *reflection, enum grpc_status status, const char *text)
{
	reflection->is_ended = true;
	grpc_service_call_refuse(&reflection->base, status, text);
}

static void on_message(void *state, struct slice message)
{
	struct reflection *reflection = state;

	if (reflection->is_ended)
		return;
	if (reflection->base.dispatch->heavy_count > GRPC_HEAVY_MAX)
		refuse(reflection, GRPC_RESOURCE_EXHAUSTED, GRPC_TOO_MANY_HEAVY);
	else if (!grpc_inbox_put(&reflection->inbox, message))
		refuse(reflection, GRPC_RESOURCE_EXHAUSTED,
			"too many requests wait for their answer; read the answers first");
}

static void on_half_closed(void *state)
{
	struct reflection *reflection = state;

	reflection->is_half_closed = true;
	if (!reflection->is_ended)
		grpc_call_wake(reflection->base.call);
}

/* ---- answers ---- */

static void set_error(
	struct arena *arena, response_message *response, enum grpc_status code, const char *text)
{
	Grpc__Reflection__V1__ErrorResponse *error =
		arena_alloc(arena, sizeof(Grpc__Reflection__V1__ErrorResponse));

	*error = (Grpc__Reflection__V1__ErrorResponse)GRPC__REFLECTION__V1__ERROR_RESPONSE__INIT;
	error->error_code = code;
	error->error_message = arena_strdup(arena, text);
	response->error_response = error;
	response->message_response_case =
		GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ERROR_RESPONSE;
}

static void set_missing(
	struct arena *arena, response_message *response, const char *what, const char *name)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "the schema has no %s ", what);
	text_quote(&text, slice_of(name), SHOWN_BYTES);
	set_error(arena, response, GRPC_NOT_FOUND, buf_cstr(&text));
	buf_fini(&text);
}

/* Files of one answer: a queue, in which each file stands once. */
struct files {
	struct slice *items;
	size_t count, capacity;
	size_t bytes;
};

static struct slice name_of(struct slice file)
{
	struct grpc_wire_field field;

	while (grpc_wire_next(&file, &field) > 0)
		if (field.number == FILE_NAME && field.type == GRPC_WIRE_BYTES)
			return field.bytes;
	return SLICE("");
}

static void add_file(struct reflection *reflection, struct files *files, struct slice file)
{
	hash_put(&reflection->sent, name_of(file), (void *)file.data);
	array_reserve(files->items, files->capacity, files->count + 1);
	files->items[files->count++] = file;
	files->bytes += file.length;
}

static void add_dependencies(struct reflection *reflection, struct files *files, struct slice file)
{
	const struct grpc_schema *schema = &reflection->base.dispatch->options->schema;
	struct grpc_wire_field field;
	struct slice needed;

	while (grpc_wire_next(&file, &field) > 0) {
		if (field.number != FILE_DEPENDENCY || field.type != GRPC_WIRE_BYTES ||
			hash_get(&reflection->sent, field.bytes) ||
			!schema->file_by_path(schema->ctx, field.bytes, &needed))
			continue;
		if (files->bytes + needed.length <= FILES_BYTES)
			add_file(reflection, files, needed);
	}
}

static void set_files(struct reflection *reflection, struct arena *arena,
	response_message *response, struct slice file)
{
	Grpc__Reflection__V1__FileDescriptorResponse *list =
		arena_alloc(arena, sizeof(Grpc__Reflection__V1__FileDescriptorResponse));
	struct files files = {.count = 0};

	add_file(reflection, &files, file);
	for (size_t i = 0; i < files.count; i++)
		add_dependencies(reflection, &files, files.items[i]);
	*list = (Grpc__Reflection__V1__FileDescriptorResponse)
		GRPC__REFLECTION__V1__FILE_DESCRIPTOR_RESPONSE__INIT;
	list->n_file_descriptor_proto = files.count;
	list->file_descriptor_proto = arena_alloc(arena, files.count * sizeof(ProtobufCBinaryData));
	for (size_t i = 0; i < files.count; i++)
		list->file_descriptor_proto[i] = (ProtobufCBinaryData){
			.len = files.items[i].length, .data = (uint8_t *)files.items[i].data};
	free(files.items);
	response->file_descriptor_response = list;
	response->message_response_case =
		GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_FILE_DESCRIPTOR_RESPONSE;
}

static void set_services(struct arena *arena, response_message *response)
{
	size_t count = grpc_services_count();
	Grpc__Reflection__V1__ListServiceResponse *list =
		arena_alloc(arena, sizeof(Grpc__Reflection__V1__ListServiceResponse));
	Grpc__Reflection__V1__ServiceResponse *services =
		arena_alloc(arena, count * sizeof(Grpc__Reflection__V1__ServiceResponse));

	*list = (Grpc__Reflection__V1__ListServiceResponse)
		GRPC__REFLECTION__V1__LIST_SERVICE_RESPONSE__INIT;
	list->n_service = count;
	list->service = arena_alloc(arena, count * sizeof(Grpc__Reflection__V1__ServiceResponse *));
	for (size_t i = 0; i < count; i++) {
		services[i] = (Grpc__Reflection__V1__ServiceResponse)
			GRPC__REFLECTION__V1__SERVICE_RESPONSE__INIT;
		services[i].name = arena_strdup(arena, grpc_services_name(i));
		list->service[i] = &services[i];
	}
	response->list_services_response = list;
	response->message_response_case =
		GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_LIST_SERVICES_RESPONSE;
}

static void set_extensions(
	struct reflection *reflection, struct arena *arena, response_message *response, char *type)
{
	const struct grpc_schema *schema = &reflection->base.dispatch->options->schema;
	Grpc__Reflection__V1__ExtensionNumberResponse *list;
	uint32_t *numbers = NULL;
	size_t count = 0;

	if (!schema->extensions(schema->ctx, slice_of(type), &numbers, &count)) {
		set_missing(arena, response, "message", type);
		return;
	}
	list = arena_alloc(arena, sizeof(*list));
	*list = (Grpc__Reflection__V1__ExtensionNumberResponse)
		GRPC__REFLECTION__V1__EXTENSION_NUMBER_RESPONSE__INIT;
	list->base_type_name = type;
	list->n_extension_number = count;
	list->extension_number = arena_alloc(arena, (count + 1) * sizeof(int32_t));
	for (size_t i = 0; i < count; i++)
		list->extension_number[i] = (int32_t)numbers[i];
	free(numbers);
	response->all_extension_numbers_response = list;
	response->message_response_case =
		GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ALL_EXTENSION_NUMBERS_RESPONSE;
}

static const char *without_dot(const char *name)
{
	return name + (name[0] == '.');
}

static void set_extension_file(struct reflection *reflection, struct arena *arena,
	response_message *response, const Grpc__Reflection__V1__ExtensionRequest *asked)
{
	const struct grpc_schema *schema = &reflection->base.dispatch->options->schema;
	const char *type = without_dot(asked->containing_type);
	struct slice file;

	if (asked->extension_number > 0 && schema->file_by_extension(schema->ctx, slice_of(type),
						   (uint32_t)asked->extension_number, &file))
		set_files(reflection, arena, response, file);
	else
		set_missing(arena, response, "such extension of", type);
}

static void fill(struct reflection *reflection, struct arena *arena, request_message *request,
	response_message *response)
{
	const struct grpc_schema *schema = &reflection->base.dispatch->options->schema;
	const char *name;
	struct slice file;

	switch (request->message_request_case) {
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME:
		name = request->file_by_filename;
		if (schema->file_by_path(schema->ctx, slice_of(name), &file))
			set_files(reflection, arena, response, file);
		else
			set_missing(arena, response, "file", name);
		return;
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL:
		name = without_dot(request->file_containing_symbol);
		if (schema->file_by_symbol(schema->ctx, slice_of(name), &file))
			set_files(reflection, arena, response, file);
		else
			set_missing(arena, response, "symbol", name);
		return;
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_EXTENSION:
		set_extension_file(reflection, arena, response, request->file_containing_extension);
		return;
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_ALL_EXTENSION_NUMBERS_OF_TYPE:
		set_extensions(reflection, arena, response, request->all_extension_numbers_of_type);
		return;
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES:
		set_services(arena, response);
		return;
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST__NOT_SET:
	case _GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST__CASE_IS_INT_SIZE:
		break;
	}
	set_error(arena, response, GRPC_INVALID_ARGUMENT, "the request asks for nothing known");
}

static void answer(struct reflection *reflection, struct slice message)
{
	struct arena *arena = arena_new(ARENA_BYTES);
	response_message response = GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__INIT;
	request_message *request;
	char problem[256];
	int error = grpc_wire_unpack(&grpc__reflection__v1__server_reflection_request__descriptor,
		message, &reflection->base.dispatch->options->limits, arena,
		(ProtobufCMessage **)&request, problem, sizeof(problem));

	if (error) {
		refuse(reflection,
			error == -E2BIG ? GRPC_RESOURCE_EXHAUSTED : GRPC_INVALID_ARGUMENT, problem);
	} else {
		response.valid_host = request->host;
		response.original_request = request;
		fill(reflection, arena, request, &response);
		grpc_service_call_send(&reflection->base, &response.base);
	}
	arena_free(arena);
}

static void on_ready(void *state, int64_t now_ms)
{
	struct reflection *reflection = state;
	struct slice message;

	(void)now_ms;
	if (reflection->is_ended || !grpc_call_can_send(reflection->base.call))
		return;
	if (grpc_inbox_take(&reflection->inbox, &message)) {
		answer(reflection, message);
	} else if (reflection->is_half_closed) {
		reflection->is_ended = true;
		grpc_call_finish(reflection->base.call, GRPC_OK, NULL);
	}
}

static void on_closed(void *state)
{
	struct reflection *reflection = state;

	reflection->base.dispatch->heavy_count--;
	grpc_inbox_fini(&reflection->inbox);
	hash_fini(&reflection->sent);
	grpc_service_call_fini(&reflection->base);
	free(reflection);
}

const struct grpc_handler grpc_reflection_handler = {
	.message = on_message,
	.half_closed = on_half_closed,
	.ready = on_ready,
	.closed = on_closed,
};
