/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the schema demands of the fields of a message type (validate.rules), and what it says about
 * their use (deprecation, work in progress): read from the options once per type, in a form that
 * is quick to check. Owned by the book it is in. Threads: one at a time per book.
 */
#ifndef XDSPUB_VALIDATE_RULES_H
#define XDSPUB_VALIDATE_RULES_H

#include "base/arena.h"
#include "base/hash.h"
#include "message/message.h"
#include "validate/pattern.h"
#include "validate/rule_id.h"

/* Wide enough for every integer and for a Duration or Timestamp in nanoseconds. Aligned as arenas
 * align. */
__extension__ typedef __int128 rules_integer __attribute__((aligned(8)));
__extension__ typedef unsigned __int128 rules_unsigned;
#define RULES_SECOND ((rules_integer)1000000000)

union rules_value {
	rules_integer integer; /* integers, enums, booleans, durations, timestamps */
	double floating;
	struct slice text; /* strings, bytes, type URLs */
};

/* The value of a field; of a message: a Duration or Timestamp. */
union rules_value rules_value_of(
	const struct schema_field *field, const union message_value *value);
rules_integer rules_nanoseconds(const struct message *time);

struct rules_bounds {
	bool has_const, has_less, has_more;
	bool may_equal_less, may_equal_more; /* lte, gte */
	union rules_value constant, less, more;
	const union rules_value *in, *not_in;
	uint32_t in_count, not_in_count;
};

#define RULES_UNSET UINT64_MAX /* of a length or count */

struct rules_lengths {
	uint64_t exact, least, most;		       /* string: code points; bytes: bytes */
	uint64_t exact_bytes, least_bytes, most_bytes; /* string only */
};

/* Only for fields that have one of these. */
struct rules_text {
	struct rules_lengths lengths;
	struct slice prefix, suffix, contains, not_contains; /* data NULL: no rule */
	struct pattern *pattern;
	struct slice pattern_text;
	enum rule format; /* RULE_EMAIL ... RULE_WELL_KNOWN_REGEX; RULE_COUNT: none */
	bool is_header_name;
	bool is_loose; /* well_known_regex: only what ends a header is refused */
};

struct field_rules {
	const struct schema_field *field; /* of items, keys and values: the repeated field's */
	enum rule_kind kind;		  /* 0: no validate.rules */
	bool is_floating;
	bool is_wrapper;  /* the value is field 1 of a wrapper message */
	bool is_required; /* message, any, duration, timestamp */
	bool is_skipped;  /* message.skip: what is below is not looked at */
	bool ignore_empty;
	bool is_defined_only, is_unique, is_no_sparse;
	bool lt_now, gt_now;
	rules_integer within; /* nanoseconds; 0: no rule */
	struct rules_bounds bounds;
	struct rules_text *text;
	uint64_t least, most;	   /* items, pairs */
	struct field_rules *items; /* items, values; NULL: none */
	struct field_rules *keys;

	bool is_sensitive; /* its value is not shown */
	bool is_deprecated, is_disallowed, is_unfinished;
	bool has_old_values;	   /* some value of its enum is deprecated */
	const char *deprecated_at; /* version, or NULL */
};

struct message_rules {
	const struct schema_message *type;
	bool is_disabled;
	bool is_unfinished;
	struct field_rules *fields; /* by ascending number; only those with something to say */
	uint32_t fields_count;
	const struct schema_oneof **required; /* oneofs of which one must be set */
	uint32_t required_count;
};

/* What is said about one value of an enum. */
struct value_marks {
	bool is_deprecated, is_disallowed;
	const char *deprecated_at; /* in the arena, or NULL */
};

struct rules_book;

struct rules_book *rules_book_new(const struct schema *schema); /* the schema is borrowed */
void rules_book_free(struct rules_book *book);			/* NULL is fine */
/* Read on the first call for a type; NULL only when memory is out. */
const struct message_rules *rules_of(struct rules_book *book, const struct schema_message *type);
/* NULL: there is nothing to say about the field. */
const struct field_rules *rules_of_field(struct rules_book *book, const struct schema_field *field);
struct value_marks rules_value_marks(
	struct rules_book *book, const struct schema_enum_value *value);

#endif
