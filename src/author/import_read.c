/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/import_read.h"

#include <errno.h>

#include "author/config_dump.h"
#include "base/text.h"
#include "compile/wrapper.h"
#include "message/bind.h"
#include "message/json_read.h"

#define BOOTSTRAP     "envoy.config.bootstrap.v3.Bootstrap"
#define RESPONSE_TYPE "DiscoveryResponse"

struct import_reader {
	struct import_plan *plan;
	struct validator *validator;
	struct import_source *source;
	const struct import_source *text; /* NULL: resources cannot be cut out of it */
	struct bind_options bind;
};

#define FAIL(reader, at, rule, ...)                                                                \
	diag_error((reader)->plan->diags, (reader)->source->path, (at), (rule), __VA_ARGS__)

/* --- names ------------------------------------------------------------------------------- */

/* Envoy makes up names for static listeners without one; a resource needs its own. */
static void name_listener(struct import_reader *reader, struct message *listener, char **ret_prefix)
{
	struct import_plan *plan = reader->plan;
	const struct message *address, *socket;
	const struct message_field *port;
	const char *base = "listener", *name;

	address = message_get_message(listener, import_plan_field(listener, "address")->number);
	socket = address ? message_get_message(
				   address, import_plan_field(address, "socket_address")->number)
			 : NULL;
	port = socket ? message_find(socket, import_plan_field(socket, "port_value")->number)
		      : NULL;
	if (port)
		base = arena_printf(plan->arena, "listener_%u", (unsigned)port->one.uint32);
	name = import_plan_free_name(plan, XDS_LDS, base);
	import_plan_set_text(plan, listener, "name", slice_of(name));
	*ret_prefix = arena_printf(plan->arena, "name: %s\n", name);
	diag_note(plan->diags, reader->source->path, listener->at, "import-named",
		"this listener has no name: it gets \"%s\"", name);
}

/* --- resources --------------------------------------------------------------------------- */

static struct import_item *add(struct import_reader *reader, const struct xds_type_row *row,
	struct message *message, struct position at)
{
	struct import_plan *plan = reader->plan;
	struct import_item *item;
	char *prefix = NULL;
	bool is_new;

	if (row->type == XDS_LDS && message_get_bytes(message, row->name_field).length == 0)
		name_listener(reader, message, &prefix);
	if (message_get_bytes(message, row->name_field).length == 0) {
		FAIL(reader, at, "missing-name", "this %s has no %s", row->noun, row->name_label);
		return NULL;
	}
	item = import_plan_add(plan, row, message, reader->source->path, &is_new);
	if (!item || !is_new)
		return NULL;
	item->source = reader->text;
	item->at = at;
	item->prefix = prefix;
	return item;
}

static void read_static(struct import_reader *reader, const struct message *resources)
{
	static const struct {
		const char *field;
		enum xds_type type;
	} parts[] = {{"listeners", XDS_LDS}, {"clusters", XDS_CDS}, {"secrets", XDS_SDS}};

	for (size_t i = 0; resources && i < sizeof(parts) / sizeof(*parts); i++) {
		const struct message_field *list = message_find(
			resources, import_plan_field(resources, parts[i].field)->number);

		for (uint32_t k = 0; list && k < list->count; k++) {
			struct message *message = list->items[k].message;
			struct import_item *item =
				add(reader, xds_type_row(parts[i].type), message, message->at);

			if (item)
				item->is_static = true;
		}
	}
}

static void read_bootstrap(struct import_reader *reader, const struct node *root)
{
	struct import_plan *plan = reader->plan;
	const struct schema_message *type = schema_find_message(plan->schema, SLICE(BOOTSTRAP));
	struct message *message;

	if (!type) {
		FAIL(reader, root->at, "not-in-schema", BOOTSTRAP " is not part of the schema (%s)",
			schema_label(plan->schema));
		return;
	}
	if (plan->bootstrap) {
		FAIL(reader, root->at, "import-bootstrap", "a second bootstrap: the first is %s",
			plan->bootstrap_path);
		return;
	}
	if (bind_typed(&reader->bind, type, root, plan->arena, plan->diags, &message))
		return;
	validator_check(reader->validator, message, reader->source->path, plan->diags);
	plan->bootstrap = message;
	plan->bootstrap_source = reader->text;
	plan->bootstrap_path = reader->source->path;
	read_static(reader, message_get_message(message,
				    import_plan_field(message, "static_resources")->number));
}

static void read_wrapped(
	struct import_reader *reader, const struct node *node, const struct schema_message *type)
{
	struct import_plan *plan = reader->plan;
	const struct xds_type_row *row;
	struct import_item *item;
	struct wrapper wrapper;
	struct message *whole;

	if (!wrapper_read(&reader->bind, type, node, plan->arena, plan->diags, &wrapper) ||
		bind_typed(&reader->bind, type, node, plan->arena, plan->diags, &whole))
		return;
	row = xds_type_by_message(slice_of(wrapper.message->type->full_name));
	if (!row) {
		FAIL(reader, node->at, "not-a-resource", "%s is no xDS resource",
			wrapper.message->type->full_name);
		return;
	}
	validator_check(reader->validator, wrapper.message, reader->source->path, plan->diags);
	item = add(reader, row, wrapper.message, node->at);
	if (!item)
		return;
	item->wrapper = whole;
	item->ttl_ms = wrapper.ttl_ms;
	item->aliases = wrapper.aliases;
	item->aliases_count = wrapper.aliases_count;
}

static void read_resource(struct import_reader *reader, const struct node *node)
{
	struct import_plan *plan = reader->plan;
	const struct schema_message *type = NULL;
	const struct xds_type_row *row;
	struct message *message;

	if (node->kind != NODE_MAP) {
		FAIL(reader, node->at, "not-a-resource",
			"a resource is a mapping; %s was found where one belongs",
			node->kind == NODE_LIST ? "a list" : "a scalar");
		return;
	}
	if (bind_find_type(&reader->bind, node, plan->diags, &type))
		return;
	if (!type) {
		FAIL(reader, node->at, "missing-type",
			"this resource has no \"@type\": nothing says what it is");
		return;
	}
	if (wrapper_is(type)) {
		read_wrapped(reader, node, type);
		return;
	}
	row = xds_type_by_message(slice_of(type->full_name));
	if (!row) {
		FAIL(reader, node->at, "not-a-resource", "%s is no xDS resource", type->full_name);
		return;
	}
	if (bind_typed(&reader->bind, type, node, plan->arena, plan->diags, &message))
		return;
	validator_check(reader->validator, message, reader->source->path, plan->diags);
	add(reader, row, message, node->at);
}

/* --- a config dump ----------------------------------------------------------------------- */

static void add_dumped(struct import_reader *reader, const struct config_dump_item *dumped)
{
	struct import_item *item;

	if (dumped->state != CONFIG_DUMP_ACTIVE)
		return;
	item = add(reader, dumped->row, dumped->message, dumped->message->at);
	if (!item)
		return;
	item->is_static = dumped->is_static;
	item->is_redacted = dumped->is_redacted;
}

static void read_dump(struct import_reader *reader, const struct node *root)
{
	struct import_plan *plan = reader->plan;
	const struct config_dump_options options = {
		.schema = plan->schema, .path = reader->source->path};
	struct config_dump dump;

	reader->text = NULL;
	plan->has_dump = true;
	if (config_dump_read(&options, root, plan->arena, plan->diags, &dump) < 0) {
		config_dump_fini(&dump);
		return;
	}
	config_dump_report(&dump, reader->source->path, plan->diags);
	for (size_t i = 0; i < dump.count; i++)
		add_dumped(reader, &dump.items[i]);
	if (dump.bootstrap && !plan->bootstrap) {
		plan->bootstrap = dump.bootstrap;
		plan->bootstrap_path = reader->source->path;
	}
	config_dump_fini(&dump);
}

/* --- what a file is ---------------------------------------------------------------------- */

static bool names_response(const struct node *root)
{
	const struct node_pair *type = node_find(root, "@type");

	return !type || type->value->kind != NODE_SCALAR ||
	       memmem(type->value->text.data, type->value->text.length, RESPONSE_TYPE,
		       strlen(RESPONSE_TYPE)) != NULL;
}

static void read_list(struct import_reader *reader, const struct node *list)
{
	for (size_t i = 0; i < list->items_count; i++)
		read_resource(reader, list->items[i]);
}

static void read_document(
	struct import_reader *reader, const struct node *root, enum import_format format)
{
	const struct node_pair *resources = node_find(root, "resources");
	const struct node_pair *type = node_find(root, "@type");

	if (format == IMPORT_CONFIG_DUMP || (node_find(root, "configs") && !type))
		read_dump(reader, root);
	else if (root->kind == NODE_LIST)
		read_list(reader, root);
	else if (resources && names_response(root) && resources->value->kind == NODE_LIST)
		read_list(reader, resources->value);
	else if (type && type->value->kind == NODE_SCALAR &&
		 !memmem(type->value->text.data, type->value->text.length, BOOTSTRAP,
			 strlen(BOOTSTRAP)))
		read_resource(reader, root);
	else
		read_bootstrap(reader, root);
}

/* JSON is read by its own rules where it is JSON. */
static int read_nodes(
	struct import_reader *reader, struct slice text, bool is_json, struct documents *documents)
{
	struct import_plan *plan = reader->plan;
	const struct read_options options = {
		.path = reader->source->path, .nodes_limit = plan->limits->yaml_nodes};
	struct diag_list *quiet = diag_list_new(0);
	int rc = -EBADMSG;

	*documents = (struct documents){0};
	if (is_json || (text.length && text.data[0] == '{')) {
		struct node *root = NULL;

		rc = json_read(&options, text, plan->arena, is_json ? plan->diags : quiet, &root);
		if (rc == 0) {
			struct node **roots = arena_alloc(plan->arena, sizeof(*roots));

			roots[0] = root;
			*documents = (struct documents){.roots = roots, .count = 1};
		}
	}
	if (rc && !is_json) {
		rc = yaml_read(&options, text, plan->arena, plan->diags, documents);
		if (rc == 0 && yaml_outline_read(text, &reader->source->outline) == 0)
			reader->text = reader->source;
	}
	diag_list_free(quiet);
	return rc;
}

bool import_read(struct import_plan *plan, struct validator *validator, const char *path,
	enum import_format format, char *text, size_t length)
{
	struct import_reader reader = {.plan = plan, .validator = validator};
	size_t errors = diag_list_level_count(plan->diags, DIAG_ERROR), suffix = strlen(path);
	bool is_json = format == IMPORT_CONFIG_DUMP ||
		       (suffix > 5 && strcmp(path + suffix - 5, ".json") == 0);
	struct documents documents;
	int rc;

	reader.source = import_plan_source(plan, path, text, length);
	reader.bind = (struct bind_options){.schema = plan->schema, .path = reader.source->path};
	rc = read_nodes(&reader, (struct slice){text, length}, is_json, &documents);
	if (rc && rc != -EBADMSG)
		FAIL(&reader, (struct position){0}, "too-large", "%s", strerror(-rc));
	if (rc == 0 && documents.count == 0)
		FAIL(&reader, (struct position){0}, "empty", "there is no document in it");
	for (size_t i = 0; rc == 0 && i < documents.count; i++)
		read_document(&reader, documents.roots[i], format);
	return diag_list_level_count(plan->diags, DIAG_ERROR) == errors;
}
