/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields, oneofs and extensions of declared messages. Private to schema/. */
#ifndef XDSPUB_SCHEMA_SCHEMA_FIELDS_H
#define XDSPUB_SCHEMA_SCHEMA_FIELDS_H

#include "schema/schema_build.h"

/* Fills the message at `index` of builder->declared: oneofs, fields, look-up tables. */
void schema_fields_message(struct schema_builder *builder, size_t index);
/* Fills one extension declared in `scope` (a package or message name, "" at the top). */
void schema_fields_extension(struct schema_builder *builder, const struct descset_file *file,
	const char *scope, const Google__Protobuf__FieldDescriptorProto *proto,
	struct schema_field *extension);

#endif
