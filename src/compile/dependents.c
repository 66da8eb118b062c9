/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/dependents.h"

#include <stdlib.h>

#include "base/mem.h"

static struct slice slice_of_rcstr(const struct rcstr *string)
{
	return (struct slice){string->text, string->length};
}

void dependents_init(struct dependents *dependents)
{
	hash_init(&dependents->by_path);
}

static void list_free(struct dependents_list *list)
{
	rcstr_unref(list->path);
	free(list->units);
	free(list);
}

void dependents_fini(struct dependents *dependents)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&dependents->by_path, &cursor)))
		list_free(slot->value);
	hash_fini(&dependents->by_path);
}

void dependents_add(
	struct dependents *dependents, struct unit *unit, const struct unit_content *content)
{
	for (uint32_t i = 0; i < content->dependencies_count; i++) {
		struct rcstr *path = content->dependencies[i];
		struct dependents_list *list = hash_get(&dependents->by_path, slice_of_rcstr(path));

		if (!list) {
			list = xcalloc(1, sizeof(*list));
			list->path = rcstr_ref(path);
			hash_put(&dependents->by_path, slice_of_rcstr(path), list);
		}
		array_reserve(list->units, list->capacity, list->count + 1);
		list->units[list->count++] = unit;
	}
}

void dependents_remove(
	struct dependents *dependents, struct unit *unit, const struct unit_content *content)
{
	for (uint32_t i = 0; i < content->dependencies_count; i++) {
		struct slice path = slice_of_rcstr(content->dependencies[i]);
		struct dependents_list *list = hash_get(&dependents->by_path, path);
		size_t k = 0;

		while (list->units[k] != unit)
			k++;
		list->units[k] = list->units[--list->count];
		if (list->count == 0) {
			hash_remove(&dependents->by_path, path);
			list_free(list);
		}
	}
}

const struct dependents_list *dependents_find(
	const struct dependents *dependents, struct slice path)
{
	return dependents->by_path.count ? hash_get(&dependents->by_path, path) : NULL;
}
