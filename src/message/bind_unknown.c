/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "base/text.h"
#include "message/bind_context.h"

#define VALUES_LISTED 8

static bool looks_camel(struct slice key)
{
	for (size_t i = 0; i < key.length; i++) {
		if (key.data[i] >= 'A' && key.data[i] <= 'Z')
			return !memchr(key.data, '_', key.length);
	}
	return false;
}

/* Where the name would be right: a level up or down in the same file. */
static bool describe_neighbour(struct bind_context *bind, const struct schema_message *type,
	struct slice key, struct buf *out)
{
	/* The innermost frame is the message itself. */
	for (const struct bind_frame *frame = bind->frame->parent; frame; frame = frame->parent) {
		if (frame->type == type || frame->type->well_known != SCHEMA_ORDINARY ||
			!schema_field_by_name(frame->type, key))
			continue;
		buf_printf(out, "; it is a field of %s, further out: check the indentation",
			frame->type->full_name);
		return true;
	}
	for (uint32_t i = 0; i < type->fields_count; i++) {
		const struct schema_field *field = &type->fields[i];

		if (!field->message || field->is_map || field->message == type ||
			field->message->well_known != SCHEMA_ORDINARY ||
			!schema_field_by_name(field->message, key))
			continue;
		buf_printf(out, "; it is a field of \"%s\" (%s), one level down", field->name,
			field->message->full_name);
		return true;
	}
	return false;
}

/* Fields of API v2, which many examples still have, and what does their job in v3. */
static const struct {
	const char *old, *now;
} leftovers[] = {
	{"config", "typed_config"},
	{"extension_protocol_options", "typed_extension_protocol_options"},
	{"filter_config", "typed_config"},
	{"hosts", "load_assignment"},
	{"per_filter_config", "typed_per_filter_config"},
	{"regex", "safe_regex"},
	{"regex_match", "string_match"},
	{"tls_context", "transport_socket"},
};

static bool describe_leftover(const struct schema_message *type, struct slice key, struct buf *out)
{
	for (size_t i = 0; i < sizeof(leftovers) / sizeof(leftovers[0]); i++) {
		if (!slice_is(key, leftovers[i].old) ||
			!schema_field_by_name(type, slice_of(leftovers[i].now)))
			continue;
		buf_printf(out, "; that is API v2, in v3 \"%s\" does its job", leftovers[i].now);
		return true;
	}
	return false;
}

void bind_unknown_field(
	struct bind_context *bind, const struct schema_message *type, const struct node_pair *pair)
{
	struct suggestion suggestion;
	struct buf hint = BUF_INIT;
	char phrase[256], quoted[BIND_TEXT];
	bool is_camel = looks_camel(pair->key);

	suggestion_init(&suggestion, pair->key);
	for (uint32_t i = 0; i < type->fields_count; i++)
		suggestion_offer(
			&suggestion, is_camel ? type->fields[i].json_name : type->fields[i].name);
	if (slice_is(pair->key, "@type"))
		buf_printf(&hint, "; it is no Any, leave \"@type\" out");
	else if (!describe_leftover(type, pair->key, &hint) &&
		 !describe_neighbour(bind, type, pair->key, &hint))
		buf_puts(&hint, suggestion_phrase(&suggestion, phrase));
	bind_quote(pair->key, quoted);
	if (bind->options->lenient)
		bind_warning(bind, pair->key_at, "unknown-field",
			"unknown field \"%s\" in %s (%s) is left out%s", quoted, type->full_name,
			schema_label(bind->options->schema), buf_cstr(&hint));
	else
		bind_error(bind, pair->key_at, "unknown-field", "unknown field \"%s\" in %s (%s)%s",
			quoted, type->full_name, schema_label(bind->options->schema),
			buf_cstr(&hint));
	buf_fini(&hint);
}

void bind_unknown_value(
	struct bind_context *bind, const struct schema_enum *enumeration, const struct node *node)
{
	struct suggestion suggestion;
	struct buf hint = BUF_INIT;
	char phrase[256], quoted[BIND_TEXT];

	suggestion_init(&suggestion, node->text);
	for (uint32_t i = 0; i < enumeration->values_count; i++)
		suggestion_offer(&suggestion, enumeration->values[i].name);
	buf_puts(&hint, suggestion_phrase(&suggestion, phrase));
	if (hint.length == 0 && enumeration->values_count <= VALUES_LISTED) {
		for (uint32_t i = 0; i < enumeration->values_count; i++)
			buf_printf(
				&hint, "%s%s", i ? ", " : "; it has ", enumeration->values[i].name);
	}
	bind_error(bind, node->at, "unknown-enum-value", "%s has no value \"%s\"%s",
		enumeration->full_name, bind_quote(node->text, quoted), buf_cstr(&hint));
	buf_fini(&hint);
}
