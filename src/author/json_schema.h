/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON Schemas (2020-12) of message types, for editors: names in both spellings (the declared one
 * is offered), types, enum values, rules of validate.rules as far as JSON Schema can say them, what
 * an Any may hold, and comments as descriptions. What they accept is what xdspub takes without a
 * warning, and a little more: see json_schema.c. Pure. Threads: one at a time.
 */
#ifndef XDSPUB_AUTHOR_JSON_SCHEMA_H
#define XDSPUB_AUTHOR_JSON_SCHEMA_H

#include "author/explain.h"

#define JSON_SCHEMA_DRAFT "https://json-schema.org/draft/2020-12/schema"

struct json_schema; /* definitions that are being collected */

struct json_schema *json_schema_new(const struct explain_from *from);
void json_schema_free(struct json_schema *definitions); /* NULL is fine */
const struct schema *json_schema_source(const struct json_schema *definitions);
/* Asks for a message type and all that can be in it. */
void json_schema_add(struct json_schema *definitions, const struct schema_message *message);
/* Makes what was asked for: the value of "$defs", one entry a type. Once. */
json_t *json_schema_take(struct json_schema *definitions);
/* {"$ref": "<file>#/$defs/<name>"}; file "": the same. */
json_t *json_schema_ref(const char *file, const char *name);
/* {"if": .., "then": .., "else": ..}; takes all, NULL: left out. */
json_t *json_schema_if(json_t *condition, json_t *then, json_t *otherwise);

#endif
