/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/field_path.h"

#include "base/text.h"

#define KEY_BYTES_SHOWN 80

static void write_number(const struct message_field *key, struct buf *out)
{
	enum schema_type type = key->field->type;

	if (type == SCHEMA_INT64 || type == SCHEMA_SINT64 || type == SCHEMA_SFIXED64)
		buf_printf(out, "%lld", (long long)key->one.int64);
	else if (type == SCHEMA_UINT64 || type == SCHEMA_FIXED64)
		buf_printf(out, "%llu", (unsigned long long)key->one.uint64);
	else if (type == SCHEMA_UINT32 || type == SCHEMA_FIXED32)
		buf_printf(out, "%u", key->one.uint32);
	else
		buf_printf(out, "%d", key->one.int32);
}

static void write_key(const struct message *entry, struct buf *out)
{
	const struct message_field *key = message_find(entry, 1);

	if (!key || key->field->type == SCHEMA_STRING) {
		buf_putc(out, '"');
		if (key)
			text_quote(out, key->one.bytes, KEY_BYTES_SHOWN);
		buf_putc(out, '"');
	} else if (key->field->type == SCHEMA_BOOL) {
		buf_puts(out, key->one.boolean ? "true" : "false");
	} else {
		write_number(key, out);
	}
}

void field_path_write(const struct field_step *step, struct buf *out)
{
	if (step->outer) {
		field_path_write(step->outer, out);
		buf_putc(out, '.');
	}
	buf_puts(out, step->name);
	if (!step->has_index)
		return;
	buf_putc(out, '[');
	if (step->entry->field->is_map)
		write_key(step->entry->items[step->index].message, out);
	else
		buf_printf(out, "%u", step->index);
	buf_putc(out, ']');
	if (step->is_key)
		buf_puts(out, " (the key)");
}
