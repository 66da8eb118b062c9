/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON texts: no crash, and the reader accepts what jansson accepts and nothing else, but for
 * numbers beyond its range, byte order marks and depth. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/text.h"
#include "message/json_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_fine)
{
	if (!is_fine)
		abort();
}

static void compare_text(struct slice got, const char *want, size_t length)
{
	check(slice_equal(got, (struct slice){want, length}));
}

static void compare(const struct node *node, json_t *want)
{
	const char *key;
	json_t *value;
	size_t i = 0;

	check(node->is_json && node->at.line >= 1 && node->at.column >= 1);
	switch (json_typeof(want)) {
	case JSON_OBJECT:
		check(node->kind == NODE_MAP && node->pairs_count == json_object_size(want));
		json_object_foreach(want, key, value)
		{
			const struct node_pair *pair = node_find(node, key);

			check(pair != NULL);
			compare(pair->value, value);
		}
		break;
	case JSON_ARRAY:
		check(node->kind == NODE_LIST && node->items_count == json_array_size(want));
		json_array_foreach(want, i, value) compare(node->items[i], value);
		break;
	case JSON_STRING:
		check(node->kind == NODE_SCALAR && !node->is_plain);
		compare_text(node->text, json_string_value(want), json_string_length(want));
		break;
	case JSON_INTEGER:
		check(node->is_plain && node_resolve(node).kind == NODE_INTEGER);
		check(node_resolve(node).number == (double)json_integer_value(want));
		break;
	case JSON_REAL:
		check(node->is_plain && node_resolve(node).kind == NODE_FLOAT);
		check(node_resolve(node).number == json_real_value(want));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		check(node_resolve(node).kind == NODE_BOOL);
		check(node_resolve(node).boolean == json_is_true(want));
		break;
	case JSON_NULL:
		check(node_resolve(node).kind == NODE_NULL);
		break;
	}
}

static unsigned deepest(const uint8_t *data, size_t size)
{
	unsigned brackets = 0;

	for (size_t i = 0; i < size; i++)
		brackets += data[i] == '[' || data[i] == '{';
	return brackets;
}

static bool has_large_number(const uint8_t *data, size_t size)
{
	size_t digits = 0;

	for (size_t i = 0; i < size; i++) {
		digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
		if (digits > 18 || data[i] == 'e' || data[i] == 'E')
			return true;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new(0);
	struct diag_list *diags = diag_list_new(0);
	json_error_t error;
	struct node *root;
	int rc = json_read(&(struct read_options){.path = "fuzz"},
		(struct slice){(const char *)data, size}, arena, diags, &root);
	json_t *want = json_loadb(
		(const char *)data, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	bool has_mark = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0;

	check(rc == 0 || rc == -EBADMSG);
	check((rc != 0) == (diag_list_level_count(diags, DIAG_ERROR) > 0));
	check(rc != 0 || root != NULL);
	if (rc == 0 && want)
		compare(root, want);
	else if (rc == 0)
		check(has_mark || has_large_number(data, size));
	else if (want) /* jansson ends at a NUL byte */
		check(deepest(data, size) > LIMIT_DEPTH || memchr(data, 0, size));
	json_decref(want);
	diag_list_free(diags);
	arena_free(arena);
	return 0;
}
