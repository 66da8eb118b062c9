/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/bootstrap_make.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "message/bind.h"
#include "message/json_read.h"
#include "message/yaml_write.h"
#include "validate/validate.h"

#define BOOTSTRAP "envoy.config.bootstrap.v3.Bootstrap"
#define NODE	  "envoy.config.core.v3.Node"
#define PATH	  "bootstrap"

/* Its fields as Envoy's documentation writes them. */
static bool put_node(struct buf *out, const json_t *node, const struct schema *schema,
	struct arena *arena, struct diag_list *diags)
{
	const struct bind_options bind = {.schema = schema, .path = PATH};
	const struct yaml_write_options options = {.schema = schema, .indent = 2};
	const struct schema_message *type = schema_find_message(schema, SLICE(NODE));
	char *text = json_dumps(node, JSON_COMPACT);
	struct slice json = text ? arena_copy(arena, text, strlen(text)) : SLICE("");
	struct message *message;
	const char *problem = NULL;
	struct node *root;

	free(text);
	if (!type || json_read(&(struct read_options){.path = PATH}, json, arena, diags, &root) ||
		bind_message(&bind, type, root, arena, diags, &message))
		return false;
	return yaml_write(&options, message, out, &problem) == 0;
}

static void put_indented(struct buf *out, struct buf *lines)
{
	for (const char *line = buf_cstr(lines); *line;) {
		const char *end = strchr(line, '\n') + 1;

		buf_puts(out, "  ");
		buf_append(out, line, (size_t)(end - line));
		line = end;
	}
}

static bool is_valid(struct slice text, const struct schema *schema, struct arena *arena,
	struct diag_list *diags)
{
	const struct bind_options bind = {.schema = schema, .path = PATH};
	const struct schema_message *type = schema_find_message(schema, SLICE(BOOTSTRAP));
	struct validator *validator = validator_new(schema);
	struct documents documents;
	struct message *message;
	bool is_good;

	is_good = type &&
		  yaml_read(&(struct read_options){.path = PATH}, text, arena, diags, &documents) ==
			  0 &&
		  documents.count == 1 &&
		  bind_message(&bind, type, documents.roots[0], arena, diags, &message) == 0 &&
		  validator_check(validator, message, PATH, diags) == 0;
	validator_free(validator);
	return is_good;
}

bool bootstrap_make(const struct bootstrap_whole *whole, const struct schema *schema,
	struct diag_list *diags, struct buf *out)
{
	struct arena *arena = arena_new(0);
	struct buf cluster = BUF_INIT;
	bool is_good;

	buf_printf(out, "# %s\n", whole->comment);
	if (whole->more)
		buf_printf(out, "# %s\n", whole->more);
	buf_puts(out, "# What groups.yaml matches; the id is to be another one for each Envoy.\n");
	if (whole->node_is_partial)
		buf_puts(out, "# It also matches what Envoy itself says, such as its version: that "
			      "is not in here.\n");
	buf_puts(out, "node:\n");
	is_good = put_node(out, whole->node, schema, arena, diags);
	if (whole->admin) {
		buf_puts(out, "# Its own administration, for this host only.\nadmin:\n  address: ");
		bootstrap_put_address(out, whole->admin);
		buf_putc(out, '\n');
	}
	bootstrap_put_dynamic(out, &whole->spec);
	bootstrap_put_cluster(&cluster, &whole->spec);
	if (cluster.length) {
		buf_puts(out, "static_resources:\n  clusters:\n");
		put_indented(out, &cluster);
	}
	buf_fini(&cluster);
	is_good = is_good && buf_error(out) == 0 &&
		  is_valid(arena_copy(arena, out->data, out->length), schema, arena, diags);
	arena_free(arena);
	return is_good;
}
