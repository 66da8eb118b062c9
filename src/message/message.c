/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/message.h"

#include <stdlib.h>

#include "base/mem.h"
#include "message/wire_write.h"

#define FIELDS_AT_ONCE 4

struct message *message_new(struct arena *arena, const struct schema_message *type)
{
	/* Most messages set few fields: those lie right behind the message. */
	uint32_t room = type->fields_count < FIELDS_AT_ONCE ? type->fields_count : FIELDS_AT_ONCE;
	struct message *message =
		arena_alloc(arena, sizeof(*message) + room * sizeof(struct message_field));

	if (!message)
		return NULL;
	*message = (struct message){
		.type = type,
		.fields = (struct message_field *)(message + 1),
		.fields_capacity = room,
	};
	return message;
}

/* Index of the first field whose number is not below `number`. */
static uint32_t lower_bound(const struct message *message, uint32_t number)
{
	uint32_t low = 0, high = message->fields_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (message->fields[middle].field->number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct message_field *message_find(const struct message *message, uint32_t number)
{
	uint32_t at = lower_bound(message, number);

	return at < message->fields_count && message->fields[at].field->number == number
		       ? &message->fields[at]
		       : NULL;
}

struct message_field *message_find_mutable(struct message *message, uint32_t number)
{
	uint32_t at = lower_bound(message, number);

	return at < message->fields_count && message->fields[at].field->number == number
		       ? &message->fields[at]
		       : NULL;
}

struct message_field *message_set(
	struct arena *arena, struct message *message, const struct schema_field *field)
{
	uint32_t count = message->fields_count, at = count;

	if (count > 0 && message->fields[count - 1].field->number >= field->number) {
		at = lower_bound(message, field->number);
		if (message->fields[at].field == field)
			return &message->fields[at];
	}
	if (count == message->fields_capacity) {
		size_t capacity = count ? (size_t)count * 2 : FIELDS_AT_ONCE;
		struct message_field *fields = arena_grow(arena, message->fields,
			count * sizeof(*fields), capacity * sizeof(*fields));

		if (!fields)
			return NULL;
		message->fields = fields;
		message->fields_capacity = (uint32_t)capacity;
	}
	if (at < count)
		memmove(&message->fields[at + 1], &message->fields[at],
			(count - at) * sizeof(message->fields[0]));
	message->fields_count++;
	message->fields[at] = (struct message_field){.field = field};
	message->fields[at].count = field->is_repeated ? 0 : 1;
	return &message->fields[at];
}

union message_value *message_add(struct arena *arena, struct message_field *entry)
{
	if (entry->count == entry->capacity) {
		size_t capacity = entry->capacity ? (size_t)entry->capacity * 2 : 4;
		union message_value *items;

		if (capacity > UINT32_MAX)
			return NULL;
		items = arena_grow(arena, entry->items, entry->count * sizeof(*items),
			capacity * sizeof(*items));
		if (!items)
			return NULL;
		entry->items = items;
		entry->capacity = (uint32_t)capacity;
	}
	union message_value *item = &entry->items[entry->count++];
	memset(item, 0, sizeof(*item));
	return item;
}

void message_clear(struct message *message, const struct schema_field *field)
{
	uint32_t at = lower_bound(message, field->number);

	if (at == message->fields_count || message->fields[at].field != field)
		return;
	message->fields_count--;
	memmove(&message->fields[at], &message->fields[at + 1],
		(message->fields_count - at) * sizeof(message->fields[0]));
}

struct slice message_get_bytes(const struct message *message, uint32_t number)
{
	const struct message_field *entry = message_find(message, number);

	return entry && !entry->field->is_repeated ? entry->one.bytes : (struct slice){"", 0};
}

const struct message *message_get_message(const struct message *message, uint32_t number)
{
	const struct message_field *entry = message_find(message, number);

	return entry && !entry->field->is_repeated ? entry->one.message : NULL;
}

static bool is_zero(enum schema_type type, const union message_value *value)
{
	switch (type) {
	case SCHEMA_DOUBLE:
	case SCHEMA_INT64:
	case SCHEMA_UINT64:
	case SCHEMA_FIXED64:
	case SCHEMA_SFIXED64:
	case SCHEMA_SINT64:
		return value->uint64 == 0; /* by bits: -0.0 is written */
	case SCHEMA_FLOAT:
	case SCHEMA_INT32:
	case SCHEMA_FIXED32:
	case SCHEMA_UINT32:
	case SCHEMA_ENUM:
	case SCHEMA_SFIXED32:
	case SCHEMA_SINT32:
		return value->uint32 == 0;
	case SCHEMA_BOOL:
		return !value->boolean;
	case SCHEMA_STRING:
	case SCHEMA_BYTES:
		return value->bytes.length == 0;
	case SCHEMA_GROUP:
	case SCHEMA_MESSAGE:
		break;
	}
	return false;
}

bool message_holds_default(const struct message_field *entry)
{
	const struct schema_field *field = entry->field;

	return !field->has_presence && !field->is_repeated && is_zero(field->type, &entry->one);
}

int message_compare_map_keys(const struct message *a, const struct message *b)
{
	static const union message_value none;
	const struct message_field *left = message_find(a, 1), *right = message_find(b, 1);
	const union message_value *x = left ? &left->one : &none;
	const union message_value *y = right ? &right->one : &none;

	switch (a->type->fields[0].type) {
	case SCHEMA_BOOL:
		return x->boolean - y->boolean;
	case SCHEMA_INT32:
	case SCHEMA_SINT32:
	case SCHEMA_SFIXED32:
		return (x->int32 > y->int32) - (x->int32 < y->int32);
	case SCHEMA_UINT32:
	case SCHEMA_FIXED32:
		return (x->uint32 > y->uint32) - (x->uint32 < y->uint32);
	case SCHEMA_INT64:
	case SCHEMA_SINT64:
	case SCHEMA_SFIXED64:
		return (x->int64 > y->int64) - (x->int64 < y->int64);
	case SCHEMA_UINT64:
	case SCHEMA_FIXED64:
		return (x->uint64 > y->uint64) - (x->uint64 < y->uint64);
	case SCHEMA_STRING:
	case SCHEMA_BYTES:
	case SCHEMA_DOUBLE: /* the rest are no keys: the schema refuses them */
	case SCHEMA_FLOAT:
	case SCHEMA_GROUP:
	case SCHEMA_MESSAGE:
	case SCHEMA_ENUM:
		break;
	}
	return slice_compare(x->bytes, y->bytes);
}

/* Key order, later entries of the same key first. */
struct map_slot {
	struct message *message;
	uint32_t at;
};

static int compare_slots(const void *left, const void *right)
{
	const struct map_slot *a = left, *b = right;
	int order = message_compare_map_keys(a->message, b->message);

	return order ? order : (a->at < b->at) - (a->at > b->at);
}

static bool is_sorted_map(const struct message_field *entry)
{
	for (uint32_t i = 1; i < entry->count; i++)
		if (message_compare_map_keys(
			    entry->items[i - 1].message, entry->items[i].message) >= 0)
			return false;
	return true;
}

/* Writes the sorted entries to `to`, which may be the field's own items. Returns how many. */
static uint32_t sort_map(const struct message_field *entry, union message_value *to)
{
	struct map_slot *slots = xmalloc(entry->count * sizeof(*slots));
	uint32_t kept = 0;

	for (uint32_t i = 0; i < entry->count; i++)
		slots[i] = (struct map_slot){entry->items[i].message, i};
	qsort(slots, entry->count, sizeof(*slots), compare_slots);
	for (uint32_t i = 0; i < entry->count; i++)
		if (kept == 0 ||
			message_compare_map_keys(to[kept - 1].message, slots[i].message) != 0)
			to[kept++].message = slots[i].message;
	free(slots);
	return kept;
}

void message_sort_map(struct message_field *entry)
{
	if (!is_sorted_map(entry))
		entry->count = sort_map(entry, entry->items);
}

const union message_value *message_items_in_order(
	const struct message_field *entry, union message_value **ret_copy)
{
	*ret_copy = NULL;
	if (!entry->field->is_map || is_sorted_map(entry))
		return entry->items;
	*ret_copy = xmalloc(entry->count * sizeof(**ret_copy));
	/* Keys are unique, as readers leave them, so the count stays. */
	sort_map(entry, *ret_copy);
	return *ret_copy;
}

bool message_has_unknown(const struct message *message)
{
	if (message->unknown.length ||
		(message->any_content && message_has_unknown(message->any_content)))
		return true;
	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct message_field *entry = &message->fields[i];

		if (!entry->field->message)
			continue;
		if (!entry->field->is_repeated && message_has_unknown(entry->one.message))
			return true;
		for (uint32_t k = 0; entry->field->is_repeated && k < entry->count; k++)
			if (message_has_unknown(entry->items[k].message))
				return true;
	}
	return false;
}

static bool equal_values(
	enum schema_type type, const union message_value *a, const union message_value *b)
{
	switch (type) {
	case SCHEMA_DOUBLE:
		return a->uint64 == b->uint64 ||
		       (a->float64 != a->float64 && b->float64 != b->float64);
	case SCHEMA_FLOAT:
		return a->uint32 == b->uint32 ||
		       (a->float32 != a->float32 && b->float32 != b->float32);
	case SCHEMA_INT64:
	case SCHEMA_UINT64:
	case SCHEMA_FIXED64:
	case SCHEMA_SFIXED64:
	case SCHEMA_SINT64:
		return a->uint64 == b->uint64;
	case SCHEMA_INT32:
	case SCHEMA_FIXED32:
	case SCHEMA_UINT32:
	case SCHEMA_ENUM:
	case SCHEMA_SFIXED32:
	case SCHEMA_SINT32:
		return a->uint32 == b->uint32;
	case SCHEMA_BOOL:
		return a->boolean == b->boolean;
	case SCHEMA_STRING:
	case SCHEMA_BYTES:
		return slice_equal(a->bytes, b->bytes);
	case SCHEMA_GROUP:
	case SCHEMA_MESSAGE:
		break;
	}
	return message_equal(a->message, b->message);
}

static bool equal_fields(const struct message_field *a, const struct message_field *b)
{
	union message_value *copy_a, *copy_b;
	bool is_equal = a->count == b->count;

	if (!a->field->is_repeated)
		return equal_values(a->field->type, &a->one, &b->one);
	if (!is_equal)
		return false;
	const union message_value *items_a = message_items_in_order(a, &copy_a);
	const union message_value *items_b = message_items_in_order(b, &copy_b);
	for (uint32_t i = 0; is_equal && i < a->count; i++)
		is_equal = equal_values(a->field->type, &items_a[i], &items_b[i]);
	free(copy_a);
	free(copy_b);
	return is_equal;
}

/* Field 2 of an Any, whichever way it is held. */
static struct slice any_value(const struct message *any, struct buf *scratch)
{
	if (!any->any_content)
		return message_get_bytes(any, 2);
	wire_write(any->any_content, scratch);
	return buf_slice(scratch);
}

static bool equal_any(const struct message *a, const struct message *b)
{
	struct buf scratch_a = BUF_INIT, scratch_b = BUF_INIT;
	bool is_equal = slice_equal(message_get_bytes(a, 1), message_get_bytes(b, 1));

	if (is_equal && a->any_content && b->any_content)
		return message_equal(a->any_content, b->any_content);
	is_equal = is_equal && slice_equal(any_value(a, &scratch_a), any_value(b, &scratch_b));
	buf_fini(&scratch_a);
	buf_fini(&scratch_b);
	return is_equal;
}

/* In a map entry unset and default are the same, messages included. */
static bool equal_map_entries(const struct message *a, const struct message *b)
{
	const struct schema_field *field = &a->type->fields[1];
	const struct message_field *left = message_find(a, 2), *right = message_find(b, 2);
	const struct message empty = {.type = field->message};

	if (message_compare_map_keys(a, b) != 0)
		return false;
	if (field->message)
		return message_equal(
			left ? left->one.message : &empty, right ? right->one.message : &empty);
	if (left && right)
		return equal_values(field->type, &left->one, &right->one);
	return (!left || is_zero(field->type, &left->one)) &&
	       (!right || is_zero(field->type, &right->one));
}

static bool is_absent(const struct message_field *entry)
{
	return entry->count == 0 || message_holds_default(entry);
}

bool message_equal(const struct message *a, const struct message *b)
{
	uint32_t i = 0, j = 0;

	if (a->type != b->type || !slice_equal(a->unknown, b->unknown))
		return false;
	if (a->any_content || b->any_content)
		return equal_any(a, b);
	if (a->type->is_map_entry)
		return equal_map_entries(a, b);
	for (;;) {
		while (i < a->fields_count && is_absent(&a->fields[i]))
			i++;
		while (j < b->fields_count && is_absent(&b->fields[j]))
			j++;
		if (i == a->fields_count || j == b->fields_count)
			return i == a->fields_count && j == b->fields_count;
		if (a->fields[i].field != b->fields[j].field ||
			!equal_fields(&a->fields[i], &b->fields[j]))
			return false;
		i++;
		j++;
	}
}
