/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/encoder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "message/message.h"
#include "message/wire_read.h"

static struct schema *load_schema(void)
{
	const char *path = getenv("XDSPUB_SCHEMA");
	struct diag_list *diags = diag_list_new(0);
	struct schema *schema = NULL;

	assert_int_equal(schema_load(&path, 1, diags, &schema), 0);
	diag_list_free(diags);
	return schema;
}

static int set_up(void **state)
{
	*state = load_schema();
	return 0;
}

static int tear_down(void **state)
{
	schema_free(*state);
	return 0;
}

/* A cluster named c with an alt_stat_name (field 28). */
static struct resource *make_cluster(int64_t ttl_ms)
{
	struct slice alias = SLICE("other");
	struct resource_spec spec = {.type = XDS_CDS,
		.name = SLICE("c"),
		.body = SLICE("\x0a\x01"
			      "c\xe2\x01\x02"
			      "1e"),
		.ttl_ms = ttl_ms,
		.aliases = &alias,
		.aliases_count = ttl_ms >= 0};

	return resource_new(&spec);
}

static void check(struct schema *schema, enum file_format format, size_t count, int64_t ttl_ms,
	const char *source, const char *want)
{
	struct resource *resource = make_cluster(ttl_ms);
	struct version version = version_of(XDS_CDS, &resource, 1);
	struct publish_encoder files;
	struct encoder *encoder;
	struct buf out = BUF_INIT;

	memset(version.text + 1, '0', VERSION_TEXT_LENGTH - 1);
	assert_int_equal(encoder_new(schema, &encoder), 0);
	files = encoder_for_files(encoder);
	assert_int_equal(files.begin(files.ctx, format, XDS_CDS, &version, count, &out), 0);
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_append_slice(&out, files.separator(files.ctx, format));
		assert_int_equal(files.item(files.ctx, format, resource, resource->body, &out), 0);
	}
	assert_int_equal(files.end(files.ctx, format, XDS_CDS, count, slice_of(source), &out), 0);
	assert_string_equal(buf_cstr(&out), want);
	buf_fini(&out);
	encoder_free(encoder);
	resource_unref(resource);
}

#define ZEROS	"a00000000000000000000000000000000"
#define URL	"type.googleapis.com/envoy.config.cluster.v3.Cluster"
#define WRAPPER "type.googleapis.com/envoy.service.discovery.v3.Resource"

static void test_yaml(void **state)
{
	check(*state, FILE_FORMAT_YAML, 0, -1, "",
		"version_info: \"" ZEROS "\"\nresources: []\ntype_url: " URL "\n");
	/* S.11: what looks like a number is quoted. */
	check(*state, FILE_FORMAT_YAML, 2, -1, "1e5",
		"version_info: \"" ZEROS "\"\nresources:\n"
		"- \"@type\": " URL "\n  name: c\n  alt_stat_name: \"1e\"\n"
		"- \"@type\": " URL "\n  name: c\n  alt_stat_name: \"1e\"\n"
		"type_url: " URL "\ncontrol_plane:\n  identifier: \"1e5\"\n");
	check(*state, FILE_FORMAT_YAML, 1, 1500, "",
		"version_info: \"" ZEROS "\"\nresources:\n"
		"- \"@type\": " WRAPPER "\n  resource:\n    \"@type\": " URL
		"\n    name: c\n    alt_stat_name: \"1e\"\n  name: c\n  aliases:\n  - other\n"
		"  ttl: \"1.500s\"\n"
		"type_url: " URL "\n");
}

static void test_json(void **state)
{
	check(*state, FILE_FORMAT_JSON, 0, -1, "",
		"{\n  \"version_info\": \"" ZEROS "\",\n  \"resources\": [],\n"
		"  \"type_url\": \"" URL "\"\n}\n");
	check(*state, FILE_FORMAT_JSON, 2, -1, "say \"hi\"",
		"{\n  \"version_info\": \"" ZEROS "\",\n  \"resources\": [\n"
		"    {\n      \"@type\": \"" URL "\",\n      \"name\": \"c\",\n"
		"      \"alt_stat_name\": \"1e\"\n    },\n"
		"    {\n      \"@type\": \"" URL "\",\n      \"name\": \"c\",\n"
		"      \"alt_stat_name\": \"1e\"\n    }\n"
		"  ],\n  \"type_url\": \"" URL "\",\n  \"control_plane\": {\n"
		"    \"identifier\": \"say \\\"hi\\\"\"\n  }\n}\n");
}

static void test_text(void **state)
{
	check(*state, FILE_FORMAT_PB_TEXT, 1, -1, "a\"\n\xc3\xa9",
		"version_info: \"" ZEROS "\"\nresources {\n  [" URL "] {\n    name: \"c\"\n"
		"    alt_stat_name: \"1e\"\n  }\n}\ntype_url: \"" URL "\"\n"
		"control_plane {\n  identifier: \"a\\042\\012\\303\\251\"\n}\n");
}

/* Binary: put together without decoding, so read it back as a DiscoveryResponse. */
static void test_binary(void **state)
{
	struct schema *schema = *state;
	const struct schema_message *type =
		schema_find_message(schema, SLICE("envoy.service.discovery.v3.DiscoveryResponse"));
	const struct wire_read_options options = {.schema = schema, .expand_any = true};
	struct resource *resources[] = {make_cluster(-1), make_cluster(90061001)};
	struct publish_encoder files;
	struct wire_read_error problem;
	struct arena *arena = arena_new(0);
	struct encoder *encoder;
	struct message *response;
	const struct message_field *list;
	const struct message *wrapper;
	struct version version = version_of(XDS_CDS, resources, 2);
	struct buf out = BUF_INIT;

	assert_int_equal(encoder_new(schema, &encoder), 0);
	files = encoder_for_files(encoder);
	files.begin(files.ctx, FILE_FORMAT_PB, XDS_CDS, &version, 2, &out);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(files.item(files.ctx, FILE_FORMAT_PB, resources[i],
					 resources[i]->body, &out),
			0);
	files.end(files.ctx, FILE_FORMAT_PB, XDS_CDS, 2, SLICE("c0ffee"), &out);
	assert_int_equal(wire_read(&options, type, buf_slice(&out), arena, &response, &problem), 0);
	assert_true(slice_is(message_get_bytes(response, 1), version.text));
	assert_true(slice_is(message_get_bytes(response, 4), URL));
	assert_true(slice_is(message_get_bytes(message_get_message(response, 6), 1), "c0ffee"));
	list = message_find(response, 2);
	assert_int_equal(list->count, 2);
	assert_true(slice_is(message_get_bytes(list->items[0].message->any_content, 28), "1e"));
	wrapper = list->items[1].message->any_content;
	assert_string_equal(wrapper->type->full_name, "envoy.service.discovery.v3.Resource");
	assert_true(slice_is(message_get_bytes(wrapper, 3), "c"));
	assert_int_equal(message_find(message_get_message(wrapper, 6), 1)->one.int64, 90061);
	assert_int_equal(message_find(message_get_message(wrapper, 6), 2)->one.int32, 1000000);
	for (size_t i = 0; i < 2; i++)
		resource_unref(resources[i]);
	encoder_free(encoder);
	arena_free(arena);
	buf_fini(&out);
}

static void test_one_line_for_rest(void **state)
{
	struct resource *resources[] = {make_cluster(-1), make_cluster(-1)};
	struct version version = version_of(XDS_CDS, resources, 1);
	struct encoder *encoder;
	struct buf out = BUF_INIT;
	json_t *json;

	assert_int_equal(encoder_new(*state, &encoder), 0);
	assert_int_equal(encoder_json(encoder, ENCODER_LINE, XDS_CDS, &version, resources, 2,
				 SLICE("x"), &out),
		0);
	assert_null(strchr(buf_cstr(&out), '\n'));
	json = json_loads(buf_cstr(&out), JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	assert_int_equal(json_array_size(json_object_get(json, "resources")), 2);
	assert_string_equal(json_string_value(json_object_get(json, "version_info")), version.text);
	assert_string_equal(json_string_value(json_object_get(
				    json_object_get(json, "control_plane"), "identifier")),
		"x");
	json_decref(json);
	buf_reset(&out);
	assert_int_equal(encoder_resource_json(encoder, resources[0], &out), 0);
	assert_non_null(strstr(buf_cstr(&out), "\"alt_stat_name\": \"1e\""));
	for (size_t i = 0; i < 2; i++)
		resource_unref(resources[i]);
	encoder_free(encoder);
	buf_fini(&out);
}

/* From a state folder of another schema, say: an error, and nothing that Envoy would misread. */
static void test_bad_bodies(void **state)
{
	struct resource_spec spec = {
		.type = XDS_CDS, .name = SLICE("c"), .body = SLICE("\x0a\x7f"), .ttl_ms = -1};
	struct resource *resource = resource_new(&spec);
	struct publish_encoder files;
	struct encoder *encoder;
	struct buf out = BUF_INIT;

	assert_int_equal(encoder_new(*state, &encoder), 0);
	files = encoder_for_files(encoder);
	assert_int_not_equal(
		files.item(files.ctx, FILE_FORMAT_YAML, resource, resource->body, &out), 0);
	assert_int_not_equal(
		files.item(files.ctx, FILE_FORMAT_JSON, resource, resource->body, &out), 0);
	assert_int_not_equal(
		files.item(files.ctx, FILE_FORMAT_PB_TEXT, resource, resource->body, &out), 0);
	resource_unref(resource);
	encoder_free(encoder);
	encoder_free(NULL);
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_yaml),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_binary),
		cmocka_unit_test(test_one_line_for_rest),
		cmocka_unit_test(test_bad_bodies),
	};

	return cmocka_run_group_tests_name("encoder", tests, set_up, tear_down);
}
