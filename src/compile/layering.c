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

struct layering *layering_new(struct groups *groups, const char *const *names, size_t names_count)
{
	struct layering *layering = xcalloc(1, sizeof(*layering));
	struct resource_set *empty[XDS_TYPE_COUNT];
	size_t layers = 0;

	for (int i = 0; i < XDS_TYPE_COUNT; i++)
		empty[i] = resource_set_empty((enum xds_type)i);
	layering->groups = groups;
	hash_init(&layering->layers_by_path);
	hash_init(&layering->idle);
	for (size_t i = 0; i < groups->count; i++)
		layers += groups->entries[i].layers_count;
	layering->layers = xcalloc(layers, sizeof(struct layer *));
	layering->built = xcalloc(groups->count, sizeof(struct group *));
	for (size_t i = 0; i < groups->count; i++) {
		const struct groups_entry *entry = &groups->entries[i];
		struct group *group = NULL;

		if (is_wanted(entry->name, names, names_count)) {
			group = group_new(entry, empty);
			layering->built[layering->built_count++] = group;
		}
		for (size_t k = 0; k < entry->layers_count; k++) {
			struct layer *layer = find_or_add_layer(layering, entry->layers[k].path);

			if (!group)
				continue;
			group->layers[group->layers_count++] = layer;
			array_reserve(
				layer->groups, layer->groups_capacity, layer->groups_count + 1);
			layer->groups[layer->groups_count++] = group;
		}
	}
	for (int i = 0; i < XDS_TYPE_COUNT; i++)
		resource_set_unref(empty[i]);
	return layering;
}

void layering_free(struct layering *layering)
{
	if (!layering)
		return;
	for (size_t i = 0; i < layering->built_count; i++)
		group_free(layering->built[i]);
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
	bool is_conflict = false;

	for (uint32_t i = 0; i < unit->content.items_count; i++) {
		struct unit_item *item = &unit->content.items[i];

		item->is_idle = false;
		is_conflict |= layer_add(unit->layer, item);
		note(layering, unit->layer, item->resource);
		layering->deletes_count += item->is_delete;
	}
	return is_conflict;
}

bool layering_remove_items(struct layering *layering, struct unit *unit)
{
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
	return is_conflict;
}

/* Whether in no group of its layer there is something below that it could delete. */
static bool find_idle(const struct layer *layer, const struct unit_item *item)
{
	for (size_t i = 0; i < layer->groups_count; i++) {
		const struct group *group = layer->groups[i];
		const struct unit_item *below;
		size_t index = 0, found;

		while (group->layers[index] != layer)
			index++;
		below = group_find(
			group, item->resource->type, item->resource->name, index, &found);
		if (below && !below->is_delete)
			return false;
	}
	return true;
}

static bool update_idle(
	struct layering *layering, const struct group *group, const struct resource *key)
{
	bool is_changed = false;

	for (size_t i = 0; i < group->layers_count; i++) {
		struct unit_item *item = layer_find(group->layers[i], key->type, key->name);

		for (; item; item = item->next_same) {
			bool is_idle = item->is_delete && find_idle(group->layers[i], item);

			if (is_idle == item->is_idle)
				continue;
			item->is_idle = is_idle;
			is_changed = true;
			if (is_idle)
				hash_put(&layering->idle, idle_key(item), item);
			else
				hash_remove(&layering->idle, idle_key(item));
		}
	}
	return is_changed;
}

bool layering_update(struct layering *layering)
{
	bool is_changed = false;

	for (size_t i = 0; i < layering->keys_count; i++) {
		const struct layering_key *key = &layering->keys[i];

		for (size_t k = 0; k < key->layer->groups_count; k++) {
			struct group *group = key->layer->groups[k];

			group_update(group, key->resource->type, key->resource->name);
			if (layering->deletes_count)
				is_changed |= update_idle(layering, group, key->resource);
		}
	}
	layering->keys_count = 0;
	if (layering->keys_capacity > 65536) {
		free(layering->keys);
		layering->keys = NULL;
		layering->keys_capacity = 0;
	}
	return is_changed;
}
