/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/version.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

static void digest_sources(struct digest_context *context, const struct resource_spec *spec)
{
	digest_u64(context, spec->open->places_count);
	for (uint32_t i = 0; i < spec->open->places_count; i++)
		for (int transport = 0; transport < SOURCE_TRANSPORTS; transport++)
			digest_part(context,
				spec->sources->table[transport][spec->open->places[i].type]);
}

struct digest version_resource_digest(const struct resource_spec *spec)
{
	bool is_open = spec->open && spec->sources;
	struct digest_context context;

	digest_begin(&context, is_open ? "xdspub open resource 1" : "xdspub resource 1");
	digest_part(&context, slice_of(xds_type_row(spec->type)->type_url));
	digest_part(&context, spec->name);
	digest_u64(&context, spec->ttl_ms < 0 ? UINT64_MAX : (uint64_t)spec->ttl_ms);
	digest_u64(&context, spec->aliases_count);
	for (size_t i = 0; i < spec->aliases_count; i++)
		digest_part(&context, spec->aliases[i]);
	digest_part(&context, spec->body);
	if (is_open)
		digest_sources(&context, spec);
	return digest_end(&context);
}

unsigned version_bucket(struct slice name)
{
	return hash_fnv1a(name.data, name.length) & (VERSION_BUCKETS - 1);
}

struct digest version_bucket_digest(const struct resource *const *by_name, size_t count)
{
	struct digest_context context;

	digest_begin(&context, "xdspub bucket 1");
	for (size_t i = 0; i < count; i++) {
		digest_part(&context, by_name[i]->name);
		digest_bytes(&context, by_name[i]->digest.bytes, DIGEST_LENGTH);
	}
	return digest_end(&context);
}

struct digest version_set_digest(enum xds_type type, const struct digest *buckets, const bool *used)
{
	struct digest_context context;

	digest_begin(&context, "xdspub set 1");
	digest_part(&context, slice_of(xds_type_row(type)->type_url));
	for (unsigned i = 0; i < VERSION_BUCKETS; i++) {
		uint8_t entry[1 + DIGEST_LENGTH];

		if (!used[i])
			continue;
		entry[0] = (uint8_t)i;
		memcpy(entry + 1, buckets[i].bytes, DIGEST_LENGTH);
		digest_bytes(&context, entry, sizeof(entry));
	}
	return digest_end(&context);
}

struct version version_text(const struct digest *digest)
{
	struct version version;

	version.text[0] = 'a';
	digest_hex(digest, version.text + 1);
	return version;
}

struct placed {
	const struct resource *resource;
	unsigned bucket;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	return slice_compare(x->resource->name, y->resource->name);
}

struct version version_of(enum xds_type type, struct resource *const *resources, size_t count)
{
	struct digest buckets[VERSION_BUCKETS];
	bool used[VERSION_BUCKETS] = {false};
	AUTO_FREE struct placed *placed = NULL;
	AUTO_FREE const struct resource **by_name = NULL;
	struct digest digest;

	placed = xmalloc((count ? count : 1) * sizeof(*placed));
	by_name = xmalloc((count ? count : 1) * sizeof(*by_name));
	for (size_t i = 0; i < count; i++)
		placed[i] = (struct placed){resources[i], version_bucket(resources[i]->name)};
	if (count > 1)
		qsort(placed, count, sizeof(*placed), compare_placed);
	for (size_t i = 0; i < count; i++)
		by_name[i] = placed[i].resource;

	for (size_t first = 0, end; first < count; first = end) {
		unsigned bucket = placed[first].bucket;

		for (end = first; end < count && placed[end].bucket == bucket; end++)
			;
		buckets[bucket] = version_bucket_digest(by_name + first, end - first);
		used[bucket] = true;
	}
	digest = version_set_digest(type, buckets, used);
	return version_text(&digest);
}

bool version_equal(const struct version *a, const struct version *b)
{
	return memcmp(a->text, b->text, VERSION_TEXT_LENGTH) == 0;
}
