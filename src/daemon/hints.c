/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/hints.h"

#include <stdlib.h>

#include "base/mem.h"

void hints_init(struct hints *hints)
{
	hints->is_everything = false;
	hash_init(&hints->paths);
}

static void forget_paths(struct hints *hints)
{
	size_t cursor = 0;
	const struct hash_entry *entry;

	while ((entry = hash_next(&hints->paths, &cursor)))
		free(entry->value);
	hash_fini(&hints->paths);
	hash_init(&hints->paths);
}

void hints_fini(struct hints *hints)
{
	forget_paths(hints);
}

void hints_add(struct hints *hints, const char *path)
{
	char *copy;

	if (hints->is_everything || (path && hash_get(&hints->paths, slice_of(path))))
		return;
	if (!path || hints->paths.count >= HINTS_LIMIT) {
		hints->is_everything = true;
		forget_paths(hints);
		return;
	}
	copy = xstrdup(path);
	hash_put(&hints->paths, slice_of(copy), copy);
}

void hints_move(struct hints *to, struct hints *from)
{
	*to = *from;
	hints_init(from);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **hints_list(const struct hints *hints, size_t *ret_count)
{
	const char **list;
	size_t cursor = 0, count = 0;
	const struct hash_entry *entry;

	*ret_count = 0;
	if (hints->is_everything)
		return NULL;
	list = xcalloc(hints->paths.count + 1, sizeof(*list));
	while ((entry = hash_next(&hints->paths, &cursor)))
		list[count++] = entry->value;
	qsort(list, count, sizeof(*list), compare_texts);
	*ret_count = count;
	return list;
}
