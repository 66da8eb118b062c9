/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/bind_context.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

void bind_error(
	struct bind_context *bind, struct position at, const char *rule, const char *format, ...)
{
	va_list arguments;

	bind->is_bad = true;
	va_start(arguments, format);
	diag_vadd(bind->diags, DIAG_ERROR, bind->options->path, at, rule, format, arguments);
	va_end(arguments);
}

void bind_warning(
	struct bind_context *bind, struct position at, const char *rule, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	diag_vadd(bind->diags, DIAG_WARNING, bind->options->path, at, rule, format, arguments);
	va_end(arguments);
}

void bind_forgive(struct bind_context *bind, struct position at, const char *format, ...)
{
	va_list arguments;

	if (bind->options->lenient)
		return;
	va_start(arguments, format);
	diag_vadd(
		bind->diags, DIAG_WARNING, bind->options->path, at, "forgiven", format, arguments);
	va_end(arguments);
}

const char *bind_quote(struct slice text, char out[static BIND_TEXT])
{
	struct buf quoted = BUF_INIT;

	text_quote(&quoted, text, BIND_TEXT / 2);
	snprintf(out, BIND_TEXT, "%s", buf_cstr(&quoted));
	buf_fini(&quoted);
	return out;
}

void bind_wrong_type(struct bind_context *bind, const struct node *node,
	const struct schema_field *field, const char *expected)
{
	char found[BIND_TEXT + 16], quoted[BIND_TEXT];

	if (node->kind == NODE_LIST)
		snprintf(found, sizeof(found), "a list");
	else if (node->kind == NODE_MAP)
		snprintf(found, sizeof(found), "a mapping");
	else if (bind_is_null(node))
		snprintf(found, sizeof(found), "null");
	else
		snprintf(found, sizeof(found), node->is_plain ? "%s" : "\"%s\"",
			bind_quote(node->text, quoted));
	if (field)
		bind_error(bind, node->at, "wrong-type", "expected %s for \"%s\", found %s",
			expected, field->name, found);
	else
		bind_error(bind, node->at, "wrong-type", "expected %s, found %s", expected, found);
}

bool bind_enter(struct bind_context *bind, struct position at)
{
	if (bind->depth == LIMIT_DEPTH) {
		bind_error(bind, at, "too-deep", "messages are nested more than %d levels deep",
			LIMIT_DEPTH);
		return false;
	}
	bind->depth++;
	return true;
}

struct message *bind_new_message(struct bind_context *bind, const struct schema_message *type,
	struct position at, size_t fields)
{
	struct message *message =
		bind_alloc(bind, sizeof(*message) + fields * sizeof(*message->fields));

	if (!message)
		return NULL;
	*message = (struct message){
		.type = type,
		.fields = (struct message_field *)(message + 1),
		.fields_capacity = (uint32_t)fields,
		.at = at,
	};
	return message;
}

struct message_field *bind_append(
	struct message *message, const struct schema_field *field, struct position at)
{
	struct message_field *entry = &message->fields[message->fields_count++];

	entry->field = field;
	entry->at = at;
	entry->count = 1;
	entry->capacity = 0;
	return entry;
}
