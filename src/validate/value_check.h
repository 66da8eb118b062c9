/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One value against the rules of its field. Pure but for what `complain` does. Threads: any.
 */
#ifndef XDSPUB_VALIDATE_VALUE_CHECK_H
#define XDSPUB_VALIDATE_VALUE_CHECK_H

#include "base/buf.h"
#include "message/message.h"
#include "validate/rules.h"

/* Called once per broken rule; `text` is what must hold, with the value where it may be shown. */
typedef void (*value_complaint_cb)(void *ctx, const char *id, const char *text);

struct value_check {
	const struct field_rules *rules;
	value_complaint_cb complain;
	void *ctx;
	rules_integer now; /* nanoseconds since 1970, for timestamps */
};

/* A scalar, enum, string or bytes (the wrapper's inside for wrappers); value NULL: not set, which
 * counts as the default. */
void value_check_scalar(const struct value_check *check, const struct schema_field *field,
	const union message_value *value);
/* A Duration, Timestamp or Any that is set. */
void value_check_message(const struct value_check *check, const struct message *message);
/* The number of items or pairs, and what no two items may share; entry NULL: empty. */
void value_check_list(const struct value_check *check, const struct message_field *entry);

/* A value as messages show it: a number, "a text" (cut), the name of an enum value, 1.5s. */
void value_check_show(struct buf *out, const struct field_rules *rules, union rules_value value);
/* "an IP address": the format that `rules` demands; it is not RULE_COUNT. */
const char *value_check_format(const struct rules_text *rules);

#endif
