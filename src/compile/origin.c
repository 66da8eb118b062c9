/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/origin.h"

#include <limits.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "compile/folder.h"

/* Aliases can make a small file a large resource: this much of it is looked at. */
#define NODES_MAX 1000000

struct origin {
	const struct diag_list *diags; /* knows the files of positions */
	const char *path;	       /* of the resource */
	struct position at;
	json_t *parts;
	struct buf field; /* where the walk is: "filter_chains[0].filters" */
	size_t nodes;
};

/* Files are told apart by the text that diagnostics have of them. */
static const char *file_of(const struct origin *origin, struct position at, uint32_t *ret_line)
{
	return diag_list_file(origin->diags, origin->path, at, ret_line);
}

static json_t *find_part(struct origin *origin, const char *path)
{
	json_t *part;
	size_t i;

	json_array_foreach(origin->parts, i, part)
	{
		if (strcmp(json_string_value(json_object_get(part, "path")), path) == 0)
			return part;
	}
	if (json_array_size(origin->parts) == ORIGIN_PARTS)
		return NULL;
	part = json_pack("{s:s,s:[]}", "path", path, "fields");
	json_array_append_new(origin->parts, part);
	return part;
}

static void add_field(struct origin *origin, const char *path, struct position at, uint32_t line)
{
	json_t *part = find_part(origin, path), *fields = json_object_get(part, "fields");
	const char *through = diag_list_includer(origin->diags, at);

	if (!part)
		return;
	if (through && !json_object_get(part, "through"))
		json_object_set_new(part, "through", json_string(through));
	if (json_array_size(fields) < ORIGIN_FIELDS)
		json_array_append_new(fields,
			json_pack("{s:s,s:i}", "field", buf_cstr(&origin->field), "line", line));
	else
		json_object_set_new(part, "more", json_true());
}

static void add_bytes(struct origin *origin, const struct node *scalar)
{
	char path[PATH_MAX];
	uint32_t line;
	const char *from = file_of(origin, scalar->at, &line);
	json_t *part;

	if (folder_resolve(folder_parent(slice_of(from)), scalar->text, path, sizeof(path)))
		return;
	part = find_part(origin, path);
	if (part && !json_object_get(part, "field")) {
		json_object_del(part, "fields");
		json_object_set_new(part, "field", json_string(buf_cstr(&origin->field)));
	}
}

static void walk(struct origin *origin, const struct node *node, const char *file);

static void walk_child(struct origin *origin, const struct node *child, struct position at,
	const char *file, size_t length)
{
	uint32_t line;
	const char *own;

	/* `field: !include part`: what is in the part says more than where it is put. */
	if (child->origin)
		at.line = child->origin;
	own = file_of(origin, at, &line);
	if (strcmp(own, file) != 0)
		add_field(origin, own, at, line);
	walk(origin, child, own);
	origin->field.length = length;
}

/* `file` is the one that what is above belongs to. Depth is that of nodes, which is limited. */
static void walk(struct origin *origin, const struct node *node, const char *file)
{
	const size_t length = origin->field.length;

	if (++origin->nodes > NODES_MAX)
		return;
	if (node->kind == NODE_SCALAR) {
		if (node->tag == NODE_TAG_FILE)
			add_bytes(origin, node);
		return;
	}
	for (size_t i = 0; node->kind == NODE_MAP && i < node->pairs_count; i++) {
		if (length)
			buf_putc(&origin->field, '.');
		text_quote(&origin->field, node->pairs[i].key, 100);
		walk_child(origin, node->pairs[i].value, node->pairs[i].key_at, file, length);
	}
	for (size_t i = 0; node->kind == NODE_LIST && i < node->items_count; i++) {
		buf_printf(&origin->field, "[%zu]", i);
		walk_child(origin, node->items[i], node->items[i]->at, file, length);
	}
}

/* The node of the resource: the one that begins where it does. */
static const struct node *find_node(
	const struct origin *origin, const struct node *node, unsigned depth)
{
	struct position at = diag_list_outermost(origin->diags, node->at);
	const struct node_pair *resources;

	if (node->kind == NODE_MAP && at.line == origin->at.line && at.column == origin->at.column)
		return node;
	resources = node_find(node, "resources");
	if (resources && depth < LIMIT_DEPTH)
		return find_node(origin, resources->value, depth + 1);
	for (size_t i = 0; node->kind == NODE_LIST && depth < LIMIT_DEPTH && i < node->items_count;
		i++) {
		const struct node *found = find_node(origin, node->items[i], depth + 1);

		if (found)
			return found;
	}
	return NULL;
}

json_t *origin_find(const struct compiler *compiler, const struct unit_item *item)
{
	struct origin origin = {.path = item->unit->path->text, .at = item->resource->at};
	struct documents documents = {0};
	struct unit_reader reader;

	unit_reader_init(&reader, compiler->schema, &compiler->limits, NULL);
	origin.diags = reader.diags;
	if (unit_reader_parse(&reader, item->unit, &documents) == 0) {
		const struct node *node = NULL;

		for (size_t i = 0; i < documents.count && !node; i++)
			node = find_node(&origin, documents.roots[i], 0);
		origin.parts = json_array();
		if (node)
			walk(&origin, node, origin.path);
	}
	buf_fini(&origin.field);
	unit_reader_fini(&reader);
	return origin.parts;
}
