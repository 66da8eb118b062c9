/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schema/comments.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"
#include "schema/raw.h"

#define NAME_BYTES   4096
#define ARENA_FACTOR 8
#define ARENA_FLOOR  (1u << 16)
/* A path has two numbers for each level of types, and two more for a field or a value. */
#define PATH_NUMBERS (2 * LIMIT_DEPTH + 4)

/* Field numbers of descriptor.proto. */
enum {
	SET_FILE = 1,
	FILE_NAME = 1,
	FILE_PACKAGE = 2,
	FILE_MESSAGE_TYPE = 4,
	FILE_ENUM_TYPE = 5,
	FILE_SERVICE = 6,
	FILE_EXTENSION = 7,
	FILE_SOURCE_CODE_INFO = 9,
	MESSAGE_FIELD = 2,
	MESSAGE_NESTED_TYPE = 3,
	MESSAGE_ENUM_TYPE = 4,
	MESSAGE_EXTENSION = 6,
	MESSAGE_ONEOF_DECL = 8,
	ENUM_VALUE = 2,
	SERVICE_METHOD = 2,
	DECLARED_NAME = 1, /* of everything but files */
	INFO_LOCATION = 1,
	LOCATION_PATH = 1,
	LOCATION_LEADING = 3,
	LOCATION_TRAILING = 4,
	LOCATION_DETACHED = 6,
};

struct comment {
	struct slice before, after, apart; /* leading, trailing, the last detached one */
};

struct comments {
	struct arena **arenas; /* one a set */
	size_t arenas_count, arenas_capacity;
	struct hash by_name; /* to struct slice */
	struct hash by_file;
};

/* State of one file. */
struct reading {
	struct comments *comments;
	struct arena *arena;
	struct hash places; /* path, as numbers of 32 bits, to struct comment */
	char name[NAME_BYTES];
	uint32_t path[PATH_NUMBERS];
	size_t path_count;
};

/* A level of types that is being walked. */
struct level {
	struct raw_cursor cursor;
	uint32_t counts[FILE_SOURCE_CODE_INFO]; /* of declarations seen, by field number */
	size_t name_length;			/* with the dot behind it; 0: too long to be kept */
	bool is_file;
};

struct comments *comments_new(void)
{
	struct comments *comments = xcalloc(1, sizeof(*comments));

	hash_init(&comments->by_name);
	hash_init(&comments->by_file);
	return comments;
}

void comments_free(struct comments *comments)
{
	if (!comments)
		return;
	for (size_t i = 0; i < comments->arenas_count; i++)
		arena_free(comments->arenas[i]);
	free(comments->arenas);
	hash_fini(&comments->by_name);
	hash_fini(&comments->by_file);
	free(comments);
}

/* ---- places ---- */

/* The path of a location, packed or not; 0 when it is longer than any declaration's. */
static size_t read_path(struct slice location, uint32_t path[static PATH_NUMBERS])
{
	struct raw_cursor cursor = raw_cursor(location);
	struct raw_field field;
	size_t count = 0;

	while (raw_next(&cursor, &field)) {
		struct raw_cursor numbers = raw_cursor(field.bytes);
		uint64_t number = field.value;
		bool is_packed = field.wire_type == RAW_BYTES;

		if (field.number != LOCATION_PATH)
			continue;
		while (!is_packed || raw_varint(&numbers, &number)) {
			if (count == PATH_NUMBERS || number > UINT32_MAX)
				return 0;
			path[count++] = (uint32_t)number;
			if (!is_packed)
				break;
		}
	}
	return count;
}

static void read_location(struct reading *reading, struct slice location)
{
	struct raw_cursor cursor = raw_cursor(location);
	struct comment *comment, found = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
	uint32_t path[PATH_NUMBERS];
	struct raw_field field;
	size_t count;

	while (raw_next(&cursor, &field)) {
		if (field.wire_type != RAW_BYTES || field.bytes.length == 0)
			continue;
		if (field.number == LOCATION_LEADING)
			found.before = field.bytes;
		else if (field.number == LOCATION_TRAILING)
			found.after = field.bytes;
		else if (field.number == LOCATION_DETACHED)
			found.apart = field.bytes;
	}
	if (!found.before.data && !found.after.data && !found.apart.data)
		return;
	count = read_path(location, path);
	comment = count ? arena_alloc(reading->arena, sizeof(*comment)) : NULL;
	struct slice key = {NULL, 0};
	if (comment)
		key = arena_copy(reading->arena, path, count * sizeof(*path));
	if (!key.data)
		return;
	*comment = found;
	hash_put(&reading->places, key, comment);
}

/* ---- declarations ---- */

static void keep(struct reading *reading, struct hash *where, struct slice name, struct slice text)
{
	struct slice *kept, key, copy;

	if (text.length == 0 || hash_get(where, name))
		return;
	kept = arena_alloc(reading->arena, sizeof(*kept));
	key = arena_copy(reading->arena, name.data, name.length);
	copy = arena_copy(reading->arena, text.data, text.length);
	if (!kept || !key.data || !copy.data)
		return;
	*kept = copy;
	hash_put(where, key, kept);
}

/* What stands before and behind a declaration, as one text. */
static struct slice join(struct reading *reading, const struct comment *comment)
{
	char *text;

	if (!comment->before.length || !comment->after.length)
		return comment->before.length ? comment->before : comment->after;
	text = arena_printf(reading->arena, "%.*s\n%.*s", SLICE_ARG(comment->before),
		SLICE_ARG(comment->after));
	return text ? slice_of(text) : comment->before;
}

static struct slice declared_name(struct slice declaration, uint32_t number)
{
	struct raw_cursor cursor = raw_cursor(declaration);
	struct raw_field field;

	while (raw_next(&cursor, &field))
		if (field.number == number && field.wire_type == RAW_BYTES)
			return field.bytes;
	return (struct slice){NULL, 0};
}

/* Appends to reading->name; the length with a dot behind, 0 when it is too long. */
static size_t append_name(struct reading *reading, size_t scope, struct slice name)
{
	if (name.length == 0 || name.length + 1 > sizeof(reading->name) - scope)
		return 0;
	memcpy(reading->name + scope, name.data, name.length);
	reading->name[scope + name.length] = '.';
	return scope + name.length + 1;
}

static void keep_declaration(struct reading *reading, size_t name_length)
{
	struct slice path = {(const char *)reading->path, reading->path_count * sizeof(uint32_t)};
	const struct comment *comment = hash_get(&reading->places, path);

	if (comment && name_length)
		keep(reading, &reading->comments->by_name,
			(struct slice){reading->name, name_length - 1}, join(reading, comment));
}

/* Values of an enum, methods of a service: all that is declared in them has field number 2. */
static void walk_flat(struct reading *reading, struct slice declaration, size_t scope)
{
	struct raw_cursor cursor = raw_cursor(declaration);
	struct raw_field field;
	uint32_t count = 0;

	while (raw_next(&cursor, &field)) {
		if (field.number != ENUM_VALUE || field.wire_type != RAW_BYTES)
			continue;
		reading->path[reading->path_count] = ENUM_VALUE;
		reading->path[reading->path_count + 1] = count++;
		reading->path_count += 2;
		keep_declaration(reading,
			append_name(reading, scope, declared_name(field.bytes, DECLARED_NAME)));
		reading->path_count -= 2;
	}
}

enum kind {
	KIND_NONE,
	KIND_LEAF,    /* fields, oneofs, extensions */
	KIND_FLAT,    /* enums, services */
	KIND_MESSAGE, /* walked in turn */
};

static enum kind kind_of(uint32_t number, bool is_file)
{
	switch (number) {
	case FILE_MESSAGE_TYPE: /* enum_type of a message */
		return is_file ? KIND_MESSAGE : KIND_FLAT;
	case FILE_ENUM_TYPE:
	case FILE_SERVICE: /* extension of a message */
		return is_file ? KIND_FLAT : number == MESSAGE_EXTENSION ? KIND_LEAF : KIND_NONE;
	case FILE_EXTENSION:
		return is_file ? KIND_LEAF : KIND_NONE;
	case MESSAGE_NESTED_TYPE:
		return is_file ? KIND_NONE : KIND_MESSAGE;
	case MESSAGE_FIELD:
	case MESSAGE_ONEOF_DECL:
		return is_file ? KIND_NONE : KIND_LEAF;
	default:
		return KIND_NONE;
	}
}

static void walk_file(struct reading *reading, struct slice file, struct slice package)
{
	struct level *levels = xcalloc(LIMIT_DEPTH + 1, sizeof(*levels));
	size_t depth = 0;

	levels[0].cursor = raw_cursor(file);
	levels[0].is_file = true;
	levels[0].name_length = package.length ? append_name(reading, 0, package) : 0;
	for (;;) {
		struct level *level = &levels[depth];
		struct raw_field field;
		size_t length;
		enum kind kind;

		if (!raw_next(&level->cursor, &field)) {
			if (depth-- == 0)
				break;
			reading->path_count -= 2;
			continue;
		}
		if (field.wire_type != RAW_BYTES)
			continue;
		kind = kind_of(field.number, level->is_file);
		if (kind == KIND_NONE)
			continue;
		length = append_name(
			reading, level->name_length, declared_name(field.bytes, DECLARED_NAME));
		if (length == 0 || depth == LIMIT_DEPTH) {
			level->counts[field.number]++;
			continue; /* schema_load refuses such sets */
		}
		reading->path[reading->path_count] = field.number;
		reading->path[reading->path_count + 1] = level->counts[field.number]++;
		reading->path_count += 2;
		keep_declaration(reading, length);
		if (kind == KIND_MESSAGE) {
			levels[++depth] = (struct level){
				.cursor = raw_cursor(field.bytes), .name_length = length};
			continue;
		}
		if (kind == KIND_FLAT)
			walk_flat(reading, field.bytes, length);
		reading->path_count -= 2;
	}
	free(levels);
}

/* ---- files ---- */

/* The title is a comment of its own before the first declaration. */
static void keep_title(struct reading *reading, struct slice file_name)
{
	static const uint32_t numbers[] = {FILE_MESSAGE_TYPE, FILE_ENUM_TYPE, FILE_SERVICE};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint32_t path[2] = {numbers[i], 0};
		const struct comment *comment = hash_get(
			&reading->places, (struct slice){(const char *)path, sizeof(path)});

		if (comment)
			keep(reading, &reading->comments->by_file, file_name, comment->apart);
	}
}

static void read_file(struct comments *comments, struct arena *arena, struct slice file)
{
	struct reading *reading = xcalloc(1, sizeof(*reading));
	struct raw_cursor cursor = raw_cursor(file), locations;
	struct slice info = {NULL, 0}, package = {NULL, 0};
	struct raw_field field;

	reading->comments = comments;
	reading->arena = arena;
	hash_init(&reading->places);
	while (raw_next(&cursor, &field)) {
		if (field.wire_type != RAW_BYTES)
			continue;
		if (field.number == FILE_SOURCE_CODE_INFO)
			info = field.bytes;
		else if (field.number == FILE_PACKAGE)
			package = field.bytes;
	}
	locations = raw_cursor(info);
	while (!arena_failed(arena) && raw_next(&locations, &field))
		if (field.number == INFO_LOCATION && field.wire_type == RAW_BYTES)
			read_location(reading, field.bytes);
	if (reading->places.count) {
		keep_title(reading, declared_name(file, FILE_NAME));
		walk_file(reading, file, package);
	}
	hash_fini(&reading->places);
	free(reading);
}

int comments_add(
	struct comments *comments, struct slice set, const char *name, struct diag_list *diags)
{
	struct raw_cursor cursor = raw_cursor(set);
	struct arena *arena = arena_new(set.length * ARENA_FACTOR + ARENA_FLOOR);
	struct raw_field field;

	array_reserve(comments->arenas, comments->arenas_capacity, comments->arenas_count + 1);
	comments->arenas[comments->arenas_count++] = arena;
	while (cursor.at < cursor.end) {
		if (!raw_next(&cursor, &field)) {
			diag_error(diags, name, (struct position){0}, "schema-damaged",
				"this is no protobuf FileDescriptorSet, or it is cut short");
			return -EINVAL;
		}
		if (field.number == SET_FILE && field.wire_type == RAW_BYTES)
			read_file(comments, arena, field.bytes);
	}
	if (!arena_failed(arena))
		return 0;
	diag_error(diags, name, (struct position){0}, "schema-limit",
		"the comments of the descriptor set need too much memory");
	return -EINVAL;
}

struct slice comments_find(
	const struct comments *comments, const char *full_name, const char *member)
{
	const struct slice *kept;
	struct buf name = BUF_INIT;

	buf_puts(&name, full_name);
	if (member)
		buf_printf(&name, ".%s", member);
	kept = hash_get(&comments->by_name, buf_slice(&name));
	buf_fini(&name);
	return kept ? *kept : (struct slice){NULL, 0};
}

struct slice comments_of_file(const struct comments *comments, const char *file_name)
{
	const struct slice *kept = hash_get(&comments->by_file, slice_of(file_name));

	return kept ? *kept : (struct slice){NULL, 0};
}

size_t comments_count(const struct comments *comments)
{
	return comments->by_name.count;
}
