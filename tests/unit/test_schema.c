/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schema/schema.h"

#include <errno.h>

#include "base/file.h"
#include "message_fixture.h"

#define SET "google.protobuf.FileDescriptorSet"

/* A FileDescriptorSet written as text format, serialized into the arena. */
static struct slice make_set(struct fixture *fixture, const char *text)
{
	struct buf bytes = BUF_INIT;
	struct slice copy;

	wire_write(fixture_message(fixture, SET, text), &bytes);
	copy = arena_copy(fixture->arena, bytes.data, bytes.length);
	buf_fini(&bytes);
	return copy;
}

static int load_text(struct fixture *fixture, const char *text, struct schema **ret_schema)
{
	const char *name = "hostile.pb";
	struct slice set = make_set(fixture, text);

	diag_list_clear(fixture->diags);
	return schema_load_bytes(&set, &name, 1, fixture->diags, ret_schema);
}

static int open_envoy(void **state)
{
	return fixture_open(state, "XDSPUB_SCHEMA");
}

static int open_test(void **state)
{
	return fixture_open(state, "XDSPUB_TEST_SCHEMA");
}

/* Names that are not there, and what they are meant for. */
static void suggests_types(void **state)
{
	static const struct {
		const char *name, *nearest;
	} cases[] = {
		{"envoy.config.cluster.v3.Clutser", "envoy.config.cluster.v3.Cluster"},
		/* The names of API version 2. */
		{"envoy.api.v2.Cluster", "envoy.config.cluster.v3.Cluster"},
		{"envoy.config.filter.http.router.v2.Router",
			"envoy.extensions.filters.http.router.v3.Router"},
		/* Moved within version 3. */
		{"envoy.filters.http.router.v3.Router",
			"envoy.extensions.filters.http.router.v3.Router"},
		{"envoy.extensions.HttpConnectionManager",
			"envoy.extensions.filters.network.http_connection_manager.v3."
			"HttpConnectionManager"},
		{"nothing.like.it.NoSuchThingAtAll", NULL},
		{"Cluster", NULL},
		{"", NULL},
		{".", NULL},
		{"..Cluster", NULL},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *nearest =
			schema_nearest_message(fixture->schema, slice_of(cases[i].name));

		if (!cases[i].nearest != !nearest ||
			(nearest && strcmp(nearest, cases[i].nearest) != 0))
			fail_msg("%s: %s", cases[i].name, nearest ? nearest : "nothing");
	}
}

static void finds_types(void **state)
{
	struct fixture *fixture = *state;
	const struct schema *schema = fixture->schema;
	const struct schema_message *cluster =
		schema_find_message(schema, SLICE("envoy.config.cluster.v3.Cluster"));
	size_t count;

	assert_non_null(cluster);
	assert_ptr_equal(schema_find_type_url(schema,
				 SLICE("type.googleapis.com/envoy.config.cluster.v3.Cluster")),
		cluster);
	assert_ptr_equal(schema_find_type_url(schema, SLICE("a/b/envoy.config.cluster.v3.Cluster")),
		cluster);
	assert_null(schema_find_type_url(schema, SLICE("envoy.config.cluster.v3.Cluster")));
	assert_null(schema_find_message(schema, SLICE("envoy.config.cluster.v3.Clusterx")));
	assert_null(schema_find_message(schema, SLICE("envoy.config.cluster.v3.Cluster.LbPolicy")));
	assert_non_null(
		schema_find_enum(schema, SLICE("envoy.config.cluster.v3.Cluster.LbPolicy")));
	const struct schema_service *service = schema_find_service(
		schema, SLICE("envoy.service.discovery.v3.AggregatedDiscoveryService"));
	assert_non_null(service);
	assert_int_equal(service->methods_count, 2);
	assert_string_equal(service->methods[0].name, "StreamAggregatedResources");
	assert_true(service->methods[0].is_client_streaming);
	assert_string_equal(service->methods[0].input->full_name,
		"envoy.service.discovery.v3.DiscoveryRequest");
	const struct schema_message *const *all = schema_messages(schema, &count);
	assert_true(count > 1000);
	for (size_t i = 1; i < count; i++)
		assert_true(strcmp(all[i - 1]->full_name, all[i]->full_name) < 0);
	assert_non_null(schema_file(schema, SLICE("envoy/config/cluster/v3/cluster.proto")).data);
	assert_null(schema_file(schema, SLICE("none.proto")).data);
}

/* Every field and value of the whole API by each of its names and numbers. */
static void finds_every_field(void **state)
{
	struct fixture *fixture = *state;
	size_t count;
	const struct schema_message *const *all = schema_messages(fixture->schema, &count);

	for (size_t i = 0; i < count; i++) {
		const struct schema_message *type = all[i];

		for (uint32_t f = 0; f < type->fields_count; f++) {
			const struct schema_field *field = &type->fields[f];

			assert_ptr_equal(schema_field_by_name(type, slice_of(field->name)), field);
			assert_ptr_equal(
				schema_field_by_name(type, slice_of(field->json_name)), field);
			assert_ptr_equal(schema_field_by_number(type, field->number), field);
			assert_ptr_equal(field->parent, type);
			if (f > 0)
				assert_true(type->fields[f - 1].number < field->number);
			if (!field->enumeration)
				continue;
			for (uint32_t v = 0; v < field->enumeration->values_count; v++) {
				const struct schema_enum_value *value =
					&field->enumeration->values[v];

				assert_ptr_equal(schema_enum_by_name(
							 field->enumeration, slice_of(value->name)),
					value);
				assert_int_equal(
					schema_enum_by_number(field->enumeration, value->number)
						->number,
					value->number);
			}
		}
		assert_null(schema_field_by_name(type, SLICE("no_such_field")));
		assert_null(schema_field_by_name(type, SLICE("")));
		assert_null(schema_field_by_number(type, 0));
		assert_null(schema_field_by_number(type, 536870911));
	}
}

static const struct schema_field *field_of(
	struct fixture *fixture, const char *type, const char *name)
{
	const struct schema_field *field =
		schema_field_by_name(fixture_type(fixture, type), slice_of(name));

	if (!field)
		fail_msg("no field %s in %s", name, type);
	return field;
}

static void knows_fields(void **state)
{
	struct fixture *fixture = *state;
	const char *v3 = "xdspub.test.v3.Everything", *v2 = "xdspub.test.v2.Everything";

	assert_false(field_of(fixture, v3, "f_int32")->has_presence);
	assert_true(field_of(fixture, v3, "o_int32")->has_presence);
	assert_null(field_of(fixture, v3, "o_int32")->oneof);
	assert_true(field_of(fixture, v3, "c_int32")->has_presence);
	assert_string_equal(field_of(fixture, v3, "c_int32")->oneof->name, "choice");
	assert_int_equal(fixture_type(fixture, v3)->oneofs_count, 2);
	assert_true(field_of(fixture, v3, "f_message")->has_presence);
	assert_true(field_of(fixture, v2, "o_int32")->has_presence);
	assert_true(field_of(fixture, v3, "r_int32")->is_packed);
	assert_false(field_of(fixture, v3, "u_int32")->is_packed);
	assert_false(field_of(fixture, v3, "r_string")->is_packed);
	assert_false(field_of(fixture, v2, "r_int32")->is_packed);
	assert_true(field_of(fixture, v2, "p_int32")->is_packed);
	assert_true(field_of(fixture, v3, "f_string")->check_utf8);
	assert_false(field_of(fixture, v2, "o_string")->check_utf8);
	assert_true(field_of(fixture, v2, "o_enum")->enumeration->is_closed);
	assert_false(field_of(fixture, v3, "f_enum")->enumeration->is_closed);
	assert_string_equal(field_of(fixture, v2, "d_int64")->default_text, "-9223372036854775808");
	assert_int_equal(field_of(fixture, v2, "optionalgroup")->type, SCHEMA_GROUP);
	assert_true(field_of(fixture, "xdspub.test.v3.Maps", "k_bool")->is_map);
	assert_true(field_of(fixture, "xdspub.test.v3.Maps", "k_bool")->message->is_map_entry);
	assert_string_equal(field_of(fixture, v3, "fInt32")->name, "f_int32");
	assert_string_equal(
		field_of(fixture, "xdspub.test.v3.Names", "otherName")->name, "renamed");
	assert_true(fixture_type(fixture, "xdspub.test.v2.Required")->has_required);
	/* Through a map of messages that have required fields. */
	assert_true(fixture_type(fixture, v2)->has_required);
	assert_false(fixture_type(fixture, v3)->has_required);
	assert_int_equal(fixture_type(fixture, "google.protobuf.Any")->well_known, SCHEMA_ANY);
	assert_int_equal(fixture_type(fixture, "google.protobuf.Value")->well_known, SCHEMA_VALUE);
	assert_int_equal(
		fixture_type(fixture, "google.protobuf.BoolValue")->well_known, SCHEMA_WRAPPER);
	assert_int_equal(fixture_type(fixture, v3)->well_known, SCHEMA_ORDINARY);
}

static void finds_extensions_and_values(void **state)
{
	struct fixture *fixture = *state;
	const struct schema_message *type = fixture_type(fixture, "xdspub.test.v2.Extendable");
	const struct schema_field *field = schema_extension_by_number(fixture->schema, type, 112);
	const struct schema_enum *color =
		schema_find_enum(fixture->schema, SLICE("xdspub.test.v3.Color"));
	const struct schema_enum *alias =
		schema_find_enum(fixture->schema, SLICE("xdspub.test.v3.Alias"));

	assert_non_null(field);
	assert_string_equal(field->full_name, "xdspub.test.v2.e_int32");
	assert_true(field->is_extension);
	assert_true(field->has_presence);
	assert_ptr_equal(
		schema_extension_by_name(fixture->schema, SLICE("xdspub.test.v2.e_int32")), field);
	assert_non_null(schema_extension_by_name(
		fixture->schema, SLICE("xdspub.test.v2.Extendable.in_scope")));
	assert_null(schema_extension_by_number(fixture->schema, type, 199));
	assert_null(schema_field_by_number(type, 112));
	assert_string_equal(schema_enum_by_number(color, INT32_MIN)->name, "COLOR_SMALLEST");
	assert_null(schema_enum_by_number(color, 3));
	assert_string_equal(schema_enum_by_number(alias, 1)->name, "ALIAS_FIRST");
	assert_null(schema_enum_by_name(color, SLICE("color-red")));
	assert_string_equal(
		schema_enum_by_name_loose(color, SLICE("color-red"))->name, "COLOR_RED");
	assert_string_equal(
		schema_enum_by_name_loose(alias, SLICE("ALIAS_LOWER"))->name, "alias_lower");
	assert_null(schema_enum_by_name_loose(color, SLICE("color_re")));
}

#define FILE3(body)    "file { name: 'a.proto' package: 'p' syntax: 'proto3' " body " }"
#define FILE2(body)    "file { name: 'a.proto' package: 'p' " body " }"
#define MESSAGE3(body) FILE3("message_type { name: 'M' " body " }")
#define MESSAGE2(body) FILE2("message_type { name: 'M' " body " }")
#define FIELD(name, number, rest)                                                                  \
	"field { name: '" name "' number: " #number " label: LABEL_OPTIONAL " rest " } "
#define INT32	     "type: TYPE_INT32"
#define GOOGLE(body) "file { name: 'g.proto' package: 'google.protobuf' syntax: 'proto3' " body " }"

/* Each set has one thing wrong. */
static const struct {
	const char *text, *problem;
} hostile[] = {
	{"", "holds no files"},
	{"file { package: 'p' }", "has no name"},
	{"file { name: 'a.proto' package: 'a..b' }", "\"a..b\" is no valid name"},
	{"file { name: 'a.proto' syntax: 'editions' }", "\"editions\" is not known"},
	{FILE3("dependency: 'b.proto'"), "import: b.proto is missing"},
	{FILE3("message_type { name: 'a b' }"), "\"a b\" is no valid name"},
	{FILE3("message_type { }"), "\"\" is no valid name"},
	{FILE3("message_type { name: 'M' } message_type { name: 'M' }"), "p.M: declared twice"},
	{FILE3("message_type { name: 'M' } enum_type { name: 'M' value { name: 'A' number: 0 } }"),
		"p.M: declared twice"},
	{MESSAGE3(FIELD("1a", 1, INT32)), "\"1a\" is no valid name"},
	{MESSAGE3(FIELD("a", 1, INT32) FIELD("b", 1, INT32)), "another field has the same number"},
	{MESSAGE3(FIELD("a", 1, INT32) FIELD("a", 2, INT32)), "fields a and a have the same name"},
	{MESSAGE3(FIELD("a_b", 1, INT32) FIELD("aB", 2, INT32)), "fields aB and a_b have the same"},
	{MESSAGE3(FIELD("a", 0, INT32)), "number 0: its number is out of range"},
	{MESSAGE3(FIELD("a", -1, INT32)), "its number is out of range"},
	{MESSAGE3(FIELD("a", 536870912, INT32)), "its number is out of range"},
	{MESSAGE3(FIELD("a", 19000, INT32)), "reserved for protobuf"},
	{MESSAGE3(FIELD("a", 1, "type_name: '.p.None' type: TYPE_MESSAGE")),
		"message type is not declared"},
	{MESSAGE3(FIELD("a", 1, "type: TYPE_MESSAGE")), "message type is not declared"},
	{MESSAGE3(FIELD("a", 1, "type: TYPE_ENUM type_name: '.p.M'")), "enum type is not declared"},
	{MESSAGE3(FIELD("a", 1, "type: TYPE_INT32 type_name: '.p.M'")),
		"a scalar field names a type"},
	{MESSAGE3(FIELD("a", 1, "")), "message type is not declared"},
	{MESSAGE3(FIELD("a", 1, INT32 " oneof_index: 0")), "no proper member of a oneof"},
	{MESSAGE3(FIELD("a", 1, INT32 " oneof_index: -1") "oneof_decl { name: 'o' }"),
		"no proper member of a oneof"},
	{MESSAGE3("oneof_decl { name: 'o' }"), "oneof o has 0 fields"},
	{MESSAGE3(FIELD("a", 1, INT32 " oneof_index: 0 proto3_optional: true")
			 FIELD("b", 2, INT32 " oneof_index: 0") "oneof_decl { name: 'o' }"),
		"oneof o has 2 fields"},
	{MESSAGE3(FIELD("a", 1, INT32 " proto3_optional: true")), "no oneof of its own"},
	{MESSAGE3("field { name: 'a' number: 1 label: LABEL_REPEATED type: TYPE_INT32 oneof_index: "
		  "0 } "
		  "oneof_decl { name: 'o' }"),
		"no proper member of a oneof"},
	{MESSAGE3("field { name: 'a' number: 1 label: LABEL_REQUIRED type: TYPE_INT32 }"),
		"proto3 has no required fields"},
	{MESSAGE3(FIELD("a", 1, "type: TYPE_GROUP type_name: '.p.M'")), "proto3 has no groups"},
	{MESSAGE3(FIELD("a", 1, INT32 " json_name: ''")), "its JSON name is empty"},
	{FILE3("enum_type { name: 'E' }"), "an enum without values"},
	{FILE3("enum_type { name: 'E' value { name: 'A' number: 1 } }"), "must be 0"},
	{FILE3("enum_type { name: 'E' value { name: 'A' number: 0 } value { name: 'A' number: 1 } "
	       "}"),
		"value A is declared twice"},
	{FILE3("enum_type { name: 'E' value { name: 'A-B' number: 0 } }"),
		"no valid name for a value"},
	{FILE3("message_type { name: 'M' options { map_entry: true } }"), "must be nested"},
	{MESSAGE3(
		 "nested_type { name: 'E' options { map_entry: true } " FIELD("key", 1, INT32) "}"),
		"a map entry must have"},
	{MESSAGE3("nested_type { name: 'E' options { map_entry: true } " FIELD(
		 "key", 1, "type: TYPE_DOUBLE") FIELD("value", 2, INT32) "}"),
		"a map key must be"},
	{MESSAGE3("nested_type { name: 'E' options { map_entry: true } " FIELD("key", 1, INT32)
			 FIELD("value", 2, INT32) "} " FIELD(
				 "a", 1, "type: TYPE_MESSAGE type_name: '.p.M.E'")),
		"only be used by the repeated field"},
	{FILE2("extension { name: 'x' number: 1 label: LABEL_OPTIONAL type: TYPE_INT32 extendee: "
	       "'.p.M' }"),
		"message it extends is not declared"},
	{MESSAGE2("") " file { name: 'b.proto' package: 'p' extension { name: 'x' number: 1 label: "
		      "LABEL_OPTIONAL type: TYPE_INT32 extendee: '.p.M' } }",
		"in no extension range"},
	{MESSAGE2("extension_range { start: 1 end: 10 } "
		  "extension { name: 'x' number: 1 label: LABEL_OPTIONAL type: TYPE_INT32 "
		  "extendee: '.p.M' }"
		  "extension { name: 'y' number: 1 label: LABEL_OPTIONAL type: TYPE_INT32 "
		  "extendee: '.p.M' }"),
		"has the same number"},
	{MESSAGE2("extension_range { start: 1 end: 10 } extension { name: 'x' number: 1 "
		  "label: LABEL_REQUIRED type: TYPE_INT32 extendee: '.p.M' }"),
		"neither required nor in a oneof"},
	{MESSAGE2("options { message_set_wire_format: true } " FIELD("a", 1, INT32)),
		"a message set must be"},
	{FILE3("service { name: 'S' method { name: 'm' input_type: '.p.A' output_type: '.p.A' } }"),
		"type .p.A is not known"},
	{GOOGLE("message_type { name: 'Duration' " FIELD("seconds", 1, INT32) "}"),
		"other fields than protobuf's own"},
	{GOOGLE("message_type { name: 'Any' }"), "other fields than protobuf's own"},
	{GOOGLE("message_type { name: 'Struct' nested_type { name: 'FieldsEntry' " FIELD(
		 "key", 1, "type: TYPE_STRING") FIELD("value", 2,
		 "type: TYPE_MESSAGE type_name: '.google.protobuf.Struct'") "} }"),
		"other fields than protobuf's own"},
};

static void refuses_bad_sets(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct schema *schema = NULL;

		if (load_text(fixture, hostile[i].text, &schema) != -EINVAL)
			fail_msg("accepted: %s", hostile[i].text);
		assert_null(schema);
		fixture_expect(fixture, hostile[i].problem);
	}
}

/* Odd, but allowed. */
static void accepts_odd_sets(void **state)
{
	static const char *const texts[] = {
		/* Types that hold each other, and themselves. */
		FILE3("message_type { name: 'A' " FIELD("b", 1,
			"type: TYPE_MESSAGE type_name: '.p.B'") "} "
								"message_type { name: "
								"'B' " FIELD("a", 2,
									"type: TYPE_MESSAGE "
									"type_name: '.p.A'")
									FIELD("b", 1,
										"type: "
										"TYPE_MESSAGE "
										"type_name: "
										"'.p.B'") "}"),
		/* Relative names, a type without a kind, a name from the outer scope. */
		MESSAGE3("nested_type { name: 'N' " FIELD("m", 1, "type_name: 'M'") "} " FIELD(
			"n", 1, "type_name: 'N'") FIELD("o", 2, "type_name: 'p.M.N'")),
		"file { name: 'a.proto' }",
		MESSAGE2(
			"options { message_set_wire_format: true } extension_range { start: 4 end: "
			"2147483647 }"),
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct schema *schema = NULL;

		if (load_text(fixture, texts[i], &schema)) {
			fixture_show(fixture->diags);
			fail_msg("refused: %s", texts[i]);
		}
		schema_free(schema);
	}
}

/* A -> B -> C, which has a required field; D and E only know each other; X is extended by a B. */
static void follows_required_fields(void **state)
{
	static const struct {
		const char *name;
		bool has_required;
	} wanted[] = {{"p.A", true}, {"p.B", true}, {"p.C", true}, {"p.D", false}, {"p.E", false},
		{"p.X", true}};
	struct fixture *fixture = *state;
	struct schema *schema = NULL;

	assert_int_equal(
		load_text(fixture,
			FILE2("message_type { name: 'A' " FIELD("b", 1,
				"type_name: 'B'") "} "
						  "message_type { name: 'B' " FIELD(
							  "c", 1, "type_name: 'C'") FIELD("a", 2,
							  "type_name: 'A'") "} "
									    "message_type { name: "
									    "'C' field { name: 'r' "
									    "number: 1 label: "
									    "LABEL_REQUIRED type: "
									    "TYPE_INT32 } } "
									    "message_type { name: "
									    "'D' " FIELD("e", 1,
										    "type_name: "
										    "'E'") "} "
											   "message"
											   "_type "
											   "{ "
											   "name: "
											   "'E'"
											   " " FIELD(
												   "d",
												   1,
												   "type_name: 'D'") "} "
														     "message_type { name: 'X' extension_range { start: 5 end: 6 } } "
														     "extension { name: 'x' number: 5 label: LABEL_OPTIONAL type: "
														     "TYPE_MESSAGE type_name: 'B' extendee: 'X' }"),
			&schema),
		0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_int_equal(
			schema_find_message(schema, slice_of(wanted[i].name))->has_required,
			wanted[i].has_required);
	schema_free(schema);
}

static int load_pair(
	struct fixture *fixture, const char *first, const char *second, struct schema **ret_schema)
{
	const char *names[] = {"base.pb", "more.pb"};
	struct slice sets[] = {make_set(fixture, first), make_set(fixture, second)};

	diag_list_clear(fixture->diags);
	return schema_load_bytes(sets, names, 2, fixture->diags, ret_schema);
}

static void merges_sets(void **state)
{
	const char *one = MESSAGE3(FIELD("a", 1, INT32));
	struct fixture *fixture = *state;
	struct schema *schema = NULL;

	assert_int_equal(load_pair(fixture, one, one, &schema), 0);
	assert_string_equal(schema_label(schema), "schema base.pb with more.pb");
	schema_free(schema);
	/* A set that says what it is. */
	assert_int_equal(
		load_text(fixture,
			"file { name: 'o.proto' package: 'xdspub.schema' message_type { "
			"name: 'Origin' field { name: 'label' number: 1 label: LABEL_OPTIONAL "
			"type: TYPE_STRING default_value: 'My API 7' } } }",
			&schema),
		0);
	assert_string_equal(schema_label(schema), "My API 7 in hostile.pb");
	schema_free(schema);
	/* The same file with source information, in another order of fields. */
	assert_int_equal(
		load_pair(fixture, one,
			"file { syntax: 'proto3' source_code_info { location { path: 4 span: 1 } } "
			"message_type { name: 'M' " FIELD(
				"a", 1, INT32) "} "
					       "name: 'a.proto' package: 'p' }",
			&schema),
		0);
	schema_free(schema);
	/* A second file that uses a type of the first set. */
	assert_int_equal(
		load_pair(fixture, one,
			"file { name: 'b.proto' package: 'q' dependency: 'a.proto' "
			"message_type { name: 'N' " FIELD("m", 1, "type_name: '.p.M'") "} }",
			&schema),
		0);
	assert_non_null(schema_find_message(schema, SLICE("q.N")));
	schema_free(schema);
	schema = NULL;
	assert_int_equal(load_pair(fixture, one, MESSAGE3(FIELD("a", 2, INT32)), &schema), -EINVAL);
	assert_null(schema);
	fixture_expect(
		fixture, "more.pb: error: a.proto differs from the file of that name in base.pb");
}

static void refuses_damaged_bytes(void **state)
{
	struct fixture *fixture = *state;
	const char *name = "damaged.pb";
	struct slice whole = make_set(fixture, MESSAGE3(FIELD("a", 1, INT32)));
	struct schema *schema = NULL;

	/* Every cut is refused or, at 0 bytes, empty; none crashes. */
	for (size_t length = 0; length < whole.length; length++) {
		struct slice part = arena_copy(fixture->arena, whole.data, length);

		assert_int_equal(
			schema_load_bytes(&part, &name, 1, fixture->diags, &schema), -EINVAL);
	}
	assert_int_equal(schema_load(&name, 1, fixture->diags, &schema), -ENOENT);
	fixture_expect(fixture, "cannot read the descriptor set");
}

/* Bytes far beyond what protobuf-c's recursion would survive. */
static void refuses_deep_nesting(void **state)
{
	struct fixture *fixture = *state;
	const char *name = "deep.pb";
	const unsigned levels = 20000;
	struct buf inner = BUF_INIT, outer = BUF_INIT;
	struct schema *schema = NULL;

	for (unsigned i = 0; i < levels; i++) {
		buf_reset(&outer);
		wire_put_bytes(&outer, 3, buf_slice(&inner));
		struct buf swap = inner;
		inner = outer;
		outer = swap;
		if (i == levels - 1 || i == 98 || i == 99) {
			struct buf file = BUF_INIT, set = BUF_INIT;
			struct slice bytes;

			wire_put_bytes(&file, 1, SLICE("a.proto"));
			wire_put_bytes(&file, 4, buf_slice(&inner));
			wire_put_bytes(&set, 1, buf_slice(&file));
			bytes = buf_slice(&set);
			diag_list_clear(fixture->diags);
			assert_int_equal(
				schema_load_bytes(&bytes, &name, 1, fixture->diags, &schema),
				-EINVAL);
			/* 99 levels pass the nesting check and fail for lack of names. */
			fixture_expect(fixture, i == 98 ? "no valid name" : "nested deeper");
			buf_fini(&file);
			buf_fini(&set);
		}
	}
	buf_fini(&inner);
	buf_fini(&outer);
}

static void loads_source_information(void **state)
{
	struct fixture *fixture = *state;
	struct schema *schema = NULL;

	assert_int_equal(
		load_text(fixture,
			"file { name: 'a.proto' source_code_info { location { path: 4 span: 1 } } "
			"package: 'p' }",
			&schema),
		0);
	/* Kept without it. */
	assert_int_equal(schema_file(schema, SLICE("a.proto")).length, 2 + 7 + 2 + 1);
	schema_free(schema);
}

static int close_fixture(void **state)
{
	return fixture_close(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_types, open_envoy, close_fixture),
		cmocka_unit_test_setup_teardown(suggests_types, open_envoy, close_fixture),
		cmocka_unit_test_setup_teardown(finds_every_field, open_envoy, close_fixture),
		cmocka_unit_test_setup_teardown(knows_fields, open_test, close_fixture),
		cmocka_unit_test_setup_teardown(
			finds_extensions_and_values, open_test, close_fixture),
		cmocka_unit_test_setup_teardown(refuses_bad_sets, open_envoy, close_fixture),
		cmocka_unit_test_setup_teardown(accepts_odd_sets, open_envoy, close_fixture),
		cmocka_unit_test_setup_teardown(follows_required_fields, open_envoy, close_fixture),
		cmocka_unit_test_setup_teardown(merges_sets, open_envoy, close_fixture),
		cmocka_unit_test_setup_teardown(refuses_damaged_bytes, open_envoy, close_fixture),
		cmocka_unit_test_setup_teardown(refuses_deep_nesting, open_envoy, close_fixture),
		cmocka_unit_test_setup_teardown(
			loads_source_information, open_envoy, close_fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
