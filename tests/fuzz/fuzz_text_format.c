/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A byte for the message type, then text format. What can be read is written and read the same. */
#include <errno.h>

#include "fuzz_schema.h"

#include "message/text_read.h"
#include "message/text_write.h"
#include "message/wire_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_fine)
{
	if (!is_fine)
		abort();
}

static struct message *read_text(
	const struct schema_message *type, struct slice text, struct arena *arena)
{
	const struct text_read_options options = {.schema = fuzz_schema(), .path = "fuzz"};
	struct diag_list *diags = diag_list_new(0);
	struct message *message = NULL;
	int rc = text_read(&options, type, text, arena, diags, &message);

	check(rc != -EBADMSG || diag_list_level_count(diags, DIAG_ERROR) > 0);
	check(rc != 0 || (message && diag_list_level_count(diags, DIAG_ERROR) == 0));
	diag_list_free(diags);
	return message;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct text_write_options options = {.schema = fuzz_schema()};
	struct buf text = BUF_INIT, first = BUF_INIT, second = BUF_INIT;
	const struct schema_message *type;
	struct message *message, *again;
	struct arena *arena;
	const char *problem;

	if (size == 0)
		return 0;
	type = fuzz_schema_type(data[0]);
	arena = arena_new(64u << 20);
	message = read_text(type, (struct slice){(const char *)data + 1, size - 1}, arena);
	if (message) {
		wire_write(message, &first);
		check(!buf_error(&first));
		check(text_write(&options, message, &text, &problem) == 0);
		again = read_text(type, buf_slice(&text), arena);
		check(again != NULL);
		wire_write(again, &second);
		check(slice_equal(buf_slice(&first), buf_slice(&second)));
	}
	buf_fini(&text);
	buf_fini(&first);
	buf_fini(&second);
	arena_free(arena);
	return 0;
}
