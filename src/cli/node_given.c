/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/node_given.h"

#include <errno.h>

#include "base/text.h"
#include "message/yaml_read.h"

#define ARENA_BYTES_MAX (16u << 20)
#define NODES_MAX	10000

static const char *const fields[] = {"id", "cluster", "metadata", "locality", "user_agent_name",
	"userAgentName", "user_agent_version", "userAgentVersion", "user_agent_build_version",
	"userAgentBuildVersion", "client_features", "clientFeatures"};

/* Only metadata has values other than texts, lists and mappings that could be matched; depth is
 * that of nodes, which is limited. */
static json_t *convert(const struct node *node, bool is_free_form)
{
	json_t *value;

	if (node->kind == NODE_SCALAR) {
		struct node_value scalar = node_resolve(node);

		if (scalar.kind == NODE_NULL)
			return json_null();
		if (is_free_form && scalar.kind == NODE_BOOL)
			return json_boolean(scalar.boolean);
		if (is_free_form && scalar.kind != NODE_STRING)
			return json_real(scalar.number);
		return json_stringn(node->text.data, node->text.length);
	}
	value = node->kind == NODE_LIST ? json_array() : json_object();
	for (size_t i = 0; node->kind == NODE_LIST && i < node->items_count; i++)
		json_array_append_new(value, convert(node->items[i], is_free_form));
	for (size_t i = 0; node->kind == NODE_MAP && i < node->pairs_count; i++) {
		const struct node_pair *pair = &node->pairs[i];

		json_object_setn_new(value, pair->key.data, pair->key.length,
			convert(pair->value, is_free_form || slice_is(pair->key, "metadata") ||
						     slice_is(pair->key, "version")));
	}
	return value;
}

static int check_fields(const struct node *node, struct buf *problem)
{
	for (size_t i = 0; i < node->pairs_count; i++) {
		struct suggestion suggestion;
		struct buf quoted = BUF_INIT;
		char phrase[256];
		size_t k = 0;

		suggestion_init(&suggestion, node->pairs[i].key);
		for (; k < sizeof(fields) / sizeof(fields[0]); k++) {
			if (slice_is(node->pairs[i].key, fields[k]))
				break;
			suggestion_offer(&suggestion, fields[k]);
		}
		if (k < sizeof(fields) / sizeof(fields[0]))
			continue;
		text_quote(&quoted, node->pairs[i].key, 64);
		buf_printf(problem,
			"--node: \"%s\" is no field of Envoy's Node that can be matched%s",
			buf_cstr(&quoted), suggestion_phrase(&suggestion, phrase));
		buf_fini(&quoted);
		return -EINVAL;
	}
	return 0;
}

static int read(const char *text, struct arena *arena, struct diag_list *diags, json_t **ret_node,
	struct buf *problem)
{
	const struct read_options options = {.path = "--node", .nodes_limit = NODES_MAX};
	struct documents documents = {0};

	if (yaml_read(&options, slice_of(text), arena, diags, &documents) < 0) {
		if (diag_list_count(diags))
			diag_format(diag_list_get(diags, 0), problem);
		return -EINVAL;
	}
	if (documents.count != 1 || documents.roots[0]->kind != NODE_MAP) {
		buf_puts(problem, "--node: write a mapping in the shape of Envoy's Node, such as "
				  "'{cluster: edge, metadata: {env: prod}}'");
		return -EINVAL;
	}
	if (check_fields(documents.roots[0], problem) < 0)
		return -EINVAL;
	*ret_node = convert(documents.roots[0], false);
	return 0;
}

int node_given(const char *text, json_t **ret_node, struct buf *problem)
{
	struct diag_list *diags;
	struct arena *arena;
	int error;

	if (!strchr(text, ':')) {
		*ret_node = json_pack("{s:s}", "id", text);
		return *ret_node ? 0 : -EINVAL;
	}
	diags = diag_list_new(0);
	arena = arena_new(ARENA_BYTES_MAX);
	error = read(text, arena, diags, ret_node, problem);
	arena_free(arena);
	diag_list_free(diags);
	return error;
}
