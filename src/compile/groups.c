/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/groups.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "compile/compile.h"
#include "compile/folder.h"
#include "compile/match_read.h"
#include "message/yaml_read.h"

#define NODES_MAX 1000000

#define DEFAULT_TEXT                                                                               \
	"# no groups.yaml: one group for everyone\ngroups:\n- name: default\n  layers: [.]\n"

struct groups_reader {
	const char *path;
	struct diag_list *diags;
	struct groups *groups;
	bool is_failed;
};

#define FAIL(reader, at, rule, ...)                                                                \
	do {                                                                                       \
		diag_error((reader)->diags, (reader)->path, (at), (rule), __VA_ARGS__);            \
		(reader)->is_failed = true;                                                        \
	} while (0)

/* A short form of any text, for messages. */
static const char *quoted(struct slice text, struct buf *out)
{
	buf_reset(out);
	text_quote(out, text, 64);
	return buf_cstr(out);
}

static void fail_unknown_key(struct groups_reader *reader, const struct node_pair *pair,
	const char *where, const char *const *keys)
{
	struct suggestion suggestion;
	struct buf text = BUF_INIT;
	char phrase[256];

	suggestion_init(&suggestion, pair->key);
	for (; *keys; keys++)
		suggestion_offer(&suggestion, *keys);
	FAIL(reader, pair->key_at, "unknown-key", "unknown key \"%s\" in %s%s",
		quoted(pair->key, &text), where, suggestion_phrase(&suggestion, phrase));
	buf_fini(&text);
}

static void check_keys(struct groups_reader *reader, const struct node *map, const char *where,
	const char *const *keys)
{
	for (size_t i = 0; i < map->pairs_count; i++) {
		const char *const *key = keys;

		while (*key && !slice_is(map->pairs[i].key, *key))
			key++;
		if (!*key)
			fail_unknown_key(reader, &map->pairs[i], where, keys);
	}
}

/* The text of a scalar, whatever a plain one would mean elsewhere; data NULL when it is none. */
static struct slice scalar_text(const struct node *node)
{
	if (node->kind != NODE_SCALAR || node_resolve(node).kind == NODE_NULL)
		return (struct slice){NULL, 0};
	return node->text;
}

static bool is_good_name(struct slice name)
{
	for (size_t i = 0; i < name.length; i++) {
		char c = name.data[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
			    (i && (c == '.' || c == '_' || c == '-'))))
			return false;
	}
	return name.length > 0;
}

static void read_name(
	struct groups_reader *reader, const struct node *map, struct groups_entry *entry)
{
	const struct node_pair *pair = node_find(map, "name");
	struct buf text = BUF_INIT;
	struct slice name;

	if (!pair) {
		FAIL(reader, map->at, "missing-name", "a group needs a name");
		return;
	}
	name = scalar_text(pair->value);
	if (!name.data) {
		FAIL(reader, pair->value->at, "bad-name", "a group's name is a text");
	} else if (!is_good_name(name)) {
		FAIL(reader, pair->value->at, "bad-name",
			"\"%s\" cannot be a group's name: lower-case letters, digits, '.', '_' and "
			"'-', a letter or digit first",
			quoted(name, &text));
	} else if (name.length > GROUPS_NAME_BYTES) {
		FAIL(reader, pair->value->at, "bad-name",
			"a group's name has at most %d bytes, this one has %zu", GROUPS_NAME_BYTES,
			name.length);
	} else {
		struct slice copy = arena_copy(reader->groups->arena, name.data, name.length);

		entry->name = copy.data;
		entry->at = pair->value->at;
	}
	buf_fini(&text);
}

/* Works "./a//b/" out to "a/b" and "." to "". */
static bool read_layer(
	struct groups_reader *reader, const struct node *node, struct groups_layer *layer)
{
	struct slice text = scalar_text(node);
	struct buf shown = BUF_INIT;
	char path[PATH_MAX];
	int error;

	if (!text.data) {
		FAIL(reader, node->at, "bad-layer", "a layer is the path of a folder in the tree");
		return false;
	}
	error = folder_resolve(SLICE(""), text, path, sizeof(path));
	if (error == -EINVAL && text.length && text.data[0] == '.') {
		path[0] = '\0';
		error = 0;
	}
	if (error == -EXDEV)
		FAIL(reader, node->at, "bad-layer",
			"layer \"%s\" is outside of the tree: layers are folders relative to its "
			"root",
			quoted(text, &shown));
	else if (error)
		FAIL(reader, node->at, "bad-layer", "\"%s\" cannot be a layer: %s",
			quoted(text, &shown), strerror(-error));
	buf_fini(&shown);
	if (error)
		return false;
	layer->path = arena_copy(reader->groups->arena, path, strlen(path));
	layer->at = node->at;
	return layer->path.data != NULL;
}

static void read_layers(
	struct groups_reader *reader, const struct node *map, struct groups_entry *entry)
{
	const struct node_pair *pair = node_find(map, "layers");
	struct buf shown = BUF_INIT;

	if (!pair) {
		FAIL(reader, map->at, "missing-layers",
			"a group needs layers: a list of folders, for example [common, prod]");
		return;
	}
	if (pair->value->kind != NODE_LIST || pair->value->items_count == 0) {
		FAIL(reader, pair->value->at, "bad-layer",
			"layers must be a list of one folder or more, for example [common, prod]");
		return;
	}
	entry->layers = arena_zalloc(
		reader->groups->arena, pair->value->items_count * sizeof(*entry->layers));
	assert(entry->layers);
	for (size_t i = 0; i < pair->value->items_count; i++) {
		struct groups_layer *layer = &entry->layers[entry->layers_count];
		size_t other = 0;

		if (!read_layer(reader, pair->value->items[i], layer))
			continue;
		while (other < entry->layers_count &&
			!slice_equal(entry->layers[other].path, layer->path))
			other++;
		if (other < entry->layers_count)
			FAIL(reader, layer->at, "duplicate-layer",
				"layer \"%s\" is in this list twice",
				quoted(pair->value->items[i]->text, &shown));
		else
			entry->layers_count++;
	}
	buf_fini(&shown);
}

static void read_allow_empty(
	struct groups_reader *reader, const struct node *map, struct groups_entry *entry)
{
	const struct node_pair *pair = node_find(map, "allow_empty");
	struct node_value value = {.kind = NODE_STRING};

	if (!pair)
		return;
	if (pair->value->kind == NODE_SCALAR)
		value = node_resolve(pair->value);
	if (value.kind != NODE_BOOL)
		FAIL(reader, pair->value->at, "bad-value", "allow_empty must be true or false");
	else
		entry->allow_empty = value.boolean;
}

static void read_group(
	struct groups_reader *reader, const struct node *node, struct groups_entry *entry)
{
	static const char *const keys[] = {"name", "match", "layers", "allow_empty", NULL};
	const struct node_pair *pair;

	if (node->kind != NODE_MAP) {
		FAIL(reader, node->at, "bad-group", "a group is a mapping with name and layers");
		return;
	}
	entry->at = node->at;
	check_keys(reader, node, "a group", keys);
	read_name(reader, node, entry);
	read_layers(reader, node, entry);
	read_allow_empty(reader, node, entry);
	pair = node_find(node, "match");
	if (!pair)
		return;
	entry->match = match_read(pair->value, reader->path, reader->groups->arena, reader->diags);
	if (!entry->match)
		reader->is_failed = true;
}

/* What only shows when all groups are known: names used twice, groups that nobody reaches. */
static void check_groups(struct groups_reader *reader)
{
	struct groups *groups = reader->groups;
	const struct groups_entry *catch_all = NULL;
	struct hash names;

	hash_init(&names);
	for (size_t i = 0; i < groups->count; i++) {
		struct groups_entry *entry = &groups->entries[i];
		struct groups_entry *former;

		if (!entry->name)
			continue;
		former = hash_get(&names, slice_of(entry->name));
		if (former)
			FAIL(reader, entry->at, "duplicate-group",
				"there are two groups \"%s\"; the other one is in line %u",
				entry->name, former->at.line);
		else
			hash_put(&names, slice_of(entry->name), entry);
		if (catch_all)
			diag_warning(reader->diags, reader->path, entry->at, "unreachable-group",
				"no node gets to group \"%s\": group \"%s\" in line %u comes first "
				"and takes every node",
				entry->name, catch_all->name, catch_all->at.line);
		else if (!entry->match)
			catch_all = entry;
	}
	hash_fini(&names);
}

static void read_isolate(struct groups_reader *reader, const struct node *root)
{
	const struct node_pair *pair = node_find(root, "isolate");
	struct slice text;
	struct suggestion suggestion;
	char phrase[256];

	if (!pair)
		return;
	text = scalar_text(pair->value);
	if (text.data && slice_is(text, "tree")) {
		reader->groups->isolate_tree = true;
	} else if (!text.data || !slice_is(text, "group")) {
		suggestion_init(&suggestion, text.data ? text : SLICE(""));
		suggestion_offer(&suggestion, "group");
		suggestion_offer(&suggestion, "tree");
		FAIL(reader, pair->value->at, "bad-value", "isolate must be group or tree%s",
			suggestion_phrase(&suggestion, phrase));
	}
}

static void read_root(struct groups_reader *reader, const struct node *root)
{
	static const char *const keys[] = {"groups", "isolate", NULL};
	struct groups *groups = reader->groups;
	const struct node_pair *pair;

	if (root->kind != NODE_MAP) {
		FAIL(reader, root->at, "bad-groups", "a mapping with groups: is wanted here");
		return;
	}
	check_keys(reader, root, FOLDER_GROUPS_FILE, keys);
	read_isolate(reader, root);
	pair = node_find(root, "groups");
	if (!pair || pair->value->kind != NODE_LIST || pair->value->items_count == 0) {
		FAIL(reader, pair ? pair->value->at : root->at, "bad-groups",
			"groups: must be a list of one group or more");
		return;
	}
	groups->entries =
		arena_zalloc(groups->arena, pair->value->items_count * sizeof(*groups->entries));
	assert(groups->entries);
	groups->count = pair->value->items_count;
	for (size_t i = 0; i < groups->count; i++)
		read_group(reader, pair->value->items[i], &groups->entries[i]);
	check_groups(reader);
}

static struct selector *make_selector(const struct groups *groups)
{
	struct selector_builder *builder = selector_begin();

	for (size_t i = 0; i < groups->count; i++)
		selector_add(builder, groups->entries[i].name, groups->entries[i].match);
	return selector_finish(builder);
}

int groups_read(
	const char *path, struct slice text, struct diag_list *diags, struct groups **ret_groups)
{
	struct groups *groups = xcalloc(1, sizeof(*groups));
	struct groups_reader reader = {.path = path, .diags = diags, .groups = groups};
	struct read_options options = {.path = path, .nodes_limit = NODES_MAX};
	struct arena *arena = arena_new(0);
	struct documents documents = {0};
	int error;

	groups->arena = arena_new(0);
	groups->text = arena_copy(groups->arena, text.data, text.length);
	error = yaml_read(&options, groups->text, arena, diags, &documents);
	if (error) {
		reader.is_failed = true;
	} else if (documents.count == 0) {
		FAIL(&reader, ((struct position){0, 0}), "empty-file",
			"%s says nothing: it needs groups:, or should not be there", path);
	} else {
		read_root(&reader, documents.roots[0]);
		if (documents.count > 1)
			FAIL(&reader, documents.roots[1]->at, "bad-groups",
				"%s must be one YAML document, this is a second one", path);
	}
	arena_free(arena);
	if (reader.is_failed) {
		groups_free(groups);
		return -EBADMSG;
	}
	groups->selector = make_selector(groups);
	*ret_groups = groups;
	return 0;
}

struct groups *groups_new_default(void)
{
	struct groups *groups = NULL;
	struct diag_list *diags = diag_list_new(0);
	int error = groups_read(FOLDER_GROUPS_FILE, SLICE(DEFAULT_TEXT), diags, &groups);

	assert(error == 0);
	(void)error;
	diag_list_free(diags);
	groups->is_default = true;
	return groups;
}

void groups_free(struct groups *groups)
{
	if (!groups)
		return;
	selector_unref(groups->selector);
	arena_free(groups->arena);
	free(groups);
}

bool groups_text_is_default(struct slice text)
{
	return slice_equal(text, SLICE(DEFAULT_TEXT));
}

int compile_selector(struct slice groups_text, struct selector **ret_selector)
{
	struct diag_list *diags = diag_list_new(0);
	struct groups *groups = NULL;
	int error = groups_read(FOLDER_GROUPS_FILE, groups_text, diags, &groups);

	diag_list_free(diags);
	if (error)
		return error;
	*ret_selector = selector_ref(groups->selector);
	groups_free(groups);
	return 0;
}
