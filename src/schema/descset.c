/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schema/descset.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"
#include "schema/raw.h"

/* Field numbers of descriptor.proto that the raw walk needs. */
enum {
	SET_FILE = 1,
	FILE_MESSAGE_TYPE = 4,
	FILE_SOURCE_CODE_INFO = 9,
	MESSAGE_NESTED_TYPE = 3,
};

#define ARENA_FACTOR 32
#define ARENA_FLOOR  (1u << 20)

/* Memory of one descset_add: protobuf-c's objects are freed as a whole with the set. */
struct chunk {
	struct chunk *next;
	struct arena *arena;
};

struct descset {
	struct chunk *chunks;
	struct descset_file *files;
	size_t files_count, files_capacity;
	struct hash by_name; /* value: index + 1 */
};

/* Walks message_type and nested_type, the only way to recurse in a descriptor. NULL or a problem.
 */
static const char *check_nesting(struct slice file)
{
	struct raw_cursor stack[LIMIT_DEPTH + 1];
	size_t depth = 0;

	stack[0] = raw_cursor(file);
	for (;;) {
		struct raw_field field;

		if (stack[depth].at == stack[depth].end) {
			if (depth == 0)
				return NULL;
			depth--;
			continue;
		}
		if (!raw_next(&stack[depth], &field))
			return "damaged file descriptor";
		if (field.wire_type != RAW_BYTES ||
			field.number != (depth ? MESSAGE_NESTED_TYPE : FILE_MESSAGE_TYPE))
			continue;
		if (depth == LIMIT_DEPTH)
			return "message types are nested deeper than 100 levels";
		stack[++depth] = raw_cursor(field.bytes);
	}
}

/* A file descriptor without its source information: as it is, or copied. It was walked before. */
static struct slice strip(struct arena *arena, struct slice file, bool *ret_is_borrowed)
{
	struct raw_cursor cursor = raw_cursor(file);
	struct raw_field field;
	size_t length = 0;
	char *copy = NULL;

	*ret_is_borrowed = true;
	while (cursor.at < cursor.end && raw_next(&cursor, &field))
		if (field.number == FILE_SOURCE_CODE_INFO)
			*ret_is_borrowed = false;
	if (*ret_is_borrowed)
		return file;
	copy = arena_alloc(arena, file.length);
	if (!copy)
		return (struct slice){0};
	cursor = raw_cursor(file);
	while (cursor.at < cursor.end && raw_next(&cursor, &field)) {
		if (field.number == FILE_SOURCE_CODE_INFO)
			continue;
		memcpy(copy + length, field.start, (size_t)(cursor.at - field.start));
		length += (size_t)(cursor.at - field.start);
	}
	return (struct slice){copy, length};
}

static void *allocator_alloc(void *ctx, size_t size)
{
	return arena_alloc(ctx, size);
}

static void allocator_free(void *ctx, void *pointer)
{
	(void)ctx;
	(void)pointer;
}

struct descset *descset_new(void)
{
	struct descset *set = xcalloc(1, sizeof(*set));

	hash_init(&set->by_name);
	return set;
}

void descset_free(struct descset *set)
{
	if (!set)
		return;
	while (set->chunks) {
		struct chunk *chunk = set->chunks;

		set->chunks = chunk->next;
		arena_free(chunk->arena);
		free(chunk);
	}
	hash_fini(&set->by_name);
	free(set->files);
	free(set);
}

/* Same content however it was serialized: protobuf-c packs fields by number. */
static bool same_file(const struct descset_file *a, const struct descset_file *b)
{
	if (slice_equal(a->bytes, b->bytes))
		return true;
	size_t size = google__protobuf__file_descriptor_proto__get_packed_size(a->proto);
	if (size != google__protobuf__file_descriptor_proto__get_packed_size(b->proto))
		return false;
	AUTO_FREE uint8_t *packed = xmalloc(2 * size + 1);
	google__protobuf__file_descriptor_proto__pack(a->proto, packed);
	google__protobuf__file_descriptor_proto__pack(b->proto, packed + size);
	return memcmp(packed, packed + size, size) == 0;
}

static int add_file(struct descset *set, struct arena *arena, struct slice raw, const char *name,
	struct diag_list *diags)
{
	ProtobufCAllocator allocator = {allocator_alloc, allocator_free, arena};
	const struct position at = {0};
	const char *problem = check_nesting(raw);

	if (problem) {
		diag_error(diags, name, at, "schema-damaged", "%s", problem);
		return -EINVAL;
	}
	bool is_borrowed;
	struct slice bytes = strip(arena, raw, &is_borrowed);
	const Google__Protobuf__FileDescriptorProto *proto = NULL;
	if (bytes.data)
		proto = google__protobuf__file_descriptor_proto__unpack(
			&allocator, bytes.length, (const uint8_t *)bytes.data);
	if (!proto) {
		diag_error(diags, name, at, "schema-damaged",
			arena_failed(arena) ? "the descriptor set needs too much memory"
					    : "damaged file descriptor");
		return -EINVAL;
	}
	const struct descset_file file = {proto, bytes, is_borrowed, name};
	if (!proto->name || !proto->name[0]) {
		diag_error(diags, name, at, "schema-damaged", "a file descriptor has no name");
		return -EINVAL;
	}
	const struct descset_file *old = descset_find(set, proto->name);
	if (old) {
		if (same_file(old, &file))
			return 0;
		diag_error(diags, name, at, "schema-clash",
			"%s differs from the file of that name in %s; use sets built from the same "
			"sources",
			proto->name, old->set_name);
		return -EINVAL;
	}
	array_reserve(set->files, set->files_capacity, set->files_count + 1);
	set->files[set->files_count++] = file;
	/* The index travels in the pointer: file entries move when the array grows. */
	hash_put(&set->by_name, slice_of(proto->name), (void *)(uintptr_t)set->files_count);
	return 0;
}

int descset_add(struct descset *set, struct slice bytes, const char *name, struct diag_list *diags)
{
	struct raw_cursor cursor = raw_cursor(bytes);
	struct chunk *chunk = xmalloc(sizeof(*chunk));
	size_t files = 0;
	int rc = 0;

	chunk->arena = arena_new(bytes.length * ARENA_FACTOR + ARENA_FLOOR);
	chunk->next = set->chunks;
	set->chunks = chunk;
	while (cursor.at < cursor.end) {
		struct raw_field field;

		if (!raw_next(&cursor, &field)) {
			diag_error(diags, name, (struct position){0}, "schema-damaged",
				"this is no protobuf FileDescriptorSet (make one with `protoc "
				"--include_imports --descriptor_set_out=FILE`, or it is cut "
				"short)");
			return -EINVAL;
		}
		if (field.number != SET_FILE || field.wire_type != RAW_BYTES)
			continue;
		files++;
		if (add_file(set, chunk->arena, field.bytes, name, diags))
			rc = -EINVAL;
	}
	if (files == 0) {
		diag_error(diags, name, (struct position){0}, "schema-empty",
			"the descriptor set holds no files");
		rc = -EINVAL;
	}
	return rc;
}

const struct descset_file *descset_files(const struct descset *set, size_t *ret_count)
{
	*ret_count = set->files_count;
	return set->files;
}

const struct descset_file *descset_find(const struct descset *set, const char *file_name)
{
	uintptr_t index = (uintptr_t)hash_get(&set->by_name, slice_of(file_name));

	return index ? &set->files[index - 1] : NULL;
}
