/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/unit.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "compile/folder.h"
#include "compile/include.h"
#include "compile/virtual_hosts.h"
#include "message/json_read.h"

#define ARENA_BYTES_MAX ((size_t)4 << 30) /* for one file, parsed */

struct unit *unit_new(struct mount *mount, struct rcstr *path)
{
	struct unit *unit = xcalloc(1, sizeof(*unit));

	unit->mount = mount;
	unit->is_counted = mount_is_root(mount);
	unit->path = rcstr_ref(path);
	return unit;
}

static void forget_bound(struct unit_item *item)
{
	for (uint32_t i = 0; i < item->bound_count; i++)
		resource_unref(item->bound[i]);
	free(item->bound);
	item->bound = NULL;
	item->bound_count = 0;
}

static void make_room(struct unit_item *item, uint32_t number)
{
	uint32_t count = number < 4 ? number + 1 : number + number / 2;

	if (number < item->bound_count)
		return;
	item->bound = xreallocarray(item->bound, count, sizeof(*item->bound));
	memset(item->bound + item->bound_count, 0,
		(count - item->bound_count) * sizeof(*item->bound));
	item->bound_count = count;
}

struct resource *unit_item_bind(
	struct unit_item *item, struct config_sources *sources, uint32_t number)
{
	if (!item->resource->open)
		return item->resource;
	make_room(item, number);
	/* The numbers may be others since. */
	if (item->bound[number] &&
		!digest_equal(&resource_sources(item->bound[number])->digest, &sources->digest))
		resource_unref(TAKE(item->bound[number]));
	if (!item->bound[number])
		item->bound[number] = resource_bind(item->resource, sources);
	return item->bound[number];
}

void unit_item_share(struct unit_item *item, const struct unit_item *other)
{
	forget_bound(item);
	if (!other->bound_count)
		return;
	item->bound = xcalloc(other->bound_count, sizeof(*item->bound));
	item->bound_count = other->bound_count;
	for (uint32_t i = 0; i < other->bound_count; i++)
		item->bound[i] = other->bound[i] ? resource_ref(other->bound[i]) : NULL;
}

/* Puts what was bound to one of the sources in its place. */
static void renumber(struct unit_item *item, unit_number_cb number_of, void *ctx)
{
	struct unit_item former = *item;

	item->bound = NULL;
	item->bound_count = 0;
	for (uint32_t i = 0; i < former.bound_count; i++) {
		struct config_sources *sources =
			former.bound[i] ? resource_sources(former.bound[i]) : NULL;
		int64_t number = sources ? number_of(ctx, sources) : -1;

		if (number < 0)
			continue;
		make_room(item, (uint32_t)number);
		resource_unref(item->bound[number]);
		item->bound[number] = TAKE(former.bound[i]);
	}
	forget_bound(&former);
}

void unit_renumber(struct unit *unit, unit_number_cb number_of, void *ctx)
{
	for (uint32_t i = 0; i < unit->content.items_count; i++)
		if (unit->content.items[i].bound)
			renumber(&unit->content.items[i], number_of, ctx);
}

void unit_content_fini(struct unit_content *content)
{
	for (uint32_t i = 0; i < content->items_count; i++) {
		forget_bound(&content->items[i]);
		resource_unref(content->items[i].resource);
		free(content->items[i].facts);
	}
	for (uint32_t i = 0; i < content->dependencies_count; i++)
		rcstr_unref(content->dependencies[i]);
	free(content->items);
	free(content->dependencies);
	diag_list_free(content->diags);
	silence_free(content->silence);
	free(content->broken);
	*content = (struct unit_content){0};
}

void unit_free(struct unit *unit)
{
	if (!unit)
		return;
	unit_content_fini(&unit->content);
	if (unit->draft)
		unit_content_fini(&unit->draft->content);
	free(unit->draft);
	rcstr_unref(unit->path);
	free(unit);
}

void unit_reader_init(struct unit_reader *reader, const struct schema *schema,
	const struct limits *limits, struct validator *validator)
{
	*reader = (struct unit_reader){.schema = schema, .limits = limits, .validator = validator};
	reader->arena = arena_new(ARENA_BYTES_MAX);
	reader->diags = diag_list_new(0);
}

void unit_reader_fini(struct unit_reader *reader)
{
	arena_free(reader->arena);
	diag_list_free(reader->diags);
	buf_fini(&reader->text);
	buf_fini(&reader->body);
	facts_draft_fini(&reader->facts);
	facts_draft_fini(&reader->broken);
	free(reader->dependencies);
	silence_free(reader->silence);
}

static struct slice unit_path(const struct unit *unit)
{
	return (struct slice){unit->path->text, unit->path->length};
}

static void add_dependency(void *ctx, const char *path)
{
	struct unit_reader *reader = ctx;

	for (size_t i = 0; i < reader->dependencies_count; i++) {
		if (strcmp(reader->dependencies[i]->text, path) == 0)
			return;
	}
	array_reserve(reader->dependencies, reader->dependencies_capacity,
		reader->dependencies_count + 1);
	reader->dependencies[reader->dependencies_count++] = rcstr_new(path, strlen(path));
}

/* bind_file_cb: the bytes of `!file name`. */
static int read_file(void *ctx, struct slice name, struct position at, struct arena *arena,
	struct diag_list *diags, struct slice *ret_bytes)
{
	struct unit_reader *reader = ctx;
	struct file_identity identity;
	struct buf text = BUF_INIT, shown = BUF_INIT;
	char path[PATH_MAX];
	uint32_t line;
	const struct mount *mount = reader->unit->mount;
	const char *from = diag_list_file(diags, reader->unit->path->text, at, &line);
	int error = folder_resolve(folder_parent(slice_of(from)), name, path, sizeof(path));
	const char *refusal = error ? NULL : mount_refuses(mount, slice_of(path));

	text_quote(&shown, name, 200);
	if (refusal) {
		error = -EXDEV;
		diag_error(diags, reader->unit->path->text, at, "bad-file", "!file %s: %s",
			buf_cstr(&shown), refusal);
	} else if (error) {
		diag_error(diags, reader->unit->path->text, at, "bad-file",
			error == -EXDEV ? "!file %s: the path leads out of the tree"
					: "!file %s: this is no path of a file in the tree",
			buf_cstr(&shown));
	} else if (include_is_hidden(path)) {
		error = -EINVAL;
		diag_error(diags, reader->unit->path->text, at, "bad-file",
			"!file %s: names that start with a dot and leftovers of editors are not "
			"part of the tree",
			buf_cstr(&shown));
	} else {
		add_dependency(reader, path);
		error = mount_read(
			mount, path, reader->limits->source_file_bytes, &text, &identity);
		reader->must_retry = reader->must_retry || error;
		if (error == -EFBIG)
			diag_error(diags, reader->unit->path->text, at, "file-too-large",
				"!file %s: larger than the limit of %llu bytes", buf_cstr(&shown),
				(unsigned long long)reader->limits->source_file_bytes);
		else if (error)
			diag_error(diags, reader->unit->path->text, at, "bad-file",
				"!file %s (%s in the tree) cannot be read: %s", buf_cstr(&shown),
				path, include_explain(error));
	}
	if (!error) {
		*ret_bytes = arena_copy(arena, text.data, text.length);
		if (!ret_bytes->data)
			error = -ENOMEM;
	}
	buf_fini(&text);
	buf_fini(&shown);
	return error && error != -ENOMEM ? -EBADMSG : error;
}

static void fail_unreadable(struct unit_reader *reader, int error)
{
	struct position whole = {0, 0};

	if (error == -EFBIG)
		diag_error(reader->diags, reader->unit->path->text, whole, "file-too-large",
			"this file is larger than the limit of %llu bytes",
			(unsigned long long)reader->limits->source_file_bytes);
	else
		diag_error(reader->diags, reader->unit->path->text, whole, "unreadable",
			"cannot be read: %s",
			error == -ENOENT ? "it is a link to nothing, or was removed just now"
					 : include_explain(error));
}

/* No document: a file of comments is a choice, one without a word may be half written. */
static void check_empty(struct unit_reader *reader, struct slice text)
{
	struct position whole = {0, 0};

	if (memchr(text.data ? text.data : "", '#', text.length))
		diag_warning(reader->diags, reader->unit->path->text, whole, "empty-file",
			"nothing but comments in this file");
	else
		diag_error(reader->diags, reader->unit->path->text, whole, "empty-file",
			"this file is empty, as files are while they are written: remove it, or "
			"put a comment into it");
}

/* Comments of an included file. */
static void take_part(void *ctx, const char *path, struct slice text)
{
	struct unit_reader *reader = ctx;

	silence_add(&reader->silence, path, text, reader->diags);
}

static int read_documents(
	struct unit_reader *reader, struct slice text, struct documents *ret_documents)
{
	struct include include = {.mount = reader->unit->mount,
		.limits = reader->limits,
		.arena = reader->arena,
		.diags = reader->diags,
		.path = reader->unit->path->text,
		.depend = add_dependency,
		.depend_ctx = reader,
		.take_yaml = take_part};
	struct read_options options = {.path = reader->unit->path->text,
		.nodes_limit = reader->limits->yaml_nodes,
		.include = include_read,
		.include_ctx = &include};
	struct node **root;
	int error;

	if (folder_format(unit_path(reader->unit)) == FOLDER_YAML || text.length == 0) {
		error = yaml_read(&options, text, reader->arena, reader->diags, ret_documents);
		reader->must_retry = reader->must_retry || include.must_retry;
		include_fini(&include);
		return error;
	}
	root = arena_zalloc(reader->arena, sizeof(*root));
	if (!root)
		return -ENOMEM;
	error = json_read(&options, text, reader->arena, reader->diags, root);
	if (!error)
		*ret_documents = (struct documents){.roots = root, .count = 1};
	return error;
}

/* From bytes to resources. */
static void bind_text(struct unit_reader *reader, struct unit_reading *reading)
{
	struct unit *unit = reader->unit;
	struct bind_options bind = {.schema = reader->schema,
		.path = unit->path->text,
		.read_file = read_file,
		.read_file_ctx = reader};
	struct document_reader documents_reader = {.bind = &bind,
		.limits = reader->limits,
		.arena = reader->arena,
		.diags = reader->diags,
		.path = unit->path,
		.scratch = &reader->body,
		.mount = unit->mount,
		.validator = reader->validator,
		.lints = reader->lints,
		.facts = reader->wants_facts ? &reader->facts : NULL,
		.broken = &reader->broken};
	struct documents documents = {0};
	int error;

	documents_reader.row = folder_type(unit_path(unit), &documents_reader.folder);
	documents_reader.routes = virtual_hosts_folder(unit_path(unit));
	error = read_documents(reader, buf_slice(&reader->text), &documents);
	if (error == -ENOMEM)
		diag_error(reader->diags, unit->path->text, ((struct position){0, 0}), "too-large",
			"this file needs too much memory");
	/* It may be for somebody else, but nobody can tell from a text that says nothing. */
	if (error && !documents_reader.row)
		diag_warning(reader->diags, unit->path->text, ((struct position){0, 0}),
			"no-type-folder",
			"this file is in no type folder: if it is not for xdspub, start its name, "
			"or that of its folder, with \"_\"");
	reading->content.hides_names = error != 0;
	if (error)
		return;
	if (documents.count == 0) {
		check_empty(reader, buf_slice(&reader->text));
		return;
	}
	document_read(&documents_reader, &documents);
	reading->content.hides_names = documents_reader.hides_names;
	reading->content.broken = facts_finish(&reader->broken);
	reading->content.is_foreign = documents_reader.is_foreign;
	if (documents_reader.is_foreign) {
		diag_list_clear(reader->diags);
		silence_free(TAKE(reader->silence));
	} else if (folder_format(unit_path(unit)) == FOLDER_YAML) {
		silence_add(&reader->silence, unit->path->text, buf_slice(&reader->text),
			reader->diags);
		silence_apply(reader->silence, reader->diags);
	}

	if (documents_reader.count) {
		reading->content.items = xcalloc(documents_reader.count, sizeof(struct unit_item));
		reading->content.items_count = (uint32_t)documents_reader.count;
	}
	for (size_t i = 0; i < documents_reader.count; i++) {
		struct document_resource *found = &documents_reader.resources[i];

		reading->content.items[i] = (struct unit_item){.unit = unit,
			.resource = found->resource,
			.facts = found->facts,
			.is_delete = found->is_delete};
		reading->bytes_encoded += found->resource->body.length;
		reading->encoded += !found->is_delete;
	}
	free(documents_reader.resources);
}

/* Moves what was collected while reading into the content. */
static void collect(struct unit_reader *reader, struct unit_content *content)
{
	content->must_retry = reader->must_retry;
	content->silence = TAKE(reader->silence);
	if (reader->dependencies_count) {
		size_t size = reader->dependencies_count * sizeof(*reader->dependencies);

		content->dependencies = memcpy(xmalloc(size), reader->dependencies, size);
		content->dependencies_count = (uint32_t)reader->dependencies_count;
	}
	if (diag_list_level_count(reader->diags, DIAG_ERROR) ||
		diag_list_level_count(reader->diags, DIAG_WARNING) ||
		diag_list_level_count(reader->diags, DIAG_NOTE)) {
		content->diags = diag_list_new(0);
		diag_list_append(content->diags, reader->diags);
	}
}

/* Begins with another file. */
static int read_text(struct unit_reader *reader, struct unit *unit)
{
	const struct tree_entry *entry = mount_find(unit->mount, unit_path(unit));
	struct file_identity identity;

	arena_reset(reader->arena);
	buf_reset(&reader->text);
	facts_reset(&reader->broken);
	diag_list_clear(reader->diags);
	reader->dependencies_count = 0;
	reader->must_retry = false;
	silence_free(TAKE(reader->silence));
	reader->unit = unit;
	if (!entry || entry->error)
		return entry ? entry->error : -ENOENT;
	return mount_read(unit->mount, unit->path->text, reader->limits->source_file_bytes,
		&reader->text, &identity);
}

int unit_reader_parse(
	struct unit_reader *reader, struct unit *unit, struct documents *ret_documents)
{
	int error = read_text(reader, unit);

	if (!error && unit->content.is_read &&
		hash_bytes(reader->text.data, reader->text.length) != unit->content.hash)
		error = -ESTALE;
	if (!error)
		error = read_documents(reader, buf_slice(&reader->text), ret_documents);
	for (size_t i = 0; i < reader->dependencies_count; i++)
		rcstr_unref(reader->dependencies[i]);
	reader->dependencies_count = 0;
	return error;
}

void unit_reader_read(
	struct unit_reader *reader, struct unit *unit, struct unit_reading *ret_reading)
{
	struct unit_reading reading = {0};
	int error = read_text(reader, unit);

	if (error) {
		fail_unreadable(reader, error);
		reader->must_retry = true;
		reading.content.hides_names = true;
	} else {
		reading.bytes_read = reader->text.length;
		reading.content.is_read = true;
		reading.content.size = reader->text.length;
		reading.content.hash = hash_bytes(reader->text.data, reader->text.length);
		reading.is_unchanged = unit->was_read && !unit->must_bind &&
				       unit->content.is_read &&
				       unit->content.size == reading.content.size &&
				       unit->content.hash == reading.content.hash;
		if (!reading.is_unchanged)
			bind_text(reader, &reading);
	}
	if (!reading.is_unchanged)
		collect(reader, &reading.content);
	*ret_reading = reading;
}
