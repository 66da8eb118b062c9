/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the model test serves: resources of five types that lead to one another, edited at random
 * but repeatable, and never with a reference to what is not there.
 */
#ifndef XDSPUB_TESTS_UNIT_XDS_WORLD_H
#define XDSPUB_TESTS_UNIT_XDS_WORLD_H

#include <stdio.h>
#include <stdlib.h>

#include "serve/xds_feed.h"
#include "snapshot/bridge.h"

#define NAMES 10  /* of each type */
#define BAD   'x' /* a value that picky clients refuse */

static const enum xds_type types[] = {XDS_CDS, XDS_EDS, XDS_SDS, XDS_LDS, XDS_RDS};
#define TYPES (sizeof(types) / sizeof(types[0]))

struct world {
	uint64_t random;
	int64_t now_ms;
	unsigned last_value;
	char values[XDS_TYPE_COUNT][NAMES][16]; /* "": absent; "v7:3": leads to number 3 */
	struct bridge bridge;
	int64_t grace_ms;
	struct xds_hub *hub;
	struct xds_feed *feed;
};

static unsigned pick(struct world *world, unsigned below)
{
	world->random = world->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(world->random >> 33) % below;
}

static bool chance(struct world *world, unsigned percent)
{
	return pick(world, 100) < percent;
}

static struct snapshot *snapshot_of(const struct world *world)
{
	struct resource_set *sets[XDS_TYPE_COUNT];
	struct rcstr *group = rcstr_new("g", 1);
	struct snapshot *snapshot;

	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		struct resource_set *empty = resource_set_empty((enum xds_type)type);
		struct resource_set_builder *builder = resource_set_edit(empty);

		resource_set_unref(empty);
		for (unsigned i = 0; i < NAMES; i++) {
			/* An EDS cluster must look like one; the value is what follows. */
			struct resource_spec spec = {.type = (enum xds_type)type, .ttl_ms = -1};
			struct resource *resource;
			char name[8], body[24];

			if (!world->values[type][i][0])
				continue;
			snprintf(name, sizeof(name), "n%u", i);
			snprintf(body, sizeof(body), "%s%s", type == XDS_CDS ? "\x10\x03" : "",
				world->values[type][i]);
			spec.name = slice_of(name);
			spec.body = slice_of(body);
			resource = resource_new(&spec);
			resource_set_put(builder, resource);
			resource_unref(resource);
		}
		sets[type] = resource_set_finish(builder);
	}
	snapshot = snapshot_new(group, sets, false, NULL, 0);
	rcstr_unref(group);
	return snapshot;
}

static void set_value(struct world *world, enum xds_type type, unsigned i, unsigned to, bool is_bad)
{
	snprintf(world->values[type][i], sizeof(world->values[type][i]), "%c%u:%u",
		is_bad ? BAD : 'v', ++world->last_value, to);
}

static unsigned pick_there(struct world *world, enum xds_type type)
{
	unsigned i = pick(world, NAMES);

	while (!world->values[type][i][0])
		i = (i + 1) % NAMES;
	return i;
}

static void set_random(struct world *world, enum xds_type type, unsigned i, bool may_be_bad)
{
	unsigned to = 0;

	if (type == XDS_RDS)
		to = pick_there(world, XDS_CDS);
	else if (type == XDS_LDS)
		to = pick_there(world, XDS_RDS);
	set_value(world, type, i, to, may_be_bad && chance(world, 10));
	if (type == XDS_CDS && !world->values[XDS_EDS][i][0])
		set_value(world, XDS_EDS, i, 0, false);
}

static unsigned target_of(const char *value)
{
	return (unsigned)atoi(strchr(value, ':') + 1);
}

/* Takes a resource away; whatever led to it leads elsewhere, as a compiler would insist. */
static void take_away(struct world *world, enum xds_type type, unsigned i)
{
	enum xds_type user = type == XDS_CDS ? XDS_RDS : XDS_LDS;
	unsigned there = 0;

	for (unsigned k = 0; k < NAMES; k++)
		there += world->values[type][k][0] != '\0';
	if (there < 3 || !world->values[type][i][0])
		return;
	if (type == XDS_EDS && world->values[XDS_CDS][i][0])
		return; /* a cluster without endpoints would wait for ever */
	world->values[type][i][0] = '\0';
	if (type == XDS_CDS)
		world->values[XDS_EDS][i][0] = '\0';
	if (type != XDS_CDS && type != XDS_RDS)
		return;
	for (unsigned k = 0; k < NAMES; k++)
		if (world->values[user][k][0] && target_of(world->values[user][k]) == i)
			set_random(world, user, k, false);
}

#endif
