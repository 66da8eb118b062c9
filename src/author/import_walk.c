/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/import_walk.h"

/* As deep as messages may be: LIMIT_DEPTH. */
void import_walk(struct message *message, import_walk_cb callback, void *ctx)
{
	if (message->any_content) {
		import_walk(message->any_content, callback, ctx);
		return;
	}
	callback(ctx, message);
	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct message_field *entry = &message->fields[i];

		if (entry->field->type != SCHEMA_MESSAGE && entry->field->type != SCHEMA_GROUP)
			continue;
		for (uint32_t k = 0; k < entry->count; k++)
			import_walk(entry->field->is_repeated ? entry->items[k].message
							      : entry->one.message,
				callback, ctx);
	}
}
