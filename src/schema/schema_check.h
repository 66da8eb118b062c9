/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Second look at built tables: well-known types, maps, required fields. Private to schema/. */
#ifndef XDSPUB_SCHEMA_SCHEMA_CHECK_H
#define XDSPUB_SCHEMA_SCHEMA_CHECK_H

#include "schema/schema_build.h"

bool schema_check_identifier(const char *name);
/* Dotted identifiers; "" when `may_be_empty`. */
bool schema_check_dotted(const char *name, bool may_be_empty);
/* Whether a JSON name holds quotes, backslashes or control characters. */
bool schema_check_is_odd(const char *name);
/* NULL, or what is wrong with a map entry type. */
const char *schema_check_map_entry(const struct schema_message *message);
/* Sets message->well_known from its name. NULL, or what is wrong with its fields. */
const char *schema_check_well_known(struct schema_message *message);
/* Sets has_required of every message that has or reaches a required field. */
void schema_check_required(struct schema *schema);

#endif
