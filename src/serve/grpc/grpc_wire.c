/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_wire.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

#define TAG_BYTES    5 /* protobuf-c takes no more for tags and lengths */
#define LENGTH_BYTES 5
#define VARINT_BYTES 10
#define NUMBER_MOST  ((1u << 29) - 1)
#define FIELDS_MOST  16 /* that a message of ours declares */
#define NESTING_MOST 4	/* of messages that we declare */

/* Fields */

static inline bool read_varint(struct slice *rest, size_t most, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (rest->length && !(*rest->data & 0x80)) {
		*ret_value = (uint8_t)*rest->data++;
		rest->length--;
		return true;
	}
	if (most > rest->length)
		most = rest->length;
	for (size_t i = 0; i < most; i++) {
		uint8_t byte = (uint8_t)rest->data[i];

		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte & 0x80)
			continue;
		rest->data += i + 1;
		rest->length -= i + 1;
		*ret_value = value;
		return true;
	}
	return false;
}

static bool read_bytes(struct slice *rest, uint64_t length, struct slice *ret_bytes)
{
	if (length > rest->length)
		return false;
	*ret_bytes = (struct slice){rest->data, length};
	rest->data += length;
	rest->length -= length;
	return true;
}

static bool read_fixed(struct slice *rest, size_t length, uint64_t *ret_value)
{
	struct slice bytes;

	if (!read_bytes(rest, length, &bytes))
		return false;
	*ret_value = 0;
	for (size_t i = 0; i < length; i++)
		*ret_value |= (uint64_t)(uint8_t)bytes.data[i] << (8 * i);
	return true;
}

static bool read_tag(struct slice *rest, struct grpc_wire_field *field)
{
	uint64_t tag;

	if (!read_varint(rest, TAG_BYTES, &tag) || tag >> 3 == 0 || tag >> 3 > NUMBER_MOST)
		return false;
	field->number = (uint32_t)(tag >> 3);
	field->type = (enum grpc_wire_type)(tag & 7);
	return true;
}

/* Any value but a group's. */
static bool read_value(struct slice *rest, struct grpc_wire_field *field)
{
	uint64_t length;

	field->bytes = (struct slice){0};
	field->value = 0;
	switch (field->type) {
	case GRPC_WIRE_VARINT:
		return read_varint(rest, VARINT_BYTES, &field->value);
	case GRPC_WIRE_64BIT:
		return read_fixed(rest, 8, &field->value);
	case GRPC_WIRE_32BIT:
		return read_fixed(rest, 4, &field->value);
	case GRPC_WIRE_BYTES:
		return read_varint(rest, LENGTH_BYTES, &length) && length <= INT32_MAX &&
		       read_bytes(rest, length, &field->bytes);
	case GRPC_WIRE_GROUP:
	case GRPC_WIRE_GROUP_END:
		break;
	}
	return false;
}

/* From behind the tag of a group to behind its end. */
static bool skip_group(struct slice *rest, uint32_t number, struct slice *ret_bytes)
{
	uint32_t open[LIMIT_DEPTH];
	size_t depth = 0;
	const char *start = rest->data;

	open[depth++] = number;
	while (depth) {
		struct grpc_wire_field field;

		if (!read_tag(rest, &field))
			return false;
		if (field.type == GRPC_WIRE_GROUP) {
			if (depth == LIMIT_DEPTH)
				return false;
			open[depth++] = field.number;
		} else if (field.type == GRPC_WIRE_GROUP_END) {
			if (open[--depth] != field.number)
				return false;
		} else if (!read_value(rest, &field)) {
			return false;
		}
	}
	*ret_bytes = (struct slice){start, (size_t)(rest->data - start)};
	return true;
}

int grpc_wire_next(struct slice *rest, struct grpc_wire_field *ret_field)
{
	if (rest->length == 0)
		return 0;
	ret_field->start = rest->data;
	if (!read_tag(rest, ret_field))
		return -EINVAL;
	if (ret_field->type == GRPC_WIRE_GROUP) {
		ret_field->value = 0;
		return skip_group(rest, ret_field->number, &ret_field->bytes) ? 1 : -EINVAL;
	}
	return read_value(rest, ret_field) ? 1 : -EINVAL;
}

/* The check */

struct level {
	const ProtobufCMessageDescriptor *type;
	struct slice rest;
	uint32_t counts[FIELDS_MOST];	      /* occurrences of each declared field */
	const ProtobufCFieldDescriptor *last; /* the field before: the next is often its kin */
	bool is_listed;			      /* an item of a repeated field, or in one */
};

struct check {
	const struct limits *limits;
	struct level levels[NESTING_MOST];
	size_t depth;
	uint64_t spare; /* unknown and repeated singular fields so far */
	bool has_groups;
	const char *start;
	char *copy; /* second pass: of the same bytes, where groups are covered up */
	char *problem;
	size_t problem_size;
};

static int refuse(struct check *check, int error, const ProtobufCFieldDescriptor *field,
	const char *what, uint64_t limit)
{
	const struct level *level = &check->levels[check->depth - 1];
	char number[32] = "";

	if (limit)
		(void)snprintf(number, sizeof(number), " %" PRIu64, limit);
	(void)snprintf(check->problem, check->problem_size, "%s%s%s: %s%s", level->type->short_name,
		field ? "." : "", field ? field->name : "", what, number);
	return error;
}

static void push(struct check *check, const ProtobufCMessageDescriptor *type, struct slice bytes,
	bool is_listed)
{
	struct level *level = &check->levels[check->depth++];

	assert(check->depth <= NESTING_MOST && type->n_fields <= FIELDS_MOST);
	level->type = type;
	level->rest = bytes;
	level->last = NULL;
	level->is_listed = is_listed;
	memset(level->counts, 0, type->n_fields * sizeof(level->counts[0]));
}

/* protobuf-c stops at groups. Bytes of the same length and field number take its place; it keeps
 * them as an unknown field. */
static void cover_group(struct check *check, const struct grpc_wire_field *group)
{
	char *tag = check->copy + (group->start - check->start);
	char *at = check->copy + (group->bytes.data - check->start);
	size_t length = group->bytes.length, prefix = 1;

	*tag = (char)((*tag & ~7) | GRPC_WIRE_BYTES);
	while ((length - prefix) >> (7 * prefix))
		prefix++;
	length -= prefix;
	for (size_t i = 0; i < prefix; i++, length >>= 7)
		at[i] = (char)((length & 0x7f) | (i + 1 < prefix ? 0x80 : 0));
}

static int check_unknown(struct check *check, const struct grpc_wire_field *field)
{
	if (++check->spare > GRPC_WIRE_SPARE_FIELDS)
		return refuse(check, -E2BIG, NULL, "unknown or repeated fields, more than",
			GRPC_WIRE_SPARE_FIELDS);
	if (field->type == GRPC_WIRE_GROUP) {
		check->has_groups = true;
		if (check->copy)
			cover_group(check, field);
	}
	return 0;
}

static int check_string(struct check *check, const ProtobufCFieldDescriptor *field,
	struct slice text, bool is_listed)
{
	uint64_t limit = is_listed ? check->limits->resource_name_bytes : GRPC_WIRE_TEXT_BYTES;

	if (text.length > limit)
		return refuse(
			check, -E2BIG, field, "text is longer than the limit in bytes,", limit);
	if (text.length && memchr(text.data, 0, text.length))
		return refuse(check, -EINVAL, field, "text with a NUL", 0);
	if (!text_is_utf8(text))
		return refuse(check, -EINVAL, field, "text is not UTF-8", 0);
	return 0;
}

static enum grpc_wire_type wire_type_of(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_FLOAT:
		return GRPC_WIRE_32BIT;
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return GRPC_WIRE_64BIT;
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
	case PROTOBUF_C_TYPE_MESSAGE:
		return GRPC_WIRE_BYTES;
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_BOOL:
	case PROTOBUF_C_TYPE_ENUM:
		break;
	}
	return GRPC_WIRE_VARINT;
}

static const ProtobufCFieldDescriptor *find_field(struct level *level, uint32_t number)
{
	if (!level->last || level->last->id != number)
		level->last = protobuf_c_message_descriptor_get_field(level->type, number);
	return level->last;
}

static int check_field(struct check *check, const struct grpc_wire_field *found)
{
	struct level *level = &check->levels[check->depth - 1];
	const ProtobufCFieldDescriptor *field = find_field(level, found->number);
	uint32_t *count;
	bool is_repeated, is_listed;

	if (!field)
		return check_unknown(check, found);
	if (found->type != wire_type_of(field->type))
		return refuse(check, -EINVAL, field, "another wire type than its own", 0);
	count = &level->counts[field - level->type->fields];
	is_repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
	is_listed = is_repeated || level->is_listed;
	++*count;
	if (is_repeated && *count > check->limits->request_names)
		return refuse(check, -E2BIG, field, "more than", check->limits->request_names);
	if (!is_repeated && *count > 1 && ++check->spare > GRPC_WIRE_SPARE_FIELDS)
		return refuse(check, -E2BIG, field, "more than", GRPC_WIRE_SPARE_FIELDS);
	if (field->type == PROTOBUF_C_TYPE_STRING)
		return check_string(check, field, found->bytes, is_listed);
	if (field->type == PROTOBUF_C_TYPE_MESSAGE)
		push(check, field->descriptor, found->bytes, is_listed);
	else /* packed numbers: no request has any */
		assert(!is_repeated || field->type == PROTOBUF_C_TYPE_BYTES);
	return 0;
}

static int run_check(
	struct check *check, const ProtobufCMessageDescriptor *type, struct slice bytes)
{
	if (bytes.length > check->limits->grpc_message_bytes) {
		(void)snprintf(check->problem, check->problem_size,
			"%s: longer than %" PRIu64 " bytes", type->short_name,
			check->limits->grpc_message_bytes);
		return -E2BIG;
	}
	check->start = bytes.data;
	check->depth = 0;
	check->spare = 0;
	push(check, type, bytes, false);
	while (check->depth) {
		struct grpc_wire_field field;
		int rc = grpc_wire_next(&check->levels[check->depth - 1].rest, &field);

		if (rc == 0)
			check->depth--;
		else if (rc < 0)
			return refuse(check, rc, NULL, "not a protobuf message", 0);
		else
			rc = check_field(check, &field);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int grpc_wire_check(const ProtobufCMessageDescriptor *type, struct slice bytes,
	const struct limits *limits, char *problem, size_t problem_size)
{
	struct check check;

	/* Most of it is levels that are filled when they are needed. */
	check.limits = limits;
	check.copy = NULL;
	check.problem = problem;
	check.problem_size = problem_size;
	return run_check(&check, type, bytes);
}

/* Unpacking */

static void *allocator_alloc(void *arena, size_t size)
{
	return arena_alloc(arena, size);
}

static void allocator_free(void *arena, void *pointer)
{
	(void)arena;
	(void)pointer;
}

int grpc_wire_unpack(const ProtobufCMessageDescriptor *type, struct slice bytes,
	const struct limits *limits, struct arena *arena, ProtobufCMessage **ret_message,
	char *problem, size_t problem_size)
{
	ProtobufCAllocator allocator = {
		.alloc = allocator_alloc, .free = allocator_free, .allocator_data = arena};
	struct check check = {.limits = limits, .problem = problem, .problem_size = problem_size};
	int error = run_check(&check, type, bytes);

	if (error)
		return error;
	if (check.has_groups) {
		struct slice copy = arena_copy(arena, bytes.data, bytes.length);

		check.copy = (char *)(uintptr_t)copy.data;
		error = run_check(&check, type, bytes);
		assert(!error);
		bytes = copy;
	}
	*ret_message = protobuf_c_message_unpack(
		type, &allocator, bytes.length, (const uint8_t *)(bytes.data ? bytes.data : ""));
	if (*ret_message)
		return 0;
	(void)snprintf(problem, problem_size, "%s: cannot be unpacked", type->short_name);
	return -EINVAL;
}
