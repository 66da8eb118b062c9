/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types that resources are made of, read at run time from one or several protobuf
 * FileDescriptorSets: messages, fields, oneofs, enums, services, extensions, and their look-up.
 * Owns all names and tables; everything returned is borrowed and lives as long as the schema.
 * Threads: immutable after schema_load, so any. Errors: bad sets become diagnostics.
 * Limits: set file 64 MiB, nesting of message types 100, 1,000,000 fields.
 */
#ifndef XDSPUB_SCHEMA_SCHEMA_H
#define XDSPUB_SCHEMA_SCHEMA_H

#include "base/diag.h"
#include "base/slice.h"

/* Numbers of google.protobuf.FieldDescriptorProto.Type. */
enum schema_type {
	SCHEMA_DOUBLE = 1,
	SCHEMA_FLOAT = 2,
	SCHEMA_INT64 = 3,
	SCHEMA_UINT64 = 4,
	SCHEMA_INT32 = 5,
	SCHEMA_FIXED64 = 6,
	SCHEMA_FIXED32 = 7,
	SCHEMA_BOOL = 8,
	SCHEMA_STRING = 9,
	SCHEMA_GROUP = 10,
	SCHEMA_MESSAGE = 11,
	SCHEMA_BYTES = 12,
	SCHEMA_UINT32 = 13,
	SCHEMA_ENUM = 14,
	SCHEMA_SFIXED32 = 15,
	SCHEMA_SFIXED64 = 16,
	SCHEMA_SINT32 = 17,
	SCHEMA_SINT64 = 18,
};

/* Messages with a JSON form of their own (proto3 JSON mapping). */
enum schema_well_known {
	SCHEMA_ORDINARY,
	SCHEMA_ANY,
	SCHEMA_DURATION,
	SCHEMA_TIMESTAMP,
	SCHEMA_FIELD_MASK,
	SCHEMA_STRUCT,
	SCHEMA_VALUE,
	SCHEMA_LIST_VALUE,
	SCHEMA_WRAPPER, /* BoolValue, StringValue, ...: one field `value`, number 1 */
	SCHEMA_EMPTY,
};

struct schema_enum_value {
	const char *name;
	int32_t number;
	struct slice options; /* serialized EnumValueOptions, empty when there are none */
};

struct schema_enum {
	const char *full_name;
	const struct schema_enum_value *values; /* in declaration order; aliases possible */
	uint32_t values_count;
	bool is_closed;	    /* proto2: unknown numbers go to the unknown fields */
	bool is_null_value; /* google.protobuf.NullValue */
	const void *index;  /* private */
};

struct schema_message;

struct schema_field {
	const char *name;      /* as declared; extensions: short name */
	const char *json_name; /* lowerCamelCase or as declared by json_name */
	const char *full_name; /* extensions print as [full_name] */
	uint16_t name_length, json_name_length;
	bool has_odd_json_name; /* it holds what JSON has to escape */
	uint32_t number;
	enum schema_type type;
	bool is_repeated; /* maps too */
	bool is_map;	  /* repeated message whose type is a map entry */
	bool is_required; /* proto2 */
	bool is_packed;	  /* written packed */
	bool is_extension;
	/* Set and unset differ: messages, oneof members, `optional`, proto2 singular fields.
	 * Without it a singular field that holds its default is not written. */
	bool has_presence;
	bool check_utf8;		       /* string of a proto3 file */
	const struct schema_message *parent;   /* for extensions the extendee */
	const struct schema_message *message;  /* SCHEMA_MESSAGE and SCHEMA_GROUP */
	const struct schema_enum *enumeration; /* SCHEMA_ENUM */
	const struct schema_oneof *oneof;      /* real ones only, not those of proto3 `optional` */
	const char *default_text;	       /* proto2 [default = ...] as declared, or NULL */
	struct slice options; /* serialized FieldOptions, custom options included */
};

struct schema_oneof {
	const char *name;
	const struct schema_message *parent;
	const struct schema_field **fields;
	uint32_t fields_count;
	struct slice options; /* serialized OneofOptions */
};

struct schema_message {
	const char *full_name; /* without leading dot */
	const char *file_name; /* the .proto file that declares it */
	enum schema_well_known well_known;
	bool is_map_entry; /* fields[0] is key (1), fields[1] is value (2) */
	bool is_proto2;
	bool has_extensions;		   /* declares extension ranges */
	bool is_message_set;		   /* proto2 message_set_wire_format */
	bool has_required;		   /* it or a message below it has required fields */
	const struct schema_field *fields; /* by ascending number, extensions not among them */
	uint32_t fields_count;
	const struct schema_oneof *oneofs;
	uint32_t oneofs_count;
	struct slice options;  /* serialized MessageOptions */
	const void *by_name;   /* private */
	const void *by_number; /* private */
};

struct schema_method {
	const char *name;
	const struct schema_message *input, *output;
	bool is_client_streaming, is_server_streaming;
	struct slice options;
};

struct schema_service {
	const char *full_name;
	const struct schema_method *methods;
	uint32_t methods_count;
};

struct schema;

/*
 * Loads and merges sets in order. A file that is in several sets must be identical except for
 * source information, else it is an error naming both. Unresolved imports are errors with the
 * name of the missing file. `paths[0]` is the base. Returns 0, -EINVAL (see diags) or another
 * negative errno when a file cannot be read (a diagnostic says which).
 */
int schema_load(const char *const *paths, size_t count, struct diag_list *diags,
	struct schema **ret_schema);
/* The same from memory; `names` are for diagnostics. */
int schema_load_bytes(const struct slice *sets, const char *const *names, size_t count,
	struct diag_list *diags, struct schema **ret_schema);
void schema_free(struct schema *schema);

/* What "unknown field" errors call this schema: "Envoy API 1.31 of July 2024 in envoy.pb" if the
 * set says what it is (the default of xdspub.schema.Origin.label), else "schema envoy.pb". */
const char *schema_label(const struct schema *schema);
/* The serialized FileDescriptorProto by file name, e.g. for reflection; data NULL when absent. */
struct slice schema_file(const struct schema *schema, struct slice file_name);
/* The next of all files, in no order; *cursor begins as 0. False at the end. */
bool schema_next_file(const struct schema *schema, size_t *cursor, struct slice *ret_bytes);

const struct schema_message *schema_find_message(const struct schema *schema, struct slice name);
/* Accepts anything up to the last '/', as Any does; NULL when unknown. */
const struct schema_message *schema_find_type_url(const struct schema *schema, struct slice url);
const struct schema_enum *schema_find_enum(const struct schema *schema, struct slice name);
const struct schema_service *schema_find_service(const struct schema *schema, struct slice name);
/* For suggestions and listings: all messages by name. */
const struct schema_message *const *schema_messages(const struct schema *schema, size_t *ret_count);
/* What a name that is not there may be meant for, or NULL: the type that had the name in an older
 * Envoy API, one that is spelt almost so, one with the same short name in another package. */
const char *schema_nearest_message(const struct schema *schema, struct slice name);

/* By declared or JSON name. */
const struct schema_field *schema_field_by_name(
	const struct schema_message *message, struct slice name);
const struct schema_field *schema_field_by_number(
	const struct schema_message *message, uint32_t number);
const struct schema_field *schema_extension_by_number(
	const struct schema *schema, const struct schema_message *message, uint32_t number);
/* All extensions of a message, by number. */
const struct schema_field *schema_extensions(
	const struct schema *schema, const struct schema_message *message, size_t *ret_count);
const struct schema_field *schema_extension_by_name(
	const struct schema *schema, struct slice full_name);
const struct schema_enum_value *schema_enum_by_name(
	const struct schema_enum *enumeration, struct slice name);
/* As Envoy's JSON reader: case and '-' against '_' ignored. NULL when unknown. */
const struct schema_enum_value *schema_enum_by_name_loose(
	const struct schema_enum *enumeration, struct slice name);
/* The first declared with that number. */
const struct schema_enum_value *schema_enum_by_number(
	const struct schema_enum *enumeration, int32_t number);

#endif
