/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The look-up tables behind schema_field_by_name and its kin: small open-addressing tables per
 * message and enum, so that a look-up touches one or two cache lines. Built once, in the schema's
 * arena; private to schema/. Threads: immutable once made.
 */
#ifndef XDSPUB_SCHEMA_SCHEMA_INDEX_H
#define XDSPUB_SCHEMA_SCHEMA_INDEX_H

#include "base/arena.h"
#include "schema/schema.h"

/* Fills message->by_name and by_number. 0, -ENOMEM, or -EEXIST with the two fields whose names
 * clash (declared against declared; JSON against JSON where the file is proto3). */
int schema_index_message(struct arena *arena, struct schema_message *message,
	const struct schema_field **ret_first, const struct schema_field **ret_second);
/* Fills enumeration->index. 0, -ENOMEM, or -EEXIST with the name that is there twice. */
int schema_index_enum(struct arena *arena, struct schema_enum *enumeration, const char **ret_name);

#endif
