/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_answer.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "serve/xds_core.h"
#include "serve/xds_warm.h"

struct xds_answer *xds_answer_new(struct xds_hub *hub, enum xds_type type, bool is_delta)
{
	struct xds_answer *answer = xcalloc(1, sizeof(*answer));

	answer->references = 1;
	answer->type = type;
	answer->is_delta = is_delta;
	answer->private = xcalloc(1, sizeof(*answer->private));
	answer->private->hub = hub;
	hub->answers_count++;
	hub->computed++;
	return answer;
}

struct slice xds_answer_keep(struct xds_answer *answer, struct xds_name *name)
{
	struct xds_answer_private *memory = answer->private;

	array_reserve(memory->names, memory->names_capacity, memory->names_count + 1);
	memory->names[memory->names_count++] = xds_name_ref(name);
	return xds_name_slice(name);
}

struct xds_answer *xds_answer_ref(struct xds_answer *answer)
{
	answer->references++;
	return answer;
}

void xds_answer_unref(struct xds_answer *answer)
{
	struct xds_answer_private *memory;
	struct xds_hub *hub;

	if (!answer)
		return;
	assert(answer->references > 0);
	if (--answer->references > 0)
		return;
	memory = answer->private;
	hub = memory->hub;
	if (memory->key[0])
		hash_remove(&hub->answers, (struct slice){memory->key, sizeof(memory->key)});
	for (size_t i = 0; answer->encoded_free && i < XDS_ENCODINGS; i++)
		if (answer->encoded[i])
			answer->encoded_free(answer->encoded[i]);
	for (size_t i = 0; i < 2; i++) {
		xds_table_unref(&hub->registry, memory->warm_from[i]);
		xds_table_unref(&hub->registry, memory->warm_to[i]);
	}
	xds_table_unref(&hub->registry, memory->awaits_from);
	for (size_t i = 0; i < memory->names_count; i++)
		xds_name_unref(&hub->registry, memory->names[i]);
	for (size_t i = 0; i < answer->items_count; i++)
		resource_unref(answer->items[i].resource);
	hub->answers_count--;
	free(memory->names);
	free(memory->aliases);
	free(memory);
	free(answer->items);
	free(answer->removed);
	free(answer);
}

struct version xds_item_version(const struct xds_item *item)
{
	static const struct digest nothing;

	if (item->resource && item->is_tagged)
		return xds_warm_version(&item->resource->digest, item->tag);
	return version_text(item->resource ? &item->resource->digest : &nothing);
}
