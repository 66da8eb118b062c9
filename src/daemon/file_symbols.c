/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/file_symbols.h"

#include "serve/grpc/grpc_wire.h"

/* Field numbers of descriptor.proto. */
enum {
	SET_FILE = 1,
	FILE_PACKAGE = 2,
	FILE_MESSAGE = 4,
	FILE_ENUM = 5,
	FILE_SERVICE = 6,
	FILE_EXTENSION = 7,
	MESSAGE_FIELD = 2,
	MESSAGE_NESTED = 3,
	MESSAGE_ENUM = 4,
	MESSAGE_EXTENSION = 6,
	MESSAGE_ONEOF = 8,
	ENUM_VALUE = 2,
	SERVICE_METHOD = 2,
	ANY_NAME = 1, /* of everything that is declared, the file too */
};

enum kind {
	KIND_NONE,
	KIND_FILE,
	KIND_MESSAGE,
	KIND_ENUM,
	KIND_SERVICE,
	KIND_LEAF
};

/* What a field of a descriptor of one kind declares. */
static enum kind kind_in(enum kind scope, uint32_t number)
{
	static const uint8_t kinds[][9] = {
		[KIND_FILE] = {[FILE_MESSAGE] = KIND_MESSAGE,
			[FILE_ENUM] = KIND_ENUM,
			[FILE_SERVICE] = KIND_SERVICE,
			[FILE_EXTENSION] = KIND_LEAF},
		[KIND_MESSAGE] = {[MESSAGE_FIELD] = KIND_LEAF,
			[MESSAGE_NESTED] = KIND_MESSAGE,
			[MESSAGE_ENUM] = KIND_ENUM,
			[MESSAGE_EXTENSION] = KIND_LEAF,
			[MESSAGE_ONEOF] = KIND_LEAF},
		[KIND_ENUM] = {[ENUM_VALUE] = KIND_LEAF},
		[KIND_SERVICE] = {[SERVICE_METHOD] = KIND_LEAF},
		[KIND_LEAF] = {0},
	};

	return number < sizeof(kinds[0]) ? (enum kind)kinds[scope][number] : KIND_NONE;
}

static bool next_bytes(struct slice *rest, struct grpc_wire_field *ret_field)
{
	while (grpc_wire_next(rest, ret_field) > 0)
		if (ret_field->type == GRPC_WIRE_BYTES)
			return true;
	return false;
}

static struct slice find_bytes(struct slice descriptor, uint32_t number)
{
	struct grpc_wire_field field;

	while (next_bytes(&descriptor, &field))
		if (field.number == number)
			return field.bytes;
	return (struct slice){"", 0};
}

struct slice file_symbols_name(struct slice file)
{
	return find_bytes(file, ANY_NAME);
}

bool file_symbols_next(struct slice *rest, struct slice *ret_file)
{
	struct grpc_wire_field field;

	while (next_bytes(rest, &field)) {
		if (field.number != SET_FILE)
			continue;
		*ret_file = field.bytes;
		return true;
	}
	return false;
}

/* What has the name in a scope; KIND_NONE: nothing. The values of an enum are in the enum's own
 * scope, not in the enum. */
static enum kind find_in(
	enum kind scope, struct slice descriptor, struct slice name, struct slice *ret_found)
{
	struct grpc_wire_field field;

	while (next_bytes(&descriptor, &field)) {
		enum kind kind = kind_in(scope, field.number);

		if (kind == KIND_NONE)
			continue;
		*ret_found = field.bytes;
		if (slice_equal(find_bytes(field.bytes, ANY_NAME), name))
			return kind;
		if (kind == KIND_ENUM && scope != KIND_ENUM) {
			struct grpc_wire_field value;

			while (next_bytes(&field.bytes, &value))
				if (value.number == ENUM_VALUE &&
					slice_equal(find_bytes(value.bytes, ANY_NAME), name))
					return KIND_LEAF;
		}
	}
	return KIND_NONE;
}

/* Takes the package and the dot behind it off the name. */
static bool strip_package(struct slice file, struct slice *name)
{
	struct slice package = find_bytes(file, FILE_PACKAGE);

	if (!package.length)
		return true;
	if (name->length <= package.length || name->data[package.length] != '.' ||
		memcmp(name->data, package.data, package.length) != 0)
		return false;
	name->data += package.length + 1;
	name->length -= package.length + 1;
	return true;
}

bool file_symbols_declares(struct slice file, struct slice symbol)
{
	struct slice scope = file;
	enum kind kind = KIND_FILE;

	if (!symbol.length || !strip_package(file, &symbol))
		return false;
	/* Names are unique in a scope, so there is one way down. */
	while (kind != KIND_NONE) {
		const char *dot = memchr(symbol.data, '.', symbol.length);
		size_t length = dot ? (size_t)(dot - symbol.data) : symbol.length;

		kind = find_in(kind, scope, (struct slice){symbol.data, length}, &scope);
		if (!dot)
			return kind != KIND_NONE;
		symbol.data += length + 1;
		symbol.length -= length + 1;
		if (!symbol.length)
			return false;
	}
	return false;
}
