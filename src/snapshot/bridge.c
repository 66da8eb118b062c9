/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/bridge.h"

struct kept {
	struct resource_set *target;
	struct resource_set_builder *builder; /* NULL until something is kept */
};

static int keep_removed(void *ctx, struct resource *old_resource, struct resource *new_resource)
{
	struct kept *kept = ctx;

	if (new_resource)
		return 0;
	if (!kept->builder)
		kept->builder = resource_set_edit(kept->target);
	resource_set_put(kept->builder, old_resource);
	return 0;
}

struct snapshot *bridge_make(const struct snapshot *published, struct snapshot *target)
{
	struct resource_set *sets[XDS_TYPE_COUNT];
	bool is_bridge = false;

	if (!published)
		return snapshot_ref(target);
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		struct kept kept = {target->sets[type], NULL};

		if (xds_type_row((enum xds_type)type)->is_bridged)
			resource_set_diff(
				published->sets[type], target->sets[type], keep_removed, &kept);
		if (kept.builder) {
			sets[type] = resource_set_finish(kept.builder);
			is_bridge = true;
		} else {
			sets[type] = resource_set_ref(target->sets[type]);
		}
	}
	if (!is_bridge) {
		for (int type = 0; type < XDS_TYPE_COUNT; type++)
			resource_set_unref(sets[type]);
		return snapshot_ref(target);
	}
	return snapshot_new(target->group, sets, true, target->source, target->built_wall_ms);
}

void bridge_fini(struct bridge *bridge)
{
	snapshot_unref(bridge->published);
	snapshot_unref(bridge->target);
	*bridge = (struct bridge){.final_at_ms = -1};
}

static void replace(struct snapshot **at, struct snapshot *snapshot)
{
	struct snapshot *former = *at;

	*at = snapshot_ref(snapshot);
	snapshot_unref(former);
}

struct snapshot *bridge_on_target(
	struct bridge *bridge, struct snapshot *target, int64_t now_ms, int64_t grace_ms)
{
	bool is_news = !bridge->target || !snapshot_same_content(bridge->target, target);
	struct snapshot *next;
	bool is_change;

	/* Built again with the same content: an open grace period goes on as it was. */
	if (!is_news && bridge->final_at_ms >= 0) {
		replace(&bridge->target, target);
		return NULL;
	}
	next = grace_ms > 0 ? bridge_make(bridge->published, target) : snapshot_ref(target);
	is_change = !bridge->published || bridge->published->is_bridge != next->is_bridge ||
		    !snapshot_same_content(bridge->published, next);
	bridge->final_at_ms = next->is_bridge ? now_ms + grace_ms : -1;
	replace(&bridge->target, target);
	replace(&bridge->published, next);
	if (is_change)
		return next;
	snapshot_unref(next);
	return NULL;
}

struct snapshot *bridge_on_time(struct bridge *bridge, int64_t now_ms)
{
	if (bridge->final_at_ms < 0 || now_ms < bridge->final_at_ms)
		return NULL;
	bridge->final_at_ms = -1;
	replace(&bridge->published, bridge->target);
	return snapshot_ref(bridge->target);
}
