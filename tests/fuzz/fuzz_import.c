/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Imports of anything: no crash, and what is written reads back. The first byte chooses the format
 * and what is split off; the schema is the real one, since an import is about its types.
 */
#include <stdio.h>
#include <stdlib.h>

#include "author/import_read.h"
#include "author/import_rest.h"
#include "author/import_split.h"
#include "author/import_write.h"
#include "base/mem.h"
#include "message/yaml_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_fine)
{
	if (!is_fine)
		abort();
}

static const struct schema *envoy_schema(void)
{
	static struct schema *schema; /* read once, stays for the life of the program */
	const char *path = getenv("XDSPUB_SCHEMA");

	if (!schema && (!path || schema_load(&path, 1, NULL, &schema))) {
		fprintf(stderr, "XDSPUB_SCHEMA must name envoy.pb\n");
		exit(1);
	}
	return schema;
}

static void check_text(struct slice text)
{
	struct arena *arena = arena_new(0);
	struct documents documents;

	check(yaml_read(&(struct read_options){.path = ""}, text, arena, NULL, &documents) == 0);
	arena_free(arena);
}

static void write_all(struct import_plan *plan, uint8_t choice)
{
	const struct import_split_options split = {.routes = choice & 2,
		.endpoints = choice & 4,
		.certificates = choice & 8,
		.uses_self = choice & 16};
	const struct bootstrap_spec spec = {.mode = (enum bootstrap_mode)(choice >> 5) % 5,
		.address = "127.0.0.1:1",
		.cluster = "xdspub",
		.out = "/out",
		.group = "default",
		.extension = "yaml"};
	struct import_files files;
	struct buf rest = BUF_INIT;

	import_rest_keep(plan, split.certificates);
	import_split(plan, &split);
	if (import_write(plan, &files))
		for (size_t i = 0; i < files.count; i++)
			check_text(buf_slice(&files.items[i].text));
	if (plan->bootstrap && import_rest_write(plan, &spec, &rest))
		check_text(buf_slice(&rest));
	buf_fini(&rest);
	import_files_fini(&files);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct limits limits = {.yaml_nodes = 20000};
	const struct schema *schema = envoy_schema();
	static struct validator *validator; /* knows more types with each run */
	struct diag_list *diags = diag_list_new(0);
	struct import_plan plan;
	uint8_t choice = size ? data[0] : 0;

	if (!validator)
		validator = validator_new(schema);
	import_plan_init(&plan, schema, &limits, diags);
	if (import_read(&plan, validator, "fuzz", choice & 1 ? IMPORT_CONFIG_DUMP : IMPORT_ANY,
		    xstrndup(size ? (const char *)data + 1 : "", size ? size - 1 : 0),
		    size ? strnlen((const char *)data + 1, size - 1) : 0))
		write_all(&plan, choice);
	import_plan_fini(&plan);
	diag_list_free(diags);
	return 0;
}
