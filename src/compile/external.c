/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/external.h"

#include <assert.h>
#include <strings.h>

#include "base/suggestion.h"
#include "base/text.h"
#include "compile/match_read.h"

static void fail_unknown_type(
	const struct node_pair *pair, const char *path, struct diag_list *diags)
{
	struct suggestion suggestion;
	struct buf shown = BUF_INIT;
	char phrase[256];

	suggestion_init(&suggestion, pair->key);
	for (int i = 0; i < XDS_TYPE_COUNT; i++)
		suggestion_offer(&suggestion, xds_type_row((enum xds_type)i)->folder);
	text_quote(&shown, pair->key, 64);
	diag_error(diags, path, pair->key_at, "unknown-key", "unknown key \"%s\" in external%s",
		buf_cstr(&shown), suggestion_phrase(&suggestion, phrase));
	buf_fini(&shown);
}

static bool read_names(struct external *external, const struct node_pair *pair, const char *path,
	struct arena *arena, struct diag_list *diags)
{
	const struct xds_type_row *row = xds_type_by_folder(pair->key);

	if (!row) {
		fail_unknown_type(pair, path, diags);
		return false;
	}
	if (pair->value->kind != NODE_LIST) {
		diag_error(diags, path, pair->value->at, "bad-value",
			"external.%s is a list of names, such as [xds, {prefix: local-}]",
			row->folder);
		return false;
	}
	external->says[row->type] = true;
	if (pair->value->items_count)
		external->names[row->type] = match_read_text(pair->value, path, arena, diags);
	return pair->value->items_count == 0 || external->names[row->type];
}

const struct external *external_read(
	const struct node *node, const char *path, struct arena *arena, struct diag_list *diags)
{
	struct external *external = arena_zalloc(arena, sizeof(*external));
	bool is_good = true;

	assert(external);
	if (node->kind != NODE_MAP) {
		diag_error(diags, path, node->at, "bad-value",
			"external is a mapping of type folders and lists of names, such as "
			"{clusters: [xds], secrets: []}");
		return NULL;
	}
	for (size_t i = 0; i < node->pairs_count; i++)
		is_good = read_names(external, &node->pairs[i], path, arena, diags) && is_good;
	return is_good ? external : NULL;
}

static bool is_same(struct slice name, size_t at, struct slice text, bool ignore_case)
{
	if (at + text.length > name.length)
		return false;
	if (ignore_case)
		return strncasecmp(name.data + at, text.data, text.length) == 0;
	return memcmp(name.data + at, text.data, text.length) == 0;
}

/* The first place from `at` on, or SIZE_MAX. */
static size_t find(struct slice name, size_t at, struct slice text, bool ignore_case)
{
	for (; at + text.length <= name.length; at++) {
		if (is_same(name, at, text, ignore_case))
			return at;
	}
	return SIZE_MAX;
}

/* A star stands for any bytes, or none. */
static bool fits_stars(struct slice name, struct slice pattern, bool ignore_case)
{
	size_t at = 0;
	bool is_first = true;

	while (pattern.length) {
		const char *star = memchr(pattern.data, '*', pattern.length);
		struct slice part = pattern;

		if (star)
			part.length = (size_t)(star - pattern.data);
		if (is_first && !is_same(name, 0, part, ignore_case))
			return false;
		if (!star)
			return is_first ? part.length == name.length
					: name.length - at >= part.length &&
						  is_same(name, name.length - part.length, part,
							  ignore_case);
		at = find(name, at, part, ignore_case);
		if (at == SIZE_MAX)
			return false;
		at += part.length;
		pattern.data += part.length + 1;
		pattern.length -= part.length + 1;
		is_first = false;
	}
	return !is_first || name.length == 0;
}

/* Depth: at most that of match_read. */
static bool fits(const struct match *match, struct slice name)
{
	struct slice text = match->text;
	bool is_any = match->kind == MATCH_ANY;

	switch (match->kind) {
	case MATCH_ALL:
	case MATCH_ANY:
		for (size_t i = 0; i < match->children_count; i++) {
			if (fits(&match->children[i], name) == is_any)
				return is_any;
		}
		return !is_any;
	case MATCH_EXACT:
		return fits_stars(name, text, match->ignore_case);
	case MATCH_PREFIX:
		return is_same(name, 0, text, match->ignore_case);
	case MATCH_SUFFIX:
		return name.length >= text.length &&
		       is_same(name, name.length - text.length, text, match->ignore_case);
	case MATCH_CONTAINS:
		return find(name, 0, text, match->ignore_case) != SIZE_MAX;
	case MATCH_FIELD:
	case MATCH_NUMBER:
	case MATCH_BOOL:
		break;
	}
	return false;
}

bool external_has(const struct external *external, enum xds_type type, struct slice name)
{
	return external && external->names[type] && fits(external->names[type], name);
}

bool external_says(const struct external *external, enum xds_type type)
{
	return external && external->says[type];
}
