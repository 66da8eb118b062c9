/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/rest/rest_node.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "serve/rest/rest_request.h"

#define SHOWN_BYTES 200

void rest_node_table_init(struct rest_node_table *table)
{
	*table = (struct rest_node_table){0};
	hash_init(&table->nodes);
}

void rest_node_table_fini(struct rest_node_table *table)
{
	assert(table->nodes.count == 0);
	hash_fini(&table->nodes);
	selector_unref(table->selector);
}

bool rest_node_table_set_selector(struct rest_node_table *table, struct selector *selector)
{
	struct selector *old = table->selector;
	bool is_same = selector && old && selector_equal(old, selector);

	table->selector = selector;
	selector_unref(old);
	table->generation += !is_same;
	return !is_same;
}

static struct slice key_of(const struct rest_node *node)
{
	return (struct slice){(const char *)node->key.bytes, DIGEST_LENGTH};
}

static char *text_of(const json_t *node, const char *name)
{
	const json_t *value = json_object_get(node, name);
	size_t length = json_string_length(value);

	if (!json_is_string(value))
		return xstrdup("");
	if (length > SHOWN_BYTES) {
		const char *text = json_string_value(value);

		/* Not within a UTF-8 sequence. */
		for (length = SHOWN_BYTES;
			length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;)
			length--;
	}
	return xstrndup(json_string_value(value), length);
}

/* Parses and matches; only for a node or a selector that is new. */
static int resolve(struct rest_node_table *table, struct rest_node *node, struct slice json,
	struct buf *problem)
{
	json_t *value = NULL;
	int index;

	if (json.data) {
		value = rest_request_parse_node(json, problem);
		if (!value)
			return -EINVAL;
	}
	index = selector_select(table->selector, value);
	rcstr_unref(node->group);
	node->group = index < 0 ? NULL : rcstr_ref(selector_group(table->selector, (size_t)index));
	node->generation = table->generation;
	if (!node->id) {
		node->id = text_of(value, "id");
		node->cluster = text_of(value, "cluster");
	}
	json_decref(value);
	return 0;
}

int rest_node_get(struct rest_node_table *table, struct slice json, struct rest_node **ret_node,
	struct buf *problem)
{
	struct digest_context context;
	struct digest key;
	struct rest_node *node;
	int rc = 0;

	assert(table->selector);
	digest_begin(&context, json.data ? "xdspub node" : "xdspub no node");
	digest_bytes(&context, json.data, json.length);
	key = digest_end(&context);
	node = hash_get(&table->nodes, (struct slice){(const char *)key.bytes, DIGEST_LENGTH});
	if (node) {
		rest_node_ref(node);
	} else {
		node = xcalloc(1, sizeof(*node));
		node->references = 1;
		node->key = key;
		node->generation = table->generation - 1;
		hash_put(&table->nodes, key_of(node), node);
	}
	if (node->generation != table->generation)
		rc = resolve(table, node, json, problem);
	if (rc)
		rest_node_unref(table, node);
	else
		*ret_node = node;
	return rc;
}

struct rest_node *rest_node_ref(struct rest_node *node)
{
	node->references++;
	return node;
}

void rest_node_unref(struct rest_node_table *table, struct rest_node *node)
{
	if (!node || --node->references)
		return;
	hash_remove(&table->nodes, key_of(node));
	rcstr_unref(node->group);
	free(node->id);
	free(node->cluster);
	free(node);
}
