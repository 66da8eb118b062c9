/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/layer.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct layer *layer_new(struct slice path)
{
	struct layer *layer = xcalloc(1, sizeof(*layer));

	layer->path = path;
	hash_init(&layer->uses);
	for (int i = 0; i < XDS_TYPE_COUNT; i++) {
		hash_init(&layer->items[i]);
		hash_init(&layer->conflicts[i]);
	}
	return layer;
}

void layer_free(struct layer *layer)
{
	for (int i = 0; i < XDS_TYPE_COUNT; i++) {
		hash_fini(&layer->items[i]);
		hash_fini(&layer->conflicts[i]);
	}
	hash_fini(&layer->uses);
	free(layer->groups);
	free(layer->stacks);
	free(layer);
}

static int compare_places(const struct unit_item *a, const struct unit_item *b)
{
	int order = strcmp(a->unit->path->text, b->unit->path->text);

	if (order)
		return order;
	if (a->resource->at.line != b->resource->at.line)
		return a->resource->at.line < b->resource->at.line ? -1 : 1;
	if (a->resource->at.column != b->resource->at.column)
		return a->resource->at.column < b->resource->at.column ? -1 : 1;
	return 0;
}

/* The tables' keys are the first item's name, which dies with it. */
static void set_first(struct layer *layer, struct unit_item *first)
{
	enum xds_type type = first->resource->type;

	hash_put(&layer->items[type], first->resource->name, first);
	if (first->next_same)
		hash_put(&layer->conflicts[type], first->resource->name, first);
	else if (layer->conflicts[type].count)
		hash_remove(&layer->conflicts[type], first->resource->name);
}

/* A scoped route configuration, say, has no name for the file of its routes. */
static bool is_lost(const struct open_place *place)
{
	return place->name.length == 0 && place->type != SOURCE_NO_TYPE &&
	       xds_type_row((enum xds_type)place->type)->files == XDS_FILE_EACH;
}

static void count_places(struct layer *layer, const struct open_body *open, size_t difference)
{
	for (uint32_t i = 0; open && i < open->places_count; i++) {
		layer->open_places[open->places[i].type] += difference;
		if (is_lost(&open->places[i]))
			layer->lost_places += difference;
	}
}

unsigned layer_open_types(const struct layer *layer)
{
	unsigned types = 0;

	for (int type = 0; type < SOURCE_TYPES; type++)
		types |= layer->open_places[type] ? 1u << type : 0;
	return layer->lost_places ? types | 1u << SOURCE_TYPES : types;
}

bool layer_add(struct layer *layer, struct unit_item *item)
{
	struct unit_item *first =
		hash_get(&layer->items[item->resource->type], item->resource->name);
	struct unit_item **link = &first;

	count_places(layer, item->resource->open, 1);
	while (*link && compare_places(*link, item) < 0)
		link = &(*link)->next_same;
	item->next_same = *link;
	*link = item;
	set_first(layer, first);
	return first->next_same != NULL;
}

bool layer_remove(struct layer *layer, struct unit_item *item)
{
	enum xds_type type = item->resource->type;
	struct unit_item *first = hash_get(&layer->items[type], item->resource->name);
	struct unit_item **link = &first;

	count_places(layer, item->resource->open, (size_t)-1);
	while (*link != item) {
		assert(*link);
		link = &(*link)->next_same;
	}
	*link = item->next_same;
	item->next_same = NULL;
	if (first)
		set_first(layer, first);
	else
		hash_remove(&layer->items[type], item->resource->name);
	return first != NULL;
}

struct unit_item *layer_find(const struct layer *layer, enum xds_type type, struct slice name)
{
	return hash_get(&layer->items[type], name);
}
