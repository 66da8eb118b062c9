/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/keys.h"

#include <stdlib.h>

#include "author/plain.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "compile/groups_keys.h"
#include "compile/match_read.h"

#define NODE_TYPE  "envoy.config.core.v3.Node"
#define PATH_BYTES 256

struct keys {
	const char *file;
	struct arena *arena;
	struct key_row *rows;
	size_t count, capacity;
};

struct keys *keys_new(const char *file)
{
	struct keys *keys = xcalloc(1, sizeof(*keys));

	keys->file = file;
	keys->arena = arena_new(0);
	return keys;
}

void keys_free(struct keys *keys)
{
	if (!keys)
		return;
	arena_free(keys->arena);
	free(keys->rows);
	free(keys);
}

const char *keys_file(const struct keys *keys)
{
	return keys->file;
}

const struct key_row *keys_rows(const struct keys *keys, size_t *ret_count)
{
	*ret_count = keys->count;
	return keys->rows;
}

static const struct key_row *find_row(const struct keys *keys, struct slice path)
{
	for (size_t i = 0; i < keys->count; i++)
		if (slice_is(path, keys->rows[i].path))
			return &keys->rows[i];
	return NULL;
}

static const char *copy(struct keys *keys, const char *text)
{
	return text ? arena_strdup(keys->arena, text) : NULL;
}

static void append(struct keys *keys, const struct key_row *row)
{
	array_reserve(keys->rows, keys->capacity, keys->count + 1);
	keys->rows[keys->count++] = *row;
}

/* "settle" of "settle.quiet", unless it is there. */
static void add_sections(struct keys *keys, const char *path)
{
	for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
		struct slice section = {path, (size_t)(dot - path)};

		if (!find_row(keys, section))
			append(keys, &(struct key_row){.path = arena_printf(keys->arena, "%.*s",
							       SLICE_ARG(section)),
					     .shape = KEY_MAP});
	}
}

void keys_add(struct keys *keys, const struct key_row *row)
{
	struct key_row own = *row;

	add_sections(keys, row->path);
	own.path = copy(keys, row->path);
	own.choices = copy(keys, row->choices);
	own.preset = copy(keys, row->preset);
	own.text = copy(keys, row->text);
	own.example = copy(keys, row->example);
	own.other_name = copy(keys, row->other_name);
	own.flag = copy(keys, row->flag);
	own.reload = copy(keys, row->reload);
	append(keys, &own);
}

/* ---- groups.yaml ---- */

static void add_node_fields(struct keys *keys, const struct match_shape_field *field,
	const char *path, const char *type, const struct comments *comments)
{
	static const enum key_shape shapes[] = {
		[MATCH_SHAPE_TEXT] = KEY_CONDITION,
		[MATCH_SHAPE_NUMBER] = KEY_NUMBERS,
		[MATCH_SHAPE_FREE] = KEY_FREE,
		[MATCH_SHAPE_FIELDS] = KEY_MAP,
	};

	for (; field->name; field++) {
		struct slice comment = type && comments ? comments_find(comments, type, field->name)
							: (struct slice){NULL, 0};
		char below[PATH_BYTES];
		struct buf text = BUF_INIT;

		plain_text(&text, comment);
		snprintf(below, sizeof(below), "%s.%s", path, field->name);
		keys_add(keys, &(struct key_row){.path = below,
				       .shape = shapes[field->shape],
				       .may_be_list = field->shape == MATCH_SHAPE_FIELDS,
				       .text = text.length ? buf_cstr(&text) : NULL,
				       .other_name = strcmp(field->name, field->camel_name)
							     ? field->camel_name
							     : NULL});
		buf_fini(&text);
		/* Three levels, of a constant table. */
		if (field->shape == MATCH_SHAPE_FIELDS)
			add_node_fields(keys, field->fields, below, NULL, comments);
	}
}

struct keys *keys_of_groups(const struct comments *comments)
{
	static const enum key_shape shapes[] = {
		[GROUPS_TEXT] = KEY_TEXT,
		[GROUPS_NAME] = KEY_NAME,
		[GROUPS_FOLDER] = KEY_FOLDER,
		[GROUPS_BOOL] = KEY_BOOL,
		[GROUPS_CHOICE] = KEY_CHOICE,
		[GROUPS_NUMBER] = KEY_NUMBER,
		[GROUPS_NODE] = KEY_MAP,
		[GROUPS_COUNTS] = KEY_COUNTS,
		[GROUPS_NAMES] = KEY_NAMES,
		[GROUPS_MAP] = KEY_MAP,
		[GROUPS_OPEN] = KEY_OPEN,
	};
	struct keys *keys = keys_new("groups.yaml");
	size_t count;
	const struct groups_key *rows = groups_keys(&count);

	for (size_t i = 0; i < count; i++) {
		const struct groups_key *from = &rows[i];
		struct key_row row = {.path = from->path,
			.shape = shapes[from->shape],
			.is_list = from->is_list,
			.may_be_list = from->shape == GROUPS_NODE,
			.is_required = from->is_required,
			.choices = from->choices,
			.minimum = from->shape == GROUPS_NUMBER,
			.maximum = from->shape == GROUPS_NUMBER ? INT32_MAX : 0,
			.text = from->text,
			.example = from->example};
		char first[64];

		if (from->choices) {
			snprintf(first, sizeof(first), "%.*s", (int)strcspn(from->choices, " "),
				from->choices);
			row.preset = first;
		}
		keys_add(keys, &row);
		if (from->shape == GROUPS_NODE)
			add_node_fields(keys, match_fields(), from->path, NODE_TYPE, comments);
	}
	return keys;
}

/* ---- documents ---- */

const char *keys_name_in(const struct key_row *row, const char *parent)
{
	size_t length = strlen(parent);

	if (strncmp(row->path, parent, length) != 0)
		return NULL;
	if (length) {
		if (row->path[length] != '.')
			return NULL;
		length++;
	}
	return strchr(row->path + length, '.') ? NULL : row->path + length;
}

static void put_type(const struct key_row *row, json_t *to)
{
	static const char *const names[] = {
		[KEY_TEXT] = "text",
		[KEY_NAME] = "name",
		[KEY_FOLDER] = "folder",
		[KEY_PATH] = "path",
		[KEY_ADDRESS] = "host:port, or unix:/path",
		[KEY_BOOL] = "true or false",
		[KEY_CHOICE] = "one of",
		[KEY_NUMBER] = "number",
		[KEY_DURATION] = "time, such as 50ms, 5s, 1m",
		[KEY_SIZE] = "size, such as 4MiB",
		[KEY_MODE] = "octal mode, such as 0644",
		[KEY_COUNTS] = "type folders and numbers",
		[KEY_NAMES] = "type folders and lists of names",
		[KEY_CONDITION] = "text, or {exact, prefix, suffix, contains, ignore_case}",
		[KEY_NUMBERS] = "number",
		[KEY_FREE] = "conditions with keys of your own",
		[KEY_MAP] = "mapping",
		[KEY_OPEN] = "mapping or list",
	};
	struct buf text = BUF_INIT;

	buf_printf(&text, "%s%s", row->is_list ? "list of " : "", names[row->shape]);
	for (const char *at = row->choices; at && *at;) {
		size_t length = strcspn(at, " ");

		buf_printf(&text, "%s %.*s", at == row->choices ? "" : ",", (int)length, at);
		at += length + (at[length] == ' ');
	}
	if ((row->may_be_list && !row->is_list) || row->shape == KEY_CONDITION ||
		row->shape == KEY_NUMBERS)
		buf_puts(&text, "; a list: any of these");
	json_object_set_new(to, "type", json_string(buf_cstr(&text)));
	buf_fini(&text);
}

static void set(json_t *to, const char *key, const char *text)
{
	if (text)
		json_object_set_new(to, key, json_string(text));
}

/* Texts of options have line feeds where --help breaks them. */
static void put_text(const struct key_row *row, json_t *to)
{
	struct buf text = BUF_INIT;

	for (const char *at = row->text; at && *at; at++)
		buf_putc(&text, *at == '\n' && at[1] != '\n' ? ' ' : *at);
	if (text.length)
		set(to, "description", buf_cstr(&text));
	buf_fini(&text);
}

static json_t *make_key(const struct key_row *row, const char *name)
{
	json_t *to = json_object();
	struct buf range = BUF_INIT, flag = BUF_INIT;

	set(to, "name", name);
	put_type(row, to);
	put_text(row, to);
	set(to, "other_name", row->other_name);
	set(to, "default", row->preset);
	set(to, "example", row->example);
	set(to, "reload", row->reload);
	if (row->flag) {
		buf_printf(&flag, "--%s", row->flag);
		set(to, "flag", buf_cstr(&flag));
	}
	if (row->shape == KEY_NUMBER && (row->minimum || row->maximum)) {
		buf_printf(
			&range, "%lld to %lld", (long long)row->minimum, (long long)row->maximum);
		set(to, "range", buf_cstr(&range));
	}
	if (row->is_required)
		json_object_set_new(to, "required", json_true());
	buf_fini(&range);
	buf_fini(&flag);
	return to;
}

json_t *keys_explain_row(const struct key_row *row)
{
	return make_key(row, row->path);
}

json_t *keys_explain(const struct keys *keys, struct slice path)
{
	const struct key_row *row = find_row(keys, path);
	const char *parent = row ? row->path : "";
	json_t *to, *below;

	if (!row && path.length)
		return NULL;
	to = row ? make_key(row, row->path) : json_object();
	below = json_array();
	json_object_set_new(to, "kind", json_string("key"));
	json_object_set_new(to, "file", json_string(keys->file));
	if (!row)
		set(to, "name", keys->file);
	for (size_t i = 0; i < keys->count; i++) {
		const char *name = keys_name_in(&keys->rows[i], parent);

		if (name)
			json_array_append_new(below, make_key(&keys->rows[i], name));
	}
	if (json_array_size(below))
		json_object_set(to, "keys", below);
	json_decref(below);
	return to;
}

void keys_offer(const struct keys *keys, struct suggestion *suggestion)
{
	for (size_t i = 0; i < keys->count; i++)
		suggestion_offer(suggestion, keys->rows[i].path);
}
