/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/keys.h"

#include "message_fixture.h"

static const char *string_of(const json_t *document, const char *key)
{
	const char *text = json_string_value(json_object_get(document, key));

	return text ? text : "";
}

static const json_t *key_of(const json_t *document, const char *name)
{
	const json_t *key;
	size_t i;

	json_array_foreach(json_object_get(document, "keys"), i, key)
	{
		if (strcmp(string_of(key, "name"), name) == 0)
			return key;
	}
	return NULL;
}

static void test_groups(void **state)
{
	struct keys *keys = keys_of_groups(NULL);
	json_t *root = keys_explain(keys, SLICE("")), *one = keys_explain(keys, SLICE("groups"));

	(void)state;
	assert_string_equal(string_of(root, "name"), "groups.yaml");
	assert_string_equal(string_of(key_of(root, "isolate"), "default"), "group");
	assert_string_equal(string_of(key_of(root, "isolate"), "type"), "one of group, tree");
	assert_null(key_of(root, "name"));
	assert_true(json_is_true(json_object_get(key_of(one, "layers"), "required")));
	assert_string_equal(string_of(key_of(one, "layers"), "type"), "list of folder");
	json_decref(one);
	one = keys_explain(keys, SLICE("groups.match.locality"));
	assert_string_equal(string_of(key_of(one, "sub_zone"), "other_name"), "subZone");
	json_decref(one);
	assert_null(keys_explain(keys, SLICE("groups.nothing")));
	assert_null(keys_explain(keys, SLICE("group")));
	json_decref(root);
	keys_free(keys);
}

static void test_sections(void **state)
{
	struct keys *keys = keys_new("x.yaml");
	json_t *document;

	(void)state;
	keys_add(keys, &(struct key_row){
			       .path = "a.b.c", .shape = KEY_NUMBER, .maximum = 9, .text = "T\nU"});
	keys_add(keys, &(struct key_row){.path = "a.d", .flag = "deed"});
	document = keys_explain(keys, SLICE("a"));
	assert_string_equal(string_of(key_of(document, "b"), "type"), "mapping");
	assert_string_equal(string_of(key_of(document, "d"), "flag"), "--deed");
	json_decref(document);
	document = keys_explain(keys, SLICE("a.b.c"));
	assert_string_equal(string_of(document, "range"), "0 to 9");
	assert_string_equal(string_of(document, "description"), "T U");
	json_decref(document);
	keys_free(keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
