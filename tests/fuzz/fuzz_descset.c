/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A descriptor set: refused with an error, or a schema that finds all it holds and can be used. */
#include <stdlib.h>

#include "message/json_write.h"
#include "message/text_write.h"
#include "message/wire_read.h"
#include "message/wire_write.h"
#include "schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_fine)
{
	if (!is_fine)
		abort();
}

static void check_type(
	const struct schema *schema, const struct schema_message *type, struct arena *arena)
{
	const struct wire_read_options read = {
		.schema = schema, .expand_any = true, .allow_partial = true};
	const struct json_write_options json = {.schema = schema};
	const struct text_write_options text = {.schema = schema};
	struct wire_read_error error;
	struct message *message;
	struct buf out = BUF_INIT;
	const char *problem;

	check(schema_find_message(schema, slice_of(type->full_name)) == type);
	for (uint32_t i = 0; i < type->fields_count; i++) {
		const struct schema_field *field = &type->fields[i];

		check(schema_field_by_number(type, field->number) == field);
		check(schema_field_by_name(type, slice_of(field->name)) == field);
		check(schema_field_by_name(type, slice_of(field->json_name)) != NULL);
		check((field->type == SCHEMA_MESSAGE || field->type == SCHEMA_GROUP) ==
			(field->message != NULL));
		check((field->type == SCHEMA_ENUM) == (field->enumeration != NULL));
		if (field->enumeration)
			check(schema_enum_by_name(field->enumeration,
				      slice_of(field->enumeration->values[0].name)) != NULL);
	}
	/* Something for the first fields: numbers, then bytes, then a group. */
	const char bytes[] =
		"\x08\x01\x10\x01\x1a\x00\x22\x02\x08\x01\x2b\x2c\x0a\x00\x12\x02\x08\x01";
	if (wire_read(&read, type, ((struct slice){bytes, sizeof(bytes) - 1}), arena, &message,
		    &error) == 0) {
		wire_write(message, &out);
		check(!buf_error(&out));
		buf_reset(&out);
		json_write(&json, message, &out, &problem);
		buf_reset(&out);
		text_write(&text, message, &out, &problem);
	}
	buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice set = {(const char *)data, size};
	const char *name = "fuzz";
	struct diag_list *diags = diag_list_new(0);
	struct schema *schema = NULL;
	int rc = schema_load_bytes(&set, &name, 1, diags, &schema);

	check((rc == 0) == (schema != NULL));
	check(rc == 0 || diag_list_level_count(diags, DIAG_ERROR) > 0);
	if (schema) {
		struct arena *arena = arena_new(16u << 20);
		size_t count;
		const struct schema_message *const *types = schema_messages(schema, &count);

		for (size_t i = 0; i < count; i++)
			check_type(schema, types[i], arena);
		schema_nearest_message(schema, SLICE("a.B"));
		arena_free(arena);
	}
	schema_free(schema);
	diag_list_free(diags);
	return 0;
}
