/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A byte for the message type, a byte of flags, then YAML or JSON. What binds must come back as the
 * same bytes through binary, JSON and YAML.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz_schema.h"
#include "message/bind.h"
#include "message/json_read.h"
#include "message/json_write.h"
#include "message/wire_read.h"
#include "message/wire_write.h"
#include "message/yaml_write.h"

#define NODES 20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = {"xdspub.test.v3.Everything", "xdspub.test.v3.Maps",
	"xdspub.test.v3.WellKnown", "xdspub.test.v3.Names", "xdspub.test.v3.Resource",
	"xdspub.test.v2.Everything", "xdspub.test.v2.Extendable", "xdspub.test.v2.Required",
	"google.protobuf.Any", "google.protobuf.Struct", "google.protobuf.Value"};

struct run {
	const struct schema *schema;
	const struct schema_message *type;
	struct arena *arena;
	struct buf wire;
};

static void check(bool is_fine)
{
	if (!is_fine)
		abort();
}

static struct node *read_root(struct slice text, bool is_json, struct arena *arena)
{
	struct read_options options = {.path = "fuzz", .nodes_limit = NODES};
	struct diag_list *diags = diag_list_new(0);
	struct documents documents = {0};
	struct node *root = NULL;

	if (is_json)
		json_read(&options, text, arena, diags, &root);
	else if (yaml_read(&options, text, arena, diags, &documents) == 0 && documents.count)
		root = documents.roots[0];
	diag_list_free(diags);
	return root;
}

static struct message *bind(const struct run *run, const struct node *root, bool is_lenient)
{
	struct bind_options options = {.schema = run->schema,
		.path = "fuzz",
		.lenient = is_lenient,
		.allow_partial = true};
	struct diag_list *diags = diag_list_new(0);
	struct message *message = NULL;
	int rc = bind_message(&options, run->type, root, run->arena, diags, &message);

	check(rc == 0 || rc == -EBADMSG);
	check((rc != 0) == (diag_list_level_count(diags, DIAG_ERROR) > 0));
	check((rc == 0) == (message != NULL));
	diag_list_free(diags);
	return message;
}

/* The text says the same message. */
static void check_text(struct run *run, struct buf *text, bool is_json)
{
	struct node *root = read_root(buf_slice(text), is_json, run->arena);
	struct message *message;
	struct buf wire = BUF_INIT;

	check(root != NULL);
	message = bind(run, root, false);
	check(message != NULL);
	wire_write(message, &wire);
	check(slice_equal(buf_slice(&wire), buf_slice(&run->wire)));
	buf_fini(&wire);
}

static void check_message(struct run *run, struct message *message)
{
	struct json_write_options json = {.schema = run->schema};
	struct yaml_write_options yaml = {.schema = run->schema};
	struct wire_read_options options = {
		.schema = run->schema, .expand_any = true, .allow_partial = true};
	struct wire_read_error error;
	struct message *again;
	struct buf text = BUF_INIT;
	const char *problem = NULL;

	wire_write(message, &run->wire);
	check(wire_read(&options, run->type, buf_slice(&run->wire), run->arena, &again, &error) ==
		0);
	check(message_equal(message, again));
	check(json_write(&json, message, &text, &problem) == 0);
	check_text(run, &text, true);
	buf_reset(&text);
	check(yaml_write(&yaml, message, &text, &problem) == 0);
	check_text(run, &text, false);
	buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run run = {.schema = fuzz_schema()};
	const struct node *root;
	struct message *message;

	if (size < 2)
		return 0;
	run.type = schema_find_message(
		run.schema, slice_of(types[data[0] % (sizeof(types) / sizeof(*types))]));
	if (!run.type)
		return 0;
	run.arena = arena_new(0);
	root = read_root((struct slice){(const char *)data + 2, size - 2}, data[1] & 1, run.arena);
	message = root ? bind(&run, root, data[1] & 2) : NULL;
	if (message)
		check_message(&run, message);
	buf_fini(&run.wire);
	arena_free(run.arena);
	return 0;
}
