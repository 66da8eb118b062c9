/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/match_read.h"

#include "base/text.h"

/* Levels of mappings and lists; the condition tree is at most twice as deep. */
#define DEPTH_MAX 16

static const struct match_shape_field locality_fields[] = {
	{"region", "region", MATCH_SHAPE_TEXT, NULL},
	{"zone", "zone", MATCH_SHAPE_TEXT, NULL},
	{"sub_zone", "subZone", MATCH_SHAPE_TEXT, NULL},
	{NULL, NULL, MATCH_SHAPE_TEXT, NULL},
};
static const struct match_shape_field version_fields[] = {
	{"major_number", "majorNumber", MATCH_SHAPE_NUMBER, NULL},
	{"minor_number", "minorNumber", MATCH_SHAPE_NUMBER, NULL},
	{"patch", "patch", MATCH_SHAPE_NUMBER, NULL},
	{NULL, NULL, MATCH_SHAPE_TEXT, NULL},
};
static const struct match_shape_field build_fields[] = {
	{"version", "version", MATCH_SHAPE_FIELDS, version_fields},
	{"metadata", "metadata", MATCH_SHAPE_FREE, NULL},
	{NULL, NULL, MATCH_SHAPE_TEXT, NULL},
};
static const struct match_shape_field node_fields[] = {
	{"id", "id", MATCH_SHAPE_TEXT, NULL},
	{"cluster", "cluster", MATCH_SHAPE_TEXT, NULL},
	{"metadata", "metadata", MATCH_SHAPE_FREE, NULL},
	{"locality", "locality", MATCH_SHAPE_FIELDS, locality_fields},
	{"user_agent_name", "userAgentName", MATCH_SHAPE_TEXT, NULL},
	{"user_agent_version", "userAgentVersion", MATCH_SHAPE_TEXT, NULL},
	{"user_agent_build_version", "userAgentBuildVersion", MATCH_SHAPE_FIELDS, build_fields},
	{"client_features", "clientFeatures", MATCH_SHAPE_TEXT, NULL},
	{NULL, NULL, MATCH_SHAPE_TEXT, NULL},
};

struct match_reader {
	const char *path;
	struct arena *arena;
	struct diag_list *diags;
	bool is_failed;
};

static bool read_into(struct match_reader *reader, const struct node *node, enum match_shape shape,
	const struct match_shape_field *fields, unsigned depth, struct match *out);

#define FAIL(reader, at, ...)                                                                      \
	do {                                                                                       \
		diag_error((reader)->diags, (reader)->path, (at), "bad-match", __VA_ARGS__);       \
		(reader)->is_failed = true;                                                        \
	} while (0)

static struct match *add_children(struct match_reader *reader, struct match *out, size_t count)
{
	out->children = arena_zalloc(reader->arena, count * sizeof(*out->children));
	out->children_count = out->children ? count : 0;
	if (!out->children)
		reader->is_failed = true;
	return out->children;
}

static const char *const words[] = {"exact", "prefix", "suffix", "contains"};
static const enum match_kind word_kinds[] = {
	MATCH_EXACT, MATCH_PREFIX, MATCH_SUFFIX, MATCH_CONTAINS};
#define WORDS_COUNT (sizeof(words) / sizeof(*words))

static int find_word(struct slice key)
{
	for (size_t i = 0; i < WORDS_COUNT; i++) {
		if (slice_is(key, words[i]))
			return (int)i;
	}
	return -1;
}

/* {prefix: a, suffix: b, ignore_case: true} */
static bool is_comparison(const struct node *map)
{
	bool has_word = false;

	for (size_t i = 0; i < map->pairs_count; i++) {
		if (find_word(map->pairs[i].key) >= 0)
			has_word = true;
		else if (!slice_is(map->pairs[i].key, "ignore_case"))
			return false;
	}
	return has_word;
}

static bool read_comparison(struct match_reader *reader, const struct node *map, struct match *out)
{
	const struct node_pair *pair = node_find(map, "ignore_case");
	bool ignore_case = false;
	size_t count = 0;

	if (pair) {
		struct node_value value = {.kind = NODE_STRING};

		if (pair->value->kind == NODE_SCALAR)
			value = node_resolve(pair->value);
		if (value.kind != NODE_BOOL)
			FAIL(reader, pair->value->at, "\"ignore_case\" must be true or false");
		ignore_case = value.kind == NODE_BOOL && value.boolean;
	}
	out->kind = MATCH_ALL;
	if (!add_children(reader, out, map->pairs_count - (pair != NULL)))
		return false;
	for (size_t i = 0; i < map->pairs_count; i++) {
		const struct node *value = map->pairs[i].value;
		int word = find_word(map->pairs[i].key);

		if (word < 0)
			continue;
		if (value->kind != NODE_SCALAR || node_resolve(value).kind == NODE_NULL) {
			FAIL(reader, value->at, "\"%s\" compares with a text", words[word]);
			continue;
		}
		out->children[count++] = (struct match){.kind = word_kinds[word],
			.ignore_case = ignore_case,
			.text = arena_copy(reader->arena, value->text.data, value->text.length)};
	}
	return true;
}

static void fail_unknown_field(struct match_reader *reader, const struct node_pair *pair,
	const struct match_shape_field *fields)
{
	struct suggestion suggestion;
	struct buf quoted = BUF_INIT;
	char phrase[256];

	suggestion_init(&suggestion, pair->key);
	for (const struct match_shape_field *field = fields; field->name; field++) {
		suggestion_offer(&suggestion, field->name);
		suggestion_offer(&suggestion, field->camel_name);
	}
	text_quote(&quoted, pair->key, 64);
	FAIL(reader, pair->key_at, "\"%s\" is no field of Envoy's Node that can be matched%s",
		buf_cstr(&quoted), suggestion_phrase(&suggestion, phrase));
	buf_fini(&quoted);
}

/* A mapping: all of its keys must fit. */
static bool read_fields(struct match_reader *reader, const struct node *map, enum match_shape shape,
	const struct match_shape_field *fields, unsigned depth, struct match *out)
{
	size_t count = 0;

	if (map->pairs_count == 0) {
		FAIL(reader, map->at,
			"an empty mapping matches everything: leave it out or say what to match");
		return false;
	}
	out->kind = MATCH_ALL;
	if (!add_children(reader, out, map->pairs_count))
		return false;
	for (size_t i = 0; i < map->pairs_count; i++) {
		const struct node_pair *pair = &map->pairs[i];
		const struct match_shape_field *field = NULL;
		struct match *child = &out->children[count];
		struct slice name = pair->key;

		for (field = fields; field && field->name; field++) {
			if (slice_is(pair->key, field->name) ||
				slice_is(pair->key, field->camel_name))
				break;
		}
		if (fields && !field->name) {
			fail_unknown_field(reader, pair, fields);
			continue;
		}
		if (fields)
			name = slice_of(field->name);
		child->kind = MATCH_FIELD;
		child->text = arena_copy(reader->arena, name.data, name.length);
		if (add_children(reader, child, 1) &&
			read_into(reader, pair->value, fields ? field->shape : shape,
				fields ? field->fields : NULL, depth + 1, child->children))
			count++;
	}
	out->children_count = count;
	return true;
}

static bool read_scalar(struct match_reader *reader, const struct node *node,
	enum match_shape shape, struct match *out)
{
	struct node_value value = node_resolve(node);

	if (value.kind == NODE_NULL) {
		FAIL(reader, node->at, "null matches nothing: give a value or leave the key out");
		return false;
	}
	if (shape == MATCH_SHAPE_FIELDS) {
		FAIL(reader, node->at, "a mapping is wanted here, in the shape of Envoy's Node");
		return false;
	}
	if (shape == MATCH_SHAPE_NUMBER && value.kind != NODE_INTEGER) {
		FAIL(reader, node->at, "a whole number is wanted here");
		return false;
	}
	if (shape == MATCH_SHAPE_FREE && value.differs_in_yaml11)
		diag_warning(reader->diags, reader->path, node->at, "yaml11-scalar",
			"\"%.*s\" is a text here, but something else in YAML 1.1: put it in quotes",
			(int)(node->text.length < 64 ? node->text.length : 64), node->text.data);
	out->kind = MATCH_EXACT;
	if (shape != MATCH_SHAPE_TEXT && (value.kind == NODE_INTEGER || value.kind == NODE_FLOAT)) {
		out->kind = MATCH_NUMBER;
		out->number = value.number;
	} else if (shape != MATCH_SHAPE_TEXT && value.kind == NODE_BOOL) {
		out->kind = MATCH_BOOL;
		out->boolean = value.boolean;
	} else {
		out->text = arena_copy(reader->arena, node->text.data, node->text.length);
	}
	return true;
}

static bool read_into(struct match_reader *reader, const struct node *node, enum match_shape shape,
	const struct match_shape_field *fields, unsigned depth, struct match *out)
{
	if (depth > DEPTH_MAX) {
		FAIL(reader, node->at, "nested too deeply: at most %d levels", DEPTH_MAX);
		return false;
	}
	switch (node->kind) {
	case NODE_SCALAR:
		return read_scalar(reader, node, shape, out);
	case NODE_LIST:
		if (node->items_count == 0) {
			FAIL(reader, node->at, "an empty list never matches");
			return false;
		}
		out->kind = MATCH_ANY;
		if (!add_children(reader, out, node->items_count))
			return false;
		for (size_t i = 0; i < node->items_count; i++)
			read_into(reader, node->items[i], shape, fields, depth + 1,
				&out->children[i]);
		return true;
	case NODE_MAP:
		if (shape == MATCH_SHAPE_TEXT && !is_comparison(node)) {
			FAIL(reader, node->at,
				"a text or a mapping of exact, prefix, suffix, contains and "
				"ignore_case is wanted here");
			return false;
		}
		if (shape == MATCH_SHAPE_NUMBER) {
			FAIL(reader, node->at, "a whole number is wanted here");
			return false;
		}
		if (shape == MATCH_SHAPE_TEXT ||
			(shape == MATCH_SHAPE_FREE && depth > 1 && is_comparison(node)))
			return read_comparison(reader, node, out);
		return read_fields(reader, node, shape, fields, depth, out);
	}
	return false;
}

static struct match *read_whole(struct match_reader *reader, const struct node *node,
	enum match_shape shape, const struct match_shape_field *fields)
{
	struct match *match = arena_zalloc(reader->arena, sizeof(*match));

	if (!match || !read_into(reader, node, shape, fields, 0, match) || reader->is_failed)
		return NULL;
	return match;
}

struct match *match_read(
	const struct node *node, const char *path, struct arena *arena, struct diag_list *diags)
{
	struct match_reader reader = {.path = path, .arena = arena, .diags = diags};

	return read_whole(&reader, node, MATCH_SHAPE_FIELDS, node_fields);
}

struct match *match_read_text(
	const struct node *node, const char *path, struct arena *arena, struct diag_list *diags)
{
	struct match_reader reader = {.path = path, .arena = arena, .diags = diags};

	return read_whole(&reader, node, MATCH_SHAPE_TEXT, NULL);
}

const struct match_shape_field *match_fields(void)
{
	return node_fields;
}
