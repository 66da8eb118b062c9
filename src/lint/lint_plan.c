/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint_plan.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/mem.h"

struct lint_plans {
	const struct schema *schema;
	struct hash by_type; /* by the address of the type, of struct node */
	struct arena *arena;
	struct node **nodes;
	size_t count, capacity;
};

/* A plan in the making. */
struct node {
	struct lint_plan plan;
	bool is_wanted; /* there is something to look at in it or below */
	struct node **parents;
	size_t parents_count, parents_capacity;
};

static struct slice type_key(const struct schema_message *const *type)
{
	return (struct slice){(const char *)type, sizeof(*type)};
}

static struct node *find_node(const struct lint_plans *plans, const struct schema_message *type)
{
	return hash_get(&plans->by_type, type_key(&type));
}

static struct node *add_node(struct lint_plans *plans, const struct schema_message *type)
{
	struct node *node = find_node(plans, type);

	if (node)
		return node;
	node = xcalloc(1, sizeof(*node));
	node->plan.type = type;
	hash_put(&plans->by_type, type_key(&node->plan.type), node);
	array_reserve(plans->nodes, plans->capacity, plans->count + 1);
	plans->nodes[plans->count++] = node;
	return node;
}

static void add_parent(struct node *node, struct node *parent)
{
	array_reserve(node->parents, node->parents_capacity, node->parents_count + 1);
	node->parents[node->parents_count++] = parent;
}

static void link_all(struct lint_plans *plans)
{
	size_t count;
	const struct schema_message *const *types = schema_messages(plans->schema, &count);

	for (size_t i = 0; i < count; i++)
		add_node(plans, types[i]);
	/* Those of maps may come in only now. */
	for (size_t i = 0; i < plans->count; i++) {
		const struct schema_message *type = plans->nodes[i]->plan.type;

		for (uint32_t k = 0; k < type->fields_count; k++) {
			if (type->fields[k].message)
				add_parent(
					add_node(plans, type->fields[k].message), plans->nodes[i]);
		}
	}
}

static void add_lint(struct lint_plans *plans, const struct lint *lint, const char *type_name)
{
	const struct schema_message *type = schema_find_message(plans->schema, slice_of(type_name));
	struct lint_plan *plan;

	if (!type)
		return;
	plan = &add_node(plans, type)->plan;
	plan->lints =
		arena_grow(plans->arena, plan->lints, plan->lints_count * sizeof(struct lint *),
			(plan->lints_count + 1) * sizeof(struct lint *));
	plan->lints[plan->lints_count++] = lint;
}

/* A type is wanted, and so are all that lead to it. */
static void want(struct lint_plans *plans, struct node *first, struct node **stack)
{
	size_t depth = 0;

	(void)plans;
	if (first->is_wanted)
		return;
	first->is_wanted = true;
	stack[depth++] = first;
	while (depth) {
		struct node *node = stack[--depth];

		for (size_t i = 0; i < node->parents_count; i++) {
			if (node->parents[i]->is_wanted)
				continue;
			node->parents[i]->is_wanted = true;
			stack[depth++] = node->parents[i];
		}
	}
}

static void mark_wanted(struct lint_plans *plans)
{
	struct node **stack = xcalloc(plans->count + 1, sizeof(*stack));

	for (size_t i = 0; i < plans->count; i++) {
		struct node *node = plans->nodes[i];

		if (node->plan.lints_count || node->plan.fields_count ||
			node->plan.type->well_known == SCHEMA_ANY)
			want(plans, node, stack);
	}
	free(stack);
}

static const struct schema_field *find_field(
	const struct lint_plans *plans, const struct reference *reference)
{
	const struct schema_message *type =
		schema_find_message(plans->schema, slice_of(reference->message));
	const struct schema_field *field =
		type ? schema_field_by_name(type, slice_of(reference->field)) : NULL;

	return field && field->type == SCHEMA_STRING ? field : NULL;
}

/* For now only how many there are. */
static void count_references(struct lint_plans *plans)
{
	for (const struct reference *row = references; row->message; row++) {
		const struct schema_field *field = find_field(plans, row);

		if (field && row->meaning == REFERENCE_NAME)
			find_node(plans, field->parent)->plan.fields_count++;
	}
}

static const struct reference *reference_of(const struct schema_field *field)
{
	for (const struct reference *row = references; row->message; row++) {
		if (row->meaning == REFERENCE_NAME && strcmp(row->field, field->name) == 0 &&
			strcmp(row->message, field->parent->full_name) == 0)
			return row;
	}
	return NULL;
}

static const struct lint_plan *plan_below(
	const struct lint_plans *plans, const struct schema_field *field)
{
	const struct node *node = find_node(plans, field->message);

	return node->is_wanted ? &node->plan : NULL;
}

static void fill(struct lint_plans *plans, struct node *node)
{
	const struct schema_message *type = node->plan.type;
	bool has_references = node->plan.fields_count > 0;

	node->plan.fields_count = 0;
	if (!node->is_wanted)
		return;
	node->plan.fields =
		arena_zalloc(plans->arena, (type->fields_count + 1) * sizeof(*node->plan.fields));
	for (uint32_t i = 0; i < type->fields_count; i++) {
		struct lint_plan_field field = {.field = &type->fields[i]};

		if (type->fields[i].message)
			field.below = plan_below(plans, field.field);
		else if (has_references && type->fields[i].type == SCHEMA_STRING)
			field.reference = reference_of(field.field);
		if (field.below || field.reference)
			node->plan.fields[node->plan.fields_count++] = field;
	}
}

struct lint_plans *lint_plans_new(const struct schema *schema, const char *profile)
{
	struct lint_plans *plans = xcalloc(1, sizeof(*plans));

	plans->schema = schema;
	plans->arena = arena_new(0);
	hash_init(&plans->by_type);
	link_all(plans);
	for (const struct lint *const *table = lint_tables; *table; table++) {
		for (const struct lint *lint = *table; lint->rule; lint++) {
			if (lint->profile && (!profile || strcmp(lint->profile, profile) != 0))
				continue;
			for (const char *const *type = lint->types; type && *type; type++)
				add_lint(plans, lint, *type);
		}
	}
	count_references(plans);
	mark_wanted(plans);
	for (size_t i = 0; i < plans->count; i++)
		fill(plans, plans->nodes[i]);
	for (size_t i = 0; i < plans->count; i++) {
		free(TAKE(plans->nodes[i]->parents));
		plans->nodes[i]->parents_count = 0;
	}
	return plans;
}

void lint_plans_free(struct lint_plans *plans)
{
	if (!plans)
		return;
	for (size_t i = 0; i < plans->count; i++)
		free(plans->nodes[i]);
	free(plans->nodes);
	hash_fini(&plans->by_type);
	arena_free(plans->arena);
	free(plans);
}

const struct lint_plan *lint_plan_of(
	const struct lint_plans *plans, const struct schema_message *type)
{
	const struct node *node = find_node(plans, type);

	return node && node->is_wanted ? &node->plan : NULL;
}

size_t lint_plans_count(const struct lint_plans *plans)
{
	size_t count = 0;

	for (size_t i = 0; i < plans->count; i++)
		count += plans->nodes[i]->is_wanted;
	return count;
}
