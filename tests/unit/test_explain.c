/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/explain.h"

#include "author/explain_text.h"
#include "author_fixture.h"

struct fixtures {
	struct author_fixture *envoy, *test;
};

static int open_both(void **state)
{
	struct fixtures *both = calloc(1, sizeof(*both));

	*state = both;
	return author_open_envoy((void **)&both->envoy) || author_open_test((void **)&both->test);
}

static int close_both(void **state)
{
	struct fixtures *both = *state;

	author_close((void **)&both->envoy);
	author_close((void **)&both->test);
	free(both);
	return 0;
}

static json_t *document_of(const struct author_fixture *fixture, const char *name, unsigned depth)
{
	struct explain_from from = author_from(fixture);
	struct buf problem = BUF_INIT;
	struct path path;

	if (path_resolve(fixture->names, fixture->schema, slice_of(name), &path, &problem))
		fail_msg("%s: %s", name, buf_cstr(&problem));
	buf_fini(&problem);
	return explain_path(&from, &path, depth);
}

static void check_text(void **state, const char *name, unsigned depth, const char *expected)
{
	const struct fixtures *both = *state;
	json_t *document = document_of(both->test, name, depth);
	struct buf text = BUF_INIT;

	explain_text(document, &(struct explain_style){.width = 72}, &text);
	if (strcmp(buf_cstr(&text), expected) != 0)
		fail_msg("%s:\n%s--- expected:\n%s", name, buf_cstr(&text), expected);
	json_decref(document);
	buf_fini(&text);
}

static void test_message(void **state)
{
	check_text(state, "Outer", 0,
		"TYPE:     Outer\n"
		"NAME:     xdspub.test.doc.Outer\n"
		"\n"
		"DESCRIPTION\n"
		"    The outer one.\n"
		"\n"
		"    Its second paragraph.\n"
		"\n"
		"FIELDS\n"
		"  inner <Outer.Inner>\n"
		"      Its inner one; see the count.\n"
		"  kind <Outer.Kind>\n"
		"      behind the field\n"
		"  plug <Any>\n"
		"      Anything that plugs in.\n"
		"  left <string> (one of choice, required)\n"
		"      The left one.\n"
		"  right <Outer> (one of choice, required)\n"
		"  inners <map[string]Outer.Inner>\n"
		"  plugs <map[string]Any>\n");
	check_text(state, "outer", 3,
		"TYPE:     Outer\n"
		"NAME:     xdspub.test.doc.Outer\n"
		"\n"
		"DESCRIPTION\n"
		"    The outer one.\n"
		"\n"
		"    Its second paragraph.\n"
		"\n"
		"FIELDS\n"
		"  inner <Outer.Inner>\n"
		"    count <uint32>\n"
		"  kind <Outer.Kind>\n"
		"  plug <Any>\n"
		"  left <string>\n"
		"  right <Outer> (as above)\n"
		"  inners <map[string]Outer.Inner>\n"
		"    count <uint32>\n"
		"  plugs <map[string]Any>\n");
	check_text(state, "ShortPlug", 0,
		"TYPE:     ShortPlug\n"
		"NAME:     xdspub.test.doc.ShortPlug\n"
		"EXTENDS:  xdspub.test.plugs.short_plug\n"
		"\n"
		"DESCRIPTION\n"
		"    Plugs in where it is short.\n"
		"\n"
		"FIELDS\n"
		"  fits <bool> not-implemented\n"
		"      Whether it fits.\n");
}

static void test_members(void **state)
{
	check_text(state, "outer.inner.count", 0,
		"FIELD:    Outer.Inner.count\n"
		"TYPE:     uint32\n"
		"DEFAULT:  0\n"
		"RULES:    must be at least 2 [uint32.gte]\n"
		"          must be less than 9 [uint32.lt]\n"
		"\n"
		"DESCRIPTION\n"
		"    How many.\n");
	check_text(state, "outer.left", 0,
		"FIELD:    Outer.left\n"
		"TYPE:     string\n"
		"ONE OF:   choice\n"
		"RULES:    must have at least 1 character [string.min_len]\n"
		"          must match the pattern ^l [string.pattern]\n"
		"\n"
		"DESCRIPTION\n"
		"    The left one.\n");
	check_text(state, "outer.kind", 0,
		"FIELD:    Outer.kind\n"
		"TYPE:     Outer.Kind (xdspub.test.doc.Outer.Kind)\n"
		"DEFAULT:  NONE\n"
		"\n"
		"DESCRIPTION\n"
		"    behind the field\n"
		"\n"
		"VALUES\n"
		"  NONE (0)\n"
		"      Nothing yet.\n"
		"  SOME (1)\n"
		"      behind the value\n");
	check_text(state, "outer.kind.SOME", 0,
		"VALUE:    Outer.Kind.SOME (1)\n\nDESCRIPTION\n    behind the value\n");
	check_text(state, "outer.choice", 0,
		"ONEOF:    Outer.choice\n"
		"RULES:    one of its fields must be set [oneof.required]\n"
		"\n"
		"DESCRIPTION\n"
		"    One of these.\n"
		"\n"
		"FIELDS\n"
		"  left <string> (one of choice)\n"
		"      The left one.\n"
		"  right <Outer> (one of choice)\n");
	/* An override is not offered. */
	check_text(state, "outer.plug", 0,
		"FIELD:    Outer.plug\n"
		"TYPE:     Any (google.protobuf.Any)\n"
		"WRITTEN:  a mapping with \"@type\" and the fields of that message\n"
		"\n"
		"DESCRIPTION\n"
		"    Anything that plugs in.\n"
		"\n"
		"TYPES THAT GO HERE\n"
		"  LongPlug xdspub.test.plugs.long\n"
		"      type.googleapis.com/xdspub.test.doc.LongPlug\n"
		"  ShortPlug xdspub.test.plugs.short_plug\n"
		"      type.googleapis.com/xdspub.test.doc.ShortPlug\n");
}

static const char *string_of(const json_t *document, const char *key)
{
	const char *text = json_string_value(json_object_get(document, key));

	return text ? text : "";
}

static void test_marks(void **state)
{
	const struct author_fixture *envoy = ((const struct fixtures *)*state)->envoy;
	json_t *document = document_of(envoy, "cluster.dns_resolvers", 0);

	assert_true(json_is_true(json_object_get(document, "deprecated")));
	assert_string_equal(string_of(document, "deprecated_at"), "3.0");
	assert_string_equal(string_of(document, "json_name"), "dnsResolvers");
	assert_string_equal(string_of(document, "type"), "[]Address");
	json_decref(document);
	document = document_of(envoy, "secret.tls_certificate.password", 0);
	assert_true(json_is_true(json_object_get(document, "sensitive")));
	json_decref(document);
	document = document_of(envoy, "cluster", 0);
	assert_string_equal(string_of(document, "resource"), "CDS");
	assert_string_equal(string_of(document, "folder"), "clusters");
	json_decref(document);
	document = document_of(envoy, "cluster.per_connection_buffer_limit_bytes", 0);
	assert_true(json_is_true(json_object_get(document, "is_wrapper")));
	assert_string_equal(string_of(document, "type"), "uint32");
	assert_null(json_object_get(document, "default"));
	json_decref(document);
}

static void render(json_t *document, unsigned width)
{
	struct buf text = BUF_INIT;
	char *dumped = json_dumps(document, 0);

	assert_non_null(dumped);
	free(dumped);
	explain_text(document, &(struct explain_style){.width = width, .is_coloured = true}, &text);
	assert_int_equal(buf_error(&text), 0);
	assert_true(text.length > 20);
	assert_null(strstr(buf_cstr(&text), "(null)"));
	buf_fini(&text);
	json_decref(document);
}

/* Every message, field, oneof and enum there is, in every form. */
static void everything(const struct author_fixture *fixture)
{
	struct explain_from from = author_from(fixture);
	size_t count;
	const struct schema_message *const *all = schema_messages(fixture->schema, &count);

	for (size_t i = 0; i < count; i++) {
		struct path path = {.kind = PATH_MESSAGE, .message = all[i]};

		render(explain_path(&from, &path, 0), 40);
		if (i % 8 == 0)
			render(explain_path(&from, &path, 4), 100);
		for (uint32_t k = 0; k < all[i]->oneofs_count; k++)
			render(explain_path(&from,
				       &(struct path){
					       .kind = PATH_ONEOF, .oneof = &all[i]->oneofs[k]},
				       0),
				80);
		for (uint32_t k = 0; k < all[i]->fields_count; k++) {
			const struct schema_field *field = &all[i]->fields[k];

			if (i % 4)
				break;
			render(explain_path(&from,
				       &(struct path){.kind = PATH_FIELD,
					       .field = field,
					       .message = path_message_of(field),
					       .enumeration = path_enum_of(field)},
				       0),
				60);
		}
	}
}

static void test_everything(void **state)
{
	const struct fixtures *both = *state;

	everything(both->envoy);
	everything(both->test);
}

/* Deep trees are bounded by their number of fields. */
static void test_deep_tree(void **state)
{
	const struct author_fixture *envoy = ((const struct fixtures *)*state)->envoy;

	render(document_of(envoy, "bootstrap", 100), 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_deep_tree),
	};

	return cmocka_run_group_tests(tests, open_both, close_both);
}
