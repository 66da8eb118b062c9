/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/groups_keys.h"

#include <string.h>

static const struct groups_key rows[] = {
	{.path = "groups",
		.shape = GROUPS_MAP,
		.is_list = true,
		.is_required = true,
		.text = "The groups of nodes. A node belongs to the first one that it "
			"matches; a node that matches none is refused.",
		.example =
			"groups: [{name: edge, match: {cluster: edge}, layers: [common, edge]}]"},
	{.path = "groups.name",
		.shape = GROUPS_NAME,
		.is_required = true,
		.text = "What the group is called: the folder of its published files, and "
			"in the log and the status. With each: it has {1}, {2} ... for what"
			" the stars matched.",
		.example = "name: edge-prod"},
	{.path = "groups.match",
		.shape = GROUPS_NODE,
		.text = "Which nodes belong to the group, in the shape of Envoy's Node. The"
			" keys of a mapping are ANDed, the entries of a list ORed. Without "
			"match: every node that no earlier group took.",
		.example = "match: {cluster: {prefix: edge-}, metadata: {env: prod}}"},
	{.path = "groups.layers",
		.shape = GROUPS_FOLDER,
		.is_list = true,
		.is_required = true,
		.text = "The folders of the tree whose resources the group gets; . is the "
			"root. Later layers replace resources of the same type and name.",
		.example = "layers: [common, prod]"},
	{.path = "groups.allow_empty",
		.shape = GROUPS_BOOL,
		.text = "Whether the group may be without listeners or clusters. Otherwise "
			"an empty set is an error, and the last good snapshot stays.",
		.example = "allow_empty: true"},
	{.path = "groups.at_least",
		.shape = GROUPS_COUNTS,
		.text = "How many resources of a type there must be, by type folder; with "
			"fewer, the last good snapshot stays.",
		.example = "at_least: {listeners: 1, clusters: 30}"},
	{.path = "groups.external",
		.shape = GROUPS_NAMES,
		.text = "Names that the bootstrap of these nodes has, or that it uses: see "
			"external.",
		.example = "external: {clusters: [xds, {prefix: local-}]}"},
	{.path = "groups.each",
		.shape = GROUPS_FOLDER,
		.text = "Makes a group for each folder that the pattern matches. A star "
			"stands for a name or a part of it, and {1}, {2} ... for what the "
			"stars matched.",
		.example = "each: env/*/*"},
	{.path = "groups.ignore",
		.shape = GROUPS_TEXT,
		.is_list = true,
		.text = "Rules whose warnings are not wanted for this group, by their id; "
			"of files that other groups use as well, only what all of these "
			"ignore. Only what xdspub-rules(7) says may be silenced.",
		.example = "ignore: [deprecated-field]"},
	{.path = "ignore",
		.shape = GROUPS_TEXT,
		.is_list = true,
		.text = "Rules whose warnings are not wanted in the whole tree, by their "
			"id. Only what xdspub-rules(7) says may be silenced.",
		.example = "ignore: [deprecated-field]"},
	{.path = "external",
		.shape = GROUPS_NAMES,
		.text = "Names that are not in the tree but in the bootstrap, or that the "
			"bootstrap uses, by type folder: they are neither missing nor "
			"unused. A name may have stars, or be a mapping of exact, prefix, "
			"suffix, contains and ignore_case. Where a group says what of a "
			"type there is, a reference that Envoy refuses becomes an error.",
		.example = "external: {clusters: [xds, \"otel-*\"], secrets: [{prefix: sds-}]}"},
	{.path = "groups.config_sources",
		.shape = GROUPS_OPEN,
		.text = "What stands in open config sources (self: {}) for this group. What it "
			"says about a transport replaces what is said about it for all groups.",
		.example = "config_sources: {rest: {api_config_source: {cluster_names: [xds], "
			   "refresh_delay: 0.5s}}, files: {EDS: {ads: {}}}}"},
	{.path = "config_sources",
		.shape = GROUPS_OPEN,
		.text = "What stands in open config sources (self: {}), by transport: files, rest, "
			"ads, grpc; each a ConfigSource, or one for each type, or both in one.",
		.example = "config_sources: {rest: {api_config_source: {cluster_names: [xds], "
			   "refresh_delay: 0.5s}}, files: {EDS: {ads: {}}}}"},
	{.path = "isolate",
		.shape = GROUPS_CHOICE,
		.choices = "group tree",
		.text = "What one error holds back: the groups that it is in, or the whole "
			"tree.",
		.example = "isolate: tree"},
};

const struct groups_key *groups_keys(size_t *ret_count)
{
	*ret_count = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

const char *groups_key_below(const struct groups_key *key, const char *prefix)
{
	size_t length = strlen(prefix);

	if (strncmp(key->path, prefix, length) != 0 || strchr(key->path + length, '.'))
		return NULL;
	return key->path + length;
}
