/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_hub.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "serve/xds_core.h"

struct xds_hub *xds_hub_new(const struct xds_settings *settings)
{
	struct xds_hub *hub = xcalloc(1, sizeof(*hub));

	hub->settings = *settings;
	xds_registry_init(&hub->registry);
	hash_init(&hub->answers);
	return hub;
}

void xds_hub_forget_recent(struct xds_hub *hub)
{
	for (size_t i = 0; i < XDS_RECENT; i++) {
		xds_table_unref(&hub->registry, hub->recent[i]);
		hub->recent[i] = NULL;
	}
}

void xds_hub_free(struct xds_hub *hub)
{
	if (!hub)
		return;
	xds_hub_forget_recent(hub);
	assert(hub->answers_count == 0);
	xds_registry_fini(&hub->registry);
	hash_fini(&hub->answers);
	free(hub);
}

struct xds_hub_counts xds_hub_count(const struct xds_hub *hub)
{
	return (struct xds_hub_counts){
		.names = hub->registry.names.count,
		.tables = hub->registry.tables.count,
		.answers = hub->answers_count,
		.computed = hub->computed,
	};
}
