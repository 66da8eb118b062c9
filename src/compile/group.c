/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/group.h"

#include <stdlib.h>

#include "base/mem.h"

struct group *group_new(const struct groups_entry *entry)
{
	struct group *group = xcalloc(1, sizeof(*group));

	group->entry = entry;
	group->name = rcstr_new(entry->name, strlen(entry->name));
	group->layers = xcalloc(entry->layers_count, sizeof(*group->layers));
	return group;
}

void group_free(struct group *group)
{
	snapshot_unref(group->candidate);
	rcstr_unref(group->name);
	free(group->layers);
	free(group->first_error);
	free(group->held_reason);
	free(group);
}

struct unit_item *group_find(const struct group *group, enum xds_type type, struct slice name,
	size_t from, size_t *ret_layer)
{
	for (size_t i = from; i > 0; i--) {
		struct unit_item *item = layer_find(group->layers[i - 1], type, name);

		if (item) {
			*ret_layer = i - 1;
			return item;
		}
	}
	return NULL;
}

struct resource_set *group_set(const struct group *group, enum xds_type type)
{
	return stack_set(group->stack, type);
}

unsigned group_find_empty(const struct group *group)
{
	unsigned types = 0;

	for (int i = 0; i < XDS_TYPE_COUNT; i++) {
		if (xds_type_row((enum xds_type)i)->must_not_be_empty &&
			!group->entry->allow_empty &&
			resource_set_count(group_set(group, (enum xds_type)i)) == 0)
			types |= 1u << i;
	}
	return types;
}

uint64_t group_find_lack(const struct group *group)
{
	uint64_t lack = 0;

	for (int i = 0; i < XDS_TYPE_COUNT; i++) {
		size_t count = resource_set_count(group_set(group, (enum xds_type)i)),
		       floor = group->entry->at_least[i];

		lack = lack * 1000003 + (count < floor ? floor - count : 0);
	}
	return lack;
}

struct snapshot *group_snapshot(struct group *group, struct rcstr *source, int64_t now_wall_ms)
{
	struct resource_set *sets[XDS_TYPE_COUNT];
	bool is_same = group->candidate != NULL;

	for (int i = 0; i < XDS_TYPE_COUNT && is_same; i++)
		is_same = group->candidate->sets[i] == group_set(group, (enum xds_type)i);
	if (is_same)
		return group->candidate;
	for (int i = 0; i < XDS_TYPE_COUNT; i++)
		sets[i] = resource_set_ref(group_set(group, (enum xds_type)i));
	snapshot_unref(group->candidate);
	group->candidate = snapshot_new(group->name, sets, false, source, now_wall_ms);
	return group->candidate;
}
