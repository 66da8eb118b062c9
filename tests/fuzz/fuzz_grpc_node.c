/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A serialized Node: an object or one line that says why not. And the walk through descriptors that
 * answers reflection, over whatever bytes there are.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/file_symbols.h"
#include "daemon/grpc_schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct grpc_schema envoy(void)
{
	static struct schema *schema; /* read once, stays for the life of the program */
	const char *path = getenv("XDSPUB_SCHEMA");
	struct diag_list *diags;

	if (schema)
		return grpc_schema_of(schema);
	diags = diag_list_new(0);
	if (!path || schema_load(&path, 1, diags, &schema)) {
		fprintf(stderr, "XDSPUB_SCHEMA must name envoy.pb\n");
		exit(1);
	}
	diag_list_free(diags);
	return grpc_schema_of(schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct grpc_schema schema = envoy();
	struct slice bytes = {(const char *)data, size}, file;
	char problem[200] = "";
	json_t *node = schema.node(schema.ctx, bytes, problem, sizeof(problem));

	if (node)
		assert(json_is_object(node) && !problem[0]);
	else
		assert(!strncmp(problem, "node: ", 6) && !strchr(problem, '\n'));
	json_decref(node);

	(void)file_symbols_declares(bytes, SLICE("a.B.c"));
	(void)file_symbols_declares(bytes, bytes);
	while (file_symbols_next(&bytes, &file))
		(void)file_symbols_name(file);
	bytes = (struct slice){(const char *)data, size};
	(void)schema.file_by_symbol(schema.ctx, bytes, &file);
	(void)schema.file_by_path(schema.ctx, bytes, &file);
	return 0;
}
