/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON Schemas of whole files: those of a type folder, published or plain files with any resources,
 * one message, groups.yaml and xdspub.yaml. The definitions of messages are in the document itself
 * or in another file. Pure. Threads: one at a time.
 *
 * Editors read `!file x` and `!include x` as the text x and `!delete {..}` as the mapping; a key
 * that is tagged `!ignore` they take for an unknown one where a message has no such field.
 */
#ifndef XDSPUB_AUTHOR_JSON_SCHEMA_FILE_H
#define XDSPUB_AUTHOR_JSON_SCHEMA_FILE_H

#include "author/json_schema.h"
#include "author/keys.h"
#include "snapshot/types.h"

/* `file` has the definitions, "" for the document itself: then json_schema_take's value has to be
 * set as "$defs" by the caller. What they refer to is asked for in `definitions`. */
json_t *json_schema_file_of(
	struct json_schema *definitions, const struct xds_type_row *row, const char *file);
/* Resources that say their type, in any folder. */
json_t *json_schema_file_any(struct json_schema *definitions, const char *file);
json_t *json_schema_file_message(
	struct json_schema *definitions, const struct schema_message *message, const char *file);
json_t *json_schema_file_keys(const struct keys *keys);
/* Only definitions. */
json_t *json_schema_file_defs(struct json_schema *definitions);

#endif
