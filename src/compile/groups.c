/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/groups.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "catalogue/catalogue.h"
#include "compile/compile.h"
#include "compile/external.h"
#include "compile/folder.h"
#include "compile/groups_each.h"
#include "compile/groups_keys.h"
#include "compile/match_cover.h"
#include "compile/match_read.h"
#include "compile/sources_read.h"
#include "message/yaml_read.h"

#define NODES_MAX 1000000

#define DEFAULT_TEXT                                                                               \
	"# no groups.yaml: one group for everyone\ngroups:\n- name: default\n  layers: [.]\n"

/* Before the folders that each: found, behind the text itself: see groups.text. */
#define FOLDERS_MARK "\n# The folders that each: found, for the next start:\n"
/* Pairs of groups that are compared to find those that nobody gets to. */
#define COMPARISONS_MAX 2000000

struct groups_reader {
	const char *path;
	struct diag_list *diags;
	struct groups *groups;
	struct arena *arena;	       /* of the reading */
	const struct hash *folders;    /* of the tree; NULL: none */
	const struct schema *schema;   /* NULL: config_sources is not looked at */
	struct sources_choice sources; /* for all groups */
	struct slice folder;	       /* for which a group is being made; data NULL: none */
	struct hash found; /* every folder that some pattern found: paths in groups->arena */
	size_t capacity;   /* of groups->entries */
	bool is_failed;
};

__attribute__((format(printf, 4, 5))) static void fail(
	struct groups_reader *reader, struct position at, const char *rule, const char *format, ...)
{
	struct buf text = BUF_INIT;
	va_list arguments;

	va_start(arguments, format);
	buf_vprintf(&text, format, arguments);
	va_end(arguments);
	if (reader->folder.data) {
		buf_puts(&text, " (for folder \"");
		text_quote(&text, reader->folder, 200);
		buf_puts(&text, "\")");
	}
	diag_error(reader->diags, reader->path, at, rule, "%s", buf_cstr(&text));
	reader->is_failed = true;
	buf_fini(&text);
}

#define FAIL(reader, at, rule, ...) fail((reader), (at), (rule), __VA_ARGS__)

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

/* `prefix`: whose keys they are in the table of groups_keys.h. */
static void check_keys(
	struct groups_reader *reader, const struct node *map, const char *where, const char *prefix)
{
	size_t rows_count, count = 0;
	const struct groups_key *rows = groups_keys(&rows_count);
	AUTO_FREE const char **keys = xcalloc(rows_count + 1, sizeof(*keys));

	for (size_t i = 0; i < rows_count; i++) {
		const char *key = groups_key_below(&rows[i], prefix);

		if (key)
			keys[count++] = key;
	}
	for (size_t i = 0; i < map->pairs_count; i++) {
		size_t key = 0;

		while (keys[key] && !slice_is(map->pairs[i].key, keys[key]))
			key++;
		if (!keys[key])
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
		FAIL(reader, map->at, "missing-name", "a group needs a name%s",
			reader->folder.data ? ", such as edge-{1}" : "");
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

/* A floor for each type: {listeners: 1, clusters: 30}. */
static void read_at_least(
	struct groups_reader *reader, const struct node *map, struct groups_entry *entry)
{
	const struct node_pair *pair = node_find(map, "at_least");

	if (!pair)
		return;
	if (pair->value->kind != NODE_MAP || pair->value->pairs_count == 0) {
		FAIL(reader, pair->value->at, "bad-value",
			"at_least is a mapping of type folders and numbers, such as {listeners: 1, "
			"clusters: 30}");
		return;
	}
	for (size_t i = 0; i < pair->value->pairs_count; i++) {
		const struct node_pair *floor = &pair->value->pairs[i];
		const struct xds_type_row *row = xds_type_by_folder(floor->key);
		struct node_value value = {.kind = NODE_STRING};
		const char *folders[XDS_TYPE_COUNT + 1] = {NULL};

		if (floor->value->kind == NODE_SCALAR)
			value = node_resolve(floor->value);
		for (int k = 0; k < XDS_TYPE_COUNT && !row; k++)
			folders[k] = xds_type_row((enum xds_type)k)->folder;
		if (!row)
			fail_unknown_key(reader, floor, "at_least", folders);
		else if (value.kind != NODE_INTEGER || value.number < 1 || value.number > 1e9)
			FAIL(reader, floor->value->at, "bad-value",
				"at_least says how many %s there must be: a number from 1 on",
				row->folder);
		else
			entry->at_least[row->type] = (uint32_t)value.number;
	}
	entry->at_least_at = pair->value->at;
}

static bool read_ignore(
	struct groups_reader *reader, const struct node *node, struct groups_ignore *ignore)
{
	struct slice id = scalar_text(node);
	const struct catalogue_entry *entry = catalogue_find(id.data ? id : SLICE(""));
	struct buf shown = BUF_INIT;
	char phrase[256];

	if (!id.data)
		FAIL(reader, node->at, "bad-value", "ignore: is a list of rules");
	else if (!entry)
		diag_warning(reader->diags, reader->path, node->at, "unknown-rule",
			"no rule is called %s%s", quoted(id, &shown),
			catalogue_suggest(id, phrase));
	else if (!entry->is_silenceable)
		diag_warning(reader->diags, reader->path, node->at, "not-silenceable",
			"%s cannot be silenced: what it finds cannot be used", entry->id);
	else
		*ignore = (struct groups_ignore){entry->id, node->at,
			arena_zalloc(reader->groups->arena, sizeof(*ignore->is_used))};
	buf_fini(&shown);
	return entry && entry->is_silenceable;
}

/* `ignore: [RULE...]` */
static struct groups_ignore *read_ignores(
	struct groups_reader *reader, const struct node *map, size_t *ret_count)
{
	const struct node_pair *pair = node_find(map, "ignore");
	struct groups_ignore *ignores;

	*ret_count = 0;
	if (!pair)
		return NULL;
	if (pair->value->kind != NODE_LIST) {
		FAIL(reader, pair->value->at, "bad-value", "ignore: is a list of rules");
		return NULL;
	}
	ignores = arena_zalloc(
		reader->groups->arena, (pair->value->items_count + 1) * sizeof(*ignores));
	assert(ignores);
	for (size_t i = 0; i < pair->value->items_count; i++) {
		if (read_ignore(reader, pair->value->items[i], &ignores[*ret_count]))
			++*ret_count;
	}
	return ignores;
}

/* Groups that one each: makes share theirs. */
static void read_entry_ignores(
	struct groups_reader *reader, const struct node *map, struct groups_entry *entry)
{
	const struct groups_entry *former = NULL;

	assert(entry);
	if (entry > reader->groups->entries)
		former = entry - 1;
	if (former && former->source == entry->source) {
		entry->ignores = former->ignores;
		entry->ignores_count = former->ignores_count;
	} else {
		entry->ignores = read_ignores(reader, map, &entry->ignores_count);
	}
}

/* The names of what is not in the tree, by type folder. */
static const struct external *read_external(struct groups_reader *reader, const struct node *map)
{
	const struct node_pair *pair = node_find(map, "external");
	const struct external *external;

	if (!pair)
		return NULL;
	external = external_read(pair->value, reader->path, reader->groups->arena, reader->diags);
	if (!external)
		reader->is_failed = true;
	return external;
}

/* What `config_sources` of the root or a group says, over what was said. */
static void read_sources(
	struct groups_reader *reader, const struct node *map, struct sources_choice *choice)
{
	const struct node_pair *pair = node_find(map, "config_sources");
	const struct bind_options bind = {.schema = reader->schema, .path = reader->path};

	if (pair && reader->schema &&
		!sources_read(&bind, pair->value, reader->arena, reader->diags, choice))
		reader->is_failed = true;
}

/* The one object with these sources. */
static struct config_sources *keep_sources(struct groups_reader *reader, const source_table table)
{
	struct config_sources *sources = config_sources_new(table), *known;
	struct slice key = {(const char *)sources->digest.bytes, DIGEST_LENGTH};

	known = hash_get(&reader->groups->sources, key);
	if (known) {
		config_sources_unref(sources);
		return known;
	}
	hash_put(&reader->groups->sources, key, sources);
	return sources;
}

static struct groups_entry *add_entry(struct groups_reader *reader)
{
	struct groups *groups = reader->groups;

	if (groups->count == reader->capacity) {
		size_t capacity = reader->capacity ? reader->capacity * 2 : 16;

		groups->entries = arena_grow(groups->arena, groups->entries,
			groups->count * sizeof(*groups->entries),
			capacity * sizeof(*groups->entries));
		assert(groups->entries);
		reader->capacity = capacity;
	}
	groups->entries[groups->count] = (struct groups_entry){0};
	return &groups->entries[groups->count++];
}

static void read_group(struct groups_reader *reader, const struct node *node, uint32_t source)
{
	struct groups_entry *entry = add_entry(reader);
	const struct node_pair *pair = node_find(node, "match");
	struct sources_choice sources = reader->sources;

	entry->at = node->at;
	entry->source = source;
	entry->folder = reader->folder;
	read_name(reader, node, entry);
	read_layers(reader, node, entry);
	read_allow_empty(reader, node, entry);
	read_at_least(reader, node, entry);
	read_entry_ignores(reader, node, entry);
	entry->external = read_external(reader, node);
	read_sources(reader, node, &sources);
	entry->sources = keep_sources(reader, sources.table);
	memcpy(entry->sources_said, sources.said, sizeof(sources.said));
	if (!pair)
		return;
	entry->match = match_read(pair->value, reader->path, reader->groups->arena, reader->diags);
	if (!entry->match)
		reader->is_failed = true;
}

/* The node with the captures filled in, or NULL. */
static const struct node *substitute(struct groups_reader *reader, const struct node *node,
	const struct groups_found *found, unsigned stars)
{
	const struct node *bad = NULL,
			  *filled = groups_substitute(node, found, stars, reader->arena, &bad);
	struct buf text = BUF_INIT;

	if (!filled && !found)
		FAIL(reader, bad->at, "bad-capture",
			"\"%s\": {1} stands for what a star of each: matched, and this group has "
			"no "
			"each:",
			quoted(bad->text, &text));
	else if (!filled)
		FAIL(reader, bad->at, "bad-capture",
			"\"%s\": each: has %u star%s, counted from {1}", quoted(bad->text, &text),
			stars, stars == 1 ? "" : "s");
	buf_fini(&text);
	return filled;
}

static void fail_nothing_found(struct groups_reader *reader, const struct node *value)
{
	struct suggestion suggestion;
	struct slice first = value->text;
	struct hash_entry *slot;
	size_t cursor = 0;
	char phrase[256];
	struct buf text = BUF_INIT;

	/* The folder before the first star may be misspelt. */
	first.length = (size_t)((const char *)memchr(first.data, '*', first.length) - first.data);
	first = folder_parent(first);
	suggestion_init(&suggestion, first);
	while (reader->folders && first.length && (slot = hash_next(reader->folders, &cursor)))
		suggestion_offer(&suggestion, ((const struct rcstr *)slot->value)->text);
	if (reader->folders && hash_get(reader->folders, first))
		suggestion.best.data = NULL;
	FAIL(reader, value->at, "each-empty", "each: %s matches no folder%s",
		quoted(value->text, &text), suggestion_phrase(&suggestion, phrase));
	buf_fini(&text);
}

static void note_each(
	struct groups_reader *reader, const struct groups_pattern *pattern, struct position at)
{
	struct groups *groups = reader->groups;
	size_t size = sizeof(*groups->eaches);

	groups->eaches = arena_grow(groups->arena, groups->eaches, groups->eaches_count * size,
		(groups->eaches_count + 1) * size);
	assert(groups->eaches);
	groups->eaches[groups->eaches_count++] = (struct groups_each){*pattern, at};
}

/* One group for each folder that the pattern matches. */
static void read_each(struct groups_reader *reader, const struct node *node,
	const struct node_pair *each, uint32_t source)
{
	struct groups_pattern pattern;
	struct slice text = scalar_text(each->value);
	const char *problem = "each: is a path of folders with stars, such as env/*/*";
	struct groups_found *found;
	size_t count, failed = 0;

	reader->groups->has_each = true;
	if (text.data)
		problem = groups_pattern_read(text, reader->groups->arena, &pattern);
	if (problem) {
		FAIL(reader, each->value->at, "bad-each", "%s", problem);
		return;
	}
	note_each(reader, &pattern, each->value->at);
	found = groups_pattern_find(&pattern, reader->folders, reader->groups->arena, &count);
	if (count == 0)
		fail_nothing_found(reader, each->value);
	/* Ten examples are enough for anybody. */
	for (size_t i = 0; i < count && failed < 10; i++) {
		bool before = reader->is_failed;
		const struct node *filled;

		reader->is_failed = false;
		reader->folder = found[i].folder;
		hash_put(&reader->found, found[i].folder, found);
		filled = substitute(reader, node, &found[i], pattern.stars);
		if (filled)
			read_group(reader, filled, source);
		failed += reader->is_failed;
		reader->is_failed = reader->is_failed || before;
	}
	reader->folder = (struct slice){NULL, 0};
}

static void read_item(struct groups_reader *reader, const struct node *node, uint32_t source)
{
	const struct node_pair *each = node_find(node, "each");

	if (node->kind != NODE_MAP) {
		FAIL(reader, node->at, "bad-group", "a group is a mapping with name and layers");
		return;
	}
	check_keys(reader, node, "a group", "groups.");
	if (each) {
		/* Its own stars and braces are no captures. */
		struct node *rest = arena_zalloc(reader->arena, sizeof(*rest));

		assert(rest);
		*rest = *node;
		rest->pairs = arena_alloc(reader->arena, node->pairs_count * sizeof(*rest->pairs));
		rest->pairs_count = 0;
		for (size_t i = 0; i < node->pairs_count; i++) {
			if (&node->pairs[i] != each)
				rest->pairs[rest->pairs_count++] = node->pairs[i];
		}
		read_each(reader, rest, each, source);
	} else {
		node = substitute(reader, node, NULL, 0);
		if (node)
			read_group(reader, node, source);
	}
}

/* "in line 3", with the folder when a pattern made the group. */
static const char *entry_place(const struct groups_entry *entry, char out[static 256])
{
	if (entry->folder.data)
		snprintf(out, 256, "in line %u, for folder \"%.*s\"", entry->at.line,
			(int)(entry->folder.length < 200 ? entry->folder.length : 200),
			entry->folder.data);
	else
		snprintf(out, 256, "in line %u", entry->at.line);
	return out;
}

static void check_names(struct groups_reader *reader)
{
	struct groups *groups = reader->groups;
	struct hash names;
	char place[256];

	hash_init(&names);
	for (size_t i = 0; i < groups->count; i++) {
		struct groups_entry *entry = &groups->entries[i], *former;

		if (!entry->name)
			continue;
		former = hash_get(&names, slice_of(entry->name));
		reader->folder = entry->folder;
		if (former)
			FAIL(reader, entry->at, "duplicate-group",
				"there are two groups \"%s\"; the other one is %s", entry->name,
				entry_place(former, place));
		else
			hash_put(&names, slice_of(entry->name), entry);
	}
	reader->folder = (struct slice){NULL, 0};
	hash_fini(&names);
}

static void warn_unreachable(struct groups_reader *reader, const struct groups_entry *entry,
	const struct groups_entry *former)
{
	char place[256];

	diag_warning(reader->diags, reader->path, entry->at, "unreachable-group",
		"no node gets to group \"%s\": group \"%s\" %s comes first and takes every node%s",
		entry->name, former->name, entry_place(former, place),
		former->match ? " that this one would take" : "");
}

/* The first group that takes every node of this one, looking at no more than *budget of them. */
static const struct groups_entry *find_cover(
	const struct groups *groups, size_t index, size_t *budget)
{
	const struct groups_entry *entry = &groups->entries[index];

	for (size_t i = 0; i < index && *budget; i++) {
		const struct groups_entry *former = &groups->entries[i];

		/* Those of one pattern differ by captures, or are equal. */
		if (former->source == entry->source)
			continue;
		--*budget;
		if (match_covers(former->match, entry->match))
			return former;
	}
	return NULL;
}

/* Groups that nobody reaches. */
static void check_reach(struct groups_reader *reader)
{
	struct groups *groups = reader->groups;
	size_t budget = COMPARISONS_MAX;
	struct hash conditions;

	hash_init(&conditions);
	for (size_t i = 0; i < groups->count; i++) {
		struct groups_entry *entry = &groups->entries[i];
		const struct groups_entry *former;
		struct buf text = BUF_INIT;
		struct slice key;

		match_write(entry->match, &text);
		key = arena_copy(reader->arena, text.data, text.length);
		former = hash_get(&conditions, key);
		if (!former)
			former = find_cover(groups, i, &budget);
		if (former)
			warn_unreachable(reader, entry, former);
		else
			hash_put(&conditions, key, entry);
		buf_fini(&text);
	}
	hash_fini(&conditions);
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
	const struct node_pair *pair;

	if (root->kind != NODE_MAP) {
		FAIL(reader, root->at, "bad-groups", "a mapping with groups: is wanted here");
		return;
	}
	check_keys(reader, root, FOLDER_GROUPS_FILE, "");
	read_isolate(reader, root);
	reader->groups->ignores = read_ignores(reader, root, &reader->groups->ignores_count);
	reader->groups->external = read_external(reader, root);
	read_sources(reader, root, &reader->sources);
	pair = node_find(root, "groups");
	if (!pair || pair->value->kind != NODE_LIST || pair->value->items_count == 0) {
		FAIL(reader, pair ? pair->value->at : root->at, "bad-groups",
			"groups: must be a list of one group or more");
		return;
	}
	for (size_t i = 0; i < pair->value->items_count; i++)
		read_item(reader, pair->value->items[i], (uint32_t)i);
	check_names(reader);
	if (!reader->is_failed)
		check_reach(reader);
}

static struct selector *make_selector(const struct groups *groups)
{
	struct selector_builder *builder = selector_begin();

	for (size_t i = 0; i < groups->count; i++)
		selector_add(builder, groups->entries[i].name, groups->entries[i].match);
	return selector_finish(builder);
}

static int compare_keys(const void *a, const void *b)
{
	return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* The last mark in a text, or NULL. */
static const char *find_mark(struct slice text)
{
	const char *last = NULL, *at = text.data, *end = text.data + text.length;

	while (text.length &&
		(at = memmem(at, (size_t)(end - at), FOLDERS_MARK, strlen(FOLDERS_MARK))))
		last = at++;
	return last;
}

/* The text, and as comments what else the groups depend on. */
static struct slice write_text(struct groups_reader *reader, struct slice text)
{
	struct slice *paths, whole;
	struct buf out = BUF_INIT;
	struct hash_entry *slot;
	size_t cursor = 0, count = 0;

	buf_append_slice(&out, text);
	paths = arena_alloc(reader->arena, (reader->found.count + 1) * sizeof(*paths));
	assert(paths);
	while ((slot = hash_next(&reader->found, &cursor)))
		paths[count++] = slot->key;
	if (count > 1)
		qsort(paths, count, sizeof(*paths), compare_keys);
	if (count || find_mark(text))
		buf_puts(&out, FOLDERS_MARK);
	for (size_t i = 0; i < count; i++)
		buf_printf(&out, "# %.*s\n", SLICE_ARG(paths[i]));
	whole = arena_copy(reader->groups->arena, out.data, out.length);
	buf_fini(&out);
	return whole;
}

int groups_read(const char *path, struct slice text, const struct hash *folders,
	const struct schema *schema, struct diag_list *diags, struct groups **ret_groups)
{
	struct groups *groups = xcalloc(1, sizeof(*groups));
	struct groups_reader reader = {.path = path,
		.diags = diags,
		.groups = groups,
		.arena = arena_new(0),
		.folders = folders,
		.schema = schema};
	struct read_options options = {.path = path, .nodes_limit = NODES_MAX};
	struct documents documents = {0};
	int error;

	hash_init(&reader.found);
	hash_init(&groups->sources);
	config_sources_preset(reader.sources.table);
	groups->arena = arena_new(0);
	error = yaml_read(&options, text, reader.arena, diags, &documents);
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
	groups->text = write_text(&reader, text);
	hash_fini(&reader.found);
	arena_free(reader.arena);
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
	int error =
		groups_read(FOLDER_GROUPS_FILE, SLICE(DEFAULT_TEXT), NULL, NULL, diags, &groups);

	assert(error == 0);
	(void)error;
	diag_list_free(diags);
	groups->is_default = true;
	return groups;
}

void groups_free(struct groups *groups)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	if (!groups)
		return;
	while ((slot = hash_next(&groups->sources, &cursor)))
		config_sources_unref(slot->value);
	hash_fini(&groups->sources);
	selector_unref(groups->selector);
	arena_free(groups->arena);
	free(groups);
}

bool groups_text_is_default(struct slice text)
{
	return slice_equal(text, SLICE(DEFAULT_TEXT));
}

/* Takes the folders off a text that write_text made; values as in struct shape.folders. */
static void take_folders(struct slice *text, struct hash *folders)
{
	const char *mark = find_mark(*text), *end = text->data + text->length, *line, *next;

	if (!mark)
		return;
	text->length = (size_t)(mark - text->data);
	for (line = mark + strlen(FOLDERS_MARK); line < end; line = next + 1) {
		struct slice path;
		struct rcstr *copy;

		next = memchr(line, '\n', (size_t)(end - line));
		if (!next || next - line < 3)
			break;
		path = (struct slice){line + 2, (size_t)(next - line - 2)};
		if (hash_get(folders, path))
			continue;
		copy = rcstr_new(path.data, path.length);
		hash_put(folders, (struct slice){copy->text, copy->length}, copy);
	}
}

int compile_selector(struct slice groups_text, struct selector **ret_selector)
{
	struct diag_list *diags = diag_list_new(0);
	struct groups *groups = NULL;
	struct hash_entry *slot;
	struct hash folders;
	size_t cursor = 0;
	int error;

	hash_init(&folders);
	take_folders(&groups_text, &folders);
	error = groups_read(FOLDER_GROUPS_FILE, groups_text, &folders, NULL, diags, &groups);
	while ((slot = hash_next(&folders, &cursor)))
		rcstr_unref(slot->value);
	hash_fini(&folders);
	diag_list_free(diags);
	if (error)
		return error;
	*ret_selector = selector_ref(groups->selector);
	groups_free(groups);
	return 0;
}
