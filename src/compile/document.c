/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/document.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "compile/wrapper.h"

#define RESPONSE_TYPE "envoy.service.discovery.v3.DiscoveryResponse"

/* Fields of envoy.config.cluster.v3.Cluster and its EdsClusterConfig, and a DiscoveryType. */
enum {
	CLUSTER_TYPE = 2,
	CLUSTER_EDS_CONFIG = 3,
	CLUSTER_IS_EDS = 3,
	EDS_CONFIG = 1,
	EDS_SERVICE_NAME = 2
};

#define FAIL(reader, at, rule, ...)                                                                \
	diag_error((reader)->diags, (reader)->bind->path, (at), (rule), __VA_ARGS__)

typedef void (*item_cb)(struct document_reader *reader, const struct node *node);

/* --- what a document consists of --------------------------------------------------------- */

/* The mapping form of a DiscoveryResponse: {resources: [...]}. */
static const struct node_pair *response_resources(const struct node *node)
{
	const struct node_pair *type;

	if (node->kind != NODE_MAP || node->tag == NODE_TAG_DELETE)
		return NULL;
	type = node_find(node, "@type");
	if (type && (type->value->kind != NODE_SCALAR ||
			    !memmem(type->value->text.data, type->value->text.length, RESPONSE_TYPE,
				    strlen(RESPONSE_TYPE))))
		return NULL;
	return node_find(node, "resources");
}

static bool is_null(const struct node *node)
{
	return node->kind == NODE_SCALAR && node_resolve(node).kind == NODE_NULL;
}

/* Each item of a list. Envoy's reader flattens lists in lists and skips null; so do we, and say
 * so once it is known that the file is for us (`warn`). */
static void each_item(struct document_reader *reader, const struct node *list, item_cb callback,
	bool warn, unsigned depth)
{
	for (size_t i = 0; i < list->items_count; i++) {
		const struct node *item = list->items[i];

		if (is_null(item)) {
			if (warn)
				diag_warning(reader->diags, reader->bind->path, item->at,
					"null-in-list", "a null in a list of resources is skipped");
		} else if (item->kind == NODE_LIST && depth < LIMIT_DEPTH) {
			if (warn)
				diag_warning(reader->diags, reader->bind->path, item->at,
					"nested-list",
					"a list in a list of resources is read as if it were part "
					"of the outer one");
			each_item(reader, item, callback, warn, depth + 1);
		} else {
			callback(reader, item);
		}
	}
}

static void each_resource(
	struct document_reader *reader, const struct node *root, item_cb callback, bool warn)
{
	const struct node_pair *resources = response_resources(root);
	const struct node *node = resources ? resources->value : root;

	if (node->kind == NODE_LIST)
		each_item(reader, node, callback, warn, 0);
	else if (!resources || !is_null(node))
		callback(reader, node);
}

static void find_type(struct document_reader *reader, const struct node *node)
{
	if (node->kind == NODE_MAP && node_find(node, "@type"))
		reader->is_foreign = false;
}

/* What a DiscoveryResponse may hold besides its resources means nothing here. */
static void check_response(
	struct document_reader *reader, const struct node *root, bool has_merge_keys)
{
	static const char *const ignored[] = {"version_info", "versionInfo", "canary", "type_url",
		"typeUrl", "nonce", "control_plane", "controlPlane", "resource_errors",
		"resourceErrors", "@type"};
	const struct node_pair *resources = response_resources(root);

	if (!resources)
		return;
	for (size_t i = 0; i < root->pairs_count; i++) {
		const struct node_pair *pair = &root->pairs[i];
		struct suggestion suggestion;
		struct buf name = BUF_INIT;
		char phrase[256];
		size_t k = 0;

		if (pair == resources)
			continue;
		while (k < sizeof(ignored) / sizeof(*ignored) && !slice_is(pair->key, ignored[k]))
			k++;
		text_quote(&name, pair->key, 64);
		if (k < sizeof(ignored) / sizeof(*ignored)) {
			if (pair->key.data[0] != '@')
				diag_note(reader->diags, reader->bind->path, pair->key_at,
					"ignored-key", "\"%s\" is not used: only resources count",
					buf_cstr(&name));
		} else {
			suggestion_init(&suggestion, pair->key);
			suggestion_offer(&suggestion, "resources");
			for (k = 0; k < sizeof(ignored) / sizeof(*ignored); k++)
				suggestion_offer(&suggestion, ignored[k]);
			FAIL(reader, pair->key_at, "unknown-key",
				"unknown key \"%s\" beside resources%s", buf_cstr(&name),
				suggestion_phrase(&suggestion, phrase));
		}
		buf_fini(&name);
	}
	if (resources->value->kind == NODE_MAP)
		diag_warning(reader->diags, reader->bind->path, resources->value->at,
			"single-for-list",
			"one resource where a list belongs: Envoy forgives this, write "
			"\"- \" before it");
	else if (is_null(resources->value))
		diag_warning(reader->diags, reader->bind->path, resources->value->at,
			"null-for-list", "resources: without a value is read as an empty list");
	if (has_merge_keys)
		diag_note(reader->diags, reader->bind->path, resources->key_at, "merge-key",
			"this file uses \"<<\", which Envoy's own YAML reader does not know: it "
			"can "
			"only be read by xdspub");
}

/* --- one resource ------------------------------------------------------------------------ */

/* Whether this mount may define such a resource. */
static bool check_fence(
	struct document_reader *reader, const struct resource_spec *spec, bool is_delete)
{
	const struct fence *fence = reader->mount ? reader->mount->fence : NULL;
	struct buf name = BUF_INIT;

	if (!reader->mount || fence_allows(fence, spec->type, spec->name))
		return true;
	text_quote(&name, spec->name, 100);
	FAIL(reader, spec->at, "mount-fence",
		"this mount (%s) may not %s %s \"%s\": it is limited to %s", reader->mount->at.data,
		is_delete ? "delete" : "define", xds_type_row(spec->type)->noun, buf_cstr(&name),
		fence_text(fence));
	buf_fini(&name);
	return false;
}

/* With the facts that were drafted. */
static void add(struct document_reader *reader, const struct resource_spec *spec, bool is_delete)
{
	struct resource_spec placed = *spec;

	if (spec->name.length > reader->limits->resource_name_bytes) {
		FAIL(reader, spec->at, "name-too-long",
			"the name of this %s has %zu bytes, the limit is %llu",
			xds_type_row(spec->type)->noun, spec->name.length,
			(unsigned long long)reader->limits->resource_name_bytes);
		return;
	}
	if (!check_fence(reader, spec, is_delete))
		return;
	array_reserve(reader->resources, reader->capacity, reader->count + 1);
	/* A resource belongs to the file that it is for, wherever its parts come from. */
	placed.at = diag_list_outermost(reader->diags, spec->at);
	reader->resources[reader->count++] = (struct document_resource){
		.resource = resource_new(&placed),
		.facts = reader->facts && !is_delete ? facts_finish(reader->facts) : NULL,
		.is_delete = is_delete,
	};
}

/* The resource is not there for its errors: what refers to it is not to blame. */
static void note_broken(
	struct document_reader *reader, const struct xds_type_row *row, const struct node *node)
{
	const struct node_pair *name = NULL;

	if (!reader->broken)
		return;
	if (row && node->kind == NODE_MAP)
		name = node_find(node, row->name_label);
	if (name && name->value->kind == NODE_SCALAR && name->value->text.length)
		facts_add(reader->broken, (enum fact_kind)row->type, 0, name->value->text, NULL,
			((struct position){0, 0}), reader->diags);
	else
		reader->hides_names = true;
}

static void fail_folder(
	struct document_reader *reader, const struct node *node, const struct xds_type_row *row)
{
	const struct node_pair *pair = node_find(node, "@type");

	FAIL(reader, pair ? pair->value->at : node->at, "type-folder",
		"a %s (%s) in folder \"%.*s\", which holds %s (%s): move it to a folder \"%s\"",
		row->noun, row->message, SLICE_ARG(reader->folder), reader->row->name,
		reader->row->message, row->folder);
}

/* The row for a type, or NULL with a diagnostic. */
static const struct xds_type_row *check_type(
	struct document_reader *reader, const struct node *node, const struct schema_message *type)
{
	const struct xds_type_row *row = xds_type_by_message(slice_of(type->full_name));
	const struct node_pair *pair = node_find(node, "@type");
	struct suggestion suggestion;
	char phrase[256];

	if (!row) {
		suggestion_init(&suggestion, slice_of(type->full_name));
		for (int i = 0; i < XDS_TYPE_COUNT; i++)
			suggestion_offer(&suggestion, xds_type_row((enum xds_type)i)->message);
		FAIL(reader, pair ? pair->value->at : node->at, "not-a-resource",
			"%s is no xDS resource%s", type->full_name,
			suggestion_phrase(&suggestion, phrase));
	} else if (reader->row && reader->row != row) {
		fail_folder(reader, node, row);
		row = NULL;
	}
	return row;
}

/* A virtual host in a folder of its route configuration has that in its name; "" after an error. */
static struct slice host_name(struct document_reader *reader, struct slice name, struct position at)
{
	struct slice folder = reader->routes, whole;
	char *text;

	if (name.length > folder.length && name.data[folder.length] == '/' &&
		memcmp(name.data, folder.data, folder.length) == 0)
		name = (struct slice){
			name.data + folder.length + 1, name.length - folder.length - 1};
	if (memchr(name.data, '/', name.length)) {
		FAIL(reader, at, "bad-name",
			"a virtual host of \"%.*s\" cannot have a \"/\" in its name",
			SLICE_ARG(folder));
		return SLICE("");
	}
	text = arena_printf(reader->arena, "%.*s/%.*s", SLICE_ARG(folder), SLICE_ARG(name));
	whole = text ? slice_of(text) : SLICE("");
	if (!text)
		FAIL(reader, at, "too-large", "this virtual host needs too much memory");
	return whole;
}

/* Envoy says only "Missing config source specifier", and at run time. */
static void check_eds(struct document_reader *reader, const struct message *cluster)
{
	const struct message_field *type = message_find(cluster, CLUSTER_TYPE);
	const struct message *eds = message_get_message(cluster, CLUSTER_EDS_CONFIG);
	struct slice name = eds ? message_get_bytes(eds, EDS_SERVICE_NAME) : SLICE("");

	if (!type || type->field->type != SCHEMA_ENUM || type->one.int32 != CLUSTER_IS_EDS)
		return;
	if (eds && message_find(eds, EDS_CONFIG))
		return;
	/* These may come from where the bootstrap says. */
	if (name.length > 6 && memcmp(name.data, "xdstp:", 6) == 0)
		return;
	FAIL(reader, eds ? eds->at : type->at, "missing-config-source",
		"a cluster of type EDS needs eds_cluster_config.eds_config: write {eds_config: "
		"{self: {}}} for where the cluster itself comes from");
}

/* Adds a message under its own name; `wrapper` may give more. */
static void add_message(struct document_reader *reader, const struct node *node,
	const struct xds_type_row *row, struct message *message, const struct wrapper *wrapper)
{
	struct resource_spec spec = {.type = row->type,
		.name = message_get_bytes(message, row->name_field),
		.ttl_ms = wrapper ? wrapper->ttl_ms : -1,
		.aliases = wrapper ? wrapper->aliases : NULL,
		.aliases_count = wrapper ? wrapper->aliases_count : 0,
		.path = reader->path,
		.at = node->at};

	if (spec.name.length == 0) {
		FAIL(reader, node->at, "missing-name", "this %s has no %s", row->noun,
			row->name_label);
		return;
	}
	if (wrapper && wrapper->name.length && !slice_equal(wrapper->name, spec.name)) {
		struct buf outer = BUF_INIT, inner = BUF_INIT;

		text_quote(&outer, wrapper->name, 100);
		text_quote(&inner, spec.name, 100);
		FAIL(reader, wrapper->name_at, "wrapper-name",
			"the wrapper's name \"%s\" is not the %s \"%s\" of the %s in it",
			buf_cstr(&outer), row->name_label, buf_cstr(&inner), row->noun);
		buf_fini(&outer);
		buf_fini(&inner);
		return;
	}
	open_sources_find(&reader->sources, message);
	validator_check(reader->validator, message, reader->bind->path, reader->diags);
	if (reader->facts)
		facts_reset(reader->facts);
	if (reader->lints)
		lint_resource(reader->lints, message, row, reader->bind->path, reader->diags,
			reader->facts);
	if (row->type == XDS_CDS)
		check_eds(reader, message);
	if (row->type == XDS_VHDS && reader->routes.length) {
		spec.name = host_name(reader, spec.name, node->at);
		if (spec.name.length == 0)
			return;
		message_find_mutable(message, row->name_field)->one.bytes = spec.name;
	}
	buf_reset(reader->scratch);
	open_sources_write(&reader->sources, message, reader->scratch, &spec.open);
	if (buf_error(reader->scratch)) {
		FAIL(reader, node->at, "too-large", "this %s cannot be encoded: %s", row->noun,
			strerror(-buf_error(reader->scratch)));
		return;
	}
	spec.body = buf_slice(reader->scratch);
	add(reader, &spec, false);
	open_body_unref(spec.open);
}

static void read_delete(struct document_reader *reader, const struct node *node)
{
	const struct schema_message *type = NULL;
	const struct xds_type_row *row = reader->row;
	const struct node_pair *name;
	struct slice deleted;

	if (node->kind != NODE_MAP) {
		FAIL(reader, node->at, "bad-delete", "write !delete {name: NAME}");
		return;
	}
	if (bind_find_type(reader->bind, node, reader->diags, &type))
		return;
	if (type)
		row = check_type(reader, node, type);
	else if (!row)
		FAIL(reader, node->at, "missing-type",
			"!delete outside of a type folder needs \"@type\" to say what to delete");
	if (!row)
		return;
	name = node_find(node, "name");
	if (!name)
		name = node_find(node, row->name_label);
	for (size_t i = 0; i < node->pairs_count; i++) {
		const struct node_pair *pair = &node->pairs[i];

		if (pair != name && !slice_is(pair->key, "@type")) {
			FAIL(reader, pair->key_at, "bad-delete",
				"!delete takes a name and nothing else");
			return;
		}
	}
	if (!name || name->value->kind != NODE_SCALAR || is_null(name->value) ||
		name->value->text.length == 0) {
		FAIL(reader, node->at, "missing-name",
			"!delete needs the name of a %s: {name: NAME}", row->noun);
		return;
	}
	deleted = name->value->text;
	if (row->type == XDS_VHDS && reader->routes.length)
		deleted = host_name(reader, deleted, node->at);
	if (deleted.length == 0)
		return;
	add(reader,
		&(struct resource_spec){.type = row->type,
			.name = deleted,
			.ttl_ms = -1,
			.path = reader->path,
			.at = node->at},
		true);
}

static void read_wrapped(
	struct document_reader *reader, const struct node *node, const struct schema_message *type)
{
	const struct xds_type_row *row;
	struct wrapper wrapper;

	if (!wrapper_read(reader->bind, type, node, reader->arena, reader->diags, &wrapper)) {
		reader->hides_names = true;
		return;
	}
	row = check_type(reader, wrapper.node, wrapper.message->type);
	if (row)
		add_message(reader, node, row, wrapper.message, &wrapper);
}

static void read_resource(struct document_reader *reader, const struct node *node)
{
	const struct schema_message *type = NULL;
	const struct xds_type_row *row = reader->row;
	struct message *message;
	int error;

	if (node->tag == NODE_TAG_DELETE) {
		read_delete(reader, node);
		return;
	}
	if (node->kind != NODE_MAP) {
		FAIL(reader, node->at, "not-a-resource",
			"a resource is a mapping; %s was found where one belongs",
			node->kind == NODE_LIST ? "a list" : "a scalar");
		return;
	}
	if (bind_find_type(reader->bind, node, reader->diags, &type))
		return;
	if (type && wrapper_is(type)) {
		read_wrapped(reader, node, type);
		return;
	}
	if (type)
		row = check_type(reader, node, type);
	else if (!row)
		FAIL(reader, node->at, "missing-type",
			"this resource has no \"@type\", and the file is in no type folder: add "
			"\"@type\", or move the file to clusters/, listeners/ ...");
	if (!row)
		return;
	if (!type)
		type = schema_find_message(reader->bind->schema, slice_of(row->message));
	if (!type) {
		FAIL(reader, node->at, "not-in-schema", "%s is not part of the schema (%s)",
			row->message, schema_label(reader->bind->schema));
		return;
	}
	error = bind_typed(reader->bind, type, node, reader->arena, reader->diags, &message);
	if (error == -ENOMEM)
		FAIL(reader, node->at, "too-large", "this %s needs too much memory", row->noun);
	if (error)
		note_broken(reader, row, node);
	else
		add_message(reader, node, row, message, NULL);
}

void document_read(struct document_reader *reader, const struct documents *documents)
{
	reader->is_foreign = reader->row == NULL;
	for (size_t i = 0; i < documents->count && reader->is_foreign; i++)
		each_resource(reader, documents->roots[i], find_type, false);
	if (reader->is_foreign)
		return;
	open_sources_init(&reader->sources, reader->bind->schema, reader->arena);
	for (size_t i = 0; i < documents->count; i++) {
		check_response(reader, documents->roots[i], documents->has_merge_keys);
		each_resource(reader, documents->roots[i], read_resource, true);
	}
	open_sources_fini(&reader->sources);
}
