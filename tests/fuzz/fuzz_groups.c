/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * groups.yaml, and a node to choose a group for, with a line "---node" between them. What reads
 * must read the same again, and choose the same group.
 */
#include <jansson.h>
#include <stdlib.h>

#include "compile/compile.h"
#include "compile/groups.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What each: may find. */
static const char *const tree[] = {"a", "b-1", "b-2", "env", "env/prod", "env/prod/eu",
	"env/prod/us", "env/test", "env/test/eu", "env/test/clusters", "_parts", "B 3"};
#define FOLDERS (sizeof(tree) / sizeof(*tree))

static void check(bool is_fine)
{
	if (!is_fine)
		abort();
}

static void choose(const struct groups *groups, struct slice node)
{
	struct selector *again = NULL;
	json_t *json = json_loadb(node.data, node.length, 0, NULL);

	check(compile_selector(groups->text, &again) == 0);
	check(selector_count(again) == groups->count);
	check(selector_select(again, json) == selector_select(groups->selector, json));
	check(selector_select(again, NULL) == selector_select(groups->selector, NULL));
	selector_unref(again);
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char mark[] = "---node\n";
	struct slice text = {(const char *)data, size}, node = {"{}", 2};
	const char *end = size ? memmem(data, size, mark, sizeof(mark) - 1) : NULL;
	struct diag_list *diags = diag_list_new(0);
	struct groups *groups = NULL;
	struct rcstr *paths[FOLDERS];
	struct hash folders;
	int error;

	hash_init(&folders);
	for (size_t i = 0; i < FOLDERS; i++) {
		paths[i] = rcstr_new(tree[i], strlen(tree[i]));
		hash_put(&folders, slice_of(paths[i]->text), paths[i]);
	}
	if (end) {
		text.length = (size_t)(end - text.data);
		node.data = end + sizeof(mark) - 1;
		node.length = size - text.length - (sizeof(mark) - 1);
	}
	error = groups_read("groups.yaml", text, &folders, NULL, diags, &groups);
	if (error) {
		check(diag_list_level_count(diags, DIAG_ERROR) > 0);
	} else {
		check(groups->count > 0);
		for (size_t i = 0; i < groups->count; i++)
			check(groups->entries[i].name && groups->entries[i].layers_count);
		choose(groups, node);
	}
	groups_free(groups);
	diag_list_free(diags);
	for (size_t i = 0; i < FOLDERS; i++)
		rcstr_unref(paths[i]);
	hash_fini(&folders);
	return 0;
}
