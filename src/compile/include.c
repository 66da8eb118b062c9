/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/include.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "compile/folder.h"
#include "message/json_read.h"

/* A file that was included once, with what it says. */
struct include_file {
	struct slice path;
	struct node *root; /* NULL: it could not be read, and that has been said */
	unsigned height;
	uint64_t count;
	bool is_open; /* it is being read: including it now would go round in a circle */
};

struct request {
	struct include *include;
	struct slice name; /* as it is written */
	struct position at;
	char path[PATH_MAX]; /* in the tree */
};

void include_fini(struct include *include)
{
	free(include->files);
	include->files = NULL;
	include->count = include->capacity = 0;
}

const char *include_explain(int error)
{
	switch (error) {
	case -EXDEV:
		return "the link leads out of the tree (absolute links always do)";
	case -ELOOP:
		return "links go round in a circle";
	case -ENOENT:
		return "there is no such file";
	case -EISDIR:
		return "it is a folder";
	case -EINVAL:
		return "it is no ordinary file";
	case -EAGAIN:
		return "it keeps changing while it is read";
	default:
		return strerror(-error);
	}
}

bool include_is_hidden(const char *path)
{
	for (struct slice at = slice_of(path); at.length; at = folder_parent(at)) {
		if (tree_is_ignored(folder_name(at)))
			return true;
	}
	return false;
}

__attribute__((format(printf, 3, 4))) static int fail(
	const struct request *request, const char *rule, const char *format, ...)
{
	struct buf text = BUF_INIT;
	va_list arguments;

	buf_puts(&text, "!include ");
	text_quote(&text, request->name, 200);
	va_start(arguments, format);
	buf_vprintf(&text, format, arguments);
	va_end(arguments);
	diag_error(request->include->diags, request->include->path, request->at, rule, "%s",
		buf_cstr(&text));
	buf_fini(&text);
	return -EBADMSG;
}

/* --- which file ---------------------------------------------------------------------------- */

static int resolve(struct request *request)
{
	const struct include *include = request->include;
	const char *refusal;
	uint32_t line;
	const char *from = diag_list_file(include->diags, include->path, request->at, &line);
	int error = folder_resolve(
		folder_parent(slice_of(from)), request->name, request->path, sizeof(request->path));

	if (error == -EXDEV)
		return fail(request, "bad-include", ": the path leads out of the tree");
	if (error)
		return fail(request, "bad-include", ": this is no path of a file in the tree");
	refusal = mount_refuses(include->mount, slice_of(request->path));
	if (refusal)
		return fail(request, "bad-include", ": %s", refusal);
	if (include_is_hidden(request->path))
		return fail(request, "bad-include",
			": names that start with a dot and leftovers of editors are not part of "
			"the tree");
	if (folder_format(slice_of(request->path)) == FOLDER_OTHER)
		return fail(request, "bad-include",
			": only .yaml, .yml and .json can be included; !file puts the bytes of a "
			"file into a field");
	return 0;
}

/* The best path so far; suggestion_offer only borrows what it is given. */
struct offers {
	const struct mount *mount;
	struct suggestion suggestion;
	struct buf text, best;
};

/* folder/name, when there is such a file; `name` may be empty. */
static void offer(struct offers *offers, const struct tree_entry *folder, struct slice name)
{
	struct rcstr *whole = mount_whole_path(offers->mount, folder->path);
	const char *before = offers->suggestion.best.data;
	const struct tree_entry *entry;

	buf_reset(&offers->text);
	buf_puts(&offers->text, whole->text);
	if (name.length)
		buf_printf(&offers->text, "%s%.*s", whole->length ? "/" : "", SLICE_ARG(name));
	rcstr_unref(whole);
	entry = mount_find(offers->mount, buf_slice(&offers->text));
	if (!entry || entry->kind != TREE_FILE)
		return;
	suggestion_offer(&offers->suggestion, buf_cstr(&offers->text));
	if (offers->suggestion.best.data == before)
		return;
	buf_reset(&offers->best);
	buf_append_slice(&offers->best, offers->suggestion.best);
	offers->suggestion.best = (struct slice){buf_cstr(&offers->best), offers->best.length};
}

/* What may be meant: a file beside it, or one of that name in a folder beside its own. */
static const char *suggest(const struct request *request, char phrase[static 256])
{
	const struct mount *mount = request->include->mount;
	struct offers offers = {.mount = mount};
	struct slice path = slice_of(request->path), folder = folder_parent(path);
	const struct tree_entry *parent = mount_find(mount, folder), *child;

	suggestion_init(&offers.suggestion, path);
	for (size_t i = 0; parent && (child = tree_child(parent, i)); i++) {
		if (child->kind == TREE_FILE)
			offer(&offers, child, SLICE(""));
	}
	parent = folder.length ? mount_find(mount, folder_parent(folder)) : NULL;
	for (size_t i = 0; parent && (child = tree_child(parent, i)); i++) {
		if (child->kind == TREE_FOLDER)
			offer(&offers, child, folder_name(path));
	}
	suggestion_phrase(&offers.suggestion, phrase);
	buf_fini(&offers.text);
	buf_fini(&offers.best);
	return phrase;
}

static int fail_circle(const struct request *request)
{
	const struct include *include = request->include;
	struct buf way = BUF_INIT;
	bool is_inside = strcmp(request->path, include->path) == 0;

	if (is_inside)
		buf_printf(&way, "%s, ", include->path);
	for (size_t i = 0; i < include->count; i++) {
		if (!include->files[i].is_open)
			continue;
		is_inside = is_inside || slice_is(include->files[i].path, request->path);
		if (is_inside)
			buf_printf(&way, "%.*s, ", SLICE_ARG(include->files[i].path));
	}
	fail(request, "include-circle", ": files include each other in a circle: %s%s",
		buf_cstr(&way), request->path);
	buf_fini(&way);
	return -EBADMSG;
}

/* --- what it says -------------------------------------------------------------------------- */

/* A JSON tree's; its depth is limited. */
static void measure(const struct node *node, uint64_t *count, unsigned *ret_height)
{
	unsigned height = 0, below;

	++*count;
	*ret_height = 0;
	if (node->kind == NODE_SCALAR)
		return;
	for (size_t i = 0; i < (node->kind == NODE_LIST ? node->items_count : node->pairs_count);
		i++) {
		*count += node->kind == NODE_MAP;
		measure(node->kind == NODE_LIST ? node->items[i] : node->pairs[i].value, count,
			&below);
		height = below > height ? below : height;
	}
	*ret_height = height + 1;
}

static int read_text(struct request *request, const struct read_options *options, struct slice text,
	struct include_file *file)
{
	struct include *include = request->include;
	struct documents documents = {0};
	int error;

	if (folder_format(file->path) == FOLDER_JSON && text.length) {
		error = json_read(options, text, include->arena, include->diags, &file->root);
		if (!error)
			measure(file->root, &file->count, &file->height);
		return error;
	}
	error = yaml_read(options, text, include->arena, include->diags, &documents);
	if (error)
		return error;
	if (documents.count != 1)
		return documents.count ? fail(request, "bad-include",
						 ": %s has %zu documents, one is wanted here",
						 request->path, documents.count)
				       : fail(request, "bad-include", ": there is nothing in %s",
						 request->path);
	if (include->take_yaml)
		include->take_yaml(include->depend_ctx, request->path, text);
	file->root = documents.roots[0];
	file->height = documents.height;
	file->count = documents.nodes;
	return 0;
}

static size_t count_lines(struct slice text)
{
	size_t lines = 1;

	for (size_t i = 0; i < text.length; i++)
		lines += text.data[i] == '\n';
	return lines;
}

static int fail_unreadable(const struct request *request, int error)
{
	char phrase[256] = "";

	request->include->must_retry = true;
	if (error == -EFBIG)
		return fail(request, "file-too-large", ": larger than the limit of %llu bytes",
			(unsigned long long)request->include->limits->source_file_bytes);
	return fail(request, "bad-include", " (%s in the tree) cannot be read: %s%s", request->path,
		include_explain(error), error == -ENOENT ? suggest(request, phrase) : "");
}

/* Reads the file for the first time; the outcome stays in include->files[index]. */
static int read_file(struct request *request, size_t index, uint64_t nodes_left)
{
	struct include *include = request->include;
	struct include_file file = include->files[index];
	struct read_options options = {.path = request->path,
		.nodes_limit = nodes_left,
		.include = include_read,
		.include_ctx = include};
	struct file_identity identity;
	struct buf bytes = BUF_INIT;
	struct slice text;
	int error = mount_read(include->mount, request->path, include->limits->source_file_bytes,
		&bytes, &identity);

	if (error) {
		buf_fini(&bytes);
		return fail_unreadable(request, error);
	}
	text = arena_copy(include->arena, bytes.data, bytes.length);
	buf_fini(&bytes);
	if (!text.data)
		return -ENOMEM;
	options.line_base = diag_list_include(
		include->diags, request->path, count_lines(text), include->path, request->at);
	if (!options.line_base)
		return fail(request, "too-large", ": the included files have too many lines");
	include->depth++;
	error = read_text(request, &options, text, &file);
	include->depth--;
	/* The array may have moved meanwhile. */
	file.is_open = false;
	if (error)
		file.root = NULL;
	include->files[index] = file;
	return error;
}

static ssize_t find_file(const struct include *include, const char *path)
{
	for (size_t i = 0; i < include->count; i++) {
		if (slice_is(include->files[i].path, path))
			return (ssize_t)i;
	}
	return -1;
}

/* A node of its own for this place, so that problems with it as a whole are shown there. */
static int place(const struct request *request, const struct include_file *file,
	struct read_included *included)
{
	included->root = arena_alloc(request->include->arena, sizeof(*included->root));
	if (!included->root)
		return -ENOMEM;
	*included->root = *file->root;
	included->root->origin = file->root->at.line;
	included->root->at = request->at;
	included->height = file->height;
	included->count = file->count;
	return 0;
}

int include_read(void *ctx, struct slice name, struct position at, uint64_t nodes_left,
	struct read_included *ret_included)
{
	struct request request = {.include = ctx, .name = name, .at = at};
	struct include *include = ctx;
	ssize_t index;
	int error = resolve(&request);

	if (error)
		return error;
	include->depend(include->depend_ctx, request.path);
	index = find_file(include, request.path);
	if (strcmp(request.path, include->path) == 0 ||
		(index >= 0 && include->files[index].is_open))
		return fail_circle(&request);
	if (index < 0) {
		struct slice path = arena_copy(include->arena, request.path, strlen(request.path));

		if (include->depth == LIMIT_INCLUDES)
			return fail(&request, "too-deep",
				": more than %d files include each other in turn", LIMIT_INCLUDES);
		if (!path.data)
			return -ENOMEM;
		array_reserve(include->files, include->capacity, include->count + 1);
		index = (ssize_t)include->count++;
		include->files[index] = (struct include_file){.path = path, .is_open = true};
		error = read_file(&request, (size_t)index, nodes_left);
		include->files[index].is_open = false;
		if (error)
			return error;
	}
	if (!include->files[index].root)
		return -EBADMSG;
	return place(&request, &include->files[index], ret_included);
}
