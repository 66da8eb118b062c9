/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/import_rest.h"

#include <stdlib.h>

#include "author/import_walk.h"
#include "base/mem.h"
#include "base/text.h"
#include "message/bind.h"
#include "message/yaml_read.h"
#include "message/yaml_write.h"

#define CORE "envoy.config.core.v3."
#define TLS  "envoy.extensions.transport_sockets.tls.v3."

/* --- what has to stay -------------------------------------------------------------------- */

struct keeper {
	struct import_plan *plan;
	bool all_clusters; /* every field that names a cluster counts, not only config sources */
	bool has_new;
};

static void keep(struct keeper *keeper, enum xds_type type, struct slice name)
{
	struct import_item *item = import_plan_find(keeper->plan, type, name);

	if (!item || !item->is_static || item->is_kept)
		return;
	item->is_kept = true;
	keeper->has_new = true;
}

static void keep_named(struct keeper *keeper, const struct message *message)
{
	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct message_field *entry = &message->fields[i];

		if (entry->field->type != SCHEMA_STRING || !strstr(entry->field->name, "cluster"))
			continue;
		for (uint32_t k = 0; k < entry->count; k++)
			keep(keeper, XDS_CDS,
				entry->field->is_repeated ? entry->items[k].bytes
							  : entry->one.bytes);
	}
}

static void keep_below(void *ctx, struct message *message)
{
	struct keeper all = {.plan = ((struct keeper *)ctx)->plan, .all_clusters = true};

	keep_named(&all, message);
	((struct keeper *)ctx)->has_new |= all.has_new;
}

static void visit(void *ctx, struct message *message)
{
	struct keeper *keeper = ctx;
	const char *type = message->type->full_name;

	if (keeper->all_clusters)
		keep_named(keeper, message);
	/* Config sources of resources: their clusters must be static. */
	if (strcmp(type, CORE "ApiConfigSource") == 0)
		import_walk(message, keep_below, keeper);
	/* Without a config source only static secrets are found. */
	if (keeper->all_clusters && strcmp(type, TLS "SdsSecretConfig") == 0 &&
		!message_find(message, import_plan_field(message, "sds_config")->number))
		keep(keeper, XDS_SDS,
			message_get_bytes(message, import_plan_field(message, "name")->number));
}

static bool is_one_of(const struct schema_field *field, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(field->name, *names) == 0)
			return true;
	return false;
}

static void report_kept(struct import_plan *plan, size_t *ret_secrets)
{
	size_t secrets = 0;

	for (size_t i = 0; i < plan->count; i++) {
		const struct import_item *item = plan->items[i];

		secrets += item->is_kept && item->row->type == XDS_SDS;
		if (item->is_kept && item->row->type == XDS_CDS)
			diag_note(plan->diags, item->path, item->at, "import-kept",
				"cluster \"%.*s\" stays in the bootstrap: it is needed before "
				"there "
				"is a control plane",
				SLICE_ARG(item->name));
	}
	*ret_secrets = secrets;
}

void import_rest_keep(struct import_plan *plan, bool moves_secrets)
{
	static const char *const elsewhere[] = {"static_resources", "node", NULL};
	struct keeper keeper = {.plan = plan, .all_clusters = true};
	size_t secrets;

	for (uint32_t i = 0; plan->bootstrap && i < plan->bootstrap->fields_count; i++) {
		const struct message_field *entry = &plan->bootstrap->fields[i];

		if (entry->field->type != SCHEMA_MESSAGE || is_one_of(entry->field, elsewhere))
			continue;
		for (uint32_t k = 0; k < entry->count; k++)
			import_walk(entry->field->is_repeated ? entry->items[k].message
							      : entry->one.message,
				visit, &keeper);
	}
	keeper.all_clusters = false;
	for (size_t i = 0; i < plan->count; i++) {
		struct import_item *item = plan->items[i];

		if (item->row->type == XDS_SDS && item->is_static && !moves_secrets)
			item->is_kept = true;
		import_walk(item->message, visit, &keeper);
	}
	/* What the clusters that stay need stays, too. */
	keeper.all_clusters = true;
	do {
		keeper.has_new = false;
		for (size_t i = 0; i < plan->count; i++)
			if (plan->items[i]->is_kept && plan->items[i]->row->type == XDS_CDS)
				import_walk(plan->items[i]->message, visit, &keeper);
	} while (keeper.has_new);
	report_kept(plan, &secrets);
	if (secrets)
		diag_note(plan->diags, plan->bootstrap_path, (struct position){0}, "import-kept",
			"%zu %s in the bootstrap: without sds_config only static secrets are "
			"found%s",
			secrets, secrets == 1 ? "secret stays" : "secrets stay",
			moves_secrets ? "" : "; --split certificates moves them");
}

/* --- the bootstrap as a message ---------------------------------------------------------- */

static struct message *copy(struct import_plan *plan, const struct message *message)
{
	struct message *made = arena_alloc(plan->arena, sizeof(*made));
	size_t bytes = message->fields_count * sizeof(*made->fields);

	*made = *message;
	made->fields = arena_alloc(plan->arena, bytes);
	if (bytes)
		memcpy(made->fields, message->fields, bytes);
	made->fields_capacity = made->fields_count;
	return made;
}

static bool stays(const struct import_plan *plan, const struct message *message)
{
	const struct xds_type_row *row = xds_type_by_message(slice_of(message->type->full_name));
	const struct import_item *item =
		import_plan_find(plan, row->type, message_get_bytes(message, row->name_field));

	return item && item->is_kept;
}

/* The static resources without those that go. */
static void strip(struct import_plan *plan, struct message *resources)
{
	static const char *const parts[] = {"listeners", "clusters", "secrets"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const struct schema_field *field = import_plan_field(resources, parts[i]);
		struct message_field *entry = message_find_mutable(resources, field->number);
		union message_value *items;
		uint32_t kept = 0;

		if (!entry)
			continue;
		items = arena_alloc(plan->arena, entry->count * sizeof(*items));
		for (uint32_t k = 0; k < entry->count; k++)
			if (stays(plan, entry->items[k].message))
				items[kept++] = entry->items[k];
		entry->items = items;
		entry->count = entry->capacity = kept;
		if (kept == 0)
			message_clear(resources, field);
	}
}

static struct message *read_text(struct import_plan *plan, struct slice text,
	const struct schema_message *type, struct diag_list *diags)
{
	const struct bind_options bind = {.schema = plan->schema, .path = "the new bootstrap"};
	struct documents documents;
	struct message *message;

	if (yaml_read(&(struct read_options){.path = bind.path,
			      .nodes_limit = plan->limits->yaml_nodes},
		    text, plan->arena, diags, &documents) ||
		documents.count != 1 ||
		bind_typed(&bind, type, documents.roots[0], plan->arena, diags, &message))
		return NULL;
	return message;
}

struct rest {
	struct import_plan *plan;
	struct bootstrap_spec spec;
	struct buf dynamic; /* lines for the top level */
	struct buf cluster; /* one item, at the left margin */
	struct message *wanted;
	bool has_static; /* some static resources stay */
	bool has_old_clusters;
	struct buf section; /* `clusters:` with the new one */
};

/* The message that the new bootstrap shall be. */
static bool make_wanted(struct rest *rest)
{
	struct import_plan *plan = rest->plan;
	struct buf text = BUF_INIT;
	struct message *wanted = copy(plan, plan->bootstrap), *added;
	const struct schema_field *field = import_plan_field(wanted, "static_resources");
	struct message_field *entry = message_find_mutable(wanted, field->number);
	const struct message *more;

	if (entry) {
		rest->has_old_clusters =
			message_find(entry->one.message,
				import_plan_field(entry->one.message, "clusters")->number) != NULL;
		entry->one.message = copy(plan, entry->one.message);
		strip(plan, entry->one.message);
		rest->has_static = entry->one.message->fields_count > 0;
		if (!rest->has_static)
			message_clear(wanted, field);
	}
	buf_append_slice(&text, buf_slice(&rest->dynamic));
	if (rest->cluster.length) {
		buf_puts(&text, "static_resources:\n  clusters:\n");
		for (const char *line = buf_cstr(&rest->cluster); *line;) {
			const char *end = strchr(line, '\n') + 1;

			buf_puts(&text, "  ");
			buf_append(&text, line, (size_t)(end - line));
			line = end;
		}
	}
	added = read_text(
		plan, arena_copy(plan->arena, text.data, text.length), wanted->type, plan->diags);
	buf_fini(&text);
	if (!added)
		return false;
	*message_set(plan->arena, wanted, import_plan_field(wanted, "dynamic_resources")) =
		*message_find(added, import_plan_field(added, "dynamic_resources")->number);
	if (message_find(added, import_plan_field(added, "node")->number))
		*message_set(plan->arena, wanted, import_plan_field(wanted, "node")) =
			*message_find(added, import_plan_field(added, "node")->number);
	more = message_get_message(added, field->number);
	if (more) {
		struct message *resources = import_plan_sub(plan, wanted, "static_resources");
		struct message_field *clusters = message_set(
			plan->arena, resources, import_plan_field(resources, "clusters"));

		message_add(plan->arena, clusters);
		memmove(clusters->items + 1, clusters->items,
			(clusters->count - 1) * sizeof(*clusters->items));
		clusters->items[0] = message_find(more, clusters->field->number)->items[0];
	}
	rest->wanted = wanted;
	return true;
}

/* --- the bootstrap as a text ------------------------------------------------------------- */

struct cutting {
	size_t start, end;
	size_t indent;	  /* of what is put there */
	struct buf *text; /* NULL: nothing */
};

struct cuttings {
	struct cutting *items;
	size_t count, capacity;
};

static void cut(
	struct cuttings *cuttings, size_t start, size_t end, size_t indent, struct buf *text)
{
	array_reserve(cuttings->items, cuttings->capacity, cuttings->count + 1);
	cuttings->items[cuttings->count++] = (struct cutting){start, end, indent, text};
}

static int compare_cuttings(const void *a, const void *b)
{
	const struct cutting *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return (left->end > right->end) - (left->end < right->end);
}

/* A whole key with its lines. */
static bool cut_key(struct rest *rest, struct cuttings *cuttings, const struct message *holder,
	const char *field, struct buf *text)
{
	const struct message_field *entry =
		message_find(holder, import_plan_field(holder, field)->number);
	struct source_span span;

	if (!entry ||
		!source_cut_key_span(&rest->plan->bootstrap_source->outline, entry->at, &span) ||
		!span.owns_lines)
		return false;
	cut(cuttings, text ? span.lines_start : span.lines_start, span.lines_end, span.column,
		text);
	return true;
}

/* The items of a section that go; the new cluster before the first that stays. */
static bool cut_section(struct rest *rest, struct cuttings *cuttings,
	const struct message *resources, const char *field)
{
	const struct message_field *old =
		message_find(resources, import_plan_field(resources, field)->number);
	bool is_clusters = strcmp(field, "clusters") == 0, is_added = rest->cluster.length == 0;
	uint32_t kept = 0;

	if (!old)
		return true;
	for (uint32_t i = 0; i < old->count; i++)
		kept += stays(rest->plan, old->items[i].message);
	if (kept == 0 && !(is_clusters && rest->cluster.length))
		return cut_key(rest, cuttings, resources, field, NULL);
	for (uint32_t i = 0; i < old->count; i++) {
		struct source_span span;
		bool is_kept = stays(rest->plan, old->items[i].message);

		if (!source_cut_span(&rest->plan->bootstrap_source->outline,
			    old->items[i].message->at, &span) ||
			!span.owns_lines || span.dash == SIZE_MAX)
			return false;
		if (is_clusters && !is_added)
			cut(cuttings, span.lines_start, span.lines_start, span.dash,
				&rest->cluster);
		is_added |= is_clusters;
		if (!is_kept)
			cut(cuttings, span.lines_start, span.lines_end, 0, NULL);
	}
	return true;
}

/* A place for the new cluster where there were only secrets. */
static bool add_section(
	struct rest *rest, struct cuttings *cuttings, const struct message *resources)
{
	const struct message_field *first = &resources->fields[0];
	struct source_span span;

	if (rest->cluster.length == 0)
		return true;
	for (uint32_t i = 0; i < resources->fields_count; i++)
		if (resources->fields[i].at.line < first->at.line)
			first = &resources->fields[i];
	if (!source_cut_key_span(&rest->plan->bootstrap_source->outline, first->at, &span) ||
		!span.owns_lines)
		return false;
	buf_puts(&rest->section, "clusters:\n");
	buf_append_slice(&rest->section, buf_slice(&rest->cluster));
	cut(cuttings, span.lines_start, span.lines_start, span.column, &rest->section);
	return true;
}

static void put_lines(struct buf *out, struct buf *lines, size_t indent)
{
	for (const char *line = buf_cstr(lines); *line;) {
		const char *end = strchr(line, '\n') + 1;

		buf_fill(out, ' ', *line == '\n' ? 0 : indent);
		buf_append(out, line, (size_t)(end - line));
		line = end;
	}
}

static void apply(struct rest *rest, struct cuttings *cuttings, struct buf *out)
{
	struct slice text = rest->plan->bootstrap_source->outline.text;
	size_t from = 0;

	if (cuttings->count)
		qsort(cuttings->items, cuttings->count, sizeof(*cuttings->items), compare_cuttings);
	for (size_t i = 0; i < cuttings->count; i++) {
		const struct cutting *one = &cuttings->items[i];

		if (one->start > from)
			buf_append(out, text.data + from, one->start - from);
		if (one->text)
			put_lines(out, one->text, one->indent);
		if (one->end > from)
			from = one->end;
	}
	buf_append(out, text.data + from, text.length - from);
	if (out->length && out->data[out->length - 1] != '\n')
		buf_putc(out, '\n');
}

static bool make_cuttings(struct rest *rest, struct cuttings *cuttings, struct buf *end)
{
	static const char *const parts[] = {"listeners", "clusters", "secrets"};
	const struct message *old = rest->plan->bootstrap;
	const struct message *resources =
		message_get_message(old, import_plan_field(old, "static_resources")->number);
	bool is_good = true;

	if (message_find(old, import_plan_field(old, "dynamic_resources")->number)) {
		is_good = cut_key(rest, cuttings, old, "dynamic_resources", &rest->dynamic);
	} else {
		buf_puts(end, "\n");
		buf_append_slice(end, buf_slice(&rest->dynamic));
	}
	if (rest->has_static) {
		if (!rest->has_old_clusters && !add_section(rest, cuttings, resources))
			return false;
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
			is_good &= cut_section(rest, cuttings, resources, parts[i]);
		return is_good;
	}
	if (resources)
		is_good &= cut_key(rest, cuttings, old, "static_resources", NULL);
	if (rest->cluster.length) {
		buf_puts(end, "static_resources:\n  clusters:\n");
		put_lines(end, &rest->cluster, 2);
	}
	return is_good;
}

/* The old text with as little changed as possible; false when that does not work out. */
static bool edit_text(struct rest *rest, struct buf *out)
{
	struct import_plan *plan = rest->plan;
	struct cuttings cuttings = {0};
	struct diag_list *quiet = diag_list_new(0);
	struct message *made;
	struct buf end = BUF_INIT;
	bool is_good = plan->bootstrap_source && make_cuttings(rest, &cuttings, &end);

	if (is_good) {
		apply(rest, &cuttings, out);
		buf_append_slice(out, buf_slice(&end));
		made = read_text(plan, arena_copy(plan->arena, out->data, out->length),
			rest->wanted->type, quiet);
		is_good = made && message_equal(made, rest->wanted);
	}
	diag_list_free(quiet);
	free(cuttings.items);
	buf_fini(&end);
	if (!is_good)
		buf_reset(out);
	return is_good;
}

static void report_replaced(const struct rest *rest)
{
	const struct message *old = rest->plan->bootstrap;
	const struct message_field *entry =
		message_find(old, import_plan_field(old, "dynamic_resources")->number);

	if (entry && !rest->plan->has_dump)
		diag_warning(rest->plan->diags, rest->plan->bootstrap_path, entry->at,
			"import-replaced",
			"Envoy gets resources from elsewhere, too: in the new bootstrap xdspub "
			"takes that place; import what came from there as well (its files, or the "
			"config dump of an Envoy that runs)");
}

bool import_rest_write(struct import_plan *plan, const struct bootstrap_spec *spec, struct buf *out)
{
	struct rest rest = {.plan = plan, .spec = *spec};
	const char *problem = NULL;
	bool is_good;

	const struct import_item *known = import_plan_find(plan, XDS_CDS, slice_of(spec->cluster));

	/* An Envoy that follows xdspub already keeps its way to it. */
	if (!known || !known->is_kept)
		rest.spec.cluster = import_plan_free_name(plan, XDS_CDS, spec->cluster);
	if (!message_find(plan->bootstrap, import_plan_field(plan->bootstrap, "node")->number))
		buf_puts(&rest.dynamic, "# Which node this is: groups.yaml can match it.\n"
					"node: {id: envoy-1, cluster: envoy}\n");
	bootstrap_put_dynamic(&rest.dynamic, &rest.spec);
	if (!known || !known->is_kept)
		bootstrap_put_cluster(&rest.cluster, &rest.spec);
	report_replaced(&rest);
	is_good = make_wanted(&rest);
	if (is_good && !edit_text(&rest, out)) {
		if (plan->bootstrap_source)
			diag_note(plan->diags, plan->bootstrap_path, (struct position){0},
				"import-comments",
				"the bootstrap is written anew, without its comments");
		is_good = yaml_write(&(struct yaml_write_options){.schema = plan->schema},
				  rest.wanted, out, &problem) == 0;
		if (!is_good)
			diag_error(plan->diags, plan->bootstrap_path, (struct position){0},
				"not-writable", "the bootstrap cannot be written as YAML: %s",
				problem ? problem : "too large");
	}
	buf_fini(&rest.dynamic);
	buf_fini(&rest.cluster);
	buf_fini(&rest.section);
	return is_good;
}
