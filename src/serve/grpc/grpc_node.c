/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_node.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "serve/grpc/grpc_wire.h"

#define SHOWN_BYTES 200

/* Fields of Node that no group is chosen by. */
enum {
	NODE_EXTENSIONS = 9,
	NODE_LISTENING_ADDRESSES = 11
};

void grpc_node_table_init(struct grpc_node_table *table, const struct grpc_schema *schema)
{
	*table = (struct grpc_node_table){.schema = schema};
	hash_init(&table->nodes);
}

void grpc_node_table_fini(struct grpc_node_table *table)
{
	assert(table->nodes.count == 0);
	hash_fini(&table->nodes);
	selector_unref(table->selector);
}

bool grpc_node_table_set_selector(struct grpc_node_table *table, struct selector *selector)
{
	struct selector *former = table->selector;
	bool is_same =
		selector == former || (selector && former && selector_equal(former, selector));

	table->selector = selector;
	selector_unref(former);
	table->generation += !is_same;
	return !is_same;
}

static struct slice key_of(const struct grpc_node *node)
{
	return (struct slice){(const char *)node->key.bytes, DIGEST_LENGTH};
}

static void put_text(const json_t *node, const char *name, char *out, size_t size)
{
	const json_t *value = json_object_get(node, name);
	struct buf quoted = BUF_INIT;

	if (json_is_string(value))
		text_quote(&quoted,
			(struct slice){json_string_value(value), json_string_length(value)},
			SHOWN_BYTES);
	snprintf(out, size, "%s", buf_cstr(&quoted));
	buf_fini(&quoted);
}

static struct xds_admission refuse(enum xds_status status, const char *problem)
{
	struct xds_admission admission = {.status = status, .group = -1};

	snprintf(admission.problem, sizeof(admission.problem), "%s", problem);
	return admission;
}

/* Parses and matches. */
static struct xds_admission admit(
	const struct grpc_node_table *table, struct slice bytes, struct grpc_node_names *ret_names)
{
	struct xds_admission admission;
	char problem[256];
	json_t *json = NULL;

	*ret_names = (struct grpc_node_names){.id = ""};
	/* Before anything is parsed: a fleet that comes back while there is nothing to serve. */
	if (!table->selector || !bytes.data)
		return xds_admission_of(table->selector, NULL);
	json = table->schema->node(table->schema->ctx, bytes, problem, sizeof(problem));
	if (!json)
		return refuse(XDS_STATUS_INVALID_ARGUMENT, problem);
	put_text(json, "id", ret_names->id, sizeof(ret_names->id));
	put_text(json, "cluster", ret_names->cluster, sizeof(ret_names->cluster));
	admission = xds_admission_of(table->selector, json);
	json_decref(json);
	return admission;
}

/* Without what is not kept; false: no protobuf message. */
static bool strip(struct slice bytes, struct buf *out)
{
	struct grpc_wire_field field;
	struct slice rest = bytes;
	int rc;

	for (;;) {
		struct slice start = rest;

		rc = grpc_wire_next(&rest, &field);
		if (rc <= 0)
			return rc == 0;
		if (field.number != NODE_EXTENSIONS && field.number != NODE_LISTENING_ADDRESSES)
			buf_append(out, start.data, start.length - rest.length);
	}
}

static struct slice slice_or_empty(const struct buf *buf)
{
	return buf->length ? buf_slice(buf) : SLICE("");
}

static void set_group(struct grpc_node_table *table, struct grpc_node *node,
	const struct xds_admission *admission)
{
	struct rcstr *former = node->group;

	node->group =
		admission->status != XDS_STATUS_OK
			? NULL
			: rcstr_ref(selector_group(table->selector, (size_t)admission->group));
	node->generation = table->generation;
	rcstr_unref(former);
}

static struct grpc_node *add(struct grpc_node_table *table, const struct digest *key,
	const struct xds_admission *admission, const struct grpc_node_names *names,
	struct slice kept, bool is_named)
{
	struct grpc_node *node = xcalloc(1, sizeof(*node) + kept.length);

	node->references = 1;
	node->key = *key;
	node->client = admission->client;
	node->id = xstrdup(names->id);
	node->cluster = xstrdup(names->cluster);
	node->is_named = is_named;
	node->length = kept.length;
	if (kept.data)
		memcpy(node->bytes, kept.data, kept.length);
	hash_put(&table->nodes, key_of(node), node);
	return node;
}

struct xds_admission grpc_node_admit(struct grpc_node_table *table, struct slice bytes,
	struct grpc_node **ret_node, struct grpc_node_names *ret_names)
{
	struct digest_context context;
	struct digest key;
	struct xds_admission admission;
	struct buf kept = BUF_INIT;
	struct grpc_node *node;

	*ret_node = NULL;
	*ret_names = (struct grpc_node_names){.id = ""};
	digest_begin(&context, bytes.data ? "xdspub grpc node" : "xdspub no grpc node");
	digest_bytes(&context, bytes.data, bytes.length);
	key = digest_end(&context);
	node = hash_get(&table->nodes, (struct slice){(const char *)key.bytes, DIGEST_LENGTH});
	if (node && node->generation == table->generation && node->group) {
		*ret_node = grpc_node_ref(node);
		return (struct xds_admission){
			.status = XDS_STATUS_OK, .group = -1, .client = node->client};
	}
	if (!strip(bytes, &kept))
		admission = refuse(XDS_STATUS_INVALID_ARGUMENT, "the node is no protobuf message");
	else if (kept.length > GRPC_NODE_BYTES)
		admission = refuse(XDS_STATUS_RESOURCE_EXHAUSTED,
			"the node is larger than 128 KiB without its extensions");
	else
		admission = admit(table, bytes.data ? slice_or_empty(&kept) : bytes, ret_names);
	if (admission.status == XDS_STATUS_OK) {
		node = node ? grpc_node_ref(node)
			    : add(table, &key, &admission, ret_names, buf_slice(&kept),
				      bytes.data != NULL);
		set_group(table, node, &admission);
		*ret_node = node;
	}
	buf_fini(&kept);
	return admission;
}

struct xds_admission grpc_node_admit_again(struct grpc_node_table *table, struct grpc_node *node)
{
	struct slice bytes = {node->is_named ? node->bytes : NULL, node->length};
	struct grpc_node_names names;
	struct xds_admission admission = admit(table, bytes, &names);

	set_group(table, node, &admission);
	return admission;
}

struct grpc_node *grpc_node_ref(struct grpc_node *node)
{
	node->references++;
	return node;
}

void grpc_node_unref(struct grpc_node_table *table, struct grpc_node *node)
{
	if (!node || --node->references)
		return;
	assert(node->streams == 0);
	hash_remove(&table->nodes, key_of(node));
	rcstr_unref(node->group);
	free(node->id);
	free(node->cluster);
	free(node);
}
