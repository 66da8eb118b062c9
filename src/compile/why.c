/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/why.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "compile/folder.h"
#include "compile/match_text.h"
#include "compile/origin.h"

/* Groups in whose place a node might have been expected. */
#define OTHERS_LISTED 3

struct why {
	const struct compiler *compiler;
	const struct layering *layering;
	const struct why_question *question;
	json_t *answer;
	const struct group *one; /* NULL: all groups are asked about */
	struct hash outcomes;	 /* struct outcome by key */
	struct arena *arena;
};

/* Groups that come to the same. */
struct outcome {
	const struct group *group; /* the first one */
	json_t *json;
};

static json_t *text_of(struct slice text)
{
	return json_stringn(text.data ? text.data : "", text.length);
}

static json_t *place(const char *path, struct position at)
{
	return json_sprintf("%s:%u:%u", path, at.line, at.column);
}

static json_t *place_of(const struct resource *resource)
{
	return resource->path ? place(resource->path->text, resource->at) : json_string("");
}

static const char *layer_name(const struct layer *layer)
{
	return layer->path.length ? layer->path.data : ".";
}

/* Appends while there is room. */
static void list_add(json_t *list, json_t *value)
{
	if (json_array_size(list) < WHY_LISTED)
		json_array_append_new(list, value);
	else
		json_decref(value);
}

static void count_up(json_t *object, const char *key)
{
	json_int_t count = json_integer_value(json_object_get(object, key));

	json_object_set_new(object, key, json_integer(count + 1));
}

/* --- the node ------------------------------------------------------------------------------ */

static bool fits_all(const json_t *conditions)
{
	json_t *condition;
	size_t i;

	json_array_foreach((json_t *)conditions, i, condition)
	{
		if (!json_is_true(json_object_get(condition, "fits")))
			return false;
	}
	return true;
}

static size_t count_misses(const json_t *conditions)
{
	json_t *condition;
	size_t i, misses = 0;

	json_array_foreach((json_t *)conditions, i, condition)
	{
		misses += !json_is_true(json_object_get(condition, "fits"));
	}
	return misses;
}

static json_t *entry_json(const struct groups_entry *entry, json_t *conditions)
{
	return json_pack("{s:s,s:o,s:o}", "group", entry->name, "source",
		place(FOLDER_GROUPS_FILE, entry->at), "conditions", conditions);
}

/* Keeps the groups that the node comes nearest to, in the order of groups.yaml. */
static void add_other(json_t *others, const struct groups_entry *entry, json_t *conditions)
{
	size_t worst = SIZE_MAX, misses = count_misses(conditions);
	json_t *other;
	size_t i;

	json_array_append_new(others, entry_json(entry, conditions));
	if (json_array_size(others) <= OTHERS_LISTED)
		return;
	json_array_foreach(others, i, other)
	{
		size_t its = count_misses(json_object_get(other, "conditions"));

		if (its >= misses) {
			misses = its;
			worst = i;
		}
	}
	json_array_remove(others, worst == SIZE_MAX ? OTHERS_LISTED : worst);
}

/* The node's group; NULL: it has none. */
static const struct groups_entry *explain_node(struct why *why)
{
	const struct groups *groups = why->layering->groups;
	json_t *others = json_array(), *node = NULL;
	const struct groups_entry *found = NULL;
	size_t i;

	for (i = 0; i < groups->count && !found; i++) {
		json_t *conditions = match_explain(groups->entries[i].match, why->question->node);

		if (fits_all(conditions)) {
			found = &groups->entries[i];
			node = entry_json(found, conditions);
		} else {
			add_other(others, &groups->entries[i], conditions);
		}
	}
	if (!node)
		node = json_object();
	json_object_set_new(node, "others_count", json_integer((json_int_t)(i - (found != NULL))));
	json_object_set_new(node, "others", others);
	json_object_set_new(why->answer, "node", node);
	return found;
}

static const struct group *find_built(const struct why *why, const char *name)
{
	for (size_t i = 0; i < why->layering->built_count; i++) {
		if (strcmp(why->layering->built[i]->entry->name, name) == 0)
			return why->layering->built[i];
	}
	return NULL;
}

static void fail_group(struct why *why, const char *name)
{
	const struct groups *groups = why->layering->groups;
	struct suggestion suggestion;
	struct buf quoted = BUF_INIT;
	bool is_there = false;
	char phrase[256];

	suggestion_init(&suggestion, slice_of(name));
	for (size_t i = 0; i < groups->count; i++) {
		is_there = is_there || strcmp(groups->entries[i].name, name) == 0;
		suggestion_offer(&suggestion, groups->entries[i].name);
	}
	text_quote(&quoted, slice_of(name), 200);
	if (is_there)
		json_object_set_new(why->answer, "error",
			json_sprintf("group \"%s\" is not one of those that are built here",
				buf_cstr(&quoted)));
	else
		json_object_set_new(why->answer, "error",
			json_sprintf("there is no group \"%s\"%s", buf_cstr(&quoted),
				suggestion_phrase(&suggestion, phrase)));
	buf_fini(&quoted);
}

/* Whom it is about. False: the answer says why there is none. */
static bool choose_groups(struct why *why)
{
	const char *name = why->question->group;

	if (why->question->node) {
		const struct groups_entry *entry = explain_node(why);

		if (!entry && !name) {
			json_object_set_new(
				why->answer, "error", json_string("this node belongs to no group"));
			return false;
		}
		if (!name)
			name = entry->name;
	}
	if (!name)
		return true;
	why->one = find_built(why, name);
	if (!why->one)
		fail_group(why, name);
	return why->one != NULL;
}

/* --- layers -------------------------------------------------------------------------------- */

/* What the i-th layer of the group says about the name. */
static struct unit_item *item_of(const struct why *why, const struct group *group, size_t i)
{
	return layer_find(group->layers[i], why->question->type, why->question->name);
}

static const char *says(const struct unit_item *item, const struct unit_item *below)
{
	bool has_below = below && !below->is_delete;

	if (item->is_delete)
		return has_below ? "deletes" : "deletes nothing";
	return has_below ? "replaces" : "adds";
}

static void add_layers(struct why *why, const struct group *group, json_t *outcome)
{
	json_t *layers = json_array();
	const struct unit_item *below = NULL;

	for (size_t i = 0; i < group->layers_count; i++) {
		const struct unit_item *item = item_of(why, group, i);

		if (!item && why->one)
			list_add(layers, json_pack("{s:s,s:s}", "layer",
						 layer_name(group->layers[i]), "says", "nothing"));
		for (const struct unit_item *same = item; same; same = same->next_same)
			list_add(layers,
				json_pack("{s:s,s:s,s:o}", "layer", layer_name(group->layers[i]),
					"says", says(same, same == item ? below : item), "source",
					place(same->unit->path->text, same->resource->at)));
		below = item ? item : below;
	}
	json_object_set_new(outcome, "layers", layers);
}

/* --- virtual hosts ------------------------------------------------------------------------- */

static const char *layer_of_path(const struct why *why, const struct resource *resource)
{
	const struct layer *layer =
		resource->path
			? layering_layer_of(why->layering,
				  (struct slice){resource->path->text, resource->path->length})
			: NULL;

	return layer ? layer_name(layer) : "";
}

/* "edge" and "edge/shop" have the part "edge/". */
static const struct virtual_hosts_part *find_part(const struct why *why, const struct group *group)
{
	const struct virtual_hosts *hosts = stack_hosts(group->stack);
	struct slice name = why->question->name;

	if (why->question->type == XDS_VHDS)
		name = virtual_hosts_prefix(name);
	for (size_t i = 0; hosts && i < hosts->count; i++) {
		struct slice prefix = hosts->parts[i]->name;

		if (why->question->type == XDS_RDS)
			prefix.length--;
		if (slice_equal(prefix, name))
			return hosts->parts[i];
	}
	return NULL;
}

static void add_hosts(struct why *why, const struct virtual_hosts_part *part, json_t *outcome)
{
	json_t *hosts = json_array();

	for (size_t i = 0; i < part->count; i++)
		list_add(hosts, json_pack("{s:o,s:s,s:o}", "name", text_of(part->hosts[i]->name),
					"layer", layer_of_path(why, part->hosts[i]), "source",
					place_of(part->hosts[i])));
	json_object_set_new(outcome, "virtual_hosts", hosts);
	json_object_set_new(outcome, "virtual_hosts_count", json_integer((json_int_t)part->count));
}

static void add_routes(const struct virtual_hosts_part *part, json_t *outcome)
{
	struct slice name = {part->name.data, part->name.length - 1};

	json_object_set_new(outcome, "route_configuration",
		json_pack("{s:o,s:o,s:s}", "name", text_of(name), "source",
			part->routes ? place_of(part->routes) : json_string(""), "has",
			part->whole    ? "virtual_hosts"
			: part->routes ? "vhds"
				       : "nothing"));
}

/* --- outcomes ------------------------------------------------------------------------------ */

static const struct unit_item *deciding(
	const struct why *why, const struct group *group, size_t *ret_layer)
{
	return group_find(
		group, why->question->type, why->question->name, group->layers_count, ret_layer);
}

static bool is_twice(const struct unit_item *item)
{
	return item && item->next_same;
}

static void describe_served(
	struct why *why, const struct group *group, const struct unit_item *item, json_t *outcome)
{
	const struct resource *resource =
		resource_set_find(group_set(group, item->resource->type), item->resource->name);
	json_t *parts = origin_find(why->compiler, item);

	if (!resource)
		resource = item->resource; /* a virtual host that became part of its routes */
	if (!xds_type_row(resource->type)->is_secret) {
		struct version version =
			version_of(resource->type, (struct resource *const *)&resource, 1);

		json_object_set_new(outcome, "version", json_string(version.text));
	}
	if (parts)
		json_object_set_new(outcome, "parts", parts);
	else
		json_object_set_new(outcome, "is_changed", json_true());
}

static json_t *describe(struct why *why, const struct group *group)
{
	size_t layer = 0;
	const struct unit_item *item = deciding(why, group, &layer);
	const struct virtual_hosts_part *part = NULL;
	json_t *outcome = json_pack("{s:[],s:[]}", "groups", "held");

	json_object_set_new(outcome, "result",
		json_string(!item	      ? "absent"
			    : is_twice(item)  ? "refused"
			    : item->is_delete ? "deleted"
					      : "served"));
	if (item) {
		json_object_set_new(
			outcome, "layer", json_string(layer_name(group->layers[layer])));
		json_object_set_new(
			outcome, "source", place(item->unit->path->text, item->resource->at));
	}
	add_layers(why, group, outcome);
	if (why->question->type == XDS_RDS || why->question->type == XDS_VHDS)
		part = find_part(why, group);
	if (item && !item->is_delete)
		describe_served(why, group, item, outcome);
	if (part && why->question->type == XDS_RDS)
		add_hosts(why, part, outcome);
	if (part && item && !item->is_delete)
		add_routes(part, outcome);
	return outcome;
}

/* What decides how an outcome looks. */
static void put_key(const struct why *why, const struct group *group, struct buf *key)
{
	const void *part = why->question->type == XDS_RDS || why->question->type == XDS_VHDS
				   ? find_part(why, group)
				   : NULL;

	for (size_t i = 0; i < group->layers_count; i++) {
		const struct unit_item *item = item_of(why, group, i);

		if (item)
			buf_append(key, &item, sizeof(item));
	}
	buf_append(key, &part, sizeof(part));
}

static void add_serving(struct why *why, const struct group *group, json_t *outcome)
{
	const struct why_question *question = why->question;
	const struct resource *wanted, *served;
	struct snapshot *snapshot;
	json_t *serving;

	if (!question->store)
		return;
	snapshot = store_acquire(question->store, slice_of(group->entry->name));
	served =
		snapshot ? resource_set_find(snapshot->sets[question->type], question->name) : NULL;
	wanted = resource_set_find(group_set(group, question->type), question->name);
	if (served ? !wanted || !digest_equal(&served->digest, &wanted->digest) : wanted != NULL) {
		serving = json_pack("{s:s,s:b,s:b}", "group", group->entry->name, "exists",
			(int)(served != NULL), "is_bridge", (int)(snapshot && snapshot->is_bridge));
		if (served)
			json_object_set_new(serving, "source", place_of(served));
		if (served && !xds_type_row(served->type)->is_secret) {
			struct version version =
				version_of(served->type, (struct resource *const *)&served, 1);

			json_object_set_new(serving, "version", json_string(version.text));
		}
		if (!json_object_get(outcome, "serving"))
			json_object_set_new(outcome, "serving", json_array());
		list_add(json_object_get(outcome, "serving"), serving);
	}
	snapshot_unref(snapshot);
}

static void add_group(struct why *why, const struct group *group)
{
	struct buf key = BUF_INIT;
	struct outcome *outcome;

	put_key(why, group, &key);
	outcome = hash_get(&why->outcomes, buf_slice(&key));
	if (!outcome) {
		outcome = arena_zalloc(why->arena, sizeof(*outcome));
		outcome->group = group;
		outcome->json = describe(why, group);
		hash_put(&why->outcomes, arena_copy(why->arena, key.data, key.length), outcome);
		json_array_append_new(json_object_get(why->answer, "outcomes"), outcome->json);
	}
	buf_fini(&key);
	count_up(outcome->json, "groups_count");
	list_add(json_object_get(outcome->json, "groups"), json_string(group->entry->name));
	add_serving(why, group, outcome->json);
	for (size_t i = 0; i < why->compiler->build.groups_count; i++) {
		const struct build_group *built = &why->compiler->groups[i];

		if (!built->is_held || strcmp(built->name->text, group->entry->name) != 0)
			continue;
		count_up(outcome->json, "held_count");
		list_add(json_object_get(outcome->json, "held"),
			json_pack("{s:s,s:s}", "group", group->entry->name, "reason",
				built->held_reason ? built->held_reason : "errors in the tree"));
	}
}

/* --- when nobody has it -------------------------------------------------------------------- */

/* Layers of other groups that say something about the name. */
static bool add_elsewhere(struct why *why)
{
	json_t *elsewhere = json_array();

	for (size_t i = 0; i < why->layering->layers_count; i++) {
		const struct layer *layer = why->layering->layers[i];
		const struct unit_item *item =
			layer_find(layer, why->question->type, why->question->name);

		if (item && !item->is_delete)
			list_add(elsewhere,
				json_pack("{s:s,s:o}", "layer", layer_name(layer), "source",
					place(item->unit->path->text, item->resource->at)));
	}
	if (json_array_size(elsewhere)) {
		json_object_set_new(why->answer, "elsewhere", elsewhere);
		return true;
	}
	json_decref(elsewhere);
	return false;
}

/* Other types that have this very name, for who has mixed them up. */
static bool add_other_types(struct why *why, struct buf *hint)
{
	size_t before = hint->length;

	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		for (size_t i = 0; i < why->layering->layers_count; i++) {
			if (!layer_find(why->layering->layers[i], (enum xds_type)type,
				    why->question->name))
				continue;
			buf_puts(hint, hint->length == before ? "there is " : ", ");
			buf_printf(hint, "%s/", xds_type_row((enum xds_type)type)->name);
			text_quote(hint, why->question->name, 200);
			break;
		}
	}
	return hint->length > before;
}

static void add_near(struct why *why, struct buf *hint)
{
	struct slice name = why->question->name;
	struct suggestion suggestion;
	char phrase[256];

	suggestion_init(&suggestion, name);
	for (size_t i = 0; i < why->layering->layers_count; i++) {
		const struct hash *items = &why->layering->layers[i]->items[why->question->type];
		struct hash_entry *slot;
		size_t cursor = 0;

		while ((slot = hash_next(items, &cursor))) {
			size_t prefix = virtual_hosts_prefix(slot->key).length;
			const char *copy;

			/* "shop" for "edge/shop" */
			if (why->question->type == XDS_VHDS && prefix &&
				slice_equal(name, (struct slice){slot->key.data + prefix,
							  slot->key.length - prefix}))
				suggestion.best = slot->key;
			if (memchr(slot->key.data, '\0', slot->key.length))
				continue;
			copy = arena_printf(why->arena, "%.*s", SLICE_ARG(slot->key));
			if (copy)
				suggestion_offer(&suggestion, copy);
		}
	}
	suggestion_phrase(&suggestion, phrase);
	if (phrase[0])
		buf_puts(hint, phrase + 2); /* without ", " */
}

/* What is broken may be what is missing. */
static void add_problems(struct why *why)
{
	json_t *problems = json_array();
	struct buf line = BUF_INIT;

	for (size_t i = 0; i < diag_list_count(why->compiler->diags); i++) {
		const struct diag *diag = diag_list_get(why->compiler->diags, i);
		const struct xds_type_row *row;
		struct slice folder;

		row = folder_type(slice_of(diag->path), &folder);
		if (diag->level != DIAG_ERROR || (row && row->type != why->question->type))
			continue;
		buf_reset(&line);
		diag_format(diag, &line);
		list_add(problems, json_string(buf_cstr(&line)));
	}
	buf_fini(&line);
	if (json_array_size(problems))
		json_object_set(why->answer, "problems", problems);
	json_decref(problems);
}

static void explain_absence(struct why *why)
{
	struct buf hint = BUF_INIT;

	if (!add_elsewhere(why) && !add_other_types(why, &hint))
		add_near(why, &hint);
	if (hint.length)
		json_object_set_new(why->answer, "hint", json_string(buf_cstr(&hint)));
	buf_fini(&hint);
	add_problems(why);
}

/* --- the answer ---------------------------------------------------------------------------- */

static bool has_result(const json_t *outcomes, const char *result)
{
	json_t *outcome;
	size_t i;

	json_array_foreach((json_t *)outcomes, i, outcome)
	{
		if (strcmp(json_string_value(json_object_get(outcome, "result")), result) == 0)
			return true;
	}
	return false;
}

static void answer(struct why *why)
{
	json_t *outcomes = json_object_get(why->answer, "outcomes");
	bool exists;

	if (!why->layering) {
		json_object_set_new(why->answer, "error",
			json_string("it is not known who gets what: groups.yaml has errors"));
		add_problems(why);
		return;
	}
	if (!choose_groups(why))
		return;
	for (size_t i = 0; i < why->layering->built_count; i++)
		if (!why->one || why->layering->built[i] == why->one)
			add_group(why, why->layering->built[i]);
	exists = has_result(outcomes, "served");
	json_object_set_new(why->answer, "exists", json_boolean(exists));
	if (!exists && !has_result(outcomes, "deleted") && !has_result(outcomes, "refused"))
		explain_absence(why);
}

json_t *why_answer(const struct compiler *compiler, const struct why_question *question)
{
	struct why why = {.compiler = compiler,
		.layering = compiler->layering,
		.question = question,
		.arena = arena_new(0)};

	hash_init(&why.outcomes);
	why.answer = json_pack("{s:s,s:o,s:b,s:[]}", "type", xds_type_row(question->type)->name,
		"name", text_of(question->name), "exists", 0, "outcomes");
	answer(&why);
	hash_fini(&why.outcomes);
	arena_free(why.arena);
	return why.answer;
}

/* --- what each layer does ------------------------------------------------------------------ */

json_t *why_layers(const struct compiler *compiler)
{
	json_t *list = json_array();

	for (size_t i = 0; compiler->layering && i < compiler->layering->built_count; i++) {
		const struct group *group = compiler->layering->built[i];
		json_t *layers = json_array();

		for (const struct stack *stack = group->stack; stack->layer;
			stack = stack->parent) {
			json_t *layer = json_pack("{s:s}", "layer", layer_name(stack->layer));
			struct stack_sums sums = stack_sum(stack);

			for (int type = 0; type < XDS_TYPE_COUNT; type++) {
				const char *name = xds_type_row((enum xds_type)type)->name;
				const size_t counts[] = {
					sums.adds[type], sums.replaces[type], sums.deletes[type]};
				static const char *const keys[] = {"adds", "replaces", "deletes"};

				for (size_t k = 0; k < 3; k++) {
					json_t *object = json_object_get(layer, keys[k]);

					if (!object) {
						object = json_object();
						json_object_set_new(layer, keys[k], object);
					}
					if (counts[k])
						json_object_set_new(object, name,
							json_integer((json_int_t)counts[k]));
				}
			}
			json_array_insert_new(layers, 0, layer);
		}
		json_array_append_new(list,
			json_pack("{s:s,s:o}", "group", group->entry->name, "layers", layers));
	}
	return list;
}

/* --- TYPE/NAME ----------------------------------------------------------------------------- */

static const char *last_word(const char *message)
{
	return strrchr(message, '.') + 1;
}

static const struct xds_type_row *find_type(struct slice text)
{
	const struct xds_type_row *row = xds_type_by_name(text);

	if (!row)
		row = xds_type_by_folder(text);
	if (!row)
		row = xds_type_by_message(text);
	if (!row)
		row = xds_type_by_url(text);
	for (int type = 0; !row && type < XDS_TYPE_COUNT; type++) {
		const struct xds_type_row *one = xds_type_row((enum xds_type)type);

		if (suggestion_distance(text, slice_of(last_word(one->message)), 0) == 0 ||
			suggestion_distance(text, slice_of(one->noun), 0) == 0)
			row = one;
	}
	return row;
}

bool why_parse(
	struct slice text, enum xds_type *ret_type, struct slice *ret_name, char **ret_problem)
{
	static const struct slice url = {"type.googleapis.com/", 20};
	size_t from = text.length > url.length && memcmp(text.data, url.data, url.length) == 0
			      ? url.length
			      : 0;
	const char *slash = text.length ? memchr(text.data + from, '/', text.length - from) : NULL;
	struct slice type = {text.data, slash ? (size_t)(slash - text.data) : text.length};
	const struct xds_type_row *row = find_type(type);
	struct suggestion suggestion;
	struct buf quoted = BUF_INIT;
	char phrase[256];

	if (row && slash && type.length + 1 < text.length) {
		*ret_type = row->type;
		*ret_name = (struct slice){slash + 1, text.length - type.length - 1};
		return true;
	}
	suggestion_init(&suggestion, type);
	for (int i = 0; i < XDS_TYPE_COUNT; i++) {
		suggestion_offer(&suggestion, xds_type_row((enum xds_type)i)->name);
		suggestion_offer(&suggestion, xds_type_row((enum xds_type)i)->folder);
		suggestion_offer(&suggestion, last_word(xds_type_row((enum xds_type)i)->message));
	}
	text_quote(&quoted, row ? text : type, 100);
	*ret_problem = row ? xasprintf("\"%s\" has no name: write TYPE/NAME, as in CDS/api",
				     buf_cstr(&quoted))
			   : xasprintf("\"%s\" is no type of resource%s; write TYPE/NAME, as in "
				       "CDS/api or clusters/api",
				     buf_cstr(&quoted), suggestion_phrase(&suggestion, phrase));
	buf_fini(&quoted);
	return false;
}
