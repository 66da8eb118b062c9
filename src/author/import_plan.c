/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/import_plan.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"

void import_plan_init(struct import_plan *plan, const struct schema *schema,
	const struct limits *limits, struct diag_list *diags)
{
	*plan = (struct import_plan){
		.schema = schema, .limits = limits, .diags = diags, .arena = arena_new(0)};
	for (int i = 0; i < XDS_TYPE_COUNT; i++)
		hash_init(&plan->by_name[i]);
}

void import_plan_fini(struct import_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		free(plan->items[i]->edits);
		free(plan->items[i]);
	}
	free(plan->items);
	for (size_t i = 0; i < plan->sources_count; i++) {
		yaml_outline_fini(&plan->sources[i]->outline);
		free(plan->sources[i]->text);
		free(plan->sources[i]);
	}
	free(plan->sources);
	for (int i = 0; i < XDS_TYPE_COUNT; i++)
		hash_fini(&plan->by_name[i]);
	arena_free(plan->arena);
}

struct import_source *import_plan_source(
	struct import_plan *plan, const char *path, char *text, size_t length)
{
	struct import_source *source = xcalloc(1, sizeof(*source));

	*source = (struct import_source){
		.path = arena_strdup(plan->arena, path), .text = text, .length = length};
	array_reserve(plan->sources, plan->sources_capacity, plan->sources_count + 1);
	plan->sources[plan->sources_count++] = source;
	return source;
}

struct import_item *import_plan_find(
	const struct import_plan *plan, enum xds_type type, struct slice name)
{
	return hash_get(&plan->by_name[type], name);
}

struct import_item *import_plan_add(struct import_plan *plan, const struct xds_type_row *row,
	struct message *message, const char *path, bool *ret_is_new)
{
	struct slice name = message_get_bytes(message, row->name_field);
	struct import_item *item = import_plan_find(plan, row->type, name);

	assert(name.length);
	*ret_is_new = false;
	if (item && !message_equal(item->message, message)) {
		struct buf quoted = BUF_INIT;

		text_quote(&quoted, name, 100);
		diag_error(plan->diags, path, message->at, "duplicate-resource",
			"another %s \"%s\" is in %s:%u", row->noun, buf_cstr(&quoted), item->path,
			item->at.line);
		buf_fini(&quoted);
		return NULL;
	}
	if (item)
		return item;
	*ret_is_new = true;
	item = xcalloc(1, sizeof(*item));
	*item = (struct import_item){.row = row,
		.name = name,
		.message = message,
		.at = message->at,
		.path = path,
		.ttl_ms = -1};
	array_reserve(plan->items, plan->capacity, plan->count + 1);
	plan->items[plan->count++] = item;
	hash_put(&plan->by_name[row->type], name, item);
	return item;
}

void import_plan_edit(struct import_plan *plan, struct import_item *item, struct position key,
	const char *format, ...)
{
	va_list arguments;
	struct buf lines = BUF_INIT;

	if (!item->source)
		return;
	va_start(arguments, format);
	buf_vprintf(&lines, format, arguments);
	va_end(arguments);
	array_reserve(item->edits, item->edits_capacity, item->edits_count + 1);
	item->edits[item->edits_count++] =
		(struct source_edit){key, arena_strdup(plan->arena, buf_cstr(&lines))};
	buf_fini(&lines);
}

const char *import_plan_free_name(struct import_plan *plan, enum xds_type type, const char *base)
{
	const char *name = arena_strdup(plan->arena, base);

	for (unsigned i = 2; import_plan_find(plan, type, slice_of(name)); i++)
		name = arena_printf(plan->arena, "%s-%u", base, i);
	return name;
}

const struct schema_field *import_plan_field(const struct message *message, const char *field)
{
	const struct schema_field *found = schema_field_by_name(message->type, slice_of(field));

	assert(found);
	return found;
}

void import_plan_set_text(
	struct import_plan *plan, struct message *message, const char *field, struct slice text)
{
	struct message_field *entry =
		message_set(plan->arena, message, import_plan_field(message, field));

	entry->count = 1;
	entry->one.bytes = arena_copy(plan->arena, text.data, text.length);
}

struct message *import_plan_sub(
	struct import_plan *plan, struct message *message, const char *field)
{
	const struct schema_field *found = import_plan_field(message, field);
	struct message_field *entry = message_find_mutable(message, found->number);

	if (!entry) {
		entry = message_set(plan->arena, message, found);
		entry->count = 1;
		entry->one.message = message_new(plan->arena, found->message);
	}
	return entry->one.message;
}
