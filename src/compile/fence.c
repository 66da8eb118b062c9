/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/fence.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "compile/match_read.h"

/* More can be said with a list of names. */
#define ENTRIES_MAX 1000

struct entry {
	const struct xds_type_row *row; /* NULL: any type */
	const struct match *name;	/* NULL: any name */
};

struct fence {
	struct arena *arena;
	struct entry *entries;
	size_t count;
	char *text, *whole_text;
};

struct fence_reader {
	const char *path;
	struct diag_list *diags;
	struct fence *fence;
	bool is_failed;
};

#define FAIL(reader, at, ...)                                                                      \
	do {                                                                                       \
		diag_error((reader)->diags, (reader)->path, (at), "bad-fence", __VA_ARGS__);       \
		(reader)->is_failed = true;                                                        \
	} while (0)

static void read_type(struct fence_reader *reader, const struct node *node, struct entry *entry)
{
	struct suggestion suggestion;
	struct buf quoted = BUF_INIT;
	char phrase[256];

	if (node->kind == NODE_SCALAR && node_resolve(node).kind == NODE_STRING)
		entry->row = xds_type_by_name(node->text);
	if (entry->row)
		return;
	if (node->kind != NODE_SCALAR) {
		FAIL(reader, node->at, "type is the name of one xDS type, such as EDS");
		return;
	}
	suggestion_init(&suggestion, node->text);
	for (int i = 0; i < XDS_TYPE_COUNT; i++)
		suggestion_offer(&suggestion, xds_type_row((enum xds_type)i)->name);
	text_quote(&quoted, node->text, 64);
	FAIL(reader, node->at,
		"\"%s\" is no xDS type: CDS, EDS, SDS, RTDS, ECDS, LDS, RDS, SRDS or VHDS%s",
		buf_cstr(&quoted), suggestion_phrase(&suggestion, phrase));
	buf_fini(&quoted);
}

static void read_entry(struct fence_reader *reader, const struct node *node)
{
	struct entry *entry = &reader->fence->entries[reader->fence->count++];

	if (node->kind != NODE_MAP || node->pairs_count == 0) {
		FAIL(reader, node->at,
			"an entry of only is a mapping: {type: EDS} or {type: CDS, name: {prefix: "
			"pay-}}");
		return;
	}
	for (size_t i = 0; i < node->pairs_count; i++) {
		const struct node_pair *pair = &node->pairs[i];

		if (slice_is(pair->key, "type")) {
			read_type(reader, pair->value, entry);
		} else if (slice_is(pair->key, "name")) {
			entry->name = match_read_text(
				pair->value, reader->path, reader->fence->arena, reader->diags);
			reader->is_failed = reader->is_failed || !entry->name;
		} else {
			struct buf quoted = BUF_INIT;

			text_quote(&quoted, pair->key, 64);
			FAIL(reader, pair->key_at,
				"\"%s\" is no key of an entry of only: type and name are",
				buf_cstr(&quoted));
			buf_fini(&quoted);
		}
	}
}

static void write_name(const struct match *match, size_t limit, struct buf *out)
{
	static const char *const words[] = {[MATCH_EXACT] = "",
		[MATCH_PREFIX] = "prefix ",
		[MATCH_SUFFIX] = "suffix ",
		[MATCH_CONTAINS] = "contains "};
	const char *between = match->kind == MATCH_ANY ? " or " : " and ";

	if (match->kind == MATCH_ALL || match->kind == MATCH_ANY) {
		for (size_t i = 0; i < match->children_count && i < limit; i++) {
			buf_puts(out, i ? between : "");
			write_name(&match->children[i], limit, out);
		}
		buf_puts(out, match->children_count > limit ? " ..." : "");
		return;
	}
	buf_printf(out, "%s\"", words[match->kind]);
	text_quote(out, match->text, 16 * limit);
	buf_puts(out, match->ignore_case ? "\" in any case" : "\"");
}

static char *write_text(const struct fence *fence, size_t limit)
{
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < fence->count && i < limit; i++) {
		const struct entry *entry = &fence->entries[i];

		buf_printf(&out, "%s%s", i ? "; " : "", entry->row ? entry->row->name : "any type");
		if (entry->name) {
			buf_puts(&out, " with name ");
			write_name(entry->name, limit, &out);
		}
	}
	buf_puts(&out, fence->count > limit ? "; ..." : "");
	return buf_take(&out, NULL);
}

struct fence *fence_read(const struct node *node, const char *path, struct diag_list *diags)
{
	struct fence *fence = xcalloc(1, sizeof(*fence));
	struct fence_reader reader = {.path = path, .diags = diags, .fence = fence};

	fence->arena = arena_new(0);
	if (node->kind != NODE_LIST || node->items_count == 0 || node->items_count > ENTRIES_MAX) {
		FAIL(&reader, node->at,
			"only is a list of what this mount may define, such as [{type: EDS}]; "
			"without only it may define anything");
	} else {
		fence->entries = xcalloc(node->items_count, sizeof(*fence->entries));
		for (size_t i = 0; i < node->items_count; i++)
			read_entry(&reader, node->items[i]);
	}
	if (reader.is_failed) {
		fence_free(fence);
		return NULL;
	}
	fence->text = write_text(fence, 5);
	fence->whole_text = write_text(fence, 100000);
	return fence;
}

void fence_free(struct fence *fence)
{
	if (!fence)
		return;
	arena_free(fence->arena);
	free(fence->entries);
	free(fence->text);
	free(fence->whole_text);
	free(fence);
}

bool fence_allows(const struct fence *fence, enum xds_type type, struct slice name)
{
	if (!fence)
		return true;
	for (size_t i = 0; i < fence->count; i++) {
		const struct entry *entry = &fence->entries[i];

		if ((!entry->row || entry->row->type == type) &&
			(!entry->name || match_allows_text(entry->name, name)))
			return true;
	}
	return false;
}

const char *fence_text(const struct fence *fence)
{
	return fence->text;
}

const char *fence_whole_text(const struct fence *fence)
{
	return fence->whole_text;
}
