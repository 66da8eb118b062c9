/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "daemon/mount_settings.h"
#include "message/yaml_read.h"

#define CONFIG_LIMIT_BYTES (1u << 20)
#define KEY_LENGTH	   64

struct reader {
	const char *path;
	const char *folder; /* of the file: relative paths start here */
	struct options *options;
	struct diag_list *diags;
	bool is_bad;
};

static void complain(struct reader *reader, struct position at, const char *rule, const char *key,
	const char *text)
{
	diag_error(reader->diags, reader->path, at, rule, "%s: %s", key, text);
	reader->is_bad = true;
}

/* The next part of a row's key below `prefix` ("" or "settle."); false when it is not below. */
static bool next_part(const char *key, const char *prefix, char out[static KEY_LENGTH])
{
	size_t length = strlen(prefix);

	if (strncmp(key, prefix, length) != 0)
		return false;
	snprintf(out, KEY_LENGTH, "%.*s", (int)strcspn(key + length, "."), key + length);
	return true;
}

static void refuse_key(struct reader *reader, const char *prefix, const struct node_pair *pair)
{
	struct suggestion suggestion;
	struct buf quoted = BUF_INIT;
	char phrase[256];
	size_t count;
	const struct option_row *rows = option_rows(&count);
	char(*parts)[KEY_LENGTH] = xcalloc(count, sizeof(*parts));

	suggestion_init(&suggestion, pair->key);
	for (size_t i = 0; i < count; i++)
		if (next_part(rows[i].key, prefix, parts[i]))
			suggestion_offer(&suggestion, parts[i]);
	text_quote(&quoted, pair->key, 64);
	diag_error(reader->diags, reader->path, pair->key_at, "unknown-setting",
		"unknown setting \"%s%s\"%s", prefix, buf_cstr(&quoted),
		suggestion_phrase(&suggestion, phrase));
	reader->is_bad = true;
	buf_fini(&quoted);
	free(parts);
}

static bool is_null(const struct node *node)
{
	return node->kind == NODE_SCALAR && node->is_plain && node->tag == NODE_TAG_NONE &&
	       node_resolve(node).kind == NODE_NULL;
}

static void set_scalar(struct reader *reader, const struct option_row *row, const struct node *node)
{
	struct buf problem = BUF_INIT;

	if (node->kind != NODE_SCALAR)
		complain(reader, node->at, "bad-setting", row->key, "must be a single value");
	else if (is_null(node))
		complain(reader, node->at, "bad-setting", row->key, "has no value");
	else if (options_set(reader->options, row, node->text, reader->folder, &problem) < 0)
		complain(reader, node->at, "bad-setting", row->key, buf_cstr(&problem));
	buf_fini(&problem);
}

static void set_row(struct reader *reader, const struct option_row *row, const struct node *node)
{
	options_clear(reader->options, row);
	if (row->is_list && node->kind == NODE_LIST) {
		for (size_t i = 0; i < node->items_count; i++)
			set_scalar(reader, row, node->items[i]);
	} else if (!row->is_list || !is_null(node)) {
		set_scalar(reader, row, node);
	}
}

/* What the key `whole` means: a row, or a section of rows, or nothing. */
static const struct option_row *find_row(const char *whole, bool *ret_is_section)
{
	size_t count, length = strlen(whole);
	const struct option_row *rows = option_rows(&count);

	*ret_is_section = false;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(rows[i].key, whole) == 0)
			return &rows[i];
		if (strncmp(rows[i].key, whole, length) == 0 && rows[i].key[length] == '.')
			*ret_is_section = true;
	}
	return NULL;
}

/* `source` as a list: a root and mounts. */
static void read_sources(struct reader *reader, const struct node *list)
{
	struct options *options = reader->options;
	struct mount_settings *mounts;
	char *root;

	if (mount_settings_read(list, reader->path, reader->folder, reader->diags, &root, &mounts) <
		0) {
		reader->is_bad = true;
		return;
	}
	free(options->source);
	options->source = root;
	mount_settings_unref(options->mounts);
	options->mounts = mounts;
}

static void read_map(struct reader *reader, const char *prefix, const struct node *map);

static void read_pair(struct reader *reader, const char *prefix, const struct node_pair *pair)
{
	char whole[KEY_LENGTH];
	const struct option_row *row = NULL;
	bool is_section = false;

	if (strlen(prefix) + pair->key.length + 2 <= sizeof(whole) &&
		!memchr(pair->key.data, '.', pair->key.length)) {
		snprintf(whole, sizeof(whole), "%s%.*s", prefix, SLICE_ARG(pair->key));
		row = find_row(whole, &is_section);
	}
	if (pair->value->kind == NODE_LIST && strcmp(prefix, "") == 0 &&
		slice_is(pair->key, "source")) {
		read_sources(reader, pair->value);
	} else if (row) {
		set_row(reader, row, pair->value);
	} else if (!is_section) {
		refuse_key(reader, prefix, pair);
	} else if (pair->value->kind == NODE_MAP) {
		strcat(whole, ".");
		read_map(reader, whole, pair->value);
	} else if (!is_null(pair->value)) {
		complain(reader, pair->value->at, "bad-setting", whole,
			"must be a mapping of settings");
	}
}

static void read_map(struct reader *reader, const char *prefix, const struct node *map)
{
	for (size_t i = 0; i < map->pairs_count; i++)
		read_pair(reader, prefix, &map->pairs[i]);
}

static int read_text(struct reader *reader, struct slice text)
{
	const struct read_options options = {.path = reader->path};
	struct arena *arena = arena_new(16 * CONFIG_LIMIT_BYTES);
	struct documents documents = {0};
	int error = yaml_read(&options, text, arena, reader->diags, &documents);

	if (error == 0 && documents.count > 1)
		complain(reader, documents.starts[1], "bad-setting", "second document",
			"the configuration is one document");
	else if (error == 0 && documents.count == 1 && documents.roots[0]->kind != NODE_MAP)
		complain(reader, documents.roots[0]->at, "bad-setting", "configuration",
			"must be a mapping of settings");
	else if (error == 0 && documents.count == 1)
		read_map(reader, "", documents.roots[0]);
	arena_free(arena);
	return error ? error : reader->is_bad ? -EBADMSG : 0;
}

static char *folder_of(const char *path)
{
	char *whole = realpath(path, NULL);
	char *end;

	if (!whole)
		return xstrdup(".");
	end = strrchr(whole, '/');
	end[end == whole] = '\0';
	return whole;
}

int config_read(const char *path, struct options *options, struct diag_list *diags)
{
	AUTO_FREE char *folder = folder_of(path);
	struct reader reader = {.path = path, .folder = folder, .options = options, .diags = diags};
	struct buf text = BUF_INIT;
	int error = file_read(path, CONFIG_LIMIT_BYTES, &text);

	if (error)
		diag_error(diags, path, (struct position){0}, "config-unreadable",
			"the configuration cannot be read: %s", strerror(-error));
	else
		error = read_text(&reader, buf_slice(&text));
	buf_fini(&text);
	return error;
}
