/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The test schema for harnesses that need message types. The first byte of an input picks one. */
#ifndef XDSPUB_TESTS_FUZZ_FUZZ_SCHEMA_H
#define XDSPUB_TESTS_FUZZ_FUZZ_SCHEMA_H

#include <stdio.h>
#include <stdlib.h>

#include "schema/schema.h"

static inline const struct schema *fuzz_schema(void)
{
	static struct schema *schema; /* read once, stays for the life of the program */
	const char *path = getenv("XDSPUB_TEST_SCHEMA");
	struct diag_list *diags;

	if (schema)
		return schema;
	diags = diag_list_new(0);
	if (!path || schema_load(&path, 1, diags, &schema)) {
		fprintf(stderr, "XDSPUB_TEST_SCHEMA must name tests/schema/test.pb\n");
		exit(1);
	}
	diag_list_free(diags);
	return schema;
}

static inline const struct schema_message *fuzz_schema_type(uint8_t byte)
{
	static const char *const types[] = {"xdspub.test.v3.Everything", "xdspub.test.v3.Maps",
		"xdspub.test.v3.WellKnown", "xdspub.test.v3.Names", "xdspub.test.v2.Everything",
		"xdspub.test.v2.Extendable", "xdspub.test.v2.Required", "google.protobuf.Any",
		"google.protobuf.Struct"};

	return schema_find_message(
		fuzz_schema(), slice_of(types[byte % (sizeof(types) / sizeof(types[0]))]));
}

#endif
