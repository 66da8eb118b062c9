/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/wrapper.h"

#include <errno.h>

#define WRAPPER_TYPE "envoy.service.discovery.v3.Resource"

/* Field numbers of envoy.service.discovery.v3.Resource. */
enum {
	FIELD_VERSION = 1,
	FIELD_RESOURCE = 2,
	FIELD_NAME = 3,
	FIELD_ALIASES = 4,
	FIELD_TTL = 6,
	FIELD_CACHE_CONTROL = 7,
	FIELD_RESOURCE_NAME = 8,
	FIELD_METADATA = 9
};

#define NS_PER_MS 1000000

bool wrapper_is(const struct schema_message *type)
{
	return strcmp(type->full_name, WRAPPER_TYPE) == 0;
}

/* google.protobuf.Duration */
static bool read_ttl(const struct bind_options *bind, const struct message_field *ttl,
	struct diag_list *diags, int64_t *ret_ms)
{
	const struct message_field *seconds = message_find(ttl->one.message, 1);
	const struct message_field *nanos = message_find(ttl->one.message, 2);
	int64_t s = seconds ? seconds->one.int64 : 0;
	int64_t ns = nanos ? nanos->one.int32 : 0;

	if (s < 0 || ns < 0 || (s == 0 && ns == 0)) {
		diag_error(diags, bind->path, ttl->at, "bad-ttl", "a TTL must be more than 0s");
		return false;
	}
	if (ns % NS_PER_MS) {
		diag_error(diags, bind->path, ttl->at, "bad-ttl",
			"a TTL is counted in whole milliseconds");
		return false;
	}
	*ret_ms = s * 1000 + ns / NS_PER_MS;
	return true;
}

/* What cannot be passed on, because the server fills it in or does not send it. */
static void note_unused(
	const struct bind_options *bind, const struct message *message, struct diag_list *diags)
{
	static const uint32_t unused[] = {
		FIELD_VERSION, FIELD_CACHE_CONTROL, FIELD_RESOURCE_NAME, FIELD_METADATA};

	for (size_t i = 0; i < sizeof(unused) / sizeof(*unused); i++) {
		const struct message_field *field = message_find(message, unused[i]);

		if (!field)
			continue;
		if (unused[i] == FIELD_VERSION)
			diag_note(diags, bind->path, field->at, "ignored-key",
				"the wrapper's version is not used: versions are made from "
				"content");
		else
			diag_warning(diags, bind->path, field->at, "ignored-key",
				"%s of a wrapper is not passed on", field->field->name);
	}
}

static bool read_aliases(
	const struct message *message, struct arena *arena, struct wrapper *wrapper)
{
	const struct message_field *field = message_find(message, FIELD_ALIASES);
	struct slice *aliases;

	if (!field)
		return true;
	aliases = arena_alloc(arena, field->count * sizeof(*aliases));
	if (!aliases)
		return false;
	for (uint32_t i = 0; i < field->count; i++)
		aliases[i] = field->items[i].bytes;
	wrapper->aliases = aliases;
	wrapper->aliases_count = field->count;
	return true;
}

bool wrapper_read(const struct bind_options *bind, const struct schema_message *type,
	const struct node *node, struct arena *arena, struct diag_list *diags,
	struct wrapper *ret_wrapper)
{
	struct wrapper wrapper = {.ttl_ms = -1, .name_at = node->at};
	const struct message_field *field;
	const struct message *content;
	const struct node_pair *pair;
	struct message *message;

	if (bind_typed(bind, type, node, arena, diags, &message))
		return false;
	note_unused(bind, message, diags);
	content = message_get_message(message, FIELD_RESOURCE);
	pair = node_find(node, "resource");
	if (!content || !pair) {
		diag_error(diags, bind->path, node->at, "empty-wrapper",
			"a wrapper without a resource in it");
		return false;
	}
	if (!content->any_content) {
		diag_error(diags, bind->path, pair->value->at, "not-a-resource",
			"the resource in a wrapper must have an \"@type\" that the schema knows");
		return false;
	}
	wrapper.node = pair->value;
	wrapper.message = content->any_content;
	field = message_find(message, FIELD_NAME);
	if (field) {
		wrapper.name = field->one.bytes;
		wrapper.name_at = field->at;
	}
	field = message_find(message, FIELD_TTL);
	if (field && !read_ttl(bind, field, diags, &wrapper.ttl_ms))
		return false;
	if (!read_aliases(message, arena, &wrapper))
		return false;
	*ret_wrapper = wrapper;
	return true;
}
