/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/resource_set.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

/* Resources by name in byte order; holds a reference to each. Immutable once in a set. */
struct bucket {
	atomic_uint references;
	uint32_t count;
	struct digest digest;
	uint64_t bytes; /* of the bodies */
	bool has_path;	/* some resource has, see resource_has_path */
	struct resource *resources[];
};

struct resource_set {
	atomic_uint references;
	enum xds_type type;
	size_t count;
	uint64_t bytes;
	bool has_path;
	struct version version;
	/* Most sets of a fleet are small: only buckets with something in them are here, in order.
	 */
	uint64_t used[VERSION_BUCKETS / 64];
	struct bucket *buckets[];
};

/* A bucket while it is being changed. */
struct draft {
	bool is_touched;
	bool is_changed; /* some resource object differs from the base's */
	struct resource **resources;
	size_t count;
	size_t capacity;
};

struct resource_set_builder {
	struct resource_set *base;
	struct draft drafts[VERSION_BUCKETS];
};

static struct bucket *bucket_ref(struct bucket *bucket)
{
	if (bucket)
		atomic_fetch_add_explicit(&bucket->references, 1, memory_order_relaxed);
	return bucket;
}

static void bucket_unref(struct bucket *bucket)
{
	if (!bucket || atomic_fetch_sub_explicit(&bucket->references, 1, memory_order_acq_rel) != 1)
		return;
	for (uint32_t i = 0; i < bucket->count; i++)
		resource_unref(bucket->resources[i]);
	free(bucket);
}

/* NULL: empty. */
static struct bucket *bucket_of(const struct resource_set *set, unsigned index)
{
	unsigned word = index / 64, place = 0;
	uint64_t bit = (uint64_t)1 << index % 64;

	if (!(set->used[word] & bit))
		return NULL;
	for (unsigned i = 0; i < word; i++)
		place += (unsigned)__builtin_popcountll(set->used[i]);
	return set->buckets[place + (unsigned)__builtin_popcountll(set->used[word] & (bit - 1))];
}

/* Takes over the references in `resources`; NULL when there are none. */
static struct bucket *bucket_new(struct resource *const *resources, size_t count)
{
	struct bucket *bucket;

	if (count == 0)
		return NULL;
	bucket = xmalloc(sizeof(*bucket) + count * sizeof(bucket->resources[0]));
	atomic_init(&bucket->references, 1);
	bucket->count = (uint32_t)count;
	bucket->bytes = 0;
	bucket->has_path = false;
	for (size_t i = 0; i < count; i++) {
		bucket->resources[i] = resources[i];
		bucket->bytes += resources[i]->body.length;
		bucket->has_path = bucket->has_path || resource_has_path(resources[i]);
	}
	bucket->digest =
		version_bucket_digest((const struct resource *const *)bucket->resources, count);
	return bucket;
}

/* Where the name is or would go among `count` sorted resources. */
static size_t find_place(
	struct resource *const *resources, size_t count, struct slice name, bool *ret_is_there)
{
	size_t low = 0, high = count;

	*ret_is_there = false;
	/* Trees are mostly read in name order: try the end first. */
	if (count && slice_compare(resources[count - 1]->name, name) < 0)
		return count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = slice_compare(resources[middle]->name, name);

		if (order == 0) {
			*ret_is_there = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Takes over the references to the buckets. */
static struct resource_set *set_new(
	enum xds_type type, struct bucket *const buckets[VERSION_BUCKETS])
{
	struct digest digests[VERSION_BUCKETS], digest;
	bool used[VERSION_BUCKETS];
	struct resource_set *set;
	size_t count = 0;

	for (unsigned i = 0; i < VERSION_BUCKETS; i++)
		count += buckets[i] != NULL;
	set = xcalloc(1, sizeof(*set) + count * sizeof(set->buckets[0]));
	atomic_init(&set->references, 1);
	set->type = type;
	count = 0;
	for (unsigned i = 0; i < VERSION_BUCKETS; i++) {
		used[i] = buckets[i] != NULL;
		if (!used[i])
			continue;
		set->used[i / 64] |= (uint64_t)1 << i % 64;
		set->buckets[count++] = buckets[i];
		digests[i] = buckets[i]->digest;
		set->count += buckets[i]->count;
		set->bytes += buckets[i]->bytes;
		set->has_path = set->has_path || buckets[i]->has_path;
	}
	digest = version_set_digest(type, digests, used);
	set->version = version_text(&digest);
	return set;
}

struct resource_set *resource_set_empty(enum xds_type type)
{
	struct bucket *const buckets[VERSION_BUCKETS] = {NULL};

	return set_new(type, buckets);
}

struct resource_set *resource_set_ref(struct resource_set *set)
{
	atomic_fetch_add_explicit(&set->references, 1, memory_order_relaxed);
	return set;
}

void resource_set_unref(struct resource_set *set)
{
	if (!set || atomic_fetch_sub_explicit(&set->references, 1, memory_order_acq_rel) != 1)
		return;
	for (unsigned i = 0; i < VERSION_BUCKETS; i++)
		bucket_unref(bucket_of(set, i));
	free(set);
}

enum xds_type resource_set_type(const struct resource_set *set)
{
	return set->type;
}

size_t resource_set_count(const struct resource_set *set)
{
	return set->count;
}

uint64_t resource_set_bytes(const struct resource_set *set)
{
	return set->bytes;
}

bool resource_set_has_path(const struct resource_set *set)
{
	return set->has_path;
}

const struct version *resource_set_version(const struct resource_set *set)
{
	return &set->version;
}

struct resource *resource_set_find_in(
	const struct resource_set *set, unsigned index, struct slice name)
{
	const struct bucket *bucket = bucket_of(set, index);
	bool is_there;
	size_t place;

	if (!bucket)
		return NULL;
	place = find_place(bucket->resources, bucket->count, name, &is_there);
	return is_there ? bucket->resources[place] : NULL;
}

struct resource *resource_set_find(const struct resource_set *set, struct slice name)
{
	return resource_set_find_in(set, version_bucket(name), name);
}

struct resource *const *resource_set_bucket(
	const struct resource_set *set, unsigned index, size_t *ret_count)
{
	const struct bucket *bucket = bucket_of(set, index);

	*ret_count = bucket ? bucket->count : 0;
	return bucket ? bucket->resources : NULL;
}

uint64_t resource_set_stamp(const struct resource_set *set, unsigned first, unsigned count)
{
	uint64_t stamp = 0x9e3779b97f4a7c15u;

	assert(first + count <= VERSION_BUCKETS);
	for (unsigned i = first; i < first + count; i++) {
		const struct bucket *bucket = bucket_of(set, i);
		uint64_t word = i;

		if (!bucket)
			continue;
		/* The digests are as good as random: any odd factor keeps them apart. */
		stamp = (stamp ^ word) * 0xd1342543de82ef95u;
		memcpy(&word, bucket->digest.bytes, sizeof(word));
		stamp = (stamp ^ word) * 0xd1342543de82ef95u;
	}
	return stamp ? stamp : 1;
}

/* The cursor is the bucket in the upper and the index in the lower half. */
struct resource *resource_set_next(const struct resource_set *set, uint64_t *cursor)
{
	uint64_t bucket = *cursor >> 32, index = *cursor & UINT32_MAX;

	for (; bucket < VERSION_BUCKETS; bucket++, index = 0) {
		const struct bucket *here = bucket_of(set, (unsigned)bucket);

		if (!here || index >= here->count)
			continue;
		*cursor = bucket << 32 | (index + 1);
		return here->resources[index];
	}
	*cursor = bucket << 32;
	return NULL;
}

static int compare_names(const void *a, const void *b)
{
	const struct resource *x = *(struct resource *const *)a;
	const struct resource *y = *(struct resource *const *)b;

	return slice_compare(x->name, y->name);
}

struct resource **resource_set_sorted(const struct resource_set *set, size_t *ret_count)
{
	struct resource **sorted =
		xmalloc((set->count ? set->count : 1) * sizeof(struct resource *));
	struct resource *resource;
	uint64_t cursor = 0;
	size_t count = 0;

	while ((resource = resource_set_next(set, &cursor)))
		sorted[count++] = resource;
	if (count > 1)
		qsort(sorted, count, sizeof(struct resource *), compare_names);
	*ret_count = count;
	return sorted;
}

struct resource **resource_set_sorted_from(const struct resource_set *set,
	const struct resource_set *old_set, struct resource *const *old_sorted, size_t *ret_count)
{
	struct resource **sorted = xmalloc((set->count + 1) * sizeof(struct resource *));
	struct resource **fresh = xmalloc((set->count + 1) * sizeof(struct resource *));
	size_t fresh_count = 0, next = 0, count = 0;

	for (unsigned i = 0; i < VERSION_BUCKETS; i++) {
		const struct bucket *bucket = bucket_of(set, i);

		if (!bucket || bucket == bucket_of(old_set, i))
			continue;
		memcpy(fresh + fresh_count, bucket->resources,
			bucket->count * sizeof(struct resource *));
		fresh_count += bucket->count;
	}
	if (fresh_count > 1)
		qsort(fresh, fresh_count, sizeof(struct resource *), compare_names);
	for (size_t i = 0; i < old_set->count; i++) {
		struct resource *resource = old_sorted[i];
		unsigned bucket = version_bucket(resource->name);

		if (bucket_of(set, bucket) != bucket_of(old_set, bucket))
			continue;
		while (next < fresh_count && slice_compare(fresh[next]->name, resource->name) < 0)
			sorted[count++] = fresh[next++];
		sorted[count++] = resource;
	}
	while (next < fresh_count)
		sorted[count++] = fresh[next++];
	assert(count == set->count);
	free(fresh);
	*ret_count = count;
	return sorted;
}

struct resource_set_builder *resource_set_edit(struct resource_set *base)
{
	struct resource_set_builder *builder = xcalloc(1, sizeof(*builder));

	builder->base = resource_set_ref(base);
	return builder;
}

static struct draft *draft_of(struct resource_set_builder *builder, unsigned index)
{
	struct draft *draft = &builder->drafts[index];
	const struct bucket *bucket = bucket_of(builder->base, index);

	if (draft->is_touched)
		return draft;
	draft->is_touched = true;
	if (bucket) {
		array_reserve(draft->resources, draft->capacity, (size_t)bucket->count + 1);
		for (uint32_t i = 0; i < bucket->count; i++)
			draft->resources[i] = resource_ref(bucket->resources[i]);
		draft->count = bucket->count;
	}
	return draft;
}

void resource_set_put(struct resource_set_builder *builder, struct resource *resource)
{
	struct draft *draft = draft_of(builder, version_bucket(resource->name));
	bool is_there;
	size_t place;

	assert(resource->type == builder->base->type);
	place = find_place(draft->resources, draft->count, resource->name, &is_there);
	if (is_there) {
		if (draft->resources[place] == resource)
			return;
		resource_unref(draft->resources[place]);
	} else {
		array_reserve(draft->resources, draft->capacity, draft->count + 1);
		memmove(draft->resources + place + 1, draft->resources + place,
			(draft->count - place) * sizeof(draft->resources[0]));
		draft->count++;
	}
	draft->resources[place] = resource_ref(resource);
	draft->is_changed = true;
}

bool resource_set_remove(struct resource_set_builder *builder, struct slice name)
{
	struct draft *draft = draft_of(builder, version_bucket(name));
	bool is_there;
	size_t place = find_place(draft->resources, draft->count, name, &is_there);

	if (!is_there)
		return false;
	resource_unref(draft->resources[place]);
	draft->count--;
	memmove(draft->resources + place, draft->resources + place + 1,
		(draft->count - place) * sizeof(draft->resources[0]));
	draft->is_changed = true;
	return true;
}

/* Put and removed again, or replaced by the very same objects: nothing changed after all. */
static bool draft_is_base(const struct draft *draft, const struct bucket *bucket)
{
	if (!draft->is_changed)
		return true;
	if (draft->count != (bucket ? bucket->count : 0))
		return false;
	return draft->count == 0 || memcmp(draft->resources, bucket->resources,
					    draft->count * sizeof(draft->resources[0])) == 0;
}

struct resource_set *resource_set_finish(struct resource_set_builder *builder)
{
	struct resource_set *base = builder->base, *set = base;
	struct bucket *buckets[VERSION_BUCKETS];
	bool is_changed = false;

	for (unsigned i = 0; i < VERSION_BUCKETS; i++) {
		struct draft *draft = &builder->drafts[i];

		buckets[i] = bucket_of(base, i);
		if (!draft->is_touched) {
			bucket_ref(buckets[i]);
			continue;
		}
		if (draft_is_base(draft, buckets[i])) {
			bucket_ref(buckets[i]);
			for (size_t k = 0; k < draft->count; k++)
				resource_unref(draft->resources[k]);
		} else {
			buckets[i] = bucket_new(draft->resources, draft->count);
			is_changed = true;
		}
		free(draft->resources);
	}
	if (is_changed) {
		set = set_new(base->type, buckets);
		resource_set_unref(base);
	} else { /* the builder's reference to its base becomes the caller's */
		for (unsigned i = 0; i < VERSION_BUCKETS; i++)
			bucket_unref(buckets[i]);
	}
	free(builder);
	return set;
}

static bool bucket_same(const struct bucket *a, const struct bucket *b)
{
	if (a == b)
		return true;
	return a && b && a->count == b->count && digest_equal(&a->digest, &b->digest) &&
	       memcmp(a->resources, b->resources, a->count * sizeof(a->resources[0])) == 0;
}

struct resource_set *resource_set_share(struct resource_set *set, struct resource_set *like)
{
	bool is_same = true;

	assert(set->type == like->type);
	if (set == like)
		return set;
	for (unsigned i = 0, place = 0; i < VERSION_BUCKETS; i++) {
		struct bucket *own = bucket_of(set, i), *other = bucket_of(like, i);

		if (!bucket_same(own, other)) {
			is_same = false;
		} else if (own != other) {
			bucket_unref(own);
			set->buckets[place] = bucket_ref(other);
		}
		place += own != NULL;
	}
	if (!is_same)
		return set;
	resource_set_unref(set);
	return resource_set_ref(like);
}

static int diff_buckets(const struct bucket *old_bucket, const struct bucket *new_bucket,
	resource_set_diff_cb callback, void *ctx)
{
	uint32_t old_count = old_bucket ? old_bucket->count : 0, old_index = 0;
	uint32_t new_count = new_bucket ? new_bucket->count : 0, new_index = 0;
	int error = 0;

	while (!error && (old_index < old_count || new_index < new_count)) {
		struct resource *old_resource = NULL, *new_resource = NULL;
		int order = 0;

		if (old_index < old_count)
			old_resource = old_bucket->resources[old_index];
		if (new_index < new_count)
			new_resource = new_bucket->resources[new_index];
		if (old_resource && new_resource)
			order = slice_compare(old_resource->name, new_resource->name);
		else
			order = old_resource ? -1 : 1;
		if (order > 0)
			old_resource = NULL;
		if (order < 0)
			new_resource = NULL;
		old_index += order <= 0;
		new_index += order >= 0;
		if (order == 0 &&
			(old_resource == new_resource ||
				digest_equal(&old_resource->digest, &new_resource->digest)))
			continue;
		error = callback(ctx, old_resource, new_resource);
	}
	return error;
}

int resource_set_diff(const struct resource_set *old_set, const struct resource_set *new_set,
	resource_set_diff_cb callback, void *ctx)
{
	int error = 0;

	assert(old_set->type == new_set->type);
	for (unsigned i = 0; i < VERSION_BUCKETS && !error; i++) {
		const struct bucket *old_bucket = bucket_of(old_set, i);
		const struct bucket *new_bucket = bucket_of(new_set, i);

		if (old_bucket == new_bucket)
			continue;
		if (old_bucket && new_bucket &&
			digest_equal(&old_bucket->digest, &new_bucket->digest))
			continue;
		error = diff_buckets(old_bucket, new_bucket, callback, ctx);
	}
	return error;
}
