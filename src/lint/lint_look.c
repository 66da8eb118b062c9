/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "lint/lint.h"
#include "lint/lint_plan.h"

#include "base/mem.h"
#include "base/text.h"

/* One resource being shown. */
struct walk {
	const struct lint_plans *plans;
	struct lint_look look;
};

/* --- what lints say ------------------------------------------------------------------------- */

static void vsay(const struct lint_look *look, const struct field_step *step, struct position at,
	const char *format, va_list arguments) __attribute__((format(printf, 4, 0)));
static void vsay(const struct lint_look *look, const struct field_step *step, struct position at,
	const char *format, va_list arguments)
{
	const char *rule = look->lint->rule;
	struct buf text = BUF_INIT;

	if (step) {
		field_path_write(step, &text);
		buf_puts(&text, ": ");
	}
	buf_vprintf(&text, format, arguments);
	diag_add(look->diags, look->lint->level, look->path, at, rule, "%s", buf_cstr(&text));
	buf_fini(&text);
}

void lint_say_at(const struct lint_look *look, const struct field_step *step, struct position at,
	const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsay(look, step, at, format, arguments);
	va_end(arguments);
}

struct position lint_position(const struct message *message, struct position fallback)
{
	return message->at.line ? message->at : fallback;
}

/* The step to a field of the message that is looked at, and where it is. */
static struct field_step step_to(const struct lint_look *look, const struct message *message,
	const char *field, struct position *ret_at)
{
	const struct message_field *entry = lint_field(message, field);

	*ret_at = entry && entry->at.line ? entry->at
					  : lint_position(message, look->step && look->step->entry
									   ? look->step->entry->at
									   : look->resource->at);
	return (struct field_step){
		.outer = look->step, .message = message, .entry = entry, .name = field};
}

void lint_say(const struct lint_look *look, const struct message *message, const char *field,
	const char *format, ...)
{
	struct position at;
	struct field_step step = step_to(look, message, field ? field : "", &at);
	va_list arguments;

	va_start(arguments, format);
	vsay(look, field ? &step : look->step, at, format, arguments);
	va_end(arguments);
}

void lint_say_item(const struct lint_look *look, const struct message *message, const char *field,
	uint32_t index, const char *format, ...)
{
	struct position at;
	struct field_step step = step_to(look, message, field, &at);
	va_list arguments;

	if (step.entry && step.entry->field->is_repeated && index < step.entry->count) {
		step.has_index = true;
		step.index = index;
		if (step.entry->field->message)
			at = lint_position(step.entry->items[index].message, at);
	}
	va_start(arguments, format);
	vsay(look, &step, at, format, arguments);
	va_end(arguments);
}

void lint_keep(const struct lint_look *look, const struct message *message, const char *field,
	enum fact_kind kind, unsigned flags, struct slice name)
{
	struct position at;
	struct field_step step = step_to(look, message, field, &at);

	if (look->facts)
		facts_add(look->facts, kind, flags, name, &step, at, look->diags);
}

const struct message *lint_enclosing(const struct lint_look *look, const char *type)
{
	for (const struct field_step *step = look->step; step; step = step->outer) {
		if (lint_is(step->message, type))
			return step->message;
	}
	return NULL;
}

const char *lint_place(const struct lint_look *look, struct position at, char out[static 256])
{
	return diag_list_place(look->diags, at, out);
}

/* --- reading messages ----------------------------------------------------------------------- */

static const struct message *content_of(const struct message *message)
{
	return message && message->any_content ? message->any_content : message;
}

const struct message_field *lint_field(const struct message *message, const char *name)
{
	const struct schema_field *field;

	message = content_of(message);
	field = message ? schema_field_by_name(message->type, slice_of(name)) : NULL;
	return field ? message_find(message, field->number) : NULL;
}

const struct message *lint_message(const struct message *message, const char *name)
{
	const struct message_field *entry = lint_field(message, name);

	if (!entry || !entry->field->message || entry->field->is_repeated)
		return NULL;
	return content_of(entry->one.message);
}

struct slice lint_text(const struct message *message, const char *name)
{
	const struct message_field *entry = lint_field(message, name);

	if (!entry || entry->field->is_repeated ||
		(entry->field->type != SCHEMA_STRING && entry->field->type != SCHEMA_BYTES))
		return SLICE("");
	return entry->one.bytes;
}

bool lint_flag(const struct message *message, const char *name, bool unset)
{
	const struct message_field *entry = lint_field(message, name);

	if (entry && !entry->field->is_repeated && entry->field->message) {
		message = entry->one.message;
		if (message->type->well_known != SCHEMA_WRAPPER)
			return unset;
		entry = message_find(message, 1);
		unset = false;
	}
	if (!entry || entry->field->is_repeated || entry->field->type != SCHEMA_BOOL)
		return unset;
	return entry->one.boolean;
}

bool lint_is_enum(const struct message *message, const char *name, const char *value)
{
	const struct schema_field *field;
	const struct message_field *entry;
	const struct schema_enum_value *wanted;

	message = content_of(message);
	field = message ? schema_field_by_name(message->type, slice_of(name)) : NULL;
	if (!field || field->type != SCHEMA_ENUM || field->is_repeated)
		return false;
	entry = message_find(message, field->number);
	wanted = schema_enum_by_name(field->enumeration, slice_of(value));
	return wanted && wanted->number == (entry ? entry->one.int32 : 0);
}

bool lint_is(const struct message *message, const char *type)
{
	return message && strcmp(content_of(message)->type->full_name, type) == 0;
}

/* --- the walk ------------------------------------------------------------------------------- */

static void keep_reference(struct walk *walk, const struct reference *reference,
	const struct message *message, const struct message_field *entry,
	const struct field_step *outer)
{
	struct field_step step = {
		.outer = outer, .message = message, .entry = entry, .name = entry->field->name};

	for (uint32_t i = 0; i < entry->count; i++) {
		struct slice name =
			entry->field->is_repeated ? entry->items[i].bytes : entry->one.bytes;

		step.has_index = entry->field->is_repeated;
		step.index = i;
		if (name.length)
			facts_add(walk->look.facts, (enum fact_kind)reference->type,
				reference->is_refused ? FACT_IS_REFUSED : 0, name, &step, entry->at,
				walk->look.diags);
	}
}

static void look_at(struct walk *walk, const struct message *message, const struct lint_plan *plan,
	const struct field_step *outer);

/* The value of a map's entry; its key is in the step. */
static void look_at_value(struct walk *walk, const struct message *pair,
	const struct lint_plan *plan, const struct field_step *step)
{
	const struct message_field *value = message_find(pair, 2);

	for (uint32_t i = 0; value && i < plan->fields_count; i++) {
		if (plan->fields[i].field == value->field && plan->fields[i].below)
			look_at(walk, value->one.message, plan->fields[i].below, step);
	}
}

static void look_below(struct walk *walk, const struct message *message,
	const struct message_field *entry, const struct lint_plan *plan,
	const struct field_step *outer)
{
	struct field_step step = {
		.outer = outer, .message = message, .entry = entry, .name = entry->field->name};

	if (!entry->field->is_repeated) {
		look_at(walk, entry->one.message, plan, &step);
		return;
	}
	step.has_index = true;
	for (uint32_t i = 0; i < entry->count; i++) {
		const struct message *item = entry->items[i].message;

		step.index = i;
		if (entry->field->is_map)
			look_at_value(walk, item, plan, &step);
		else
			look_at(walk, item, plan, &step);
	}
}

static void look_at(struct walk *walk, const struct message *message, const struct lint_plan *plan,
	const struct field_step *outer)
{
	uint32_t next = 0;

	if (message->any_content) {
		message = message->any_content;
		plan = lint_plan_of(walk->plans, message->type);
		if (!plan)
			return;
	}
	for (uint32_t i = 0; i < plan->lints_count; i++) {
		walk->look.lint = plan->lints[i];
		walk->look.step = outer;
		plan->lints[i]->look(&walk->look, message);
	}
	for (uint32_t i = 0; i < message->fields_count && next < plan->fields_count; i++) {
		const struct message_field *entry = &message->fields[i];
		const struct lint_plan_field *field;

		while (next < plan->fields_count &&
			plan->fields[next].field->number < entry->field->number)
			next++;
		if (next == plan->fields_count || plan->fields[next].field != entry->field)
			continue;
		field = &plan->fields[next++];
		if (field->below)
			look_below(walk, message, entry, field->below, outer);
		else if (walk->look.facts)
			keep_reference(walk, field->reference, message, entry, outer);
	}
}

void lint_resource(const struct lint_plans *plans, const struct message *resource,
	const struct xds_type_row *row, const char *path, struct diag_list *diags,
	struct facts_draft *facts)
{
	const struct lint_plan *plan = lint_plan_of(plans, resource->type);
	struct walk walk = {
		.plans = plans,
		.look = {.resource = resource,
			.row = row,
			.path = path,
			.diags = diags,
			.facts = facts},
	};

	if (plan)
		look_at(&walk, resource, plan, NULL);
}

void lint_judge_say(struct lint_judge *judge, const struct lint_user *user, const char *format, ...)
{
	struct buf text = BUF_INIT;
	va_list arguments;

	va_start(arguments, format);
	buf_vprintf(&text, format, arguments);
	va_end(arguments);
	judge->say(judge->ctx, judge->lint, user, buf_cstr(&text));
	buf_fini(&text);
}
