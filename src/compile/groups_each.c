/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/groups_each.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#include "base/buf.h"
#include "compile/folder.h"

/* --- patterns ------------------------------------------------------------------------------ */

/* Takes the first name off a path. */
static struct slice next_name(struct slice *path)
{
	const char *slash = path->length ? memchr(path->data, '/', path->length) : NULL;
	struct slice name = {path->data, slash ? (size_t)(slash - path->data) : path->length};
	size_t taken = name.length + (slash ? 1 : 0);

	*path = (struct slice){path->data + taken, path->length - taken};
	return name;
}

const char *groups_pattern_read(
	struct slice text, struct arena *arena, struct groups_pattern *ret_pattern)
{
	char path[PATH_MAX];
	struct slice rest;

	if (folder_resolve(SLICE(""), text, path, sizeof(path)))
		return "a pattern is a path of folders relative to the root, such as env/*/*";
	*ret_pattern = (struct groups_pattern){.path = arena_copy(arena, path, strlen(path))};
	for (rest = ret_pattern->path; rest.length;) {
		struct slice name = next_name(&rest);
		const char *star = memchr(name.data, '*', name.length);

		if (!star)
			continue;
		if (memchr(star + 1, '*', (size_t)(name.data + name.length - star - 1)))
			return "there can be one star in each name, and \"**\" has no meaning";
		if (++ret_pattern->stars > GROUPS_STARS_MAX)
			return "there can be at most 9 stars";
	}
	return ret_pattern->stars ? NULL : "without a star there is nothing to do for each";
}

static bool is_candidate(struct slice name)
{
	for (size_t i = 0; i < name.length; i++) {
		/* Neither a group's name nor a line of text could hold it. */
		if ((unsigned char)name.data[i] < ' ')
			return false;
	}
	return name.length && name.data[0] != '_' && !xds_type_by_folder(name);
}

/* One name against one with a star, or without. */
static bool match_name(struct slice pattern, struct slice name, struct slice *capture)
{
	const char *star = memchr(pattern.data, '*', pattern.length);
	size_t before, after;

	*capture = (struct slice){NULL, 0};
	if (!star)
		return slice_equal(pattern, name);
	before = (size_t)(star - pattern.data);
	after = pattern.length - before - 1;
	if (name.length <= before + after || memcmp(name.data, pattern.data, before) != 0 ||
		memcmp(name.data + name.length - after, star + 1, after) != 0)
		return false;
	*capture = (struct slice){name.data + before, name.length - before - after};
	return true;
}

bool groups_pattern_match(
	const struct groups_pattern *pattern, struct slice folder, struct groups_found *ret_found)
{
	struct slice patterns = pattern->path, names = folder;
	unsigned stars = 0;

	ret_found->folder = folder;
	while (patterns.length && names.length) {
		struct slice name = next_name(&names), capture;

		if (!is_candidate(name) || !match_name(next_name(&patterns), name, &capture))
			return false;
		if (capture.data)
			ret_found->captures[stars++] = capture;
	}
	return patterns.length == 0 && names.length == 0;
}

bool groups_pattern_may_match_below(const struct groups_pattern *pattern, struct slice folder)
{
	struct slice patterns = pattern->path, names = folder;

	while (patterns.length && names.length) {
		struct slice name = next_name(&names), capture;

		if (!is_candidate(name) || !match_name(next_name(&patterns), name, &capture))
			return false;
	}
	return patterns.length > 0 && names.length == 0;
}

static int compare_found(const void *a, const void *b)
{
	const struct groups_found *one = a, *two = b;

	return slice_compare(one->folder, two->folder);
}

struct groups_found *groups_pattern_find(const struct groups_pattern *pattern,
	const struct hash *folders, struct arena *arena, size_t *ret_count)
{
	struct groups_found *found = NULL, one;
	struct hash_entry *slot;
	size_t cursor = 0, count = 0, capacity = 0;

	while (folders && (slot = hash_next(folders, &cursor))) {
		if (!groups_pattern_match(pattern, slot->key, &one))
			continue;
		if (count == capacity) {
			size_t more = capacity ? capacity * 2 : 16;

			found = arena_grow(
				arena, found, capacity * sizeof(*found), more * sizeof(*found));
			assert(found);
			capacity = more;
		}
		/* The table's keys come and go with the folders. */
		one.folder = arena_copy(arena, slot->key.data, slot->key.length);
		groups_pattern_match(pattern, one.folder, &one);
		found[count++] = one;
	}
	if (count > 1)
		qsort(found, count, sizeof(*found), compare_found);
	*ret_count = count;
	return found;
}

/* --- captures ------------------------------------------------------------------------------ */

/* The number of the capture that starts at `at`, 0: none does. */
static unsigned capture_at(struct slice text, size_t at, size_t *ret_length)
{
	unsigned number = 0;
	size_t i = at + 1;

	if (text.data[at] != '{')
		return 0;
	while (i < text.length && text.data[i] >= '0' && text.data[i] <= '9' && i - at < 5)
		number = number * 10 + (unsigned)(text.data[i++] - '0');
	if (i == at + 1 || i == text.length || text.data[i] != '}')
		return 0;
	*ret_length = i + 1 - at;
	/* {0} is a capture that no pattern has. */
	return number ? number : UINT_MAX;
}

static const struct node *substitute_text(const struct node *node, const struct groups_found *found,
	unsigned stars, struct arena *arena, const struct node **ret_bad)
{
	struct buf text = BUF_INIT;
	struct node *copy;
	size_t length, done = 0;

	for (size_t i = 0; i < node->text.length; i++) {
		unsigned number = capture_at(node->text, i, &length);

		if (!number)
			continue;
		if (!found || number > stars) {
			*ret_bad = node;
			buf_fini(&text);
			return NULL;
		}
		buf_append(&text, node->text.data + done, i - done);
		buf_append(&text, found->captures[number - 1].data,
			found->captures[number - 1].length);
		done = i + length;
		i = done - 1;
	}
	if (!done)
		return node;
	buf_append(&text, node->text.data + done, node->text.length - done);
	copy = arena_alloc(arena, sizeof(*copy));
	assert(copy);
	*copy = *node;
	/* What a folder is called is a text, even when it looks like a number. */
	copy->is_plain = false;
	copy->text = arena_copy(arena, text.data, text.length);
	buf_fini(&text);
	return copy;
}

/* Depth is limited by the reader of groups.yaml. */
const struct node *groups_substitute(const struct node *node, const struct groups_found *found,
	unsigned stars, struct arena *arena, const struct node **ret_bad)
{
	bool is_list = node->kind == NODE_LIST;
	size_t count;
	struct node *copy;

	if (node->kind == NODE_SCALAR)
		return substitute_text(node, found, stars, arena, ret_bad);
	copy = arena_alloc(arena, sizeof(*copy));
	assert(copy);
	*copy = *node;
	count = is_list ? node->items_count : node->pairs_count;
	if (is_list)
		copy->items = arena_alloc(arena, count * sizeof(*copy->items));
	else
		copy->pairs = arena_alloc(arena, count * sizeof(*copy->pairs));
	for (size_t i = 0; i < count; i++) {
		const struct node *below =
			groups_substitute(is_list ? node->items[i] : node->pairs[i].value, found,
				stars, arena, ret_bad);

		if (!below)
			return NULL;
		if (is_list) {
			copy->items[i] = (struct node *)below;
		} else {
			copy->pairs[i] = node->pairs[i];
			copy->pairs[i].value = (struct node *)below;
		}
	}
	return copy;
}
