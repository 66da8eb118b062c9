/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/joins.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "compile/external.h"
#include "compile/joins_index.h"
#include "compile/silencer.h"

/* Looking for a near name costs all names, so that is done for so many at most. */
#define SUGGESTIONS_MAX 100

/* Something to say about a fact, and the groups it is true of. */
struct finding {
	struct finding *next; /* about the same fact */
	const struct lint *lint;
	const struct unit_item *item;
	const struct fact *fact;
	enum diag_level level;
	char *text;
	char *hint; /* for people, behind the text; may be another one in other groups */
	const struct group *group; /* the first one */
	size_t groups_count;
};

struct joins {
	struct compiler *compiler;
	struct layering *layering;
	struct diag_list *diags;
	joins_charge_cb charge;
	void *ctx;
	struct joins_index index;
	struct hash findings; /* by the address of the fact: the first struct finding */
	struct hash sources;  /* that were asked about: see is_ours */
	struct hash broken;   /* names of resources that have errors: they are not missing */
	const struct lint *missing[XDS_TYPE_COUNT], *unused[XDS_TYPE_COUNT];
	unsigned suggestions;
};

/* --- findings -------------------------------------------------------------------------------- */

static struct slice address_key(const struct fact *const *fact)
{
	return (struct slice){(const char *)fact, sizeof(*fact)};
}

static void add_finding(struct joins *joins, const struct lint *lint, enum diag_level level,
	const struct joins_use *use, const struct group *group, const char *text, const char *hint)
{
	struct finding *first = hash_get(&joins->findings, address_key(&use->fact)), *finding;

	for (finding = first; finding; finding = finding->next) {
		if (finding->lint != lint || strcmp(finding->text, text) != 0)
			continue;
		finding->groups_count++;
		if (finding->level < level)
			finding->level = level;
		return;
	}
	finding = xcalloc(1, sizeof(*finding));
	*finding = (struct finding){.next = first,
		.lint = lint,
		.item = use->item,
		.fact = use->fact,
		.level = level,
		.text = xstrdup(text),
		.hint = xstrdup(hint),
		.group = group,
		.groups_count = 1};
	hash_put(&joins->findings, address_key(&finding->fact), finding);
}

static void tell(struct joins *joins, const struct finding *finding)
{
	const struct fact *fact = finding->fact;
	const struct layering *layering = joins->layering;
	struct buf text = BUF_INIT;
	struct diag diag = {.level = finding->level,
		.at = fact->at,
		.path = fact->path ? fact->path : finding->item->unit->path->text,
		.rule = finding->lint->rule,
		.via = fact->via ? fact->via : ""};

	if (fact->where[0])
		buf_printf(&text, "%s: ", fact->where);
	buf_puts(&text, finding->text);
	buf_puts(&text, finding->hint);
	if (finding->groups_count < layering->built_count) {
		buf_printf(&text, " (group \"%s\"", finding->group->entry->name);
		if (finding->groups_count > 1)
			buf_printf(&text, " and %zu other%s", finding->groups_count - 1,
				finding->groups_count == 2 ? "" : "s");
		buf_putc(&text, ')');
	}
	diag.text = buf_cstr(&text);
	diag_list_copy(joins->diags, &diag);
	buf_fini(&text);
}

static int compare_findings(const void *a, const void *b)
{
	const struct finding *one = *(struct finding *const *)a, *two = *(struct finding *const *)b;
	int order = joins_compare_places(one->item, one->fact, two->item, two->fact);

	if (!order)
		order = strcmp(one->lint->rule, two->lint->rule);
	return order ? order : strcmp(one->text, two->text);
}

/* In the order of their places, since a list of diagnostics takes only so many. */
static void tell_all(struct joins *joins)
{
	struct finding **sorted = NULL;
	size_t count = 0, capacity = 0, cursor = 0;
	struct hash_entry *slot;

	while ((slot = hash_next(&joins->findings, &cursor))) {
		for (struct finding *finding = slot->value; finding; finding = finding->next) {
			array_reserve(sorted, capacity, count + 1);
			sorted[count++] = finding;
		}
	}
	if (count > 1)
		qsort(sorted, count, sizeof(*sorted), compare_findings);
	hash_fini(&joins->findings);
	for (size_t i = 0; i < count; i++) {
		tell(joins, sorted[i]);
		free(sorted[i]->text);
		free(sorted[i]->hint);
		free(sorted[i]);
	}
	free(sorted);
}

static void charge(struct joins *joins, struct group *group, const struct lint *lint,
	enum diag_level level, const struct joins_use *use, const char *text, const char *hint)
{
	const char *path = use->fact->path ? use->fact->path : use->item->unit->path->text;
	const struct diag diag = {
		.level = level, .at = use->fact->at, .path = path, .rule = lint->rule};
	struct buf whole = BUF_INIT;

	if (silencer_covers(joins->compiler, group, &diag))
		return;
	buf_printf(
		&whole, "%s%s%s%s", use->fact->where, use->fact->where[0] ? ": " : "", text, hint);
	joins->charge(joins->ctx, group, level, path, use->fact->at, lint->rule, buf_cstr(&whole));
	buf_fini(&whole);
	add_finding(joins, lint, level, use, group, text, hint);
}

/* --- what is missing ------------------------------------------------------------------------- */

/* The nearest name that the group has, as a phrase or "". */
static void suggest(struct joins *joins, const struct group *group, enum xds_type type,
	struct slice name, char phrase[static 256])
{
	const struct resource_set *set = group_set(group, type);
	const struct resource *resource, *best = NULL;
	uint64_t cursor = 0;
	size_t least = 2 + (name.length > 4) + (name.length > 8);

	phrase[0] = '\0';
	if (joins->suggestions++ >= SUGGESTIONS_MAX)
		return;
	while ((resource = resource_set_next(set, &cursor))) {
		size_t distance = suggestion_distance(name, resource->name, least);

		if (distance < least || (distance == least && best &&
						slice_compare(resource->name, best->name) < 0)) {
			least = distance;
			best = resource;
		}
		if (least == 0)
			break;
	}
	if (best)
		snprintf(phrase, 256, ", did you mean \"%.*s\"?",
			(int)(best->name.length < 200 ? best->name.length : 200), best->name.data);
}

/* Remembers the answer, which may have cost a look at the whole tree. */
static bool is_ours(struct joins *joins, const struct fact *source)
{
	static const bool ours = true, theirs = false;
	const bool *known = hash_get(&joins->sources, fact_key(source));

	if (!known) {
		known = joins_source_is_ours(&joins->index, fact_key(source)) ? &ours : &theirs;
		hash_put(&joins->sources, fact_key(source), (void *)known);
	}
	return *known;
}

/* Whether a reference asks another server: one that gives nothing that the tree has. */
static bool is_foreign(struct joins *joins, const struct joins_use *use)
{
	const struct facts *facts = use->item->facts;
	const struct fact *source = use->fact + 1;

	if (use->fact->flags & FACT_IS_FOREIGN)
		return true;
	return source < facts->facts + facts->count && source->kind == FACT_SOURCE &&
	       !is_ours(joins, source);
}

static void report_name(struct joins *joins, struct group *group, struct slice key)
{
	enum xds_type type = joins_key_type(key);
	const struct lint *lint = joins->missing[type];
	const struct groups *groups = joins->layering->groups;
	struct slice name = joins_key_name(key);
	bool is_told = external_says(groups->external, type) ||
		       external_says(group->entry->external, type);
	bool has_any = resource_set_count(group_set(group, type)) > 0;
	struct joins_uses live = {0};
	struct buf shown = BUF_INIT, text = BUF_INIT;
	char phrase[256];

	if (external_has(groups->external, type, name) ||
		external_has(group->entry->external, type, name) || hash_get(&joins->broken, key))
		return;
	joins_live(group->stack, key, &live);
	text_quote(&shown, name, 100);
	buf_printf(&text, "there is no %s \"%s\"", xds_type_row(type)->noun, buf_cstr(&shown));
	suggest(joins, group, type, name, phrase);
	for (size_t i = 0; i < live.count; i++) {
		unsigned flags = live.all[i].fact->flags;
		bool is_refused = (flags & FACT_IS_REFUSED) && is_told;

		/* A group without any may get all of them from elsewhere. */
		if ((!has_any && !is_told && !(flags & FACT_IS_OURS)) ||
			is_foreign(joins, &live.all[i]))
			continue;
		charge(joins, group, lint, is_refused ? DIAG_ERROR : lint->level, &live.all[i],
			buf_cstr(&text), phrase);
	}
	free(live.all);
	buf_fini(&shown);
	buf_fini(&text);
}

static int compare_keys(const void *a, const void *b)
{
	return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

static void report_missing(struct joins *joins, struct group *group)
{
	const struct hash *missing = joins_missing(&joins->index, group->stack);
	struct slice *keys = xcalloc(missing->count + 1, sizeof(*keys));
	struct hash_entry *slot;
	size_t cursor = 0, count = 0;

	while ((slot = hash_next(missing, &cursor))) {
		if (joins->missing[joins_key_type(slot->key)])
			keys[count++] = slot->key;
	}
	if (count > 1)
		qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < count; i++)
		report_name(joins, group, keys[i]);
	free(keys);
}

/* --- what is not used ------------------------------------------------------------------------ */

/* Whether those that would use resources of a type are in the group at all. */
static bool can_tell(const struct group *group, enum xds_type type)
{
	size_t listeners = resource_set_count(group_set(group, XDS_LDS)),
	       clusters = resource_set_count(group_set(group, XDS_CDS)),
	       routes = resource_set_count(group_set(group, XDS_RDS));

	if (type == XDS_EDS)
		return clusters > 0;
	if (type == XDS_SDS)
		return listeners + clusters > 0;
	if (type == XDS_CDS)
		return listeners + routes > 0;
	return listeners > 0;
}

static bool has_broken_layer(const struct joins *joins, const struct group *group)
{
	for (size_t i = 0; i < group->layers_count; i++) {
		if (joins_layer_is_broken(&joins->index, group->layers[i]))
			return true;
	}
	return false;
}

static bool is_unused(
	const struct joins *joins, const struct unit_item *item, const struct diag *diag)
{
	const struct layer *layer = item->unit->layer;
	enum xds_type type = item->resource->type;
	struct slice name = item->resource->name;
	size_t lives = 0;

	if (item->is_delete || item->is_used || item->next_same ||
		external_has(joins->layering->groups->external, type, name))
		return false;
	for (size_t i = 0; i < layer->groups_count; i++) {
		const struct group *group = layer->groups[i];

		if (stack_find(group->stack, type, name) != item)
			continue;
		if (!can_tell(group, type) || has_broken_layer(joins, group) ||
			joins_takes_any(group->stack, type) ||
			external_has(group->entry->external, type, name))
			return false;
		lives += !silencer_covers(joins->compiler, group, diag);
	}
	return lives > 0;
}

static void report_unused(struct joins *joins, const struct layer *layer, enum xds_type type)
{
	const struct lint *lint = joins->unused[type];
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&layer->items[type], &cursor))) {
		const struct unit_item *item = slot->value;
		struct diag diag = {.level = lint->level,
			.at = item->resource->at,
			.path = item->unit->path->text,
			.rule = lint->rule,
			.via = ""};
		struct buf text = BUF_INIT;

		if (!is_unused(joins, item, &diag))
			continue;
		buf_printf(&text, "nothing refers to %s \"", xds_type_row(type)->noun);
		text_quote(&text, item->resource->name, 100);
		buf_putc(&text, '"');
		diag.text = buf_cstr(&text);
		diag_list_copy(joins->diags, &diag);
		buf_fini(&text);
		item->unit->layer->warnings += lint->level == DIAG_WARNING;
	}
}

/* --- judges ---------------------------------------------------------------------------------- */

struct judging {
	struct joins *joins;
	struct group *group;
	const struct joins_use *uses; /* those that lint_users were made of */
	const struct lint_user *users;
};

/* lint_judge.say */
static void on_judge_say(
	void *ctx, const struct lint *lint, const struct lint_user *user, const char *text)
{
	const struct judging *judging = ctx;

	charge(judging->joins, judging->group, lint, lint->level,
		&judging->uses[user - judging->users], text, "");
}

static void judge_name(struct judging *judging, struct lint_judge *judge, struct slice key)
{
	struct joins_uses live = {0};
	struct lint_user *users;

	joins_live(judging->group->stack, key, &live);
	users = xcalloc(live.count + 1, sizeof(*users));
	for (size_t i = 0; i < live.count; i++)
		users[i] = (struct lint_user){live.all[i].item->resource, live.all[i].fact};
	judging->uses = live.all;
	judging->users = users;
	if (live.count)
		judge->lint->judge(judge, joins_key_name(key), users, live.count);
	free(users);
	free(live.all);
}

/* How many names there are, at the place of the first. */
static void judge_total(struct judging *judging, struct lint_judge *judge)
{
	struct joins_uses live = {0};
	struct lint_user user;
	struct slice first;
	size_t count = joins_count(
		&judging->joins->index, judging->group->stack, judge->lint->kind, &first);

	if (count == 0)
		return;
	joins_live(judging->group->stack, first, &live);
	user = (struct lint_user){live.all[0].item->resource, live.all[0].fact};
	judging->uses = live.all;
	judging->users = &user;
	judge->lint->total(judge, count, &user);
	judging->users = NULL;
	free(live.all);
}

static void judge_group(struct joins *joins, struct group *group, const struct lint *lint)
{
	struct judging judging = {.joins = joins, .group = group};
	struct lint_judge judge = {
		.lint = lint, .group = group->entry->name, .say = on_judge_say, .ctx = &judging};
	struct slice *keys = NULL;
	size_t count = 0;

	if (lint->total)
		judge_total(&judging, &judge);
	if (lint->judge)
		keys = joins_keys(group->stack, lint->kind, &count);
	for (size_t i = 0; i < count; i++)
		judge_name(&judging, &judge, keys[i]);
	free(keys);
}

/* --- all of it ------------------------------------------------------------------------------- */

static void find_lints(struct joins *joins)
{
	for (const struct lint *const *table = lint_tables; *table; table++) {
		for (const struct lint *lint = *table; lint->rule; lint++) {
			if (lint->join == LINT_MISSING)
				joins->missing[lint->kind] = lint;
			else if (lint->join == LINT_UNUSED)
				joins->unused[lint->kind] = lint;
		}
	}
}

/* Resources that would be there but for their errors. */
static void find_broken(struct joins *joins)
{
	const struct unit_list *vocal = &joins->compiler->vocal;

	for (size_t i = 0; i < vocal->count; i++) {
		const struct facts *broken = vocal->units[i]->content.broken;

		for (uint32_t k = 0; broken && k < broken->count; k++)
			hash_put(&joins->broken, fact_key(&broken->facts[k]), vocal->units[i]);
	}
}

static void judge_all(struct joins *joins)
{
	for (const struct lint *const *table = lint_tables; *table; table++) {
		for (const struct lint *lint = *table; lint->rule; lint++) {
			if (!lint->judge && !lint->total)
				continue;
			for (size_t i = 0; i < joins->layering->built_count; i++)
				judge_group(joins, joins->layering->built[i], lint);
		}
	}
}

void joins_report(
	struct compiler *compiler, struct diag_list *diags, joins_charge_cb charge_group, void *ctx)
{
	struct joins joins = {.compiler = compiler,
		.layering = compiler->layering,
		.diags = diags,
		.charge = charge_group,
		.ctx = ctx};
	struct layering *layering = compiler->layering;

	hash_init(&joins.findings);
	hash_init(&joins.sources);
	hash_init(&joins.broken);
	find_lints(&joins);
	find_broken(&joins);
	joins_index_init(&joins.index, compiler);
	for (size_t i = 0; i < layering->built_count; i++) {
		/* A file that nobody can read may have any name in it. */
		if (!joins_group_is_hidden(&joins.index, layering->built[i]))
			report_missing(&joins, layering->built[i]);
	}
	judge_all(&joins);
	tell_all(&joins);
	/* What other hosts build may use it. */
	for (size_t i = 0; !compiler->only_groups && i < layering->layers_count; i++) {
		for (int type = 0; type < XDS_TYPE_COUNT; type++) {
			const struct lint *lint = joins.unused[type];

			if (lint && (lint->level > DIAG_NOTE || compiler->verbose))
				report_unused(&joins, layering->layers[i], (enum xds_type)type);
		}
	}
	joins_index_fini(&joins.index);
	hash_fini(&joins.sources);
	hash_fini(&joins.broken);
}
