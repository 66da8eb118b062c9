/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A byte for the message type, then protobuf binary. What can be read is written the same for ever,
 * and text format carries all of it but unknown fields.
 */
#include "fuzz_schema.h"

#include "message/json_write.h"
#include "message/text_read.h"
#include "message/text_write.h"
#include "message/wire_read.h"
#include "message/wire_write.h"
#include "message/yaml_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_fine)
{
	if (!is_fine)
		abort();
}

static struct message *read_bytes(
	const struct schema_message *type, struct slice bytes, struct arena *arena)
{
	const struct wire_read_options options = {
		.schema = fuzz_schema(), .expand_any = true, .allow_partial = true};
	struct message *message = NULL;
	struct wire_read_error error = {0};
	int rc = wire_read(&options, type, bytes, arena, &message, &error);

	check(rc == 0 || error.text);
	check(rc != 0 || message);
	return message;
}

/* All but the kinds of NaN. */
static void check_text(
	const struct schema_message *type, const struct message *message, struct arena *arena)
{
	const struct text_write_options write = {.schema = fuzz_schema()};
	const struct text_read_options read = {.schema = fuzz_schema(), .path = "fuzz"};
	struct diag_list *diags = diag_list_new(0);
	struct buf text = BUF_INIT;
	struct message *back;
	const char *problem;

	if (text_write(&write, message, &text, &problem) == 0 && !message_has_unknown(message)) {
		if (text_read(&read, type, buf_slice(&text), arena, diags, &back) == 0) {
			check(message_equal(back, message));
		} else {
			/* Required fields may be missing here, never there. */
			check(type->has_required || type->well_known == SCHEMA_ANY ||
				strstr(type->full_name, "test.v"));
		}
	}
	buf_fini(&text);
	diag_list_free(diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct json_write_options json = {.schema = fuzz_schema(), .pretty = size % 2};
	const struct yaml_write_options yaml = {.schema = fuzz_schema(), .camel_case = size % 2};
	struct buf first = BUF_INIT, second = BUF_INIT, text = BUF_INIT;
	const struct schema_message *type;
	struct message *message, *again;
	struct arena *arena;
	const char *problem;

	if (size == 0)
		return 0;
	type = fuzz_schema_type(data[0]);
	arena = arena_new(64u << 20);
	message = read_bytes(type, (struct slice){(const char *)data + 1, size - 1}, arena);
	if (message) {
		wire_write(message, &first);
		check(!buf_error(&first));
		check(wire_size(message) == first.length);
		again = read_bytes(type, buf_slice(&first), arena);
		check(again != NULL || arena_failed(arena));
		if (again) {
			wire_write(again, &second);
			check(slice_equal(buf_slice(&first), buf_slice(&second)));
			check(message_equal(message, again));
			check_text(type, again, arena);
		}
		json_write(&json, message, &text, &problem);
		buf_reset(&text);
		yaml_write(&yaml, message, &text, &problem);
	}
	buf_fini(&first);
	buf_fini(&second);
	buf_fini(&text);
	arena_free(arena);
	return 0;
}
