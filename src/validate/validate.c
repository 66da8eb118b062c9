/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "validate/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "message/field_path.h"
#include "validate/value_check.h"

struct validator {
	const struct schema *schema;
	struct rules_book *book;
};

/* One validator_check(). */
struct walk {
	struct validator *validator;
	const char *path;
	struct diag_list *diags;
	rules_integer now;
	size_t errors;
};

/* Where value_check's complaints go. */
struct place {
	struct walk *walk;
	const struct field_step *step;
	struct position at;
};

struct validator *validator_new(const struct schema *schema)
{
	struct validator *validator = xcalloc(1, sizeof(*validator));

	validator->schema = schema;
	validator->book = rules_book_new(schema);
	return validator;
}

void validator_free(struct validator *validator)
{
	if (!validator)
		return;
	rules_book_free(validator->book);
	free(validator);
}

static void tell(struct walk *walk, enum diag_level level, const struct field_step *step,
	struct position at, const char *id, const char *text)
{
	struct buf line = BUF_INIT;

	if (step) {
		field_path_write(step, &line);
		buf_puts(&line, ": ");
	}
	buf_puts(&line, text);
	diag_add(walk->diags, level, walk->path, at, id, "%s", buf_cstr(&line));
	buf_fini(&line);
	walk->errors += level == DIAG_ERROR;
}

/* value_complaint_cb */
static void on_complaint(void *ctx, const char *id, const char *text)
{
	const struct place *place = ctx;

	tell(place->walk, DIAG_ERROR, place->step, place->at, id, text);
}

static struct value_check start_check(
	struct walk *walk, const struct field_rules *rules, struct place *place)
{
	return (struct value_check){
		.rules = rules, .complain = on_complaint, .ctx = place, .now = walk->now};
}

static void check_message(struct walk *walk, const struct message *message,
	const struct field_step *outer, struct position at);

static struct position position_of(const struct message *message, struct position fallback)
{
	return message->at.line ? message->at : fallback;
}

/* A message that is there: its own rules, then what is below. rules NULL: none. */
static void check_submessage(struct walk *walk, const struct field_rules *rules,
	const struct message *message, const struct field_step *step, struct position at)
{
	struct place place = {walk, step, at};
	struct value_check check = start_check(walk, rules, &place);

	if (rules && rules->is_wrapper) {
		const struct message_field *value = message_find(message, 1);

		if (rules->kind && message->type->fields_count)
			value_check_scalar(
				&check, &message->type->fields[0], value ? &value->one : NULL);
		return;
	}
	if (rules && rules->kind)
		value_check_message(&check, message);
	if (!rules || !rules->is_skipped)
		check_message(walk, message, step, position_of(message, at));
}

static void check_items(struct walk *walk, const struct field_rules *rules,
	const struct message_field *entry, const struct field_step *outer)
{
	const struct schema_field *field = entry->field;

	if (!field->message && !rules)
		return;
	for (uint32_t i = 0; i < entry->count; i++) {
		struct field_step step = {.outer = outer,
			.entry = entry,
			.name = field->name,
			.index = i,
			.has_index = true};
		struct place place = {walk, &step, entry->at};

		if (field->message) {
			check_submessage(walk, rules, entry->items[i].message, &step,
				position_of(entry->items[i].message, entry->at));
		} else {
			struct value_check check = start_check(walk, rules, &place);

			value_check_scalar(&check, field, &entry->items[i]);
		}
	}
}

/* Keys and values are fields 1 and 2 of the entry message; either may be left out of it. */
static void check_pair(struct walk *walk, const struct field_rules *rules,
	const struct message *pair, struct field_step *step, struct position at)
{
	const struct schema_field *key = &pair->type->fields[0], *value = &pair->type->fields[1];
	const struct message_field *key_entry = message_find(pair, 1);
	const struct message_field *value_entry = message_find(pair, 2);
	struct place place = {walk, step, at};
	struct value_check check;

	if (rules && rules->keys) {
		check = start_check(walk, rules->keys, &place);
		step->is_key = true;
		value_check_scalar(&check, key, key_entry ? &key_entry->one : NULL);
		step->is_key = false;
	}
	if (rules && rules->is_no_sparse && value->message && !value_entry)
		tell(walk, DIAG_ERROR, step, at, rule_id(KIND_MAP, RULE_NO_SPARSE),
			"must have a value");
	if (value->message && value_entry) {
		check_submessage(walk, rules ? rules->items : NULL, value_entry->one.message, step,
			position_of(value_entry->one.message, at));
	} else if (!value->message && rules && rules->items) {
		check = start_check(walk, rules->items, &place);
		value_check_scalar(&check, value, value_entry ? &value_entry->one : NULL);
	}
}

static void check_map(struct walk *walk, const struct field_rules *rules,
	const struct message_field *entry, const struct field_step *outer)
{
	for (uint32_t i = 0; i < entry->count; i++) {
		struct field_step step = {.outer = outer,
			.entry = entry,
			.name = entry->field->name,
			.index = i,
			.has_index = true};
		const struct message *pair = entry->items[i].message;

		check_pair(walk, rules, pair, &step, position_of(pair, entry->at));
	}
}

/* What is filled in for each transport when it says `self`. */
static bool is_config_source(const struct schema_field *field)
{
	return field->message &&
	       strcmp(field->message->full_name, "envoy.config.core.v3.ConfigSource") == 0;
}

/* A field without a value counts as its default, where the absence cannot be told from it. */
static void check_unset(struct walk *walk, const struct field_rules *rules,
	const struct field_step *outer, struct position at)
{
	const struct schema_field *field = rules->field;
	struct field_step step = {.outer = outer, .name = field->name};
	struct place place = {walk, &step, at};
	struct value_check check = start_check(walk, rules, &place);

	if (rules->is_required && !field->is_repeated && !field->oneof)
		tell(walk, DIAG_ERROR, &step, at,
			rule_id(rules->kind == KIND_ANY || rules->kind == KIND_DURATION ||
						rules->kind == KIND_TIMESTAMP
					? rules->kind
					: KIND_MESSAGE,
				RULE_REQUIRED),
			is_config_source(field)
				? "is required, is not set: write self: {} for where this resource "
				  "itself comes from"
				: "is required, is not set");
	else if (field->is_repeated && (rules->kind == KIND_REPEATED || rules->kind == KIND_MAP))
		value_check_list(&check, NULL);
	else if (!field->is_repeated && !field->has_presence && rules->kind)
		value_check_scalar(&check, field, NULL);
}

static void check_use(struct walk *walk, const struct field_rules *rules,
	const struct message_field *entry, const struct field_step *step)
{
	char text[160];

	if (rules->is_disallowed) {
		tell(walk, DIAG_ERROR, step, entry->at, "disallowed-field",
			"Envoy refuses this deprecated field by default");
	} else if (rules->is_deprecated) {
		snprintf(text, sizeof(text), "this field is deprecated%s%s",
			rules->deprecated_at ? " since Envoy API version " : "",
			rules->deprecated_at ? rules->deprecated_at : "");
		tell(walk, DIAG_WARNING, step, entry->at, "deprecated-field", text);
	}
	if (rules->is_unfinished)
		tell(walk, DIAG_WARNING, step, entry->at, "work-in-progress",
			"this field is work in progress: it may change or go without notice");
}

static void check_enum_use(struct walk *walk, const struct message_field *entry,
	const union message_value *value, const struct field_step *step)
{
	const struct schema_enum_value *named =
		schema_enum_by_number(entry->field->enumeration, value->int32);
	struct value_marks marks;
	char text[200];

	if (!named)
		return;
	marks = rules_value_marks(walk->validator->book, named);
	if (marks.is_disallowed) {
		snprintf(text, sizeof(text), "Envoy refuses the deprecated value %s by default",
			named->name);
		tell(walk, DIAG_ERROR, step, entry->at, "disallowed-value", text);
	} else if (marks.is_deprecated) {
		snprintf(text, sizeof(text), "the value %s is deprecated%s%s", named->name,
			marks.deprecated_at ? " since Envoy API version " : "",
			marks.deprecated_at ? marks.deprecated_at : "");
		tell(walk, DIAG_WARNING, step, entry->at, "deprecated-value", text);
	}
}

/* rules NULL: the field has none, but what is below it may. */
static void check_set(struct walk *walk, const struct field_rules *rules,
	const struct message_field *entry, const struct field_step *outer)
{
	const struct schema_field *field = entry->field;
	struct field_step step = {.outer = outer, .entry = entry, .name = field->name};
	struct place place = {walk, &step, entry->at};
	struct value_check check = start_check(walk, rules, &place);

	if (rules) {
		check_use(walk, rules, entry, &step);
		if (rules->has_old_values)
			for (uint32_t i = 0; i < entry->count; i++)
				check_enum_use(walk, entry,
					field->is_repeated ? &entry->items[i] : &entry->one, &step);
		if (rules->kind == KIND_REPEATED || rules->kind == KIND_MAP)
			value_check_list(&check, entry);
	}
	if (rules && rules->is_skipped)
		return;
	if (field->is_map)
		check_map(walk, rules, entry, outer);
	else if (field->is_repeated)
		check_items(walk, rules ? rules->items : NULL, entry, outer);
	else if (field->message)
		check_submessage(walk, rules, entry->one.message, &step, entry->at);
	else if (rules && rules->kind)
		value_check_scalar(&check, field, &entry->one);
}

static void check_oneofs(struct walk *walk, const struct message_rules *rules,
	const struct message *message, const struct field_step *outer, struct position at)
{
	for (uint32_t i = 0; i < rules->required_count; i++) {
		const struct schema_oneof *oneof = rules->required[i];
		struct field_step step = {.outer = outer, .name = oneof->name};
		struct buf text = BUF_INIT;
		bool is_set = false;

		for (uint32_t j = 0; j < oneof->fields_count; j++)
			is_set = is_set || message_find(message, oneof->fields[j]->number);
		if (is_set)
			continue;
		buf_puts(&text, "one of ");
		for (uint32_t j = 0; j < oneof->fields_count; j++)
			buf_printf(&text, "%s%s",
				j == 0 ? "" : (j + 1 == oneof->fields_count ? " or " : ", "),
				oneof->fields[j]->name);
		buf_puts(&text, " must be set");
		tell(walk, DIAG_ERROR, &step, at, "oneof.required", buf_cstr(&text));
		buf_fini(&text);
	}
}

/* Nothing in these has rules, and a Struct can be large. */
static bool is_plain(const struct schema_message *type)
{
	return type->well_known != SCHEMA_ORDINARY && type->well_known != SCHEMA_ANY;
}

static void check_message(struct walk *walk, const struct message *message,
	const struct field_step *outer, struct position at)
{
	const struct message_rules *rules;
	uint32_t next = 0;

	if (message->type->well_known == SCHEMA_ANY && message->any_content) {
		check_message(
			walk, message->any_content, outer, position_of(message->any_content, at));
		return;
	}
	if (is_plain(message->type))
		return;
	rules = rules_of(walk->validator->book, message->type);
	if (rules->is_unfinished && outer)
		tell(walk, DIAG_WARNING, outer, at, "work-in-progress",
			"this type is work in progress: it may change or go without notice");
	if (rules->is_disabled)
		return;
	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct message_field *entry = &message->fields[i];
		const struct field_rules *own = NULL;

		while (next < rules->fields_count &&
			rules->fields[next].field->number < entry->field->number)
			check_unset(walk, &rules->fields[next++], outer, at);
		if (next < rules->fields_count && rules->fields[next].field == entry->field)
			own = &rules->fields[next++];
		if (own && entry->field->is_repeated && entry->count == 0)
			check_unset(walk, own, outer, at);
		else if (own || entry->field->message)
			check_set(walk, own, entry, outer);
	}
	while (next < rules->fields_count)
		check_unset(walk, &rules->fields[next++], outer, at);
	check_oneofs(walk, rules, message, outer, at);
}

size_t validator_check(struct validator *validator, const struct message *message, const char *path,
	struct diag_list *diags)
{
	struct walk walk = {.validator = validator, .path = path, .diags = diags};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	walk.now = (rules_integer)now.tv_sec * RULES_SECOND + now.tv_nsec;
	check_message(&walk, message, NULL, message->at);
	return walk.errors;
}
