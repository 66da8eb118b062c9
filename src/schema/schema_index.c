/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schema/schema_index.h"

#include <errno.h>
#include <stdlib.h>

/* `entry` is index * 2 + is_json + 1; 0 is a free slot. At most half of the slots are used. */
struct name_slot {
	uint32_t hash;
	uint32_t entry;
};

struct name_table {
	uint32_t mask;
	struct name_slot slots[];
};

/* slot[n] is index + 1 of the field with number n, or 0. */
struct number_table {
	uint32_t count;
	uint32_t slots[];
};

struct enum_index {
	const struct name_table *names;
	uint32_t numbers_count;
	int32_t first_number;
	bool is_dense;	    /* numbers[i] has number first_number + i */
	uint32_t numbers[]; /* value indexes by ascending number, the first declared of aliases */
};

/* Overlapping words instead of a loop over bytes: names are short and this is a hot path. */
static inline uint32_t name_hash(const char *data, size_t length)
{
	const uint64_t factor = 0x9e3779b97f4a7c15u;
	uint64_t hash = length * factor, first = 0, last = 0;
	uint32_t low, high;

	if (length >= 8) {
		for (size_t at = 8; at < length; at += 8) {
			memcpy(&first, data + at - 8, 8);
			hash = (hash ^ first) * factor;
			hash ^= hash >> 32;
		}
		memcpy(&last, data + length - 8, 8);
	} else if (length >= 4) {
		memcpy(&low, data, 4);
		memcpy(&high, data + length - 4, 4);
		last = (uint64_t)high << 32 | low;
	} else if (length > 0) {
		last = (uint64_t)(uint8_t)data[0] << 16 | (uint64_t)(uint8_t)data[length / 2] << 8 |
		       (uint8_t)data[length - 1];
	}
	hash = (hash ^ last) * factor;
	return (uint32_t)(hash >> 32);
}

static struct name_table *name_table_new(struct arena *arena, size_t names)
{
	size_t capacity = 4;

	while (capacity < names * 2)
		capacity *= 2;
	struct name_table *table =
		arena_zalloc(arena, sizeof(*table) + capacity * sizeof(table->slots[0]));
	if (table)
		table->mask = (uint32_t)(capacity - 1);
	return table;
}

static void name_table_put(struct name_table *table, uint32_t hash, uint32_t entry)
{
	uint32_t at = hash & table->mask;

	while (table->slots[at].entry)
		at = (at + 1) & table->mask;
	table->slots[at] = (struct name_slot){hash, entry};
}

static bool same_name(const char *name, size_t length, struct slice wanted)
{
	return length == wanted.length && memcmp(name, wanted.data, length) == 0;
}

const struct schema_field *schema_field_by_name(
	const struct schema_message *message, struct slice name)
{
	const struct name_table *table = message->by_name;
	uint32_t hash = name_hash(name.data, name.length);

	for (uint32_t at = hash & table->mask; table->slots[at].entry;
		at = (at + 1) & table->mask) {
		if (table->slots[at].hash != hash)
			continue;
		uint32_t entry = table->slots[at].entry - 1;
		const struct schema_field *field = &message->fields[entry / 2];
		if (entry % 2 ? same_name(field->json_name, field->json_name_length, name)
			      : same_name(field->name, field->name_length, name))
			return field;
	}
	return NULL;
}

const struct schema_field *schema_field_by_number(
	const struct schema_message *message, uint32_t number)
{
	const struct number_table *table = message->by_number;

	if (table)
		return number < table->count && table->slots[number]
			       ? &message->fields[table->slots[number] - 1]
			       : NULL;
	uint32_t low = 0, high = message->fields_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (message->fields[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < message->fields_count && message->fields[low].number == number)
		return &message->fields[low];
	return NULL;
}

/* A direct table where it costs little more than the fields themselves. */
static int index_numbers(struct arena *arena, struct schema_message *message)
{
	uint32_t count = message->fields_count;

	if (count == 0 || message->fields[count - 1].number > 4 * (uint64_t)count + 16)
		return 0;
	uint32_t slots = message->fields[count - 1].number + 1;
	struct number_table *table =
		arena_zalloc(arena, sizeof(*table) + slots * sizeof(table->slots[0]));
	if (!table)
		return -ENOMEM;
	table->count = slots;
	for (uint32_t i = 0; i < count; i++)
		table->slots[message->fields[i].number] = i + 1;
	message->by_number = table;
	return 0;
}

int schema_index_message(struct arena *arena, struct schema_message *message,
	const struct schema_field **ret_first, const struct schema_field **ret_second)
{
	struct name_table *table = name_table_new(arena, 2 * (size_t)message->fields_count);

	if (!table || index_numbers(arena, message))
		return -ENOMEM;
	message->by_name = table;
	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct schema_field *field = &message->fields[i];
		struct slice name = {field->name, field->name_length};
		const struct schema_field *old = schema_field_by_name(message, name);

		if (old) {
			*ret_first = old;
			*ret_second = field;
			return -EEXIST;
		}
		name_table_put(table, name_hash(name.data, name.length), i * 2 + 1);
	}
	/* Declared names first, so that they win over another field's JSON name. */
	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct schema_field *field = &message->fields[i];
		struct slice name = {field->json_name, field->json_name_length};
		const struct schema_field *old = schema_field_by_name(message, name);

		if (!old) {
			name_table_put(table, name_hash(name.data, name.length), i * 2 + 2);
		} else if (old != field && !message->is_proto2 &&
			   strcmp(old->json_name, field->json_name) == 0) {
			*ret_first = old;
			*ret_second = field;
			return -EEXIST;
		}
	}
	return 0;
}

/* By number, then by declaration. */
static int compare_values(const void *left, const void *right, void *ctx)
{
	const struct schema_enum_value *values = ctx;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (values[a].number != values[b].number)
		return values[a].number < values[b].number ? -1 : 1;
	return (a > b) - (a < b);
}

static void index_enum_numbers(struct enum_index *index, const struct schema_enum *enumeration)
{
	const struct schema_enum_value *values = enumeration->values;
	uint32_t count = enumeration->values_count, used = 0;
	bool is_sorted = true;

	for (uint32_t i = 0; i < count; i++) {
		index->numbers[i] = i;
		is_sorted = is_sorted && (i == 0 || values[i - 1].number <= values[i].number);
	}
	if (!is_sorted)
		qsort_r(index->numbers, count, sizeof(index->numbers[0]), compare_values,
			(void *)(uintptr_t)values);
	for (uint32_t i = 0; i < count; i++)
		if (used == 0 ||
			values[index->numbers[used - 1]].number != values[index->numbers[i]].number)
			index->numbers[used++] = index->numbers[i];
	index->numbers_count = used;
	index->first_number = values[index->numbers[0]].number;
	index->is_dense = (int64_t)values[index->numbers[used - 1]].number - index->first_number ==
			  (int64_t)used - 1;
}

int schema_index_enum(struct arena *arena, struct schema_enum *enumeration, const char **ret_name)
{
	uint32_t count = enumeration->values_count;
	struct name_table *table = name_table_new(arena, count);
	struct enum_index *index =
		arena_zalloc(arena, sizeof(*index) + count * sizeof(index->numbers[0]));

	if (!table || !index)
		return -ENOMEM;
	index->names = table;
	enumeration->index = index;
	for (uint32_t i = 0; i < count; i++) {
		struct slice name = slice_of(enumeration->values[i].name);

		if (schema_enum_by_name(enumeration, name)) {
			*ret_name = enumeration->values[i].name;
			return -EEXIST;
		}
		name_table_put(table, name_hash(name.data, name.length), i + 1);
	}
	index_enum_numbers(index, enumeration);
	return 0;
}

const struct schema_enum_value *schema_enum_by_name(
	const struct schema_enum *enumeration, struct slice name)
{
	const struct name_table *table = ((const struct enum_index *)enumeration->index)->names;
	uint32_t hash = name_hash(name.data, name.length);

	for (uint32_t at = hash & table->mask; table->slots[at].entry;
		at = (at + 1) & table->mask) {
		const struct schema_enum_value *value;

		if (table->slots[at].hash != hash)
			continue;
		value = &enumeration->values[table->slots[at].entry - 1];
		if (slice_is(name, value->name))
			return value;
	}
	return NULL;
}

const struct schema_enum_value *schema_enum_by_number(
	const struct schema_enum *enumeration, int32_t number)
{
	const struct enum_index *index = enumeration->index;
	uint32_t low = 0, high = index->numbers_count;

	if (index->is_dense) {
		int64_t at = (int64_t)number - index->first_number;

		return at >= 0 && at < high ? &enumeration->values[index->numbers[at]] : NULL;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (enumeration->values[index->numbers[middle]].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < index->numbers_count && enumeration->values[index->numbers[low]].number == number)
		return &enumeration->values[index->numbers[low]];
	return NULL;
}

static char loose(char letter)
{
	if (letter >= 'a' && letter <= 'z')
		return (char)(letter - 'a' + 'A');
	return letter == '-' ? '_' : letter;
}

const struct schema_enum_value *schema_enum_by_name_loose(
	const struct schema_enum *enumeration, struct slice name)
{
	for (uint32_t i = 0; i < enumeration->values_count; i++) {
		const char *candidate = enumeration->values[i].name;
		size_t at = 0;

		while (at < name.length && candidate[at] &&
			loose(candidate[at]) == loose(name.data[at]))
			at++;
		if (at == name.length && !candidate[at])
			return &enumeration->values[i];
	}
	return NULL;
}
