/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All resources of all types for one group at one moment. Immutable, reference-counted, any thread.
 * A bridge snapshot is the union published while something is on its way out (see bridge.h).
 */
#ifndef XDSPUB_SNAPSHOT_SNAPSHOT_H
#define XDSPUB_SNAPSHOT_SNAPSHOT_H

#include "snapshot/resource_set.h"

struct snapshot {
	atomic_uint references;
	struct rcstr *group;
	struct resource_set *sets[XDS_TYPE_COUNT]; /* never NULL */
	bool is_bridge;
	struct rcstr *source; /* e.g. the commit; travels beside the version; may be NULL */
	int64_t built_wall_ms;
};

/* Takes over the references in `sets`. */
struct snapshot *snapshot_new(struct rcstr *group, struct resource_set *sets[XDS_TYPE_COUNT],
	bool is_bridge, struct rcstr *source, int64_t built_wall_ms);
struct snapshot *snapshot_empty(struct rcstr *group);
struct snapshot *snapshot_ref(struct snapshot *snapshot);
void snapshot_unref(struct snapshot *snapshot);

bool snapshot_same_content(const struct snapshot *a, const struct snapshot *b); /* by versions */
size_t snapshot_count(const struct snapshot *snapshot);

#endif
