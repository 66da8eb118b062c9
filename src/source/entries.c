/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/entries.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

/* One path that a link leads through. Linked twice: by path (to find links) and by link. */
struct link_trigger {
	struct link_trigger *next_same_path, *former_same_path;
	struct link_trigger *next_of_link;
	struct tree_node *link;
	struct rcstr *path;
	bool is_target;
};

static struct slice node_path(const struct tree_node *node)
{
	return (struct slice){node->entry.path->text, node->entry.path->length};
}

static struct tree_node *node_new(struct slice path, enum tree_kind kind)
{
	struct tree_node *node = xcalloc(1, sizeof(*node));

	node->entry.path = rcstr_new(path.data, path.length);
	node->entry.kind = kind;
	return node;
}

static void node_free(struct tree_node *node)
{
	rcstr_unref(node->entry.path);
	rcstr_unref(node->entry.link_target);
	free(node->children);
	free(node);
}

void entries_init(struct entries *entries)
{
	*entries = (struct entries){0};
	hash_init(&entries->by_path);
	hash_init(&entries->triggers);
	entries->root = node_new(SLICE(""), TREE_FOLDER);
}

void entries_fini(struct entries *entries)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	entries_begin(entries);
	while (entries->links_count)
		entries_clear_link(entries, entries->links[entries->links_count - 1]);
	while ((slot = hash_next(&entries->by_path, &cursor)))
		node_free(slot->value);
	node_free(entries->root);
	hash_fini(&entries->by_path);
	hash_fini(&entries->triggers);
	free(entries->links);
	free(entries->changes);
	free(entries->gone);
}

void entries_begin(struct entries *entries)
{
	for (size_t i = 0; i < entries->changes_count; i++) {
		struct tree_node *node = (struct tree_node *)entries->changes[i].entry;

		if (node && entries->changes[i].kind != TREE_REMOVED)
			node->change = 0;
	}
	for (size_t i = 0; i < entries->gone_count; i++)
		node_free(entries->gone[i]);
	entries->gone_count = 0;
	entries->changes_count = 0;
}

static int compare_changes(const void *a, const void *b)
{
	const struct tree_change *one = a, *two = b;
	int order = strcmp(one->entry->path->text, two->entry->path->text);

	/* What was removed and came back as another kind: first the one, then the other. */
	return order ? order : (int)two->kind - (int)one->kind;
}

void entries_finish(struct entries *entries)
{
	size_t kept = 0;

	for (size_t i = 0; i < entries->changes_count; i++) {
		if (entries->changes[i].entry)
			entries->changes[kept++] = entries->changes[i];
	}
	entries->changes_count = kept;
	/* Places moved: entries_begin only needs to find the nodes again. */
	if (kept)
		qsort(entries->changes, kept, sizeof(*entries->changes), compare_changes);
}

static void note(struct entries *entries, struct tree_node *node, enum tree_change_kind kind)
{
	array_reserve(entries->changes, entries->changes_capacity, entries->changes_count + 1);
	entries->changes[entries->changes_count++] = (struct tree_change){kind, &node->entry};
	node->change = (uint32_t)entries->changes_count;
}

struct tree_node *entries_find(const struct entries *entries, struct slice path)
{
	if (path.length == 0)
		return entries->root;
	return hash_get(&entries->by_path, path);
}

struct tree_node *entries_add(
	struct entries *entries, struct tree_node *parent, struct slice path, enum tree_kind kind)
{
	struct tree_node *node = node_new(path, kind);

	node->parent = parent;
	array_reserve(parent->children, parent->children_capacity, parent->children_count + 1);
	node->slot = parent->children_count;
	parent->children[parent->children_count++] = node;
	hash_put(&entries->by_path, node_path(node), node);
	note(entries, node, TREE_ADDED);
	return node;
}

void entries_note_modified(struct entries *entries, struct tree_node *node)
{
	if (!node->change)
		note(entries, node, TREE_MODIFIED);
}

static void remove_one(struct entries *entries, struct tree_node *node)
{
	struct tree_node *parent = node->parent, *last;

	entries_clear_link(entries, node);
	last = parent->children[--parent->children_count];
	parent->children[node->slot] = last;
	last->slot = node->slot;
	hash_remove(&entries->by_path, node_path(node));

	if (node->change) {
		struct tree_change *change = &entries->changes[node->change - 1];

		if (change->kind == TREE_ADDED)
			change->entry = NULL;
		else
			change->kind = TREE_REMOVED;
	} else {
		note(entries, node, TREE_REMOVED);
	}
	array_reserve(entries->gone, entries->gone_capacity, entries->gone_count + 1);
	entries->gone[entries->gone_count++] = node;
}

void entries_remove(struct entries *entries, struct tree_node *node)
{
	struct tree_node *at = node;

	/* Leaves first, without recursion: the last child, its last child ... */
	for (;;) {
		struct tree_node *parent = at->parent;
		bool is_top = at == node;

		if (at->children_count) {
			at = at->children[at->children_count - 1];
			continue;
		}
		remove_one(entries, at);
		if (is_top)
			return;
		at = parent;
	}
}

void entries_set_link(struct entries *entries, struct tree_node *node, const char *target)
{
	entries_clear_link(entries, node);
	if (target)
		node->entry.link_target = rcstr_new(target, strlen(target));
	array_reserve(entries->links, entries->links_capacity, entries->links_count + 1);
	entries->links[entries->links_count++] = node;
	node->link_slot = (uint32_t)entries->links_count;
}

static void trigger_remove(struct entries *entries, struct link_trigger *trigger)
{
	struct slice path = {trigger->path->text, trigger->path->length};

	if (trigger->next_same_path)
		trigger->next_same_path->former_same_path = trigger->former_same_path;
	if (trigger->former_same_path) {
		trigger->former_same_path->next_same_path = trigger->next_same_path;
	} else {
		struct link_trigger *next = trigger->next_same_path;

		hash_remove(&entries->triggers, path);
		if (next)
			hash_put(&entries->triggers,
				(struct slice){next->path->text, next->path->length}, next);
	}
	rcstr_unref(trigger->path);
	free(trigger);
}

void entries_clear_link(struct entries *entries, struct tree_node *node)
{
	struct tree_node *last;

	if (!node->link_slot)
		return;
	while (node->triggers) {
		struct link_trigger *trigger = node->triggers;

		node->triggers = trigger->next_of_link;
		trigger_remove(entries, trigger);
	}
	last = entries->links[--entries->links_count];
	entries->links[node->link_slot - 1] = last;
	last->link_slot = node->link_slot;
	node->link_slot = 0;
	rcstr_unref(node->entry.link_target);
	node->entry.link_target = NULL;
}

void entries_add_trigger(
	struct entries *entries, struct tree_node *link, struct slice path, bool is_target)
{
	struct link_trigger *trigger = xcalloc(1, sizeof(*trigger)), *head;

	assert(link->link_slot);
	trigger->link = link;
	trigger->path = rcstr_new(path.data, path.length);
	trigger->is_target = is_target;
	trigger->next_of_link = link->triggers;
	link->triggers = trigger;

	path.data = trigger->path->text;
	head = hash_get(&entries->triggers, path);
	if (!head) {
		hash_put(&entries->triggers, path, trigger);
		return;
	}
	/* Behind the head, so that the table's key stays where it is. */
	trigger->former_same_path = head;
	trigger->next_same_path = head->next_same_path;
	if (head->next_same_path)
		head->next_same_path->former_same_path = trigger;
	head->next_same_path = trigger;
}

void entries_each_trigger(
	const struct entries *entries, struct slice path, entries_trigger_cb callback, void *ctx)
{
	for (struct link_trigger *trigger = hash_get(&entries->triggers, path); trigger;
		trigger = trigger->next_same_path)
		callback(ctx, trigger->link, trigger->is_target);
}
