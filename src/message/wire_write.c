/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/wire_write.h"

#include <errno.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

/* Numbers in the items of a message set. */
enum {
	SET_ITEM = 1,
	SET_TYPE_ID = 2,
	SET_MESSAGE = 3,
};

static inline size_t varint_size(uint64_t value)
{
	/* 7 bits per byte: (bits * 9 + 64) / 64 is ceil(bits / 7) for 1 to 64 bits. */
	unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);

	return (bits * 9 + 64) / 64;
}

static inline size_t tag_size(const struct schema_field *field)
{
	return varint_size((uint64_t)field->number << 3);
}

/* The varint that stands for a value of a varint type. */
static inline uint64_t varint_of(enum schema_type type, const union message_value *value)
{
	switch ((int)type) {
	case SCHEMA_BOOL:
		return value->boolean;
	case SCHEMA_INT32:
	case SCHEMA_ENUM:
		return (uint64_t)(int64_t)value->int32;
	case SCHEMA_UINT32:
		return value->uint32;
	case SCHEMA_SINT32:
		return (value->uint32 << 1) ^ (uint32_t)(value->int32 >> 31);
	case SCHEMA_SINT64:
		return (value->uint64 << 1) ^ (uint64_t)(value->int64 >> 63);
	default:
		return value->uint64;
	}
}

static size_t measure(struct message *message, unsigned depth);

/* Without the tag. */
static size_t value_size(
	const struct schema_field *field, const union message_value *value, unsigned depth)
{
	size_t size;

	switch (wire_type_of(field->type)) {
	case WIRE_64BIT:
		return 8;
	case WIRE_32BIT:
		return 4;
	case WIRE_BYTES:
		size = field->message ? measure(value->message, depth + 1) : value->bytes.length;
		return varint_size(size) + size;
	case WIRE_GROUP:
		/* Its end tag too. */
		return measure(value->message, depth + 1) + tag_size(field);
	case WIRE_VARINT:
	case WIRE_GROUP_END:
		break;
	}
	return varint_size(varint_of(field->type, value));
}

static size_t packed_size(const struct message_field *entry)
{
	size_t size = 0;

	switch ((int)wire_type_of(entry->field->type)) {
	case WIRE_64BIT:
		return 8 * (size_t)entry->count;
	case WIRE_32BIT:
		return 4 * (size_t)entry->count;
	default:
		for (uint32_t i = 0; i < entry->count; i++)
			size += varint_size(varint_of(entry->field->type, &entry->items[i]));
		return size;
	}
}

static bool in_message_set(const struct message_field *entry)
{
	return entry->field->is_extension && entry->field->parent->is_message_set;
}

static size_t set_item_size(const struct message_field *entry, unsigned depth)
{
	size_t size = measure(entry->one.message, depth + 1);

	return 4 + varint_size(entry->field->number) + varint_size(size) + size;
}

static size_t field_size(const struct message_field *entry, unsigned depth)
{
	const struct schema_field *field = entry->field;
	size_t size = 0;

	if (!field->is_repeated) {
		if (message_holds_default(entry))
			return 0;
		if (in_message_set(entry))
			return set_item_size(entry, depth);
		return tag_size(field) + value_size(field, &entry->one, depth);
	}
	if (entry->count == 0)
		return 0;
	if (field->is_packed) {
		size = packed_size(entry);
		return tag_size(field) + varint_size(size) + size;
	}
	for (uint32_t i = 0; i < entry->count; i++)
		size += value_size(field, &entry->items[i], depth);
	return size + entry->count * tag_size(field);
}

/* Both fields of a map entry are always written; what is unset is zero. */
static size_t map_entry_size(struct message *entry, unsigned depth)
{
	size_t size = entry->unknown.length;

	for (uint32_t number = 1; number <= 2; number++) {
		const struct message_field *field = message_find(entry, number);
		enum wire_type type = wire_type_of(entry->type->fields[number - 1].type);

		if (field)
			size += 1 + value_size(field->field, &field->one, depth);
		else
			size += type == WIRE_64BIT ? 9 : type == WIRE_32BIT ? 5 : 2;
	}
	return size;
}

/* Sizes of all messages below, kept for the second pass. Beyond the depth limit nothing counts;
 * put_message reports it. */
static size_t measure(struct message *message, unsigned depth)
{
	size_t size = message->unknown.length;

	message->wire_size = 0;
	if (depth > LIMIT_DEPTH)
		return 0;
	if (message->type->is_map_entry) {
		size = map_entry_size(message, depth);
	} else {
		for (uint32_t i = 0; i < message->fields_count; i++)
			size += field_size(&message->fields[i], depth);
		if (message->any_content) {
			size_t content = measure(message->any_content, depth + 1);

			if (content)
				size += 1 + varint_size(content) + content;
		}
	}
	message->wire_size = size;
	return size;
}

struct writer {
	char *at; /* room for everything was measured */
	bool is_too_deep;
	struct wire_trace *trace; /* NULL: nobody asks */
	const char *begin;	  /* trace only */
	size_t next;		  /* target to come */
	int32_t outer;		  /* span that is open */
};

static inline void put_varint(struct writer *writer, uint64_t value)
{
	while (value >= 0x80) {
		*writer->at++ = (char)(value | 0x80);
		value >>= 7;
	}
	*writer->at++ = (char)value;
}

static inline void put_tag(struct writer *writer, uint32_t number, enum wire_type type)
{
	put_varint(writer, (uint64_t)number << 3 | type);
}

static inline void put_raw(struct writer *writer, const void *data, size_t length)
{
	if (length)
		memcpy(writer->at, data, length);
	writer->at += length;
}

static inline void put_little_endian(struct writer *writer, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		*writer->at++ = (char)(value >> (8 * i));
}

static void put_message(struct writer *writer, struct message *message, unsigned depth);

/* A span that turns out to hold no target is taken back. */
static void put_traced(struct writer *writer, struct message *message, unsigned depth)
{
	struct wire_trace *trace = writer->trace;
	int32_t outer = writer->outer, self = (int32_t)trace->count;
	size_t before = writer->next;

	array_reserve(trace->spans, trace->capacity, trace->count + 1);
	trace->spans[trace->count++] = (struct wire_span){
		.at = (uint32_t)(writer->at - writer->begin), .outer = outer, .target = -1};
	put_varint(writer, message->wire_size);
	trace->spans[self].start = (uint32_t)(writer->at - writer->begin);
	if (before < trace->targets_count && trace->targets[before] == message) {
		trace->spans[self].target = (int32_t)before;
		writer->next++;
	}
	writer->outer = self;
	put_message(writer, message, depth);
	writer->outer = outer;
	trace->spans[self].end = (uint32_t)(writer->at - writer->begin);
	if (writer->next == before)
		trace->count = (size_t)self;
}

/* Its length and the message. */
static void put_nested(struct writer *writer, struct message *message, unsigned depth)
{
	if (writer->trace) {
		put_traced(writer, message, depth);
	} else {
		put_varint(writer, message->wire_size);
		put_message(writer, message, depth);
	}
}

static void put_value(struct writer *writer, const struct schema_field *field,
	const union message_value *value, unsigned depth)
{
	switch (wire_type_of(field->type)) {
	case WIRE_64BIT:
		put_little_endian(writer, value->uint64, 8);
		break;
	case WIRE_32BIT:
		put_little_endian(writer, value->uint32, 4);
		break;
	case WIRE_BYTES:
		if (field->message) {
			put_nested(writer, value->message, depth + 1);
		} else {
			put_varint(writer, value->bytes.length);
			put_raw(writer, value->bytes.data, value->bytes.length);
		}
		break;
	case WIRE_GROUP:
		put_message(writer, value->message, depth + 1);
		put_tag(writer, field->number, WIRE_GROUP_END);
		break;
	case WIRE_VARINT:
	case WIRE_GROUP_END:
		put_varint(writer, varint_of(field->type, value));
		break;
	}
}

static void put_set_item(struct writer *writer, const struct message_field *entry, unsigned depth)
{
	put_tag(writer, SET_ITEM, WIRE_GROUP);
	put_tag(writer, SET_TYPE_ID, WIRE_VARINT);
	put_varint(writer, entry->field->number);
	put_tag(writer, SET_MESSAGE, WIRE_BYTES);
	put_nested(writer, entry->one.message, depth + 1);
	put_tag(writer, SET_ITEM, WIRE_GROUP_END);
}

static void put_repeated(struct writer *writer, const struct message_field *entry, unsigned depth)
{
	const struct schema_field *field = entry->field;
	union message_value *copy;

	if (entry->count == 0)
		return;
	if (field->is_packed) {
		put_tag(writer, field->number, WIRE_BYTES);
		put_varint(writer, packed_size(entry));
		for (uint32_t i = 0; i < entry->count; i++)
			put_value(writer, field, &entry->items[i], depth);
		return;
	}
	const union message_value *items = message_items_in_order(entry, &copy);
	for (uint32_t i = 0; i < entry->count; i++) {
		put_tag(writer, field->number, wire_type_of(field->type));
		put_value(writer, field, &items[i], depth);
	}
	free(copy);
}

static void put_map_entry(struct writer *writer, struct message *entry, unsigned depth)
{
	static const union message_value none;

	for (uint32_t number = 1; number <= 2; number++) {
		const struct schema_field *field = &entry->type->fields[number - 1];
		const struct message_field *set = message_find(entry, number);

		put_tag(writer, number, wire_type_of(field->type));
		if (!set && field->message)
			put_varint(writer, 0);
		else
			put_value(writer, field, set ? &set->one : &none, depth);
	}
	put_raw(writer, entry->unknown.data, entry->unknown.length);
}

static void put_message(struct writer *writer, struct message *message, unsigned depth)
{
	if (depth > LIMIT_DEPTH) {
		writer->is_too_deep = true;
		return;
	}
	if (message->type->is_map_entry) {
		put_map_entry(writer, message, depth);
		return;
	}
	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct message_field *entry = &message->fields[i];

		if (entry->field->is_repeated) {
			put_repeated(writer, entry, depth);
		} else if (in_message_set(entry)) {
			put_set_item(writer, entry, depth);
		} else if (!message_holds_default(entry)) {
			put_tag(writer, entry->field->number, wire_type_of(entry->field->type));
			put_value(writer, entry->field, &entry->one, depth);
		}
	}
	if (message->any_content && depth == LIMIT_DEPTH)
		writer->is_too_deep = true;
	if (message->any_content && message->any_content->wire_size) {
		put_tag(writer, 2, WIRE_BYTES);
		put_nested(writer, message->any_content, depth + 1);
	}
	put_raw(writer, message->unknown.data, message->unknown.length);
}

size_t wire_size(struct message *message)
{
	return measure(message, 0);
}

void wire_write(struct message *message, struct buf *out)
{
	wire_write_traced(message, out, NULL);
}

void wire_write_traced(struct message *message, struct buf *out, struct wire_trace *trace)
{
	size_t size = measure(message, 0);
	struct writer writer = {.at = buf_reserve(out, size), .trace = trace, .outer = -1};

	if (!writer.at)
		return;
	if (trace && size > INT32_MAX) {
		buf_fail(out, -EFBIG);
		return;
	}
	writer.begin = writer.at;
	put_message(&writer, message, 0);
	if (writer.is_too_deep)
		buf_fail(out, -E2BIG);
	else
		out->length += size;
}

void wire_put_varint(struct buf *out, uint64_t value)
{
	struct writer writer = {.at = buf_reserve(out, 10)};

	if (!writer.at)
		return;
	put_varint(&writer, value);
	out->length = (size_t)(writer.at - out->data);
}

void wire_put_tag(struct buf *out, uint32_t number, unsigned wire_type)
{
	wire_put_varint(out, (uint64_t)number << 3 | wire_type);
}

void wire_put_bytes(struct buf *out, uint32_t number, struct slice bytes)
{
	wire_put_tag(out, number, WIRE_BYTES);
	wire_put_varint(out, bytes.length);
	buf_append_slice(out, bytes);
}
