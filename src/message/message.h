/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A message of any schema type in memory: the fields that are set, by ascending number.
 * Lives in the arena it was made in, with all it holds; freed with it. Threads: one at a time
 * while it is built, any afterwards. Readers: bind (YAML and JSON), text_read, wire_read.
 * Writers: wire_write, json_write, yaml_write, text_write. Depth limit LIMIT_DEPTH everywhere.
 */
#ifndef XDSPUB_MESSAGE_MESSAGE_H
#define XDSPUB_MESSAGE_MESSAGE_H

#include "base/arena.h"
#include "base/diag.h"
#include "schema/schema.h"

/* Which member is valid follows from the field's type. */
union message_value {
	bool boolean;
	int32_t int32;	 /* INT32, SINT32, SFIXED32, ENUM */
	uint32_t uint32; /* UINT32, FIXED32 */
	int64_t int64;	 /* INT64, SINT64, SFIXED64 */
	uint64_t uint64; /* UINT64, FIXED64 */
	float float32;
	double float64;
	struct slice bytes;	 /* STRING, BYTES; in the arena or static */
	struct message *message; /* MESSAGE, GROUP */
};

struct message_field {
	const struct schema_field *field;
	struct position at; /* where the source sets it; line 0: not from a text */
	uint32_t count;	    /* repeated: number of items; singular: 1 */
	uint32_t capacity;  /* repeated only */
	union {
		union message_value one;    /* singular */
		union message_value *items; /* repeated; a map is a list of entry messages */
	};
};

struct message {
	const struct schema_message *type;
	struct message_field *fields; /* by ascending number */
	uint32_t fields_count;
	uint32_t fields_capacity;
	struct position at;
	/* google.protobuf.Any only: the content, when its type is known to the schema. Then field
	 * `value` is absent and writers encode this instead; field `type_url` is always set. */
	struct message *any_content;
	struct slice unknown; /* unknown fields as they came, tags included */
	size_t wire_size;     /* scratch of wire_write */
};

struct message *message_new(struct arena *arena, const struct schema_message *type);
/* NULL when unset. */
const struct message_field *message_find(const struct message *message, uint32_t number);
struct message_field *message_find_mutable(struct message *message, uint32_t number);
/* The entry for `field`, made (zeroed) in its place if absent. NULL only when the arena is full. */
struct message_field *message_set(
	struct arena *arena, struct message *message, const struct schema_field *field);
/* Room for one more item of a repeated field; count already raised; zeroed. NULL: arena full. */
union message_value *message_add(struct arena *arena, struct message_field *entry);
void message_clear(struct message *message, const struct schema_field *field);

/* Convenience for readers of known fields; the fallback when unset. */
struct slice message_get_bytes(const struct message *message, uint32_t number);
const struct message *message_get_message(const struct message *message, uint32_t number);

/* A singular field without presence that holds zero, false or "": same as unset, not written. */
bool message_holds_default(const struct message_field *entry);

/* Order of map keys in every output: false before true, numbers ascending, strings by bytes. */
int message_compare_map_keys(const struct message *a, const struct message *b);
/* Sorts the entries of a map field by key and keeps the last of entries with equal keys. Readers
 * call it when a map is complete. */
void message_sort_map(struct message_field *entry);
/* The items of a field in the order of output: as they are, or maps that nobody has sorted in a
 * copy that the caller frees through *ret_copy (NULL otherwise). */
const union message_value *message_items_in_order(
	const struct message_field *entry, union message_value **ret_copy);

/* Unknown fields anywhere below, Any contents included: what only binary can carry. */
bool message_has_unknown(const struct message *message);

/* Same content, unknown fields by their bytes, Any content and value compared as bytes,
 * NaN equal to NaN, maps regardless of order. Not for one message in two threads: the sizes that
 * wire_write keeps may change. */
bool message_equal(const struct message *a, const struct message *b);

#endif
