/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/stack.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

/* With the sets of another one, or empty ones. */
static struct stack *stack_new(const struct stack *from, struct stack *parent, struct layer *layer)
{
	struct stack *stack = xcalloc(1, sizeof(*stack));

	stack->parent = parent;
	stack->layer = layer;
	if (parent) {
		stack->sources = parent->sources;
		stack->number = parent->number;
	}
	for (int i = 0; i < XDS_TYPE_COUNT; i++)
		stack->sets[i] = from ? resource_set_ref(from->sets[i])
				      : resource_set_empty((enum xds_type)i);
	return stack;
}

static void stack_free(struct stack *stack)
{
	for (int i = 0; i < XDS_TYPE_COUNT; i++) {
		if (stack->builders[i])
			resource_set_unref(resource_set_finish(stack->builders[i]));
		resource_set_unref(stack->sets[i]);
	}
	virtual_hosts_free(stack->hosts);
	if (!stack->parent)
		config_sources_unref(stack->sources);
	free(stack);
}

void stacks_init(struct stacks *stacks)
{
	*stacks = (struct stacks){.are_fresh = true};
	hash_init(&stacks->by_sources);
	hash_init(&stacks->by_end);
}

static struct slice sources_key(const struct config_sources *sources)
{
	return (struct slice){(const char *)sources->digest.bytes, DIGEST_LENGTH};
}

struct stack *stacks_find_root(const struct stacks *stacks, const struct config_sources *sources)
{
	return hash_get(&stacks->by_sources, sources_key(sources));
}

struct stack *stacks_root(
	struct stacks *stacks, struct config_sources *sources, const struct stacks *former)
{
	struct stack *root = stacks_find_root(stacks, sources);
	const struct stack *like = NULL;

	if (root)
		return root;
	/* Empty sets are the same everywhere. */
	if (stacks->roots_count)
		like = stacks->roots[0];
	else if (former && former->roots_count)
		like = former->roots[0];
	root = stack_new(like, NULL, NULL);
	root->sources = config_sources_ref(sources);
	root->number = (uint32_t)stacks->roots_count;
	hash_put(&stacks->by_sources, sources_key(root->sources), root);
	array_reserve(stacks->roots, stacks->roots_capacity, stacks->roots_count + 1);
	stacks->roots[stacks->roots_count++] = root;
	return root;
}

void stacks_fini(struct stacks *stacks)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&stacks->by_end, &cursor)))
		stack_free(slot->value);
	hash_fini(&stacks->by_end);
	hash_fini(&stacks->by_sources);
	for (size_t i = 0; i < stacks->roots_count; i++)
		stack_free(stacks->roots[i]);
	free(stacks->roots);
}

/* Parent and layer, the head of the struct. */
static struct slice stack_key(const struct stack *stack)
{
	return (struct slice){(const char *)stack, offsetof(struct stack, first_child)};
}

struct stack *stacks_find(const struct stacks *stacks, struct stack *parent, struct layer *layer)
{
	const struct stack probe = {.parent = parent, .layer = layer};

	return hash_get(&stacks->by_end, stack_key(&probe));
}

struct stack *stacks_push(struct stacks *stacks, struct stack *parent, struct layer *layer)
{
	struct stack *stack = stacks_find(stacks, parent, layer);

	if (stack)
		return stack;
	stack = stack_new(parent, parent, layer);
	stack->next_sibling = parent->first_child;
	parent->first_child = stack;
	hash_put(&stacks->by_end, stack_key(stack), stack);
	array_reserve(layer->stacks, layer->stacks_capacity, layer->stacks_count + 1);
	layer->stacks[layer->stacks_count++] = stack;
	return stack;
}

struct stack *stack_next(const struct stack *top, const struct stack *stack)
{
	if (stack->first_child)
		return stack->first_child;
	while (stack != top) {
		if (stack->next_sibling)
			return stack->next_sibling;
		stack = stack->parent;
	}
	return NULL;
}

struct unit_item *stack_find(const struct stack *stack, enum xds_type type, struct slice name)
{
	for (; stack->layer; stack = stack->parent) {
		struct unit_item *item = layer_find(stack->layer, type, name);

		if (item)
			return item;
	}
	return NULL;
}

struct stack_sums stack_sum(const struct stack *stack)
{
	struct stack_sums sums = {{0}, {0}, {0}};

	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		struct hash_entry *slot;
		size_t cursor = 0;

		while ((slot = hash_next(&stack->layer->items[type], &cursor))) {
			const struct unit_item *item = slot->value;
			const struct unit_item *below =
				stack_find(stack->parent, (enum xds_type)type, slot->key);
			bool has_below = below && !below->is_delete;

			if (item->is_delete)
				sums.deletes[type] += has_below;
			else if (has_below)
				sums.replaces[type]++;
			else
				sums.adds[type]++;
		}
	}
	return sums;
}

static bool says_nothing(const struct stack *stack, enum xds_type type)
{
	return stack->layer->items[type].count == 0;
}

static void update_one(struct stack *stack, enum xds_type type, struct slice name)
{
	struct unit_item *item = stack_find(stack, type, name);
	struct resource *wanted = item && !item->is_delete
					  ? unit_item_bind(item, stack->sources, stack->number)
					  : NULL;

	if (!stack->builders[type]) {
		if (resource_set_find(stack->sets[type], name) == wanted)
			return;
		stack->builders[type] = resource_set_edit(stack->sets[type]);
	}
	if (wanted)
		resource_set_put(stack->builders[type], wanted);
	else
		resource_set_remove(stack->builders[type], name);
}

void stack_update(struct stack *top, enum xds_type type, struct slice name)
{
	for (struct stack *stack = top; stack; stack = stack_next(top, stack)) {
		/* The others take what is below them. */
		if (!says_nothing(stack, type))
			update_one(stack, type, name);
	}
}

/* What is below, with what the layer says about it. */
static struct resource_set *make_set(const struct stack *stack, enum xds_type type)
{
	struct resource_set_builder *builder = resource_set_edit(stack->parent->sets[type]);
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&stack->layer->items[type], &cursor))) {
		struct unit_item *item = slot->value;

		if (item->is_delete)
			resource_set_remove(builder, item->resource->name);
		else
			resource_set_put(
				builder, unit_item_bind(item, stack->sources, stack->number));
	}
	return resource_set_finish(builder);
}

static void finish_one(struct stack *stack, enum xds_type type, bool is_fresh)
{
	const struct stack *former = stack->former;

	struct resource_set *below = stack->parent->sets[type], *set;

	if (says_nothing(stack, type)) {
		set = resource_set_ref(below);
		if (stack->builders[type])
			resource_set_unref(resource_set_finish(TAKE(stack->builders[type])));
	} else if (is_fresh) {
		set = make_set(stack, type);
		/* Nothing but idle deletions: that is the set below. */
		if (former && set != below)
			set = resource_set_share(set, former->sets[type]);
	} else if (stack->builders[type]) {
		set = resource_set_finish(TAKE(stack->builders[type]));
		if (set != stack->sets[type])
			set = resource_set_share(set, below);
	} else {
		return;
	}
	resource_set_unref(stack->sets[type]);
	stack->sets[type] = set;
}

/* --- virtual hosts --------------------------------------------------------------------------- */

static bool has_sets_of(const struct stack *stack, const struct stack *other)
{
	return stack->sets[XDS_RDS] == other->sets[XDS_RDS] &&
	       stack->sets[XDS_VHDS] == other->sets[XDS_VHDS];
}

/* True when there was or is something wrong with them, and it may be something else now. */
static bool update_hosts(struct stack *stack)
{
	struct virtual_hosts *before = stack->hosts;
	bool is_news;

	if (!before && stack->former)
		before = TAKE(stack->former->hosts);
	if (before && before->all_routes == stack->sets[XDS_RDS] &&
		before->all_hosts == stack->sets[XDS_VHDS]) {
		stack->hosts = before;
		return false;
	}
	is_news = before && before->problems_count;
	stack->hosts = NULL;
	if (resource_set_count(stack->sets[XDS_VHDS]) && !has_sets_of(stack, stack->parent)) {
		stack->hosts =
			virtual_hosts_new(stack->sets[XDS_RDS], stack->sets[XDS_VHDS], before);
		is_news = is_news || stack->hosts->problems_count;
	}
	virtual_hosts_free(before);
	return is_news;
}

struct virtual_hosts *stack_hosts(const struct stack *stack)
{
	while (stack->parent && has_sets_of(stack, stack->parent))
		stack = stack->parent;
	return stack->hosts;
}

struct resource_set *stack_set(const struct stack *stack, enum xds_type type)
{
	const struct virtual_hosts *hosts =
		type == XDS_RDS || type == XDS_VHDS ? stack_hosts(stack) : NULL;

	if (!hosts)
		return stack->sets[type];
	return type == XDS_RDS ? hosts->routes : hosts->hosts;
}

bool stacks_finish(struct stacks *stacks, stacks_former_cb find_former, void *ctx)
{
	bool is_news = false;

	for (size_t i = 0; i < stacks->roots_count; i++) {
		struct stack *root = stacks->roots[i];

		for (struct stack *stack = root; (stack = stack_next(root, stack));) {
			stack->former = find_former ? find_former(ctx, stack) : NULL;
			for (int type = 0; type < XDS_TYPE_COUNT; type++)
				finish_one(stack, (enum xds_type)type, stacks->are_fresh);
			is_news |= update_hosts(stack);
		}
	}
	stacks->are_fresh = false;
	return is_news;
}
