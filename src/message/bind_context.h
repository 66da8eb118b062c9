/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of bind share: one call's state and how they report. Private to bind*.c. */
#ifndef XDSPUB_MESSAGE_BIND_CONTEXT_H
#define XDSPUB_MESSAGE_BIND_CONTEXT_H

#include "base/limits.h"
#include "message/bind.h"

/* The messages around the one that is bound, innermost first. */
struct bind_frame {
	const struct bind_frame *parent;
	const struct schema_message *type;
};

struct bind_context {
	const struct bind_options *options;
	struct arena *arena;
	struct diag_list *diags;
	const struct bind_frame *frame;
	unsigned depth; /* messages around this one */
	bool is_bad;	/* an error was reported */
};

/* NULL at the arena's limit; the callers give up quietly, bind_message() returns -ENOMEM. */
static inline void *bind_alloc(struct bind_context *bind, size_t size)
{
	return arena_alloc(bind->arena, size);
}

void bind_error(struct bind_context *bind, struct position at, const char *rule, const char *format,
	...) __attribute__((format(printf, 4, 5)));
void bind_warning(struct bind_context *bind, struct position at, const char *rule,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A warning [forgiven] unless lenient: Envoy's reader accepts this, the JSON mapping does not. */
void bind_forgive(struct bind_context *bind, struct position at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* `expected a list for "name", found ...` [wrong-type] */
void bind_wrong_type(struct bind_context *bind, const struct node *node,
	const struct schema_field *field, const char *expected);

#define BIND_TEXT 128 /* room for a quoted text */
/* The text cut, escaped and NUL-terminated. */
const char *bind_quote(struct slice text, char out[static BIND_TEXT]);

static inline bool bind_is_null(const struct node *node)
{
	if (node->kind != NODE_SCALAR || !node->is_plain)
		return false;
	struct slice text = node->text;

	if (text.length == 0 || (text.length == 1 && text.data[0] == '~'))
		return true;
	return text.length == 4 && (text.data[0] | 32) == 'n' &&
	       node_resolve(node).kind == NODE_NULL;
}

/* The field's value into *ret_value. False: nothing to set, an error was reported. */
bool bind_value(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, union message_value *ret_value);
/* bind_scalar.c: every type but messages and groups. */
bool bind_scalar(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, union message_value *ret_value);
/* One level further in; reports and returns false when that is too deep. Undo with depth--. */
bool bind_enter(struct bind_context *bind, struct position at);
/* A message of any type, well-known ones in their own form; NULL after an error. */
struct message *bind_node(struct bind_context *bind, const struct schema_message *type,
	const struct schema_field *field, const struct node *node);
/* A mapping as the fields of a message, whatever the type. */
struct message *bind_fields(struct bind_context *bind, const struct schema_message *type,
	const struct node *node, bool has_type_key);
/* bind_well_known.c: messages with a form of their own. */
struct message *bind_well_known(struct bind_context *bind, const struct schema_message *type,
	const struct schema_field *field, const struct node *node);
/* bind_any.c. */
struct message *bind_any(struct bind_context *bind, const struct schema_message *type,
	const struct schema_field *field, const struct node *node);
struct message *bind_any_content(
	struct bind_context *bind, const struct schema_message *type, const struct node *node);
int bind_type_url(struct bind_context *bind, const struct node_pair *pair,
	const struct schema_message **ret_type);
/* bind_unknown.c: says what is near an unknown name. */
void bind_unknown_field(
	struct bind_context *bind, const struct schema_message *type, const struct node_pair *pair);
void bind_unknown_value(
	struct bind_context *bind, const struct schema_enum *enumeration, const struct node *node);

/* A message with room for `fields` fields. */
struct message *bind_new_message(struct bind_context *bind, const struct schema_message *type,
	struct position at, size_t fields);
/* Appends; the caller keeps the order of numbers and the room. */
struct message_field *bind_append(
	struct message *message, const struct schema_field *field, struct position at);

#endif
