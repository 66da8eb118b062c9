/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From unpacked file descriptors to the tables of schema.h. Refuses every set that the rest of the
 * program could stumble over: names that are no identifiers, dangling and duplicate symbols, bad
 * numbers, oneofs, maps, extensions, well-known types of the wrong shape. Private to schema/.
 */
#ifndef XDSPUB_SCHEMA_SCHEMA_BUILD_H
#define XDSPUB_SCHEMA_SCHEMA_BUILD_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/hash.h"
#include "schema/descset.h"
#include "schema/schema.h"

struct schema_kept_file {
	const char *name;
	struct slice bytes; /* without source information */
};

struct schema {
	struct arena *arena; /* all tables and names */
	struct buf *texts;   /* the sets; files are slices of them */
	size_t texts_count;
	const char *label;
	struct schema_message *messages;
	size_t messages_count;
	struct schema_enum *enums;
	size_t enums_count;
	struct schema_service *services;
	size_t services_count;
	struct schema_field *extensions; /* by extendee, then number */
	size_t extensions_count;
	struct hash symbols; /* full name to a tagged pointer, see schema_symbol() */
	struct hash files;   /* file name to struct schema_kept_file */
	/* Messages by name, made when first asked for. */
	_Atomic(const struct schema_message **) sorted;
};

enum schema_symbol {
	SYMBOL_NONE,
	SYMBOL_MESSAGE,
	SYMBOL_ENUM,
	SYMBOL_SERVICE,
	SYMBOL_EXTENSION,
};

/* What a full name stands for, and the object in *ret_object. */
enum schema_symbol schema_symbol(
	const struct schema *schema, struct slice name, const void **ret_object);

/* A message type as declared, in the order of schema->messages. */
struct schema_declared {
	const Google__Protobuf__DescriptorProto *proto;
	const struct descset_file *file;
	struct schema_message *parent; /* NULL at file level */
};

/* State of one schema_build, shared with schema_fields.c. */
struct schema_builder {
	struct schema *schema;
	struct arena *arena; /* the schema's */
	struct diag_list *diags;
	const struct descset *set;
	struct schema_declared *declared;
	size_t declared_count, declared_capacity;
	size_t fields_count; /* so far */
	bool is_bad;	     /* a diagnostic was added */
	bool is_full;	     /* the arena's limit was met */
};

/* Adds an error about `what` (a full name) declared in `file`. */
void schema_build_problem(struct schema_builder *builder, const struct descset_file *file,
	const char *what, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* "scope.name" in the arena, or NULL: `name` is no identifier or too long, or the arena is full. */
char *schema_build_name(struct schema_builder *builder, const struct descset_file *file,
	const char *scope, const char *name);
/* Serialized options in the arena; empty without options. */
struct slice schema_build_options(struct schema_builder *builder, const ProtobufCMessage *options);
/* A type name as descriptors write it: ".a.b", or relative to `scope`. */
enum schema_symbol schema_build_resolve(const struct schema_builder *builder, const char *scope,
	const char *type_name, const void **ret_object);
bool schema_build_is_proto2(const struct descset_file *file);
/* Enters a symbol; an error when the name is taken. */
void schema_build_enter(struct schema_builder *builder, const struct descset_file *file,
	const char *full_name, enum schema_symbol kind, const void *object);

/* 0, -EINVAL (see diags), -ENOMEM. `schema` is zeroed but for its arena and initialised hashes. */
int schema_build(struct schema *schema, const struct descset *set, struct diag_list *diags);

#endif
