/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML texts: no crash, and whatever comes out keeps the promises of node.h and yaml_read.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/text.h"
#include "message/yaml_comments.h"
#include "message/yaml_read.h"

#define NODES 20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct walk {
	uint32_t lines;
	uint64_t nodes;
	bool is_good; /* nothing was reported */
};

static void check(bool is_fine)
{
	if (!is_fine)
		abort();
}

static void walk_text(const struct walk *walk, struct slice text)
{
	check(text.data != NULL);
	check(text_is_utf8(text));
	check(!walk->is_good || text.length == 0 || !memchr(text.data, 0, text.length));
}

static void walk_node(struct walk *walk, const struct node *node, unsigned depth)
{
	check(node->at.line >= 1 && node->at.line <= walk->lines && node->at.column >= 1);
	check(++walk->nodes <= NODES);
	switch (node->kind) {
	case NODE_SCALAR:
		walk_text(walk, node->text);
		node_resolve(node);
		break;
	case NODE_LIST:
		check(depth < LIMIT_DEPTH);
		for (size_t i = 0; i < node->items_count; i++)
			walk_node(walk, node->items[i], depth + 1);
		break;
	case NODE_MAP:
		check(depth < LIMIT_DEPTH);
		for (size_t i = 0; i < node->pairs_count; i++) {
			walk_text(walk, node->pairs[i].key);
			check(node->pairs[i].key_at.line >= 1);
			for (size_t j = 0; i < 50 && j < i; j++)
				check(!slice_equal(node->pairs[i].key, node->pairs[j].key));
			walk_node(walk, node->pairs[i].value, depth + 1);
		}
		break;
	}
}

static void walk_comment(void *ctx, const struct yaml_comment *comment)
{
	const struct walk *walk = ctx;

	check(comment->text.length > 0 && comment->text.data[0] == '#');
	check(!memchr(comment->text.data, '\n', comment->text.length));
	check(comment->at.line >= 1 && comment->at.line <= walk->lines && comment->at.column >= 1);
	check(comment->line == 0 || comment->line >= comment->at.line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new(0);
	struct diag_list *diags = diag_list_new(0);
	struct documents documents;
	struct walk walk = {.lines = 1};
	int rc = yaml_read(&(struct read_options){.path = "fuzz", .nodes_limit = NODES},
		(struct slice){(const char *)data, size}, arena, diags, &documents);

	check(rc == 0 || rc == -EBADMSG);
	check((rc != 0) == (diag_list_level_count(diags, DIAG_ERROR) > 0));
	for (size_t i = 0; i < size; i++)
		walk.lines += data[i] == '\n' || data[i] == '\r' || data[i] >= 0x80;
	walk.is_good = rc == 0;
	if (rc == 0)
		check(yaml_comments(
			      (struct slice){(const char *)data, size}, walk_comment, &walk) == 0);
	for (size_t i = 0; i < documents.count; i++)
		walk_node(&walk, documents.roots[i], 0);
	diag_list_free(diags);
	arena_free(arena);
	return 0;
}
