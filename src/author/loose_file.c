/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/loose_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "compile/document.h"
#include "compile/folder.h"
#include "compile/silence.h"
#include "message/json_read.h"
#include "message/text_read.h"
#include "message/wire_read.h"

#define BOOTSTRAP	       SLICE("envoy.config.bootstrap.v3.Bootstrap")
#define RESPONSE	       SLICE("envoy.service.discovery.v3.DiscoveryResponse")
#define WRAPPER		       "envoy.service.discovery.v3.Resource"
#define STATIC_RESOURCES_FIELD 2 /* of Bootstrap */
#define RESOURCES_FIELD	       2 /* of DiscoveryResponse: repeated Any */
#define RESOURCE_FIELD	       2 /* of the wrapper: Any */
#define WHOLE		       ((struct position){0, 0})

struct loose_reader {
	const struct schema *schema;
	const struct lint_plans *lints;
	struct limits limits;
	struct validator *validator;
	struct arena *arena;
	struct buf text, scratch;
};

/* One loose_check(). */
struct checking {
	struct loose_reader *reader;
	const char *path;
	enum loose_kind kind;
	struct diag_list *diags;
	struct hash names; /* type and name to the struct position of the first */
};

struct loose_reader *loose_reader_new(
	const struct schema *schema, const struct lint_plans *lints, const struct limits *limits)
{
	struct loose_reader *reader = xcalloc(1, sizeof(*reader));

	reader->schema = schema;
	reader->lints = lints;
	reader->limits = *limits;
	reader->validator = validator_new(schema);
	reader->arena = arena_new(0);
	return reader;
}

void loose_reader_free(struct loose_reader *reader)
{
	if (!reader)
		return;
	validator_free(reader->validator);
	arena_free(reader->arena);
	buf_fini(&reader->text);
	buf_fini(&reader->scratch);
	free(reader);
}

enum loose_format loose_format_of(const char *path)
{
	static const struct {
		const char *suffix;
		enum loose_format format;
	} suffixes[] = {{".yaml", LOOSE_YAML}, {".yml", LOOSE_YAML}, {".json", LOOSE_JSON},
		{".pb", LOOSE_PB}, {".pb_text", LOOSE_PB_TEXT}};
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		if (strcmp(dot, suffixes[i].suffix) == 0)
			return suffixes[i].format;
	}
	return LOOSE_OTHER;
}

/* --- names --------------------------------------------------------------------------------- */

static void check_name(struct checking *checking, const struct xds_type_row *row, struct slice name,
	struct position at)
{
	struct arena *arena = checking->reader->arena;
	struct position *place = arena_alloc(arena, sizeof(*place));
	struct position *former;
	struct slice key;
	struct buf text = BUF_INIT;

	buf_printf(&text, "%s %.*s", row->name, SLICE_ARG(name));
	key = arena_copy(arena, text.data, text.length);
	buf_reset(&text);
	if (!place || !key.data) {
		buf_fini(&text);
		return;
	}
	former = hash_get(&checking->names, key);
	text_quote(&text, name, 100);
	if (former && at.line)
		diag_error(checking->diags, checking->path, at, "duplicate-resource",
			"%s \"%s\" is defined here and in line %u", row->noun, buf_cstr(&text),
			former->line);
	else if (former)
		diag_error(checking->diags, checking->path, at, "duplicate-resource",
			"%s \"%s\" is in this file twice", row->noun, buf_cstr(&text));
	*place = at;
	if (!former)
		hash_put(&checking->names, key, place);
	buf_fini(&text);
}

/* --- YAML and JSON ------------------------------------------------------------------------- */

static bool is_bootstrap(const struct checking *checking, const struct node *root)
{
	static const char *const signs[] = {"static_resources", "staticResources",
		"dynamic_resources", "dynamicResources", "admin", NULL};
	const struct schema_message *type =
		schema_find_message(checking->reader->schema, BOOTSTRAP);
	const struct node_pair *name;
	size_t known = 0;

	if (root->kind != NODE_MAP || !type)
		return false;
	name = node_find(root, "@type");
	if (name)
		return name->value->kind == NODE_SCALAR &&
		       schema_find_type_url(checking->reader->schema, name->value->text) == type;
	for (size_t i = 0; signs[i]; i++) {
		if (node_find(root, signs[i]))
			return true;
	}
	for (size_t i = 0; i < root->pairs_count; i++)
		known += schema_field_by_name(type, root->pairs[i].key) != NULL;
	return known && known == root->pairs_count;
}

/* Rules for all of it, lints for the resources in it. */
static void check_bootstrap_message(struct checking *checking, const struct message *message)
{
	struct loose_reader *reader = checking->reader;
	const struct message_field *resources = message_find(message, STATIC_RESOURCES_FIELD);
	const struct message *all = resources ? resources->one.message : NULL;

	validator_check(reader->validator, message, checking->path, checking->diags);
	for (uint32_t i = 0; all && i < all->fields_count; i++) {
		const struct message_field *entry = &all->fields[i];
		const struct xds_type_row *row =
			entry->field->message
				? xds_type_by_message(slice_of(entry->field->message->full_name))
				: NULL;

		for (uint32_t k = 0; row && entry->field->is_repeated && k < entry->count; k++)
			lint_resource(reader->lints, entry->items[k].message, row, checking->path,
				checking->diags, NULL);
	}
}

/* A bootstrap with a mistake is no message; the resources in it may be. */
static void check_apart(
	struct checking *checking, const struct bind_options *bind, const struct node *root)
{
	struct loose_reader *reader = checking->reader;
	const struct node_pair *all = node_find(root, "static_resources");

	for (int i = 0; all && all->value->kind == NODE_MAP && i < XDS_TYPE_COUNT; i++) {
		const struct xds_type_row *row = xds_type_row((enum xds_type)i);
		const struct schema_message *type =
			schema_find_message(reader->schema, slice_of(row->message));
		const struct node_pair *list = node_find(all->value, row->folder);

		for (size_t k = 0; type && list && list->value->kind == NODE_LIST &&
				   k < list->value->items_count;
			k++) {
			const struct node *item = list->value->items[k];
			struct diag_list *told = diag_list_new(0);
			struct message *message;

			if (bind_message(bind, type, item, reader->arena, told, &message) == 0) {
				validator_check(reader->validator, message, checking->path,
					checking->diags);
				lint_resource(reader->lints, message, row, checking->path,
					checking->diags, NULL);
			}
			diag_list_free(told);
		}
	}
}

static void check_bootstrap(
	struct checking *checking, const struct bind_options *bind, const struct node *root)
{
	struct loose_reader *reader = checking->reader;
	const struct schema_message *type = schema_find_message(reader->schema, BOOTSTRAP);
	struct message *message;
	int error;

	if (!type) {
		diag_error(checking->diags, checking->path, root->at, "not-in-schema",
			"%s is not part of the schema (%s)", BOOTSTRAP.data,
			schema_label(reader->schema));
		return;
	}
	error = bind_typed(bind, type, root, reader->arena, checking->diags, &message);
	if (error == -ENOMEM)
		diag_error(checking->diags, checking->path, root->at, "too-large",
			"this bootstrap needs too much memory");
	if (!error)
		check_bootstrap_message(checking, message);
	else if (root->kind == NODE_MAP)
		check_apart(checking, bind, root);
}

/* An empty list of resources needs no type. */
static bool is_empty(const struct documents *documents)
{
	for (size_t i = 0; i < documents->count; i++) {
		const struct node *root = documents->roots[i];
		const struct node_pair *pair =
			root->kind == NODE_MAP ? node_find(root, "resources") : NULL;

		if (root->kind == NODE_LIST ? root->items_count > 0
					    : !pair || pair->value->kind != NODE_LIST ||
						      pair->value->items_count)
			return false;
	}
	return true;
}

static void check_documents(struct checking *checking, const struct documents *documents)
{
	struct loose_reader *reader = checking->reader;
	struct bind_options bind = {.schema = reader->schema, .path = checking->path};
	struct document_reader document = {.bind = &bind,
		.limits = &reader->limits,
		.arena = reader->arena,
		.diags = checking->diags,
		.path = rcstr_new(checking->path, strlen(checking->path)),
		.scratch = &reader->scratch,
		.validator = reader->validator,
		.lints = reader->lints};

	document.row = folder_type(slice_of(checking->path), &document.folder);
	document_read(&document, documents);
	if (document.is_foreign && !is_empty(documents)) {
		diag_list_clear(checking->diags);
		diag_error(checking->diags, checking->path, documents->roots[0]->at, "missing-type",
			"nothing says what this is: \"@type\" in its resources, a type folder such "
			"as clusters/, or the keys of a bootstrap");
	}
	for (size_t i = 0; i < document.count; i++) {
		struct resource *resource = document.resources[i].resource;

		check_name(checking, xds_type_row(resource->type), resource->name, resource->at);
		resource_unref(resource);
	}
	free(document.resources);
	rcstr_unref(document.path);
}

static int read_nodes(
	struct checking *checking, enum loose_format format, struct documents *ret_documents)
{
	struct loose_reader *reader = checking->reader;
	struct read_options options = {
		.path = checking->path, .nodes_limit = reader->limits.yaml_nodes};
	struct slice text = buf_slice(&reader->text);
	struct node **root;
	int error;

	if (format != LOOSE_JSON)
		return yaml_read(&options, text, reader->arena, checking->diags, ret_documents);
	root = arena_zalloc(reader->arena, sizeof(*root));
	if (!root)
		return -ENOMEM;
	error = json_read(&options, text, reader->arena, checking->diags, root);
	if (!error)
		*ret_documents = (struct documents){.roots = root, .count = 1};
	return error;
}

static void check_text(struct checking *checking, enum loose_format format)
{
	struct bind_options bind = {.schema = checking->reader->schema, .path = checking->path};
	struct documents documents = {0};
	struct silence *silence = NULL;
	int error = read_nodes(checking, format, &documents);

	if (error == -ENOMEM)
		diag_error(checking->diags, checking->path, WHOLE, "too-large",
			"this file needs too much memory");
	if (error)
		return;
	if (documents.count == 0) {
		diag_error(checking->diags, checking->path, WHOLE, "empty-file",
			"there is nothing in this file");
		return;
	}
	if (checking->kind == LOOSE_ANY && is_bootstrap(checking, documents.roots[0]))
		checking->kind = LOOSE_BOOTSTRAP;
	if (checking->kind != LOOSE_BOOTSTRAP)
		check_documents(checking, &documents);
	else
		check_bootstrap(checking, &bind, documents.roots[0]);
	if (checking->kind == LOOSE_BOOTSTRAP && documents.count > 1)
		diag_error(checking->diags, checking->path, documents.roots[1]->at,
			"several-documents", "a bootstrap is one document, this is a second one");
	if (format != LOOSE_JSON) {
		silence_add(&silence, checking->path, buf_slice(&checking->reader->text),
			checking->diags);
		silence_apply(silence, checking->diags);
		silence_tell_idle(silence, checking->diags);
		silence_free(silence);
	}
}

/* --- binary and protobuf text -------------------------------------------------------------- */

static void check_resource(struct checking *checking, const struct message *any, size_t index)
{
	const struct message *message = any->any_content;
	const struct xds_type_row *row;
	const struct message_field *inner;
	struct position at = any->at;

	if (message && strcmp(message->type->full_name, WRAPPER) == 0) {
		inner = message_find(message, RESOURCE_FIELD);
		message = inner ? inner->one.message->any_content : NULL;
	}
	if (!message) {
		diag_error(checking->diags, checking->path, at, "unknown-type",
			"resource %zu is of no type that the schema (%s) knows", index + 1,
			schema_label(checking->reader->schema));
		return;
	}
	if (message->at.line)
		at = message->at;
	row = xds_type_by_message(slice_of(message->type->full_name));
	if (!row) {
		diag_error(checking->diags, checking->path, at, "not-a-resource",
			"%s is no xDS resource", message->type->full_name);
		return;
	}
	validator_check(checking->reader->validator, message, checking->path, checking->diags);
	lint_resource(checking->reader->lints, message, row, checking->path, checking->diags, NULL);
	if (message_get_bytes(message, row->name_field).length == 0)
		diag_error(checking->diags, checking->path, at, "missing-name", "this %s has no %s",
			row->noun, row->name_label);
	else
		check_name(checking, row, message_get_bytes(message, row->name_field), at);
}

static void check_message(struct checking *checking, const struct message *message)
{
	const struct message_field *resources;

	if (message_has_unknown(message))
		diag_warning(checking->diags, checking->path, WHOLE, "unknown-content",
			"it has fields that the schema (%s) does not know",
			schema_label(checking->reader->schema));
	if (checking->kind == LOOSE_BOOTSTRAP) {
		check_bootstrap_message(checking, message);
		return;
	}
	resources = message_find(message, RESOURCES_FIELD);
	for (uint32_t i = 0; resources && i < resources->count; i++)
		check_resource(checking, resources->items[i].message, i);
}

static int read_message(struct checking *checking, enum loose_format format, enum loose_kind kind,
	struct diag_list *diags, struct message **ret_message)
{
	struct loose_reader *reader = checking->reader;
	const struct schema_message *type =
		schema_find_message(reader->schema, kind == LOOSE_BOOTSTRAP ? BOOTSTRAP : RESPONSE);
	struct wire_read_options wire = {.schema = reader->schema, .expand_any = true};
	struct text_read_options text = {.schema = reader->schema, .path = checking->path};
	struct slice bytes = buf_slice(&reader->text);
	struct wire_read_error problem = {0};
	int error;

	if (!type) {
		diag_error(diags, checking->path, WHOLE, "not-in-schema",
			"the schema (%s) lacks what this file is made of",
			schema_label(reader->schema));
		return -EBADMSG;
	}
	if (format == LOOSE_PB_TEXT)
		return text_read(&text, type, bytes, reader->arena, diags, ret_message);
	error = wire_read(
		&wire, type, bytes.data ? bytes : SLICE(""), reader->arena, ret_message, &problem);
	if (error == -EBADMSG)
		diag_error(diags, checking->path, WHOLE, "not-binary",
			"no binary %s: %s at byte %zu", type->full_name, problem.text,
			problem.offset);
	return error;
}

/* What is no list of resources may be a bootstrap; the better of the two is believed. */
static void check_encoded(struct checking *checking, enum loose_format format)
{
	enum loose_kind kind =
		checking->kind == LOOSE_BOOTSTRAP ? LOOSE_BOOTSTRAP : LOOSE_RESOURCES;
	struct diag_list *problems = diag_list_new(0), *others = diag_list_new(0);
	struct message *message = NULL, *other = NULL;
	int error = read_message(checking, format, kind, problems, &message);

	if (error == -EBADMSG && checking->kind == LOOSE_ANY &&
		read_message(checking, format, LOOSE_BOOTSTRAP, others, &other) == 0) {
		kind = LOOSE_BOOTSTRAP;
		message = other;
		error = 0;
	} else {
		diag_list_append(checking->diags, problems);
	}
	if (error == -ENOMEM)
		diag_error(checking->diags, checking->path, WHOLE, "too-large",
			"this file needs too much memory");
	checking->kind = kind;
	if (!error)
		check_message(checking, message);
	diag_list_free(problems);
	diag_list_free(others);
}

/* --- files --------------------------------------------------------------------------------- */

/* Pipes and devices are read, too, but never waited for to appear. */
static int read_file(struct checking *checking)
{
	struct buf *text = &checking->reader->text;
	uint64_t limit = checking->reader->limits.source_file_bytes;
	int error;

	buf_reset(text);
	error = file_read(checking->path, limit, text);
	if (error == -EFBIG)
		diag_error(checking->diags, checking->path, WHOLE, "file-too-large",
			"this file is larger than the limit of %llu bytes",
			(unsigned long long)limit);
	else if (error)
		diag_error(checking->diags, checking->path, WHOLE, "unreadable",
			"cannot be read: %s", strerror(-error));
	return error;
}

enum loose_kind loose_check(struct loose_reader *reader, const char *path, enum loose_kind kind,
	struct diag_list *diags)
{
	struct diag_list *own = diag_list_new(0); /* clearing is ours alone */
	struct checking checking = {.reader = reader, .path = path, .kind = kind, .diags = own};
	enum loose_format format = loose_format_of(path);

	arena_reset(reader->arena);
	hash_init(&checking.names);
	if (read_file(&checking) == 0) {
		if (format == LOOSE_PB || format == LOOSE_PB_TEXT)
			check_encoded(&checking, format);
		else
			check_text(&checking, format);
	}
	hash_fini(&checking.names);
	diag_list_append(diags, own);
	diag_list_free(own);
	return checking.kind;
}
