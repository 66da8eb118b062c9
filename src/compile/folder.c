/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/folder.h"

#include <errno.h>

#include "base/text.h"

struct slice folder_parent(struct slice path)
{
	const char *slash = path.length ? memrchr(path.data, '/', path.length) : NULL;

	return (struct slice){path.data, slash ? (size_t)(slash - path.data) : 0};
}

struct slice folder_name(struct slice path)
{
	size_t parent = folder_parent(path).length;
	size_t start = parent ? parent + 1 : 0;

	/* "/a" cannot be: paths are relative. */
	return (struct slice){path.data + start, path.length - start};
}

bool folder_holds(struct slice folder, struct slice path)
{
	if (folder.length == 0)
		return true;
	return path.length >= folder.length && memcmp(path.data, folder.data, folder.length) == 0 &&
	       (path.length == folder.length || path.data[folder.length] == '/');
}

static bool ends_with(struct slice text, const char *end)
{
	size_t length = strlen(end);

	return text.length > length && memcmp(text.data + text.length - length, end, length) == 0;
}

enum folder_format folder_format(struct slice path)
{
	struct slice name = folder_name(path);

	if (ends_with(name, ".yaml") || ends_with(name, ".yml"))
		return FOLDER_YAML;
	return ends_with(name, ".json") ? FOLDER_JSON : FOLDER_OTHER;
}

bool folder_is_source(struct slice path)
{
	if (folder_format(path) == FOLDER_OTHER || slice_is(path, FOLDER_GROUPS_FILE))
		return false;
	if (path.data[0] == '_')
		return false;
	for (size_t i = 0; i + 1 < path.length; i++) {
		if (path.data[i] == '/' && path.data[i + 1] == '_')
			return false;
	}
	return true;
}

const struct xds_type_row *folder_type(struct slice path, struct slice *ret_folder)
{
	for (struct slice at = folder_parent(path); at.length; at = folder_parent(at)) {
		const struct xds_type_row *row = xds_type_by_folder(folder_name(at));

		if (row) {
			*ret_folder = at;
			return row;
		}
	}
	*ret_folder = (struct slice){path.data, 0};
	return NULL;
}

const struct xds_type_row *folder_near_miss(struct slice name)
{
	const struct xds_type_row *best = NULL;
	size_t distance = 3;

	if (name.length < 4 || name.length > 32 || xds_type_by_folder(name))
		return NULL;
	for (int i = 0; i < XDS_TYPE_COUNT; i++) {
		const struct xds_type_row *row = xds_type_row((enum xds_type)i);
		size_t d = suggestion_distance(name, slice_of(row->folder), 2);

		if (d < distance) {
			distance = d;
			best = row;
		}
	}
	return best;
}

bool folder_is_misspelt_groups(struct slice path)
{
	if (slice_is(path, FOLDER_GROUPS_FILE))
		return false;
	if (slice_is(path, "groups.yml") || slice_is(path, "groups.json") ||
		slice_is(path, "group.yml"))
		return true;
	return folder_parent(path).length == 0 &&
	       suggestion_distance(path, SLICE(FOLDER_GROUPS_FILE), 1) <= 1;
}

int folder_resolve(struct slice folder, struct slice relative, char *out, size_t size)
{
	size_t length = folder.length;
	const char *at = relative.data, *end = at + relative.length;

	if (relative.length == 0 || memchr(relative.data, '\0', relative.length))
		return -EINVAL;
	if (relative.data[0] == '/')
		return -EXDEV;
	if (length >= size)
		return -ENAMETOOLONG;
	memcpy(out, folder.data, length);
	while (at < end) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		size_t part = slash ? (size_t)(slash - at) : (size_t)(end - at);

		if (part == 2 && at[0] == '.' && at[1] == '.') {
			if (length == 0)
				return -EXDEV;
			length = folder_parent((struct slice){out, length}).length;
		} else if (part && !(part == 1 && at[0] == '.')) {
			if (length + part + 2 > size)
				return -ENAMETOOLONG;
			if (length)
				out[length++] = '/';
			memcpy(out + length, at, part);
			length += part;
		}
		at += part + 1;
	}
	out[length] = '\0';
	return length ? 0 : -EINVAL;
}
