/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/resource.h"

#include <stdlib.h>

#include "base/mem.h"
#include "snapshot/version.h"

static int compare_slices(const void *a, const void *b)
{
	return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

static size_t sort_unique(struct slice *slices, size_t count)
{
	size_t kept = 0;

	if (count > 1)
		qsort(slices, count, sizeof(*slices), compare_slices);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || !slice_equal(slices[kept - 1], slices[i]))
			slices[kept++] = slices[i];
	return kept;
}

static struct slice put_bytes(char **at, struct slice bytes)
{
	struct slice copy = {*at, bytes.length};

	if (bytes.length)
		memcpy(*at, bytes.data, bytes.length);
	*at += bytes.length;
	return copy;
}

struct resource *resource_new(const struct resource_spec *spec)
{
	size_t size = sizeof(struct resource) + spec->aliases_count * sizeof(struct slice) +
		      spec->name.length + spec->body.length;
	struct resource_spec sorted = *spec;
	struct resource *resource;
	struct slice *aliases;
	char *bytes;

	for (size_t i = 0; i < spec->aliases_count; i++)
		size += spec->aliases[i].length;
	resource = xmalloc(size);
	aliases = (struct slice *)(resource + 1);
	bytes = (char *)(aliases + spec->aliases_count);

	atomic_init(&resource->references, 1);
	resource->type = spec->type;
	resource->ttl_ms = spec->ttl_ms;
	resource->path = rcstr_ref(spec->path);
	resource->at = spec->at;
	resource->name = put_bytes(&bytes, spec->name);
	for (size_t i = 0; i < spec->aliases_count; i++)
		aliases[i] = put_bytes(&bytes, spec->aliases[i]);
	resource->aliases_count = sort_unique(aliases, spec->aliases_count);
	resource->aliases = aliases;
	resource->body = put_bytes(&bytes, spec->body);

	sorted.aliases = aliases;
	sorted.aliases_count = resource->aliases_count;
	resource->digest = version_resource_digest(&sorted);
	return resource;
}

struct resource *resource_ref(struct resource *resource)
{
	atomic_fetch_add_explicit(&resource->references, 1, memory_order_relaxed);
	return resource;
}

void resource_unref(struct resource *resource)
{
	if (!resource ||
		atomic_fetch_sub_explicit(&resource->references, 1, memory_order_acq_rel) != 1)
		return;
	rcstr_unref(resource->path);
	free(resource);
}
