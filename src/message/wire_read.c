/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/wire_read.h"

#include <errno.h>

#include "base/limits.h"
#include "base/text.h"
#include "message/wire_write.h"

/* Numbers in the items of a message set. */
enum {
	SET_ITEM = 1,
	SET_TYPE_ID = 2,
	SET_MESSAGE = 3,
};

/* What can only be done when the whole input is read, because a later part may be merged in:
 * contents of Any are decoded, maps are sorted and rid of double keys. */
struct pending {
	struct pending *next;
	struct message *message;
	const struct schema_field *map; /* NULL: an Any */
	unsigned depth;			/* of message */
};

struct reader {
	const struct wire_read_options *options;
	struct arena *arena;
	struct slice input; /* the outermost: unknown fields inside it are borrowed */
	const char *start;  /* offsets count from here */
	struct pending *pending;
	struct wire_read_error *error;
	int rc;
};

/* Reading returns the new position or NULL after an error. */
static const char *fail(
	struct reader *reader, const char *at, const struct schema_field *field, const char *text)
{
	reader->rc = -EBADMSG;
	*reader->error = (struct wire_read_error){
		.offset = (size_t)(at - reader->start), .text = text, .field = field};
	return NULL;
}

static const char *fail_memory(struct reader *reader)
{
	reader->rc = -ENOMEM;
	*reader->error = (struct wire_read_error){.text = "the message needs too much memory"};
	return NULL;
}

const char *wire_get_varint(const char *at, const char *end, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70 && at < end; shift += 7) {
		uint8_t byte = (uint8_t)*at++;

		value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		if (!(byte & 0x80)) {
			*ret_value = value;
			return at;
		}
	}
	return NULL;
}

static inline const char *read_varint(
	struct reader *reader, const char *at, const char *end, uint64_t *ret_value)
{
	if (at < end && !(*at & 0x80)) {
		*ret_value = (uint8_t)*at;
		return at + 1;
	}
	const char *next = wire_get_varint(at, end, ret_value);
	if (!next)
		fail(reader, at, NULL,
			end - at < 10 ? "the input ends inside a number"
				      : "a number is longer than 10 bytes");
	return next;
}

static inline uint64_t read_little_endian(const char *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)(uint8_t)at[i] << (8 * i);
	return value;
}

static const char *read_length(
	struct reader *reader, const char *at, const char *end, struct slice *ret_bytes)
{
	const char *start = at;
	uint64_t length;

	at = read_varint(reader, at, end, &length);
	if (!at)
		return NULL;
	if (length > (uint64_t)(end - at))
		return fail(reader, start, NULL, "a length goes beyond the end of the input");
	*ret_bytes = (struct slice){at, length};
	return at + length;
}

/* Keeps a run of bytes as unknown fields. Runs that follow each other in the input are borrowed as
 * one; others are gathered in the arena, in blocks whose size is a power of two. */
static bool keep_unknown(
	struct reader *reader, struct message *message, const char *from, size_t length)
{
	struct slice *unknown = &message->unknown;
	bool is_borrowed = unknown->data >= reader->input.data &&
			   unknown->data < reader->input.data + reader->input.length;
	bool is_input =
		from >= reader->input.data && from < reader->input.data + reader->input.length;

	if (unknown->length == 0 && is_input) {
		*unknown = (struct slice){from, length};
		return true;
	}
	if (is_borrowed && from == unknown->data + unknown->length) {
		unknown->length += length;
		return true;
	}
	size_t capacity = 64, need = unknown->length + length;
	while (capacity < unknown->length)
		capacity *= 2;
	if (is_borrowed || unknown->length == 0 || capacity < need) {
		while (capacity < need)
			capacity *= 2;
		char *data = arena_alloc(reader->arena, capacity);
		if (!data) {
			fail_memory(reader);
			return false;
		}
		if (unknown->length)
			memcpy(data, unknown->data, unknown->length);
		unknown->data = data;
	}
	memcpy((char *)(uintptr_t)unknown->data + unknown->length, from, length);
	unknown->length = need;
	return true;
}

/* An enum number that a closed enum does not have, as an unknown varint field. */
static bool keep_unknown_enum(struct reader *reader, struct message *message,
	const struct schema_field *field, uint64_t number)
{
	char bytes[20];
	struct buf scratch = {
		.data = bytes, .capacity = sizeof(bytes), .limit_bytes = sizeof(bytes)};

	wire_put_tag(&scratch, field->number, WIRE_VARINT);
	wire_put_varint(&scratch, number);
	return keep_unknown(reader, message, bytes, scratch.length);
}

/* Past one field whose tag was read. */
static const char *skip_field(
	struct reader *reader, const char *at, const char *end, uint32_t tag, unsigned depth)
{
	uint32_t open[LIMIT_DEPTH + 1];
	unsigned level = 0;
	struct slice bytes;
	uint64_t value;

	for (;;) {
		const char *start = at;

		switch (tag & 7) {
		case WIRE_VARINT:
			at = read_varint(reader, at, end, &value);
			break;
		case WIRE_64BIT:
		case WIRE_32BIT:
			value = (tag & 7) == WIRE_64BIT ? 8 : 4;
			if ((uint64_t)(end - at) < value)
				return fail(reader, at, NULL, "the input ends inside a value");
			at += value;
			break;
		case WIRE_BYTES:
			at = read_length(reader, at, end, &bytes);
			break;
		case WIRE_GROUP:
			if (depth + level >= LIMIT_DEPTH)
				return fail(reader, at, NULL, "nested deeper than 100 levels");
			open[level++] = tag >> 3;
			break;
		case WIRE_GROUP_END:
			if (level == 0 || open[level - 1] != tag >> 3)
				return fail(
					reader, at, NULL, "the end of a group that was not begun");
			level--;
			break;
		default:
			return fail(reader, start, NULL, "a wire type that does not exist");
		}
		if (!at || level == 0)
			return at;
		start = at;
		at = read_varint(reader, at, end, &value);
		if (!at)
			return NULL;
		if (value > UINT32_MAX || value >> 3 == 0)
			return fail(reader, start, NULL, "a field number that does not exist");
		tag = (uint32_t)value;
	}
}

static const char *check_string(struct slice text, bool check_utf8)
{
	uint64_t word;
	size_t at = 0;

	/* Eight at a time while all are ASCII and none is NUL. */
	for (; at + 8 <= text.length; at += 8) {
		memcpy(&word, text.data + at, 8);
		if (((word - 0x0101010101010101u) | word) & 0x8080808080808080u)
			break;
	}
	while (at < text.length && (signed char)text.data[at] > 0)
		at++;
	if (at == text.length)
		return NULL;
	if (memchr(text.data + at, '\0', text.length - at))
		return "a string holds a NUL byte";
	return check_utf8 && !text_is_utf8(text) ? "a string is not valid UTF-8" : NULL;
}

/* Oneof: at most one member is set, the last. */
static void clear_siblings(struct message *message, const struct schema_field *field)
{
	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct schema_field *other = message->fields[i].field;

		if (other->oneof == field->oneof && other != field) {
			message_clear(message, other);
			return;
		}
	}
}

static bool add_pending(struct reader *reader, struct message *message,
	const struct schema_field *map, unsigned depth)
{
	struct pending *pending = arena_alloc(reader->arena, sizeof(*pending));

	if (!pending) {
		fail_memory(reader);
		return false;
	}
	*pending = (struct pending){reader->pending, message, map, depth};
	reader->pending = pending;
	return true;
}

/* Where the next value of a field goes: a new item, or the one value. */
static union message_value *slot_for(struct reader *reader, struct message *message,
	const struct schema_field *field, unsigned depth)
{
	struct message_field *entry;

	if (field->oneof)
		clear_siblings(message, field);
	entry = message_set(reader->arena, message, field);
	if (!entry) {
		fail_memory(reader);
		return NULL;
	}
	if (!field->is_repeated)
		return &entry->one;
	if (field->is_map && entry->count == 0 && !add_pending(reader, message, field, depth))
		return NULL;
	union message_value *item = message_add(reader->arena, entry);
	if (!item)
		fail_memory(reader);
	return item;
}

static void set_varint(enum schema_type type, uint64_t number, union message_value *value)
{
	switch ((int)type) {
	case SCHEMA_BOOL:
		value->boolean = number != 0;
		break;
	case SCHEMA_INT32:
	case SCHEMA_ENUM:
	case SCHEMA_UINT32:
		value->uint32 = (uint32_t)number;
		break;
	case SCHEMA_SINT32:
		value->uint32 = ((uint32_t)number >> 1) ^ (0 - ((uint32_t)number & 1));
		break;
	case SCHEMA_SINT64:
		value->uint64 = (number >> 1) ^ (0 - (number & 1));
		break;
	default:
		value->uint64 = number;
		break;
	}
}

static bool is_unknown_enum(const struct schema_field *field, uint64_t number)
{
	return field->enumeration && field->enumeration->is_closed &&
	       !schema_enum_by_number(field->enumeration, (int32_t)number);
}

/* One number, of a packed list or alone. */
static const char *read_number(struct reader *reader, const char *at, const char *end,
	struct message *message, const struct schema_field *field, unsigned depth)
{
	enum wire_type type = wire_type_of(field->type);
	union message_value *value;
	uint64_t number;

	if (type == WIRE_VARINT) {
		at = read_varint(reader, at, end, &number);
		if (!at)
			return NULL;
		if (is_unknown_enum(field, number))
			return keep_unknown_enum(reader, message, field, number) ? at : NULL;
	} else {
		unsigned size = type == WIRE_64BIT ? 8 : 4;

		if ((size_t)(end - at) < size)
			return fail(reader, at, field, "the input ends inside a value");
		number = read_little_endian(at, size);
		at += size;
	}
	value = slot_for(reader, message, field, depth);
	if (!value)
		return NULL;
	if (type == WIRE_VARINT)
		set_varint(field->type, number, value);
	else if (type == WIRE_64BIT)
		value->uint64 = number;
	else
		value->uint32 = (uint32_t)number;
	return at;
}

static const char *read_message(struct reader *reader, const char *at, const char *end,
	struct message *message, uint32_t group, unsigned depth);

/* The message to read into: the one that is there already is merged with. */
static struct message *message_for(struct reader *reader, struct message *message,
	const struct schema_field *field, unsigned depth)
{
	union message_value *value = slot_for(reader, message, field, depth);

	if (!value)
		return NULL;
	if (value->message && !field->is_repeated)
		return value->message;
	value->message = message_new(reader->arena, field->message);
	if (!value->message)
		fail_memory(reader);
	else if (field->message->well_known == SCHEMA_ANY && reader->options->expand_any &&
		 !add_pending(reader, value->message, NULL, depth + 1))
		return NULL;
	return value->message;
}

/* An entry whose value is an unknown number of a closed enum goes to the unknown fields whole. */
static bool has_unknown_value(const struct message *entry)
{
	const struct schema_field *value = &entry->type->fields[1];

	return value->enumeration && value->enumeration->is_closed && entry->unknown.length &&
	       !message_find(entry, 2);
}

static const char *read_submessage(struct reader *reader, const char *field_start,
	struct slice bytes, struct message *message, const struct schema_field *field,
	unsigned depth)
{
	const char *end = bytes.data + bytes.length;
	struct message *below;

	if (depth == LIMIT_DEPTH)
		return fail(reader, bytes.data, field, "nested deeper than 100 levels");
	below = message_for(reader, message, field, depth);
	if (!below || !read_message(reader, bytes.data, end, below, 0, depth + 1))
		return NULL;
	if (field->is_map && has_unknown_value(below)) {
		message_find_mutable(message, field->number)->count--;
		if (!keep_unknown(reader, message, field_start, (size_t)(end - field_start)))
			return NULL;
	}
	return end;
}

static const char *read_bytes(struct reader *reader, const char *field_start, const char *at,
	const char *end, struct message *message, const struct schema_field *field, unsigned depth)
{
	union message_value *value;
	struct slice bytes;

	at = read_length(reader, at, end, &bytes);
	if (!at)
		return NULL;
	switch ((int)field->type) {
	case SCHEMA_MESSAGE:
		return read_submessage(reader, field_start, bytes, message, field, depth);
	case SCHEMA_STRING: {
		const char *problem = check_string(bytes, field->check_utf8);

		if (problem)
			return fail(reader, bytes.data, field, problem);
		break;
	}
	case SCHEMA_BYTES:
		break;
	default:
		for (const char *item = bytes.data; item < at;) {
			item = read_number(reader, item, at, message, field, depth);
			if (!item)
				return NULL;
		}
		return at;
	}
	value = slot_for(reader, message, field, depth);
	if (!value)
		return NULL;
	value->bytes = bytes;
	return at;
}

/* One item of a message set, after the tag that begins it. Its parts may come in any order. */
static const char *read_set_item(struct reader *reader, const char *field_start, const char *at,
	const char *end, struct message *message, unsigned depth)
{
	struct slice content = {0};
	uint64_t tag, type_id = 0;

	for (;;) {
		const char *start = at;

		at = read_varint(reader, at, end, &tag);
		if (!at)
			return NULL;
		if (tag == (SET_ITEM << 3 | WIRE_GROUP_END))
			break;
		if (tag == (SET_TYPE_ID << 3 | WIRE_VARINT))
			at = read_varint(reader, at, end, &type_id);
		else if (tag == (SET_MESSAGE << 3 | WIRE_BYTES))
			at = read_length(reader, at, end, &content);
		else if (tag > UINT32_MAX || tag >> 3 == 0)
			return fail(reader, start, NULL, "a field number that does not exist");
		else
			at = skip_field(reader, at, end, (uint32_t)tag, depth);
		if (!at)
			return NULL;
	}
	const struct schema_field *field =
		type_id <= INT32_MAX && content.data
			? schema_extension_by_number(
				  reader->options->schema, message->type, (uint32_t)type_id)
			: NULL;
	if (!field)
		return keep_unknown(reader, message, field_start, (size_t)(at - field_start))
			       ? at
			       : NULL;
	return read_submessage(reader, field_start, content, message, field, depth) ? at : NULL;
}

static const char *read_group(struct reader *reader, const char *at, const char *end,
	struct message *message, const struct schema_field *field, unsigned depth)
{
	struct message *below;

	if (depth == LIMIT_DEPTH)
		return fail(reader, at, field, "nested deeper than 100 levels");
	below = message_for(reader, message, field, depth);
	return below ? read_message(reader, at, end, below, field->number, depth + 1) : NULL;
}

static const char *read_field(struct reader *reader, const char *field_start, const char *at,
	const char *end, uint32_t tag, struct message *message, unsigned depth)
{
	const struct schema_field *field = schema_field_by_number(message->type, tag >> 3);
	unsigned type = tag & 7;

	if (!field && message->type->has_extensions) {
		if (message->type->is_message_set) {
			if (tag == (SET_ITEM << 3 | WIRE_GROUP))
				return read_set_item(reader, field_start, at, end, message, depth);
		} else {
			field = schema_extension_by_number(
				reader->options->schema, message->type, tag >> 3);
		}
	}
	if (field && type == wire_type_of(field->type)) {
		if (type == WIRE_BYTES)
			return read_bytes(reader, field_start, at, end, message, field, depth);
		if (type == WIRE_GROUP)
			return read_group(reader, at, end, message, field, depth);
		return read_number(reader, at, end, message, field, depth);
	}
	/* Lists of numbers are accepted packed and unpacked, whatever is declared. */
	if (field && type == WIRE_BYTES && field->is_repeated && !field->message)
		return read_bytes(reader, field_start, at, end, message, field, depth);
	at = skip_field(reader, at, end, tag, depth);
	if (!at || !keep_unknown(reader, message, field_start, (size_t)(at - field_start)))
		return NULL;
	return at;
}

/* Up to `end`, or with `group` to the tag that ends it. */
static const char *read_message(struct reader *reader, const char *at, const char *end,
	struct message *message, uint32_t group, unsigned depth)
{
	while (at < end) {
		const char *start = at;
		uint64_t tag;

		at = read_varint(reader, at, end, &tag);
		if (!at)
			return NULL;
		if (tag > UINT32_MAX || tag >> 3 == 0)
			return fail(reader, start, NULL, "a field number that does not exist");
		if ((tag & 7) == WIRE_GROUP_END) {
			if (group && tag >> 3 == group)
				return at;
			return fail(reader, start, NULL, "the end of a group that was not begun");
		}
		at = read_field(reader, start, at, end, (uint32_t)tag, message, depth);
		if (!at)
			return NULL;
	}
	if (group)
		return fail(reader, at, NULL, "the input ends inside a group");
	return at;
}

static const struct schema_field *find_missing(const struct message *message)
{
	for (uint32_t i = 0; i < message->type->fields_count; i++) {
		const struct schema_field *field = &message->type->fields[i];

		if (field->is_required && !message_find(message, field->number))
			return field;
	}
	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct message_field *entry = &message->fields[i];
		const struct schema_field *missing = NULL;

		if (!entry->field->message || !entry->field->message->has_required)
			continue;
		if (!entry->field->is_repeated)
			missing = find_missing(entry->one.message);
		for (uint32_t k = 0; entry->field->is_repeated && k < entry->count && !missing; k++)
			missing = find_missing(entry->items[k].message);
		if (missing)
			return missing;
	}
	return NULL;
}

static bool check_required(struct reader *reader, const struct message *message)
{
	const struct schema_field *missing;

	if (reader->options->allow_partial || !message->type->has_required)
		return true;
	missing = find_missing(message);
	if (missing)
		fail(reader, reader->start, missing, "a required field is missing");
	return !missing;
}

/* Replaces the bytes of an Any of a known type by the message they hold. */
static bool expand_any(struct reader *reader, struct message *any, unsigned depth)
{
	const struct schema_message *type =
		schema_find_type_url(reader->options->schema, message_get_bytes(any, 1));
	struct slice bytes = message_get_bytes(any, 2);
	struct message *content;

	if (!type)
		return true;
	if (depth == LIMIT_DEPTH) {
		fail(reader, reader->start, NULL, "nested deeper than 100 levels");
		return false;
	}
	content = message_new(reader->arena, type);
	if (!content) {
		fail_memory(reader);
		return false;
	}
	if (bytes.length)
		reader->start = bytes.data;
	if (type->well_known == SCHEMA_ANY && !add_pending(reader, content, NULL, depth + 1))
		return false;
	if (!read_message(reader, bytes.data, bytes.data + bytes.length, content, 0, depth + 1) ||
		!check_required(reader, content))
		return false;
	message_clear(any, &any->type->fields[1]);
	any->any_content = content;
	return true;
}

static int finish(struct reader *reader, const struct message *root)
{
	if (!check_required(reader, root))
		return reader->rc;
	while (reader->pending) {
		const struct pending pending = *reader->pending;

		reader->pending = pending.next;
		if (pending.map)
			message_sort_map(
				message_find_mutable(pending.message, pending.map->number));
		else if (!expand_any(reader, pending.message, pending.depth))
			return reader->rc;
	}
	return 0;
}

int wire_read(const struct wire_read_options *options, const struct schema_message *type,
	struct slice bytes, struct arena *arena, struct message **ret_message,
	struct wire_read_error *ret_error)
{
	struct slice input = bytes.data ? bytes : SLICE("");
	struct reader reader = {
		.options = options,
		.arena = arena,
		.input = input,
		.start = input.data,
		.error = ret_error,
	};
	struct message *message = message_new(arena, type);
	int rc;

	if (!message) {
		fail_memory(&reader);
		return reader.rc;
	}
	if (type->well_known == SCHEMA_ANY && options->expand_any &&
		!add_pending(&reader, message, NULL, 0))
		return reader.rc;
	if (!read_message(&reader, input.data, input.data + input.length, message, 0, 0))
		return reader.rc;
	rc = finish(&reader, message);
	if (!rc)
		*ret_message = message;
	return rc;
}
