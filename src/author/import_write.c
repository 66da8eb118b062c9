/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/import_write.h"

#include <ctype.h>
#include <stdlib.h>

#include "author/import_walk.h"
#include "base/mem.h"
#include "base/text.h"
#include "compile/open_sources.h"
#include "message/bind.h"
#include "message/yaml_read.h"
#include "message/yaml_write.h"
#include "source/tree.h"

#define NAME_BYTES 100 /* of a file, without what makes it unique */
#define WRAPPER	   "envoy.service.discovery.v3.Resource"

struct writer {
	struct import_plan *plan;
	struct import_files *files;
	struct hash taken; /* paths in lower case: some file systems see no difference */
	size_t rewritten;  /* resources that lost comments */
};

void import_files_add(struct import_files *files, const char *path, struct buf *text)
{
	array_reserve(files->items, files->capacity, files->count + 1);
	files->items[files->count++] = (struct import_file){xstrdup(path), *text};
	*text = BUF_INIT;
}

void import_files_fini(struct import_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->items[i].path);
		buf_fini(&files->items[i].text);
	}
	free(files->items);
	*files = (struct import_files){0};
}

/* --- names of files ---------------------------------------------------------------------- */

static bool is_taken(struct writer *writer, const char *path)
{
	char *lower = arena_strdup(writer->plan->arena, path);

	for (char *c = lower; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (hash_get(&writer->taken, slice_of(lower)))
		return true;
	hash_put(&writer->taken, slice_of(lower), lower);
	return false;
}

/* "clusters/api.yaml" */
static const char *choose_path(struct writer *writer, const struct import_item *item)
{
	struct arena *arena = writer->plan->arena;
	const char *folder = item->row->folder, *path;
	bool is_hidden = item->is_redacted && item->row->is_secret;
	size_t length = item->name.length < NAME_BYTES ? item->name.length : NAME_BYTES;
	char name[NAME_BYTES + 8];

	memcpy(name, item->name.data, length);
	name[length] = '\0';
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '.' && *c != '-')
			*c = '_';
	if (name[0] == '.' || name[0] == '_' || name[0] == '-')
		name[0] = 'x';
	path = arena_printf(arena, "%s/%s%s.yaml", folder, is_hidden ? "_" : "", name);
	if (tree_is_ignored(slice_of(strchr(path, '/') + 1)))
		path = arena_printf(arena, "%s/x-%s.yaml", folder, name);
	for (unsigned i = 2; is_taken(writer, path); i++)
		path = arena_printf(
			arena, "%s/%s%s-%u.yaml", folder, is_hidden ? "_" : "", name, i);
	return path;
}

/* --- their content ----------------------------------------------------------------------- */

/* Whether the text says what the item says. */
static bool reads_back(
	const struct import_plan *plan, const struct import_item *item, struct slice text)
{
	const struct bind_options bind = {.schema = plan->schema, .path = ""};
	const struct message *wanted = item->wrapper ? item->wrapper : item->message;
	struct arena *arena = arena_new(0);
	struct diag_list *quiet = diag_list_new(1);
	struct documents documents;
	struct message *message;
	bool is_good;

	is_good =
		yaml_read(
			&(struct read_options){.path = "", .nodes_limit = plan->limits->yaml_nodes},
			text, arena, quiet, &documents) == 0 &&
		documents.count == 1 &&
		bind_typed(&bind, wanted->type, documents.roots[0], arena, quiet, &message) == 0 &&
		message_equal(message, wanted);
	diag_list_free(quiet);
	arena_free(arena);
	return is_good;
}

static void indent(struct buf *out, struct slice text)
{
	const char *line = text.data, *end = text.data + text.length;

	while (line < end) {
		const char *feed = memchr(line, '\n', (size_t)(end - line));
		const char *next = feed ? feed + 1 : end;

		if (*line != '\n')
			buf_puts(out, "  ");
		buf_append(out, line, (size_t)(next - line));
		line = next;
	}
}

/* NULL, or why the text cannot be used. */
static const char *cut_out(
	const struct import_plan *plan, const struct import_item *item, struct buf *out)
{
	const struct source_cut cut = {.outline = &item->source->outline,
		.edits = item->edits,
		.edits_count = item->edits_count,
		.prefix = item->is_nested ? NULL : item->prefix};
	const char *problem = source_cut_map(&cut, item->at, out);

	if (!problem && item->is_nested) {
		struct buf nested = BUF_INIT;

		buf_puts(&nested, item->prefix);
		indent(&nested, buf_slice(out));
		buf_fini(out);
		*out = nested;
	}
	if (!problem && !reads_back(plan, item, buf_slice(out)))
		problem = "it does not stand alone";
	if (problem)
		buf_reset(out);
	return problem;
}

/* Whether there was something in it that YAML written anew has not. */
static bool has_comments(const struct import_item *item)
{
	const struct outline *outline = &item->source->outline;
	uint32_t index = yaml_outline_find(outline, item->at, false);
	const struct outline_node *node;

	if (index == OUTLINE_NONE)
		return true;
	node = &outline->nodes[index];
	return memmem(outline->text.data + node->start, node->end - node->start, " #", 2) != NULL;
}

static bool write_item(struct writer *writer, const struct import_item *item, struct buf *out)
{
	struct import_plan *plan = writer->plan;
	const struct yaml_write_options options = {.schema = plan->schema};
	const struct message *message = item->wrapper ? item->wrapper : item->message;
	const char *why = item->source ? cut_out(plan, item, out) : "", *problem = NULL;

	if (!why)
		return true;
	if (item->source && has_comments(item)) {
		diag_note(plan->diags, item->path, item->at, "import-comments",
			"the %s \"%.*s\" is written anew, without its comments: %s",
			item->row->noun, SLICE_ARG(item->name), why);
		writer->rewritten++;
	}
	if (item->wrapper)
		buf_puts(out, "\"@type\": type.googleapis.com/" WRAPPER "\n");
	if (yaml_write(&options, message, out, &problem) == 0 && !buf_error(out))
		return true;
	diag_error(plan->diags, item->path, item->at, "not-writable",
		"the %s \"%.*s\" cannot be written as YAML: %s", item->row->noun,
		SLICE_ARG(item->name), problem ? problem : "it is too large");
	return false;
}

/* --- groups.yaml ------------------------------------------------------------------------- */

struct kept_names {
	const struct import_plan *plan;
	struct hash used; /* clusters that stay and that the tree names */
};

static void find_kept(void *ctx, struct message *message)
{
	struct kept_names *names = ctx;

	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct message_field *entry = &message->fields[i];

		if (entry->field->type != SCHEMA_STRING || !strstr(entry->field->name, "cluster"))
			continue;
		for (uint32_t k = 0; k < entry->count; k++) {
			struct slice name = entry->field->is_repeated ? entry->items[k].bytes
								      : entry->one.bytes;
			struct import_item *item = import_plan_find(names->plan, XDS_CDS, name);

			if (item && item->is_kept)
				hash_put(&names->used, item->name, item);
		}
	}
}

/* Clusters of the bootstrap that resources of the tree refer to. */
static void write_external(const struct import_plan *plan, struct buf *out)
{
	struct kept_names names = {.plan = plan};
	bool is_begun = false;

	hash_init(&names.used);
	for (size_t i = 0; i < plan->count; i++)
		if (!plan->items[i]->is_kept)
			import_walk(plan->items[i]->message, find_kept, &names);
	for (size_t i = 0; i < plan->count; i++) { /* in their own order */
		if (plan->items[i]->row->type != XDS_CDS ||
			!hash_get(&names.used, plan->items[i]->name))
			continue;
		buf_puts(out, is_begun ? ", " : "external: {clusters: [");
		yaml_write_string(out, plan->items[i]->name);
		is_begun = true;
	}
	if (is_begun)
		buf_puts(out, "]} # in the bootstrap\n");
	hash_fini(&names.used);
}

/* One group for everyone needs no file, unless it has no listeners or no clusters, or uses what
 * stays in the bootstrap. */
static void write_groups(struct writer *writer)
{
	const struct import_plan *plan = writer->plan;
	size_t counts[XDS_TYPE_COUNT] = {0};
	struct buf text = BUF_INIT, external = BUF_INIT;

	for (size_t i = 0; i < plan->count; i++)
		counts[plan->items[i]->row->type] += !plan->items[i]->is_kept;
	write_external(plan, &external);
	buf_puts(&text, "groups:\n- name: default\n  layers: [.]\n");
	if (!counts[XDS_LDS] || !counts[XDS_CDS])
		buf_printf(&text, "  allow_empty: true # there are no %s here\n",
			counts[XDS_LDS] ? "clusters" : "listeners");
	buf_append_slice(&text, buf_slice(&external));
	if (external.length || !counts[XDS_LDS] || !counts[XDS_CDS])
		import_files_add(writer->files, "groups.yaml", &text);
	buf_fini(&external);
	buf_fini(&text);
}

bool import_write(struct import_plan *plan, struct import_files *ret_files)
{
	struct writer writer = {.plan = plan, .files = ret_files};
	bool is_good = true;

	*ret_files = (struct import_files){0};
	hash_init(&writer.taken);
	for (size_t i = 0; i < plan->count; i++) {
		const struct import_item *item = plan->items[i];
		struct buf text = BUF_INIT;
		const char *path;

		if (item->is_kept)
			continue;
		path = choose_path(&writer, item);
		if (item->is_redacted)
			buf_printf(&text,
				"# Envoy does not tell its secrets: put them in the place of "
				"[redacted]%s\n",
				item->row->is_secret
					? ",\n# then take the \"_\" off the name of this file."
					: ".");
		struct buf body = BUF_INIT;

		is_good &= write_item(&writer, item, &body);
		buf_append_slice(&text, buf_slice(&body));
		buf_fini(&body);
		import_files_add(ret_files, path, &text);
	}
	write_groups(&writer);
	hash_fini(&writer.taken);
	return is_good;
}

/* --- what came of it --------------------------------------------------------------------- */

static bool is_served(const struct import_item *item)
{
	return !item->is_kept && !(item->is_redacted && item->row->is_secret);
}

static bool verify_item(const struct import_plan *plan, const struct import_item *item,
	const struct snapshot *snapshot)
{
	struct buf body = BUF_INIT;
	struct resource_spec spec = {.type = item->row->type,
		.name = item->name,
		.ttl_ms = item->ttl_ms,
		.aliases = item->aliases,
		.aliases_count = item->aliases_count};
	const struct resource *made = resource_set_find(snapshot->sets[spec.type], spec.name);
	struct open_sources sources;
	struct resource *wanted;
	bool is_good;

	/* As compiling does: a source may be open. */
	open_sources_init(&sources, plan->schema, plan->arena);
	open_sources_find(&sources, item->message);
	open_sources_write(&sources, item->message, &body, &spec.open);
	open_sources_fini(&sources);
	spec.body = buf_slice(&body);
	spec.sources = made ? resource_sources(made) : NULL;
	wanted = resource_new(&spec);
	open_body_unref(spec.open);
	is_good = made && memcmp(&made->digest, &wanted->digest, sizeof(made->digest)) == 0;
	if (!is_good)
		diag_error(plan->diags, item->path, item->at, "import-differs",
			"the %s \"%.*s\" in the tree is not the one in here: this is a bug in "
			"xdspub",
			item->row->noun, SLICE_ARG(item->name));
	resource_unref(wanted);
	buf_fini(&body);
	return is_good;
}

bool import_verify(const struct import_plan *plan, const struct build *build)
{
	const struct snapshot *snapshot = build->groups_count == 1 ? build->groups[0].target : NULL;
	size_t wanted = 0;
	bool is_good = true;

	if (!snapshot) {
		diag_error(plan->diags, "", (struct position){0}, "import-differs",
			"the tree does not compile: %s",
			build->groups_count && build->groups[0].held_reason
				? build->groups[0].held_reason
				: "see above");
		return false;
	}
	for (size_t i = 0; i < plan->count; i++) {
		if (!is_served(plan->items[i]))
			continue;
		wanted++;
		is_good &= verify_item(plan, plan->items[i], snapshot);
	}
	if (is_good && snapshot_count(snapshot) != wanted) {
		diag_error(plan->diags, "", (struct position){0}, "import-differs",
			"the tree has %zu resources instead of %zu: this is a bug in xdspub",
			snapshot_count(snapshot), wanted);
		is_good = false;
	}
	return is_good;
}

void import_count(const struct import_plan *plan, struct buf *out)
{
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		const struct xds_type_row *row = xds_type_row((enum xds_type)type);
		size_t count = 0;

		for (size_t i = 0; i < plan->count; i++)
			count += !plan->items[i]->is_kept && plan->items[i]->row == row;
		if (count)
			buf_printf(
				out, "%s%zu in %s/", out->length ? ", " : "", count, row->folder);
	}
}
