/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/snapshot.h"

#include <stdlib.h>

#include "base/mem.h"

struct snapshot *snapshot_new(struct rcstr *group, struct resource_set *sets[XDS_TYPE_COUNT],
	bool is_bridge, struct rcstr *source, int64_t built_wall_ms)
{
	struct snapshot *snapshot = xmalloc(sizeof(*snapshot));

	atomic_init(&snapshot->references, 1);
	snapshot->group = rcstr_ref(group);
	memcpy(snapshot->sets, sets, sizeof(snapshot->sets));
	snapshot->is_bridge = is_bridge;
	snapshot->source = rcstr_ref(source);
	snapshot->built_wall_ms = built_wall_ms;
	return snapshot;
}

struct snapshot *snapshot_empty(struct rcstr *group)
{
	struct resource_set *sets[XDS_TYPE_COUNT];

	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		sets[type] = resource_set_empty((enum xds_type)type);
	return snapshot_new(group, sets, false, NULL, 0);
}

struct snapshot *snapshot_ref(struct snapshot *snapshot)
{
	if (snapshot)
		atomic_fetch_add_explicit(&snapshot->references, 1, memory_order_relaxed);
	return snapshot;
}

void snapshot_unref(struct snapshot *snapshot)
{
	if (!snapshot ||
		atomic_fetch_sub_explicit(&snapshot->references, 1, memory_order_acq_rel) != 1)
		return;
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		resource_set_unref(snapshot->sets[type]);
	rcstr_unref(snapshot->group);
	rcstr_unref(snapshot->source);
	free(snapshot);
}

bool snapshot_same_content(const struct snapshot *a, const struct snapshot *b)
{
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		if (a->sets[type] != b->sets[type] &&
			!version_equal(resource_set_version(a->sets[type]),
				resource_set_version(b->sets[type])))
			return false;
	return true;
}

size_t snapshot_count(const struct snapshot *snapshot)
{
	size_t count = 0;

	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		count += resource_set_count(snapshot->sets[type]);
	return count;
}
