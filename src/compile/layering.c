/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/layering.h"

#include <stdlib.h>

#include "base/mem.h"
#include "compile/folder.h"

/* A type and name that changed in a layer. */
struct layering_key {
	struct layer *layer;
	const struct resource *resource; /* some resource of that type and name */
};

static bool is_wanted(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return names == NULL;
}

static struct layer *find_or_add_layer(struct layering *layering, struct slice path)
{
	struct layer *layer = hash_get(&layering->layers_by_path, path);

	if (layer)
		return layer;
	layer = layer_new(path);
	layering->layers[layering->layers_count++] = layer;
	hash_put(&layering->layers_by_path, path, layer);
	return layer;
}

static void add_group(struct layering *layering, const struct groups_entry *entry, bool is_built)
{
	struct group *group = NULL;

	if (is_built) {
		group = group_new(entry);
		group->stack = stacks_root(&layering->stacks, entry->sources,
			layering->former ? &layering->former->stacks : NULL);
		layering->built[layering->built_count++] = group;
	}
	for (size_t i = 0; i < entry->layers_count; i++) {
		struct layer *layer = find_or_add_layer(layering, entry->layers[i].path);

		if (!group)
			continue;
		group->layers[group->layers_count++] = layer;
		group->stack = stacks_push(&layering->stacks, group->stack, layer);
		array_reserve(layer->groups, layer->groups_capacity, layer->groups_count + 1);
		layer->groups[layer->groups_count++] = group;
		group->stack->groups_count++;
	}
}

struct layering *layering_new(struct groups *groups, const char *const *names, size_t names_count,
	struct layering *former)
{
	struct layering *layering = xcalloc(1, sizeof(*layering));
	size_t layers = 0;

	layering->groups = groups;
	layering->former = former;
	hash_init(&layering->layers_by_path);
	hash_init(&layering->idle);
	stacks_init(&layering->stacks);
	for (size_t i = 0; i < groups->count; i++)
		layers += groups->entries[i].layers_count;
	layering->layers = xcalloc(layers, sizeof(struct layer *));
	layering->built = xcalloc(groups->count, sizeof(struct group *));
	for (size_t i = 0; i < groups->count; i++)
		add_group(layering, &groups->entries[i],
			is_wanted(groups->entries[i].name, names, names_count));
	return layering;
}

void layering_free(struct layering *layering)
{
	if (!layering)
		return;
	layering_free(layering->former);
	for (size_t i = 0; i < layering->built_count; i++)
		group_free(layering->built[i]);
	stacks_fini(&layering->stacks);
	for (size_t i = 0; i < layering->layers_count; i++)
		layer_free(layering->layers[i]);
	hash_fini(&layering->layers_by_path);
	hash_fini(&layering->idle);
	groups_free(layering->groups);
	free(layering->built);
	free(layering->layers);
	free(layering->keys);
	free(layering);
}

struct layer *layering_layer_of(const struct layering *layering, struct slice path)
{
	while (path.length) {
		struct layer *layer;

		path = folder_parent(path);
		layer = hash_get(&layering->layers_by_path, path);
		if (layer)
			return layer;
	}
	return NULL;
}

static void note(struct layering *layering, struct layer *layer, const struct resource *resource)
{
	array_reserve(layering->keys, layering->keys_capacity, layering->keys_count + 1);
	layering->keys[layering->keys_count++] = (struct layering_key){layer, resource};
}

static struct slice idle_key(const struct unit_item *item)
{
	return (struct slice){(const char *)&item->resource, sizeof(item->resource)};
}

bool layering_add_items(struct layering *layering, struct unit *unit)
{
	unsigned before = layer_open_types(unit->layer);
	bool is_conflict = false;

	for (uint32_t i = 0; i < unit->content.items_count; i++) {
		struct unit_item *item = &unit->content.items[i];

		item->is_idle = false;
		is_conflict |= layer_add(unit->layer, item);
		note(layering, unit->layer, item->resource);
		layering->deletes_count += item->is_delete;
	}
	return is_conflict || layer_open_types(unit->layer) != before;
}

bool layering_remove_items(struct layering *layering, struct unit *unit)
{
	unsigned before = layer_open_types(unit->layer);
	bool is_conflict = false;

	for (uint32_t i = 0; i < unit->content.items_count; i++) {
		struct unit_item *item = &unit->content.items[i];

		is_conflict |= layer_remove(unit->layer, item);
		note(layering, unit->layer, item->resource);
		layering->deletes_count -= item->is_delete;
		if (item->is_idle) {
			hash_remove(&layering->idle, idle_key(item));
			is_conflict = true;
		}
	}
	return is_conflict || layer_open_types(unit->layer) != before;
}

/* Whether in no stack of its layer there is something below that it could delete. */
static bool find_idle(const struct layer *layer, const struct unit_item *item)
{
	for (size_t i = 0; i < layer->stacks_count; i++) {
		const struct unit_item *below = stack_find(
			layer->stacks[i]->parent, item->resource->type, item->resource->name);

		if (below && !below->is_delete)
			return false;
	}
	return true;
}

/* The deletions of one name in a layer. */
static bool update_idle(struct layering *layering, struct layer *layer, const struct resource *key)
{
	struct unit_item *item = layer_find(layer, key->type, key->name);
	bool is_changed = false;

	for (; item; item = item->next_same) {
		bool is_idle = item->is_delete && find_idle(layer, item);

		if (is_idle == item->is_idle)
			continue;
		item->is_idle = is_idle;
		is_changed = true;
		if (is_idle)
			hash_put(&layering->idle, idle_key(item), item);
		else
			hash_remove(&layering->idle, idle_key(item));
	}
	return is_changed;
}

/* All that stand on a layer may have something to delete now, or nothing any more. */
static bool update_idle_above(struct layering *layering, const struct layer *layer,
	const struct resource *key, size_t turn)
{
	bool is_changed = false;

	for (size_t i = 0; i < layer->stacks_count; i++) {
		struct stack *top = layer->stacks[i];

		for (struct stack *stack = top; stack; stack = stack_next(top, stack)) {
			if (stack->layer->turn == turn)
				continue;
			stack->layer->turn = turn;
			is_changed |= update_idle(layering, stack->layer, key);
		}
	}
	return is_changed;
}

static struct stack *find_former_stack(void *ctx, const struct stack *stack)
{
	const struct layering *former = ctx;
	struct layer *layer;
	struct stack *below;

	/* Parents come first, so theirs are known. */
	below = stack->parent->former;
	if (!stack->parent->layer) {
		below = stacks_find_root(&former->stacks, stack->sources);
		/* With other config sources most resources are still the same. */
		if (!below && former->stacks.roots_count)
			below = former->stacks.roots[0];
	}
	layer = hash_get(&former->layers_by_path, stack->layer->path);
	return below && layer ? stacks_find(&former->stacks, below, layer) : NULL;
}

/* A group whose sets are the same keeps its snapshot. */
static void keep_candidates(struct layering *layering, struct layering *former)
{
	struct hash names;

	hash_init(&names);
	for (size_t i = 0; i < former->built_count; i++)
		hash_put(&names, slice_of(former->built[i]->name->text), former->built[i]);
	for (size_t i = 0; i < layering->built_count; i++) {
		struct group *group = layering->built[i];
		struct group *before = hash_get(&names, slice_of(group->name->text));

		if (before)
			group->candidate = TAKE(before->candidate);
	}
	hash_fini(&names);
}

bool layering_update(struct layering *layering)
{
	struct layering *former = layering->former;
	bool is_changed = false;

	for (size_t i = 0; i < layering->keys_count; i++) {
		const struct layering_key *key = &layering->keys[i];

		/* A fresh stack is made of whole layers. */
		for (size_t k = 0; !layering->stacks.are_fresh && k < key->layer->stacks_count; k++)
			stack_update(
				key->layer->stacks[k], key->resource->type, key->resource->name);
		if (layering->deletes_count)
			is_changed |= update_idle_above(
				layering, key->layer, key->resource, ++layering->turns);
	}
	is_changed |= stacks_finish(&layering->stacks, former ? find_former_stack : NULL, former);
	if (former) {
		keep_candidates(layering, former);
		layering_free(TAKE(layering->former));
	}
	layering->keys_count = 0;
	if (layering->keys_capacity > 65536) {
		free(layering->keys);
		layering->keys = NULL;
		layering->keys_capacity = 0;
	}
	return is_changed;
}
