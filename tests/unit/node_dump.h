/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes as one line of text, for tests: {key@1:1: 'quoted'@1:6, b: [plain]}. */
#ifndef XDSPUB_TESTS_NODE_DUMP_H
#define XDSPUB_TESTS_NODE_DUMP_H

#include "base/buf.h"
#include "message/node.h"

static inline void node_dump(struct buf *out, const struct node *node, bool has_positions)
{
	static const char *const tags[] = {"", "!str ", "!core ", "!file ", "!delete "};

	buf_puts(out, tags[node->tag]);
	switch (node->kind) {
	case NODE_SCALAR:
		buf_printf(out, node->is_plain ? "%.*s" : "'%.*s'", SLICE_ARG(node->text));
		break;
	case NODE_LIST:
		buf_putc(out, '[');
		for (size_t i = 0; i < node->items_count; i++) {
			buf_puts(out, i ? ", " : "");
			node_dump(out, node->items[i], has_positions);
		}
		buf_putc(out, ']');
		break;
	case NODE_MAP:
		buf_putc(out, '{');
		for (size_t i = 0; i < node->pairs_count; i++) {
			const struct node_pair *pair = &node->pairs[i];

			buf_printf(out, "%s%s%.*s", i ? ", " : "", pair->from_merge ? "<" : "",
				SLICE_ARG(pair->key));
			if (has_positions)
				buf_printf(out, "@%u:%u", pair->key_at.line, pair->key_at.column);
			buf_puts(out, ": ");
			node_dump(out, pair->value, has_positions);
		}
		buf_putc(out, '}');
		break;
	}
	if (has_positions)
		buf_printf(out, "@%u:%u", node->at.line, node->at.column);
}

#endif
