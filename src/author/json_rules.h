/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scalars and their validate.rules as JSON Schema. Pure. Threads: any. */
#ifndef XDSPUB_AUTHOR_JSON_RULES_H
#define XDSPUB_AUTHOR_JSON_RULES_H

#include <jansson.h>

#include "validate/rules.h"

/* A text that stands for what a file holds: `!include _parts/tls.yaml` as editors see it. */
#define JSON_RULES_FILE "\\.(ya?ml|json)$"

/* The schema of one value of a scalar or enum field (the inside of a wrapper, an item, a map's
 * value); rules may be NULL. */
json_t *json_rules_scalar(const struct schema_field *field, const struct field_rules *rules);
/* Of a Duration. */
json_t *json_rules_duration(const struct field_rules *rules);
/* Numbers of items or pairs, and uniqueness, added to a list's or map's schema. */
void json_rules_counts(const struct field_rules *rules, json_t *to);
/* For the keys of a map. */
json_t *json_rules_keys(const struct schema_field *key, const struct field_rules *rules);
/* Whether the field has to be there, as unset counts as a value that the rules refuse. */
bool json_rules_must_be_set(const struct schema_field *field, const struct field_rules *rules);

#endif
