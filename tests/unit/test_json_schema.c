/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is made; tests/integration/json_schema.py shows that it is right. */
#include "author/json_schema_file.h"

#include "author_fixture.h"

/* Every reference leads to something in `defs`. */
static void check_refs(const json_t *value, const json_t *defs)
{
	const char *key, *ref;
	const json_t *inner;
	json_t *object = (json_t *)(uintptr_t)value;
	size_t i;

	if (json_is_array(value))
		json_array_foreach(value, i, inner)
		{
			check_refs(inner, defs);
		}
	json_t *member;

	json_object_foreach(object, key, member)
	{
		ref = strcmp(key, "$ref") == 0 ? json_string_value(member) : NULL;
		if (!ref) {
			check_refs(member, defs);
			continue;
		}
		assert_memory_equal(ref, "#/$defs/", 8);
		struct slice name = {ref + 8, strcspn(ref + 8, "/")};
		if (!json_object_getn(defs, name.data, name.length))
			fail_msg("%s leads nowhere", ref);
	}
}

static json_t *property(const json_t *defs, const char *type, const char *field)
{
	return json_object_get(json_object_get(json_object_get(defs, type), "properties"), field);
}

static void test_everything(void **state)
{
	const struct author_fixture *fixture = *state;
	struct explain_from from = author_from(fixture);
	struct json_schema *definitions = json_schema_new(&from);
	json_t *files = json_array(), *defs, *field;

	for (int i = 0; i < XDS_TYPE_COUNT; i++)
		json_array_append_new(files,
			json_schema_file_of(definitions, xds_type_row((enum xds_type)i), ""));
	json_array_append_new(files, json_schema_file_any(definitions, ""));
	defs = json_schema_take(definitions);
	assert_true(json_object_size(defs) > 700);
	check_refs(defs, defs);
	/* Of files "#/$defs/resource" is their own. */
	json_object_set_new(defs, "resource", json_object());
	check_refs(files, defs);
	field = property(defs, "envoy.config.cluster.v3.Cluster", "connect_timeout");
	assert_non_null(
		strstr(json_string_value(json_object_get(field, "pattern")), "(?=.*[1-9])"));
	field = property(defs, "envoy.config.cluster.v3.Cluster", "dns_resolvers");
	assert_true(json_is_true(json_object_get(field, "deprecated")));
	assert_null(property(defs, "envoy.config.cluster.v3.Cluster", "connectTimeout"));
	json_decref(defs);
	json_decref(files);
	json_schema_free(definitions);
}

static void test_keys(void **state)
{
	const struct author_fixture *fixture = *state;
	struct keys *keys = keys_of_groups(fixture->comments);
	json_t *document = json_schema_file_keys(keys);

	check_refs(document, json_object_get(document, "$defs"));
	assert_non_null(json_object_get(json_object_get(document, "properties"), "isolate"));
	json_decref(document);
	keys_free(keys);
}

/* A schema of one's own, without anything of Envoy. */
static void test_small(void **state)
{
	struct author_fixture *fixture;
	void *own;

	(void)state;
	assert_int_equal(author_open_test(&own), 0);
	fixture = own;
	struct explain_from from = author_from(fixture);
	struct json_schema *definitions = json_schema_new(&from);
	json_t *document = json_schema_file_message(definitions,
		schema_find_message(fixture->schema, SLICE("xdspub.test.doc.Outer")), "");
	json_t *defs = json_schema_take(definitions);

	assert_null(json_schema_file_of(definitions, xds_type_row(XDS_CDS), ""));
	check_refs(document, defs);
	check_refs(defs, defs);
	assert_int_equal(
		json_integer_value(json_object_get(
			property(defs, "xdspub.test.doc.Outer.Inner", "count"), "minimum")),
		2);
	assert_int_equal(
		json_integer_value(json_object_get(
			property(defs, "xdspub.test.doc.Outer.Inner", "count"), "maximum")),
		8);
	json_decref(document);
	json_decref(defs);
	json_schema_free(definitions);
	author_close(&own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_small),
	};

	return cmocka_run_group_tests(tests, author_open_envoy, author_close);
}
