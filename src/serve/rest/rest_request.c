/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/rest/rest_request.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "serve/rest/json_scan.h"

/* A node lists hundreds of extensions; a parser would spend 50 bytes and more on each value. */
#define VALUES_MAX 500000
/* Struct numbers are doubles, and must not fail for being large. */
#define JSON_FLAGS (JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL)

static json_t *load(struct slice text, size_t flags, const char *what, struct buf *problem)
{
	json_error_t error;
	json_t *value = json_loadb(text.data ? text.data : "", text.length, flags, &error);

	if (value)
		return value;
	buf_printf(problem, "%s is not valid JSON: ", what);
	text_quote(problem, slice_of(error.text), sizeof(error.text));
	if (error.line > 0)
		buf_printf(problem, " (line %d, column %d)", error.line, error.column);
	return NULL;
}

/* Replaces the node by null, so that the rest is cheap to parse. */
static json_t *load_without_node(struct slice body, struct slice node, struct buf *problem)
{
	struct buf text = BUF_INIT;
	json_t *document;

	if (!node.data)
		return load(body, JSON_FLAGS, "the request body", problem);
	buf_append(&text, body.data, (size_t)(node.data - body.data));
	buf_puts(&text, "null");
	buf_append(&text, node.data + node.length,
		(size_t)(body.data + body.length - node.data) - node.length);
	document = load(buf_slice(&text), JSON_FLAGS, "the request body", problem);
	buf_fini(&text);
	return document;
}

/* A member in either spelling. NULL for absent and for null; -EINVAL when it is given twice. */
static int find_member(json_t *document, const char *snake, const char *camel,
	const json_t **ret_value, struct buf *problem)
{
	const json_t *a = json_object_get(document, snake);
	const json_t *b = strcmp(snake, camel) != 0 ? json_object_get(document, camel) : NULL;

	if (a && b) {
		buf_printf(problem, "\"%s\" and \"%s\" are the same field", snake, camel);
		return -EINVAL;
	}
	*ret_value = a ? a : b;
	if (json_is_null(*ret_value))
		*ret_value = NULL;
	return 0;
}

static int find_text(json_t *document, const char *snake, const char *camel, struct slice *ret_text,
	struct buf *problem)
{
	const json_t *value = NULL;
	int rc = find_member(document, snake, camel, &value, problem);

	*ret_text = (struct slice){NULL, 0};
	if (rc || !value)
		return rc;
	if (!json_is_string(value)) {
		buf_printf(problem, "\"%s\" must be a string", snake);
		return -EINVAL;
	}
	*ret_text = (struct slice){json_string_value(value), json_string_length(value)};
	return 0;
}

static int find_names(json_t *document, const struct limits *limits, struct rest_request *request,
	struct buf *problem)
{
	const json_t *array = NULL;
	int rc = find_member(document, "resource_names", "resourceNames", &array, problem);

	if (rc || !array)
		return rc;
	if (!json_is_array(array)) {
		buf_puts(problem, "\"resource_names\" must be a list of strings");
		return -EINVAL;
	}
	if (json_array_size(array) > limits->request_names) {
		buf_printf(problem, "%zu resource names, at most %llu are allowed",
			json_array_size(array), (unsigned long long)limits->request_names);
		return -EINVAL;
	}
	request->names_count = json_array_size(array);
	request->names = xcalloc(request->names_count + 1, sizeof(*request->names));
	for (size_t i = 0; i < request->names_count; i++) {
		const json_t *name = json_array_get(array, i);

		request->names[i] =
			(struct slice){json_string_value(name), json_string_length(name)};
		if (!json_is_string(name)) {
			buf_puts(problem, "\"resource_names\" must be a list of strings");
			return -EINVAL;
		}
		if (request->names[i].length == 0 ||
			request->names[i].length > limits->resource_name_bytes) {
			buf_printf(problem,
				"resource name %zu has %zu bytes, it must have 1 to %llu", i + 1,
				request->names[i].length,
				(unsigned long long)limits->resource_name_bytes);
			return -EINVAL;
		}
	}
	return 0;
}

/* A node that the scan did not find (an escaped key) is in the document. */
static int find_node(json_t *document, struct rest_request *request, struct buf *problem)
{
	const json_t *node = NULL;
	int rc = find_member(document, "node", "node", &node, problem);

	if (rc || request->node.data || !node)
		return rc;
	request->node_copy = json_dumps(node, JSON_COMPACT | JSON_ENCODE_ANY);
	if (!request->node_copy)
		return -EINVAL;
	request->node = slice_of(request->node_copy);
	return 0;
}

int rest_request_parse(struct slice body, const struct limits *limits,
	struct rest_request *ret_request, struct buf *problem)
{
	struct json_scan scan = json_scan_text(body, "node", LIMIT_DEPTH, VALUES_MAX);
	struct rest_request *request = ret_request;
	int rc = -EINVAL;

	*request = (struct rest_request){0};
	if (body.length == 0) {
		buf_puts(problem,
			"the request body is empty, a JSON DiscoveryRequest belongs there");
		return rc;
	}
	if (scan.depth > LIMIT_DEPTH || scan.values > VALUES_MAX) {
		buf_printf(problem, "the request body %s",
			scan.depth > LIMIT_DEPTH ? "is nested deeper than 100 levels"
						 : "holds too many values");
		return rc;
	}
	if (!slice_is(scan.member, "null"))
		request->node = scan.member;
	request->document = load_without_node(body, request->node, problem);
	if (!request->document)
		return rc;
	if (!json_is_object(request->document)) {
		buf_puts(problem, "the request body must be a JSON object");
		goto out;
	}
	rc = find_text(
		request->document, "version_info", "versionInfo", &request->version_info, problem);
	if (!rc)
		rc = find_text(
			request->document, "type_url", "typeUrl", &request->type_url, problem);
	if (!rc)
		rc = find_names(request->document, limits, request, problem);
	if (!rc)
		rc = find_node(request->document, request, problem);
out:
	if (rc)
		rest_request_fini(request);
	return rc;
}

void rest_request_fini(struct rest_request *request)
{
	json_decref(request->document);
	free(request->names);
	free(request->node_copy);
	*request = (struct rest_request){0};
}

json_t *rest_request_parse_node(struct slice node, struct buf *problem)
{
	json_t *value = load(node, JSON_FLAGS | JSON_DECODE_ANY, "\"node\"", problem);

	if (value && !json_is_object(value)) {
		buf_puts(problem, "\"node\" must be an object");
		json_decref(value);
		return NULL;
	}
	return value;
}
