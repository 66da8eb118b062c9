/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/keeping.h"

#include <stdlib.h>

#include "compile/last_good.h"

struct loading {
	struct compiler *compiler;
	struct mount *mount;
};

static void load_unit(
	void *ctx, struct rcstr *path, struct unit_content *content, bool was_read, uint64_t bytes)
{
	const struct loading *loading = ctx;
	struct slice at = {path->text, path->length};
	struct unit *unit;

	loading->mount->was_good = true;
	if (mounts_of(&loading->compiler->mounts, at) != loading->mount) {
		unit_content_fini(content);
		return;
	}
	unit = compiler_add_unit(loading->compiler, loading->mount, path);
	unit->content = *content;
	unit->was_read = was_read;
	unit->is_counted = true;
	unit->must_bind = true;
	unit->kept_bytes = bytes;
	for (uint32_t i = 0; i < content->items_count; i++)
		unit->content.items[i].unit = unit;
	loading->compiler->resources += compiler_count_resources(&unit->content);
}

static void load_folder(void *ctx, struct rcstr *path)
{
	const struct loading *loading = ctx;

	if (mounts_of(&loading->compiler->mounts, (struct slice){path->text, path->length}) ==
		loading->mount)
		shape_add_folder(&loading->compiler->shape, path);
}

/* The fence may be another one than it was then. */
static bool may_have(void *ctx, const struct unit_content *content)
{
	const struct loading *loading = ctx;

	for (uint32_t i = 0; i < content->items_count; i++) {
		const struct resource *resource = content->items[i].resource;

		if (!fence_allows(loading->mount->fence, resource->type, resource->name))
			return false;
	}
	return true;
}

void keeping_load(struct compiler *compiler)
{
	if (!compiler->last_good)
		return;
	for (size_t i = 1; i < compiler->mounts.count; i++) {
		struct loading loading = {compiler, &compiler->mounts.items[i]};
		const struct last_good_listener listener = {.may_have = may_have,
			.on_unit = load_unit,
			.on_folder = load_folder,
			.ctx = &loading};

		last_good_take(compiler->last_good, loading.mount->at, &listener);
	}
	last_good_forget_others(compiler->last_good);
}

static void write_all(struct compiler *compiler, struct mount *mount)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	last_good_begin(compiler->last_good, mount->at);
	while ((slot = hash_next(&compiler->units, &cursor))) {
		struct unit *unit = slot->value;

		if (unit->mount == mount && unit->is_counted)
			last_good_put_unit(compiler->last_good, unit);
	}
	cursor = 0;
	while ((slot = hash_next(&compiler->shape.folders, &cursor))) {
		if (mounts_of(&compiler->mounts, slot->key) == mount)
			last_good_folder(compiler->last_good, slot->key, true);
	}
}

int keeping_save(struct compiler *compiler)
{
	int error;

	if (!compiler->last_good)
		return 0;
	error = last_good_commit(compiler->last_good);
	if (error || !last_good_wants_rewrite(compiler->last_good))
		return error;
	error = last_good_rewrite(compiler->last_good);
	for (size_t i = 1; i < compiler->mounts.count && !error; i++) {
		if (compiler->mounts.items[i].was_good)
			write_all(compiler, &compiler->mounts.items[i]);
	}
	return error ? error : last_good_commit(compiler->last_good);
}
