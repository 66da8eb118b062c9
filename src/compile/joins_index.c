/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/joins_index.h"

#include <stdlib.h>

#include "base/mem.h"

struct missing_names {
	const void *stack;
	struct hash names; /* keys */
};

static struct slice address_key(const void *const *address)
{
	return (struct slice){(const char *)address, sizeof(*address)};
}

enum xds_type joins_key_type(struct slice key)
{
	return (enum xds_type)key.data[0];
}

struct slice joins_key_name(struct slice key)
{
	return (struct slice){key.data + 1, key.length - 1};
}

int joins_compare_places(const struct unit_item *a, const struct fact *a_fact,
	const struct unit_item *b, const struct fact *b_fact)
{
	int order = a->unit == b->unit ? 0 : strcmp(a->unit->path->text, b->unit->path->text);

	if (!order)
		order = strcmp(a_fact->path ? a_fact->path : "", b_fact->path ? b_fact->path : "");
	if (!order && a_fact->at.line != b_fact->at.line)
		order = a_fact->at.line < b_fact->at.line ? -1 : 1;
	if (!order && a_fact->at.column != b_fact->at.column)
		order = a_fact->at.column < b_fact->at.column ? -1 : 1;
	return order;
}

static int compare_uses(const void *a, const void *b)
{
	const struct joins_use *one = a, *two = b;

	return joins_compare_places(one->item, one->fact, two->item, two->fact);
}

static void add_use(struct joins_uses *uses, const struct unit_item *item, const struct fact *fact)
{
	array_reserve(uses->all, uses->capacity, uses->count + 1);
	uses->all[uses->count++] = (struct joins_use){item, fact};
}

/* --- layers ---------------------------------------------------------------------------------- */

static void add_judged(struct layer *layer, enum fact_kind kind, struct slice key)
{
	if ((int)kind < XDS_TYPE_COUNT || kind == FACT_SOURCE)
		return;
	array_reserve(layer->judged, layer->judged_capacity, layer->judged_count + 1);
	layer->judged[layer->judged_count++] = key;
}

static void index_item(struct layer *layer, struct unit_item *item)
{
	const struct facts *facts = item->facts;

	item->is_used = false;
	for (uint32_t i = 0; facts && i < facts->count; i++) {
		struct slice key = fact_key(&facts->facts[i]);
		struct joins_uses *uses = hash_get(&layer->uses, key);

		if (!uses) {
			uses = xcalloc(1, sizeof(*uses));
			hash_put(&layer->uses, key, uses);
			add_judged(layer, facts->facts[i].kind, key);
		}
		add_use(uses, item, &facts->facts[i]);
	}
}

static void index_layer(struct layer *layer)
{
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		struct hash_entry *slot;
		size_t cursor = 0;

		while ((slot = hash_next(&layer->items[type], &cursor)))
			index_item(layer, slot->value);
	}
}

static void forget_layer(struct layer *layer)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&layer->uses, &cursor))) {
		struct joins_uses *uses = slot->value;

		free(uses->all);
		free(uses);
	}
	hash_fini(&layer->uses);
	hash_init(&layer->uses);
	free(TAKE(layer->judged));
	layer->judged_count = layer->judged_capacity = 0;
}

/* --- stacks ---------------------------------------------------------------------------------- */

static bool is_live(const struct stack *stack, const struct unit_item *item)
{
	return stack_find(stack, item->resource->type, item->resource->name) == item;
}

/* Whether something that the stack has says this. */
static bool has_live(const struct stack *stack, struct slice key)
{
	for (const struct stack *at = stack; at->layer; at = at->parent) {
		const struct joins_uses *uses = hash_get(&at->layer->uses, key);

		for (size_t i = 0; uses && i < uses->count; i++) {
			if (is_live(stack, uses->all[i].item))
				return true;
		}
	}
	return false;
}

/* What the stack has of this name, or NULL. */
static struct unit_item *find_named(const struct stack *stack, struct slice key)
{
	struct unit_item *item = stack_find(stack, joins_key_type(key), joins_key_name(key));

	return item && !item->is_delete ? item : NULL;
}

/* Puts a reference among those that lead nowhere, or says that what it names is used. */
static void judge_key(const struct stack *stack, struct slice key, struct hash *missing)
{
	struct unit_item *named = find_named(stack, key);

	if (named && named->is_used)
		return;
	if (!has_live(stack, key))
		return;
	if (named)
		named->is_used = true;
	else
		hash_put(missing, key, missing);
}

/* The key of a resource's own name, as long-lived as some use of it; data NULL: nobody uses it. */
static struct slice key_of(
	const struct stack *stack, const struct resource *resource, struct buf *scratch)
{
	buf_reset(scratch);
	buf_putc(scratch, (char)resource->type);
	buf_append_slice(scratch, resource->name);
	for (; stack->layer; stack = stack->parent) {
		const struct joins_uses *uses = hash_get(&stack->layer->uses, buf_slice(scratch));

		if (uses)
			return fact_key(uses->all[0].fact);
	}
	return (struct slice){NULL, 0};
}

/* What the last layer defines or deletes may be named by the layers below. */
static void judge_items(const struct stack *stack, struct hash *missing)
{
	struct buf scratch = BUF_INIT;

	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		struct hash_entry *slot;
		size_t cursor = 0;

		while ((slot = hash_next(&stack->layer->items[type], &cursor))) {
			const struct unit_item *item = slot->value;
			struct slice key;

			if (item->is_used)
				continue;
			key = key_of(stack, item->resource, &scratch);
			if (key.data)
				judge_key(stack, key, missing);
		}
	}
	buf_fini(&scratch);
}

/* Only what differs from the stack below is looked at: all that its last layer speaks of, and what
 * was missing there. */
static void index_stack(struct joins_index *index, const struct stack *stack)
{
	const struct hash *below = joins_missing(index, stack->parent);
	struct missing_names *names = xcalloc(1, sizeof(*names));
	struct hash *missing = &names->names;
	struct hash_entry *slot;
	size_t cursor = 0;

	names->stack = stack;
	hash_init(missing);
	while ((slot = hash_next(&stack->layer->uses, &cursor))) {
		if ((unsigned char)slot->key.data[0] < XDS_TYPE_COUNT)
			judge_key(stack, slot->key, missing);
	}
	cursor = 0;
	while (below && (slot = hash_next(below, &cursor)))
		judge_key(stack, slot->key, missing);
	judge_items(stack, missing);
	hash_put(&index->missing, address_key(&names->stack), names);
}

const struct hash *joins_missing(const struct joins_index *index, const struct stack *stack)
{
	const void *address = stack;
	const struct missing_names *names = hash_get(&index->missing, address_key(&address));

	return names ? &names->names : NULL;
}

void joins_live(const struct stack *stack, struct slice key, struct joins_uses *ret_uses)
{
	for (const struct stack *at = stack; at->layer; at = at->parent) {
		const struct joins_uses *uses = hash_get(&at->layer->uses, key);

		for (size_t i = 0; uses && i < uses->count; i++) {
			if (is_live(stack, uses->all[i].item))
				add_use(ret_uses, uses->all[i].item, uses->all[i].fact);
		}
	}
	if (ret_uses->count > 1)
		qsort(ret_uses->all, ret_uses->count, sizeof(*ret_uses->all), compare_uses);
}

static bool is_in_tree(const struct joins_index *index, const struct fact *reference)
{
	for (size_t i = 0; i < index->layering->layers_count; i++) {
		const struct unit_item *item = layer_find(index->layering->layers[i],
			(enum xds_type)reference->kind, reference->name);

		if (item && !item->is_delete)
			return true;
	}
	return false;
}

bool joins_source_is_ours(const struct joins_index *index, struct slice key)
{
	for (size_t i = 0; i < index->layering->layers_count; i++) {
		const struct joins_uses *uses = hash_get(&index->layering->layers[i]->uses, key);

		/* The reference comes before its source. */
		for (size_t k = 0; uses && k < uses->count; k++) {
			if (is_in_tree(index, uses->all[k].fact - 1))
				return true;
		}
	}
	return false;
}

bool joins_takes_any(const struct stack *stack, enum xds_type type)
{
	struct buf key = BUF_INIT;
	bool takes_any;

	buf_putc(&key, (char)FACT_TAKES_ANY);
	buf_puts(&key, xds_type_row(type)->folder);
	takes_any = has_live(stack, buf_slice(&key));
	buf_fini(&key);
	return takes_any;
}

/* --- groups ---------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
	return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

static void add_keys(const struct layer *layer, enum fact_kind kind, struct slice **keys,
	size_t *count, size_t *capacity)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	for (size_t i = 0; i < layer->judged_count; i++) {
		if ((unsigned char)layer->judged[i].data[0] != kind)
			continue;
		array_reserve(*keys, *capacity, *count + 1);
		(*keys)[(*count)++] = layer->judged[i];
	}
	while ((int)kind < XDS_TYPE_COUNT && (slot = hash_next(&layer->uses, &cursor))) {
		if ((unsigned char)slot->key.data[0] != kind)
			continue;
		array_reserve(*keys, *capacity, *count + 1);
		(*keys)[(*count)++] = slot->key;
	}
}

struct slice *joins_keys(const struct stack *stack, enum fact_kind kind, size_t *ret_count)
{
	struct slice *keys = NULL;
	size_t count = 0, capacity = 0, kept = 0;

	for (; stack->layer; stack = stack->parent)
		add_keys(stack->layer, kind, &keys, &count, &capacity);
	if (count > 1)
		qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || !slice_equal(keys[kept - 1], keys[i]))
			keys[kept++] = keys[i];
	}
	*ret_count = kept;
	return keys;
}

/* --- counts ---------------------------------------------------------------------------------- */

struct counted {
	struct counted_of {
		const struct stack *stack;
		uintptr_t kind; /* as wide as the pointer: no padding in a key */
	} of;
	size_t count;
	struct slice first;
};

static struct slice counted_key(const struct counted_of *of)
{
	return (struct slice){(const char *)of, sizeof(*of)};
}

static bool has_fact(const struct unit_item *item, enum fact_kind kind)
{
	for (uint32_t i = 0; item && item->facts && i < item->facts->count; i++) {
		if (item->facts->facts[i].kind == kind)
			return true;
	}
	return false;
}

/* Whether the last layer adds facts of a kind, or takes something that has some away. */
static bool touches(const struct stack *stack, enum fact_kind kind)
{
	const struct layer *layer = stack->layer;
	struct slice *keys = NULL;
	size_t count = 0, capacity = 0;

	add_keys(layer, kind, &keys, &count, &capacity);
	free(keys);
	if (count)
		return true;
	for (int type = 0; stack->parent->layer && type < XDS_TYPE_COUNT; type++) {
		struct hash_entry *slot;
		size_t cursor = 0;

		while ((slot = hash_next(&layer->items[type], &cursor))) {
			if (has_fact(stack_find(stack->parent, (enum xds_type)type, slot->key),
				    kind))
				return true;
		}
	}
	return false;
}

static struct counted *count_all(const struct stack *stack, enum fact_kind kind)
{
	struct counted *counted = xcalloc(1, sizeof(*counted));
	size_t count;
	struct slice *keys = joins_keys(stack, kind, &count);

	for (size_t i = 0; i < count; i++) {
		if (!has_live(stack, keys[i]))
			continue;
		if (counted->count++ == 0)
			counted->first = keys[i];
	}
	free(keys);
	return counted;
}

size_t joins_count(struct joins_index *index, const struct stack *stack, enum fact_kind kind,
	struct slice *ret_first)
{
	const struct stack *at = stack;
	struct counted_of of = {stack, kind};
	struct counted *counted = hash_get(&index->counts, counted_key(&of));

	/* What does not touch them has those of the stack below. */
	while (!counted && at->layer && !touches(at, kind)) {
		at = at->parent;
		of.stack = at;
		counted = hash_get(&index->counts, counted_key(&of));
	}
	if (!counted) {
		counted = count_all(at, kind);
		counted->of = of;
		hash_put(&index->counts, counted_key(&counted->of), counted);
	}
	for (; stack != at; stack = stack->parent) {
		struct counted *same = xmalloc(sizeof(*same));

		*same = *counted;
		same->of.stack = stack;
		hash_put(&index->counts, counted_key(&same->of), same);
	}
	*ret_first = counted->first;
	return counted->count;
}

bool joins_group_is_hidden(const struct joins_index *index, const struct group *group)
{
	for (size_t i = 0; i < group->layers_count; i++) {
		const void *address = group->layers[i];

		if (hash_get(&index->hidden, address_key(&address)))
			return true;
	}
	return false;
}

bool joins_layer_is_broken(const struct joins_index *index, const struct layer *layer)
{
	const void *address = layer;

	return hash_get(&index->broken, address_key(&address));
}

/* --- all of it ------------------------------------------------------------------------------- */

static void find_broken(struct joins_index *index, const struct compiler *compiler)
{
	for (size_t i = 0; i < compiler->vocal.count; i++) {
		const struct unit *unit = compiler->vocal.units[i];
		struct slice key = address_key((const void *const *)&unit->layer);

		if (!unit->layer || !(unit->content.hides_names || unit->content.broken))
			continue;
		hash_put(&index->broken, key, unit->layer);
		if (unit->content.hides_names)
			hash_put(&index->hidden, key, unit->layer);
	}
}

void joins_index_init(struct joins_index *index, struct compiler *compiler)
{
	const struct stacks *stacks = &compiler->layering->stacks;

	*index = (struct joins_index){.layering = compiler->layering};
	hash_init(&index->counts);
	hash_init(&index->missing);
	hash_init(&index->hidden);
	hash_init(&index->broken);
	find_broken(index, compiler);
	for (size_t i = 0; i < index->layering->layers_count; i++)
		index_layer(index->layering->layers[i]);
	for (size_t i = 0; i < stacks->roots_count; i++) {
		struct stack *root = stacks->roots[i];

		for (struct stack *stack = root; (stack = stack_next(root, stack));)
			index_stack(index, stack);
	}
}

void joins_index_fini(struct joins_index *index)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&index->missing, &cursor))) {
		struct missing_names *names = slot->value;

		hash_fini(&names->names);
		free(names);
	}
	for (size_t i = 0; i < index->layering->layers_count; i++)
		forget_layer(index->layering->layers[i]);
	cursor = 0;
	while ((slot = hash_next(&index->counts, &cursor)))
		free(slot->value);
	hash_fini(&index->counts);
	hash_fini(&index->missing);
	hash_fini(&index->hidden);
	hash_fini(&index->broken);
}
