/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/text.h"
#include "message/bind_context.h"

#define URL_PREFIX SLICE("type.googleapis.com/")

/* Messages whose JSON form is no mapping of their fields stand under "value" in an Any. */
static bool has_own_form(const struct schema_message *type)
{
	return type->well_known != SCHEMA_ORDINARY && type->well_known != SCHEMA_EMPTY;
}

/* 0, -EBADMSG after an error, -ENOENT: well-formed, but the schema does not know the type. */
static int find_type(struct bind_context *bind, const struct node_pair *pair,
	const struct schema_message **ret_type)
{
	const struct node *node = pair->value;
	const struct schema_message *type;
	char quoted[BIND_TEXT];

	if (node->kind != NODE_SCALAR || (node->is_json && node->is_plain)) {
		bind_error(bind, node->at, "wrong-type",
			"\"@type\" wants a type URL such as type.googleapis.com/package.Name");
		return -EBADMSG;
	}
	type = schema_find_type_url(bind->options->schema, node->text);
	if (!memchr(node->text.data, '/', node->text.length)) {
		type = schema_find_message(bind->options->schema, node->text);
		bind_quote(node->text, quoted);
		bind_error(bind, node->at, "bad-value", "\"%s\" is no type URL%s%s%s", quoted,
			type ? ", did you mean \"type.googleapis.com/" : "",
			type ? type->full_name : ": it lacks a \"/\"", type ? "\"?" : "");
		return -EBADMSG;
	}
	if (!type)
		return -ENOENT;
	if (!bind->options->lenient &&
		(node->text.length < URL_PREFIX.length ||
			memcmp(node->text.data, URL_PREFIX.data, URL_PREFIX.length) != 0))
		bind_warning(bind, node->at, "type-url",
			"Envoy reads only type URLs that begin with \"%s\"", URL_PREFIX.data);
	*ret_type = type;
	return 0;
}

static void complain_type(struct bind_context *bind, const struct node *node)
{
	const char *slash = memrchr(node->text.data, '/', node->text.length);
	struct slice name = {slash + 1, (size_t)(node->text.data + node->text.length - slash - 1)};
	const char *nearest = schema_nearest_message(bind->options->schema, name);
	char quoted[BIND_TEXT];

	bind_error(bind, node->at, "unknown-type", "unknown type \"%s\" (%s)%s%s%s",
		bind_quote(name, quoted), schema_label(bind->options->schema),
		nearest ? ", did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

int bind_type_url(struct bind_context *bind, const struct node_pair *pair,
	const struct schema_message **ret_type)
{
	int rc = find_type(bind, pair, ret_type);

	if (rc == -ENOENT)
		complain_type(bind, pair->value);
	return rc ? -EBADMSG : 0;
}

struct message *bind_any_content(
	struct bind_context *bind, const struct schema_message *type, const struct node *node)
{
	const struct node_pair *value = NULL;

	if (!has_own_form(type))
		return bind_fields(bind, type, node, true);
	for (size_t i = 0; i < node->pairs_count; i++) {
		const struct node_pair *pair = &node->pairs[i];

		if (slice_is(pair->key, "value")) {
			value = pair;
		} else if (!slice_is(pair->key, "@type")) {
			char quoted[BIND_TEXT];

			bind_error(bind, pair->key_at, "unknown-field",
				"unknown field \"%s\": a %s stands under \"value\"",
				bind_quote(pair->key, quoted), type->full_name);
		}
	}
	if (value && (type->well_known == SCHEMA_VALUE || !bind_is_null(value->value)))
		return bind_node(bind, type, NULL, value->value);
	if (type->well_known == SCHEMA_VALUE) {
		bind_error(
			bind, node->at, "missing-field", "a %s needs \"value\"", type->full_name);
		return NULL;
	}
	/* libprotobuf leaves it out when it is empty. */
	bind_forgive(bind, node->at, "a %s without \"value\" is taken for an empty one",
		type->full_name);
	return bind_new_message(bind, type, node->at, 0);
}

/* Contents that the schema does not know: {"@type": ..., "value": base64}. */
static bool bind_opaque(struct bind_context *bind, const struct schema_message *type,
	const struct node *node, const struct node_pair *url, struct message *any)
{
	const struct node_pair *value = node_find(node, "value");
	struct message_field *entry;
	char quoted[BIND_TEXT];
	union message_value bytes;

	if (node->pairs_count != 2 || !value || value->value->kind != NODE_SCALAR) {
		complain_type(bind, url->value);
		return false;
	}
	if (!bind_scalar(bind, &type->fields[1], value->value, &bytes))
		return false;
	if (!bind->options->lenient)
		bind_warning(bind, url->value->at, "unknown-type",
			"unknown type \"%s\": its content is taken without a look inside",
			bind_quote(url->value->text, quoted));
	if (bytes.bytes.length) {
		entry = bind_append(any, &type->fields[1], value->key_at);
		entry->one = bytes;
	}
	return true;
}

struct message *bind_any(struct bind_context *bind, const struct schema_message *type,
	const struct schema_field *field, const struct node *node)
{
	const struct node_pair *url;
	const struct schema_message *content = NULL;
	struct message *any;
	int rc;

	if (node->kind != NODE_MAP) {
		bind_wrong_type(bind, node, field, "a mapping with \"@type\"");
		return NULL;
	}
	any = bind_new_message(bind, type, node->at, 2);
	if (!any || node->pairs_count == 0)
		return any;
	url = node_find(node, "@type");
	if (!url) {
		struct suggestion suggestion;
		char quoted[BIND_TEXT];

		suggestion_init(&suggestion, node->pairs[0].key);
		suggestion_offer(&suggestion, "@type");
		suggestion_offer(&suggestion, "type_url");
		bind_error(bind, node->at, "missing-type", "\"%s\" needs \"@type\"%s%s%s",
			field ? field->name : type->full_name,
			suggestion.best.data ? ", not \"" : "",
			suggestion.best.data ? bind_quote(node->pairs[0].key, quoted) : "",
			suggestion.best.data ? "\"" : "");
		return NULL;
	}
	rc = find_type(bind, url, &content);
	if (rc == -EBADMSG)
		return NULL;
	bind_append(any, &type->fields[0], url->key_at)->one.bytes = url->value->text;
	if (rc == -ENOENT)
		return bind_opaque(bind, type, node, url, any) ? any : NULL;
	if (!bind_enter(bind, node->at))
		return NULL;
	any->any_content = bind_any_content(bind, content, node);
	bind->depth--;
	return any->any_content ? any : NULL;
}
