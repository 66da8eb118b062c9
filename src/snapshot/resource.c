/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/resource.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "snapshot/version.h"

/* What a transport is sent; made when it is first asked for. */
struct resource_variant {
	size_t length;
	char bytes[];
};

struct resource_binding {
	struct config_sources *sources;
	struct resource *base; /* whose bytes these are; NULL: its own */
	_Atomic(struct resource_variant *) variants[SOURCE_TRANSPORTS];
};

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

static struct resource_binding *binding_new(struct config_sources *sources, struct resource *base)
{
	struct resource_binding *binding = xcalloc(1, sizeof(*binding));

	binding->sources = config_sources_ref(sources);
	binding->base = base ? resource_ref(base) : NULL;
	for (int i = 0; i < SOURCE_TRANSPORTS; i++)
		atomic_init(&binding->variants[i], NULL);
	return binding;
}

static void binding_free(struct resource_binding *binding)
{
	if (!binding)
		return;
	for (int i = 0; i < SOURCE_TRANSPORTS; i++)
		free(atomic_load_explicit(&binding->variants[i], memory_order_relaxed));
	config_sources_unref(binding->sources);
	resource_unref(binding->base);
	free(binding);
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
	resource->open = open_body_ref(spec->open);
	resource->binding = spec->open && spec->sources ? binding_new(spec->sources, NULL) : NULL;

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
	open_body_unref(resource->open);
	binding_free(resource->binding);
	free(resource);
}

struct resource *resource_bind(struct resource *base, struct config_sources *sources)
{
	struct resource *resource = xmalloc(sizeof(*resource));
	struct resource_spec spec = {.type = base->type,
		.name = base->name,
		.body = base->body,
		.ttl_ms = base->ttl_ms,
		.aliases = base->aliases,
		.aliases_count = base->aliases_count,
		.open = base->open,
		.sources = sources};

	assert(base->open && !base->binding);
	*resource = (struct resource){.type = base->type,
		.name = base->name,
		.body = base->body,
		.ttl_ms = base->ttl_ms,
		.aliases = base->aliases,
		.aliases_count = base->aliases_count,
		.path = rcstr_ref(base->path),
		.at = base->at,
		.open = open_body_ref(base->open),
		.binding = binding_new(sources, base)};
	atomic_init(&resource->references, 1);
	resource->digest = version_resource_digest(&spec);
	return resource;
}

struct config_sources *resource_sources(const struct resource *resource)
{
	return resource->binding ? resource->binding->sources : NULL;
}

static struct resource_variant *make_variant(
	const struct resource *resource, enum source_transport transport)
{
	struct resource_variant *variant;
	struct buf body = BUF_INIT;

	open_body_fill(resource->open, resource->body, resource->binding->sources, transport, NULL,
		NULL, &body);
	assert(!buf_error(&body)); /* there is no limit, and no memory aborts */
	variant = xmalloc(sizeof(*variant) + body.length);
	variant->length = body.length;
	memcpy(variant->bytes, body.data, body.length);
	buf_fini(&body);
	return variant;
}

struct slice resource_body(const struct resource *resource, enum source_transport transport)
{
	struct resource_variant *variant, *other = NULL;
	_Atomic(struct resource_variant *) *slot;

	assert(transport != SOURCE_FILES);
	if (!resource->binding)
		return resource->body;
	slot = &resource->binding->variants[transport];
	variant = atomic_load_explicit(slot, memory_order_acquire);
	if (!variant) {
		variant = make_variant(resource, transport);
		/* Another thread may have made the same meanwhile. */
		if (!atomic_compare_exchange_strong_explicit(
			    slot, &other, variant, memory_order_acq_rel, memory_order_acquire)) {
			free(variant);
			variant = other;
		}
	}
	return (struct slice){variant->bytes, variant->length};
}

void resource_file_body(
	const struct resource *resource, open_path_cb path, void *ctx, struct buf *out)
{
	if (resource->binding)
		open_body_fill(resource->open, resource->body, resource->binding->sources,
			SOURCE_FILES, path, ctx, out);
	else
		buf_append_slice(out, resource->body);
}

bool resource_has_path(const struct resource *resource)
{
	return resource->binding && open_body_has_path(resource->open, resource->binding->sources);
}
