/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/open_report.h"

#include <stdio.h>

#include "base/hash.h"
#include "compile/folder.h"

struct way {
	enum source_transport transport;
	const char *key, *clients, *example;
};

static const struct way ways[] = {
	{SOURCE_FILES, "files", "Envoys with files", "ads: {}"},
	{SOURCE_REST, "rest", "clients of REST",
		"api_config_source: {cluster_names: [xds], refresh_delay: 0.5s, request_timeout: "
		"60s}"},
	{SOURCE_GRPC, "grpc", "streams of one type",
		"api_config_source: {grpc_services: [{envoy_grpc: {cluster_name: xds}}]}"},
};

/* The preset by which no server is named. */
static bool is_self(struct slice literal)
{
	source_table preset;

	config_sources_preset(preset);
	return slice_equal(literal, preset[SOURCE_REST][0]);
}

/* Types, as bits, of the group's open sources that a transport has nothing for; bit SOURCE_TYPES:
 * files that have no name. */
static unsigned find_types(const struct group *group, enum source_transport transport)
{
	const struct config_sources *sources = group->entry->sources;
	unsigned open = 0, types = 0;

	for (size_t i = 0; i < group->layers_count; i++)
		open |= layer_open_types(group->layers[i]);
	for (int type = 0; type < SOURCE_TYPES; type++)
		/* Who says self means it. */
		if (open & ~group->entry->sources_said[transport] & 1u << type &&
			is_self(sources->table[transport][type]))
			types |= 1u << type;
	if (transport == SOURCE_FILES && open & 1u << SOURCE_TYPES &&
		sources->table[transport][XDS_RDS].length == 0)
		types |= 1u << SOURCE_TYPES;
	return types;
}

static void write_types(unsigned types, struct buf *out)
{
	const char *separator = "";

	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		if (!(types & 1u << type))
			continue;
		buf_printf(out, "%s%s", separator, xds_type_row((enum xds_type)type)->name);
		separator = ", ";
	}
	if (types & 1u << SOURCE_TYPES)
		buf_printf(out, "%sRDS of scoped routes", separator);
	if (types & 1u << SOURCE_NO_TYPE)
		buf_printf(out, "%sothers", types & ~(1u << SOURCE_NO_TYPE) ? ", " : "");
}

static bool is_used(const struct compiler *compiler, enum source_transport transport)
{
	/* Nearly everybody who uses gRPC uses aggregated streams. */
	return transport == SOURCE_FILES ? compiler->has_files
					 : transport == SOURCE_REST && compiler->has_rest;
}

static void report_way(struct compiler *compiler, struct diag_list *diags, struct group *group,
	const struct way *way)
{
	unsigned types = find_types(group, way->transport);
	bool is_warning = is_used(compiler, way->transport);
	bool is_default = compiler->layering->groups->is_default;
	const char *example = way->example;
	struct buf names = BUF_INIT;

	if (!types || (!is_warning && !compiler->verbose))
		return;
	/* There is no VHDS over REST. */
	if (way->transport == SOURCE_REST && types == 1u << XDS_VHDS)
		example = "VHDS: {ads: {}}";
	write_types(types, &names);
	diag_add(diags, is_warning ? DIAG_WARNING : DIAG_NOTE, is_default ? "" : FOLDER_GROUPS_FILE,
		is_default ? (struct position){0, 0} : group->entry->at, "open-config-source",
		"open config sources (%s) of group \"%s\" lead nowhere for %s, who get self: {}, "
		"which Envoy refuses: say in groups.yaml config_sources: {%s: {%s}}",
		buf_cstr(&names), group->name->text, way->clients, way->key, example);
	group->warnings += is_warning;
	buf_fini(&names);
}

void open_report(struct compiler *compiler, struct diag_list *diags)
{
	struct layering *layering = compiler->layering;
	struct hash told;

	if (!layering)
		return;
	hash_init(&told);
	for (size_t i = 0; i < layering->built_count; i++) {
		struct group *group = layering->built[i];
		struct config_sources *sources = group->entry->sources;
		struct slice key = {(const char *)sources->digest.bytes, DIGEST_LENGTH};
		bool has_open = false;

		for (size_t k = 0; k < group->layers_count; k++)
			has_open |= layer_open_types(group->layers[k]) != 0;
		/* One group speaks for all with the same sources. */
		if (!has_open || hash_get(&told, key))
			continue;
		hash_put(&told, key, group);
		for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++)
			report_way(compiler, diags, group, &ways[k]);
	}
	hash_fini(&told);
}
