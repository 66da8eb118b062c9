/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/grpc_schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "daemon/file_symbols.h"
#include "message/wire_write.h"

static struct schema *schema;
static struct grpc_schema grpc;

static int set_up(void **state)
{
	const char *path = getenv("XDSPUB_SCHEMA");
	struct diag_list *diags = diag_list_new(0);

	(void)state;
	assert_int_equal(schema_load(&path, 1, diags, &schema), 0);
	diag_list_free(diags);
	grpc = grpc_schema_of(schema);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	schema_free(schema);
	return 0;
}

/* Nodes */

static void put_nested(struct buf *out, uint32_t number, struct buf *inner)
{
	wire_put_bytes(out, number, buf_slice(inner));
	buf_reset(inner);
}

/* An entry of a Struct: the value is a serialized google.protobuf.Value. */
static void put_entry(struct buf *metadata, const char *key, struct slice value)
{
	struct buf entry = BUF_INIT;

	wire_put_bytes(&entry, 1, slice_of(key));
	wire_put_bytes(&entry, 2, value);
	put_nested(metadata, 1, &entry);
	buf_fini(&entry);
}

static void check_node(struct slice bytes, const char *want)
{
	char problem[200] = "";
	json_t *node = grpc.node(grpc.ctx, bytes, problem, sizeof(problem));
	char *text = node ? json_dumps(node, JSON_COMPACT) : NULL;

	assert_string_equal(problem, "");
	assert_string_equal(text, want);
	free(text);
	json_decref(node);
}

static void check_refused(struct slice bytes, const char *want)
{
	char problem[200] = "";

	assert_null(grpc.node(grpc.ctx, bytes, problem, sizeof(problem)));
	assert_string_equal(problem, want);
}

static void test_node(void **state)
{
	struct buf node = BUF_INIT, inner = BUF_INIT;

	(void)state;
	wire_put_bytes(&node, 1, SLICE("edge-7"));
	wire_put_bytes(&node, 2, SLICE("edge"));
	put_entry(&inner, "env", SLICE("\x1a\4prod"));
	put_entry(&inner, "canary", SLICE("\x20\0"));
	put_entry(&inner, "weight", SLICE("\x11\0\0\0\0\0\0\x04\x40"));
	put_entry(&inner, "none", SLICE("\x08\0"));
	put_entry(&inner, "list", SLICE("\x32\5\x0a\3\x1a\1x"));
	put_nested(&node, 3, &inner);
	wire_put_bytes(&inner, 1, SLICE("eu"));
	put_nested(&node, 4, &inner);
	wire_put_bytes(&node, 6, SLICE("envoy"));
	wire_put_bytes(&node, 10, SLICE("envoy.lb.does_not_support_overprovisioning"));
	wire_put_bytes(&node, 999, SLICE("a field of a newer Envoy"));
	check_node(buf_slice(&node),
		"{\"id\":\"edge-7\",\"cluster\":\"edge\",\"metadata\":{\"canary\":false,"
		"\"env\":\"prod\",\"list\":[\"x\"],\"none\":null,\"weight\":2.5},"
		"\"locality\":{\"region\":\"eu\"},\"user_agent_name\":\"envoy\","
		"\"client_features\":[\"envoy.lb.does_not_support_overprovisioning\"]}");
	check_node(SLICE(""), "{}");
	buf_fini(&inner);
	buf_fini(&node);
}

static void test_node_refused(void **state)
{
	struct buf node = BUF_INIT;

	(void)state;
	check_refused(SLICE("\x0a\2x"), "node: a length goes beyond the end of the input");
	check_refused(SLICE("\x0a\1\xff"),
		"node: a string is not valid UTF-8, in envoy.config.core.v3.Node.id");
	check_refused(SLICE("\x0a\2x\0"),
		"node: a string holds a NUL byte, in envoy.config.core.v3.Node.id");
	/* Not a number: JSON has no word for it in a Struct. */
	check_refused(SLICE("\x1a\x10\x0a\x0e\x0a\1x\x12\x09\x11\0\0\0\0\0\0\xf8\x7f"),
		"node: a google.protobuf.Value holds NaN or an infinity");
	buf_fill(&node, 0x0a, (1u << 20) + 1);
	check_refused(buf_slice(&node), "node: longer than 1 MiB");
	buf_fini(&node);
}

/* 34 KB of nested lists in the metadata would overflow the stack of protobuf-c; 1 MiB of small
 * values side by side take memory, so far as there is a limit. */
static void test_hostile_node(void **state)
{
	struct buf value = BUF_INIT, outer = BUF_INIT, metadata = BUF_INIT;
	struct timespec began, ended;
	char problem[200];
	json_t *result;

	(void)state;
	buf_append(&value, "\x08\0", 2);
	while (value.length < 34000) {
		buf_reset(&outer);
		wire_put_bytes(&outer, 1, buf_slice(&value)); /* ListValue.values */
		buf_reset(&value);
		wire_put_bytes(&value, 6, buf_slice(&outer)); /* Value.list_value */
	}
	put_entry(&metadata, "deep", buf_slice(&value));
	buf_reset(&outer);
	wire_put_bytes(&outer, 3, buf_slice(&metadata));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
	check_refused(buf_slice(&outer),
		"node: nested deeper than 100 levels, in google.protobuf.ListValue.values");
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
	assert_true(
		(ended.tv_sec - began.tv_sec) * 1000 + (ended.tv_nsec - began.tv_nsec) / 1000000 <
		100);
	buf_reset(&value);
	for (size_t i = 0; i < 250000; i++)
		buf_append(&value, "\x0a\2\x08\0", 4);
	buf_reset(&outer);
	wire_put_bytes(&outer, 6, buf_slice(&value));
	buf_reset(&metadata);
	put_entry(&metadata, "wide", buf_slice(&outer));
	buf_reset(&outer);
	wire_put_bytes(&outer, 3, buf_slice(&metadata));
	result = grpc.node(grpc.ctx, buf_slice(&outer), problem, sizeof(problem));
	if (result)
		json_decref(result);
	else
		assert_string_equal(problem, "node: the message needs too much memory");
	buf_fini(&metadata);
	buf_fini(&outer);
	buf_fini(&value);
}

/* Reflection */

static void check_symbol(const char *symbol, const char *want)
{
	struct slice file;

	if (!grpc.file_by_symbol(grpc.ctx, slice_of(symbol), &file)) {
		assert_null(want);
		return;
	}
	assert_non_null(want);
	assert_true(slice_is(file_symbols_name(file), want));
}

static void test_symbols(void **state)
{
	static const char node[] = "envoy/config/core/v3/base.proto",
			  ads[] = "envoy/service/discovery/v3/ads.proto",
			  health[] = "grpc/health/v1/health.proto",
			  alpha[] = "grpc/reflection/v1alpha/reflection.proto";
	size_t count;
	const struct schema_message *const *messages = schema_messages(schema, &count);

	(void)state;
	check_symbol("envoy.config.core.v3.Node", node);
	check_symbol("envoy.config.core.v3.Node.user_agent_build_version", node);
	check_symbol("envoy.config.core.v3.Node.user_agent_version_type", node); /* a oneof */
	check_symbol("envoy.config.core.v3.RoutingPriority", node);
	check_symbol("envoy.config.core.v3.HIGH", node); /* a value is beside its enum */
	check_symbol("envoy.config.core.v3.RoutingPriority.HIGH", node);
	check_symbol("envoy.service.discovery.v3.AggregatedDiscoveryService", ads);
	check_symbol(
		"envoy.service.discovery.v3.AggregatedDiscoveryService.StreamAggregatedResources",
		ads);
	check_symbol("validate.rules", "validate/validate.proto");
	check_symbol("google.protobuf.Any", "google/protobuf/any.proto");
	check_symbol("grpc.health.v1.Health", health);
	check_symbol("grpc.health.v1.Health.Watch", health);
	check_symbol("grpc.health.v1.HealthCheckResponse.SERVING", health);
	check_symbol("grpc.reflection.v1.ServerReflection", "grpc/reflection/v1/reflection.proto");
	check_symbol("grpc.reflection.v1alpha.ServerReflection.ServerReflectionInfo", alpha);
	check_symbol("", NULL);
	check_symbol(".", NULL);
	check_symbol("envoy", NULL);
	check_symbol("envoy.config.core.v3", NULL);
	check_symbol("envoy.config.core.v3.", NULL);
	check_symbol("envoy.config.core.v3.Nod", NULL);
	check_symbol("envoy.config.core.v3.Node.", NULL);
	check_symbol("envoy.config.core.v3.Node..id", NULL);
	check_symbol("envoy.config.core.v3.Node.id.x", NULL);
	check_symbol(".envoy.config.core.v3.Node", NULL);
	for (size_t i = 0; i < count; i++)
		check_symbol(messages[i]->full_name, messages[i]->file_name);
}

static void test_paths(void **state)
{
	static const char *const paths[] = {"envoy/config/core/v3/base.proto",
		"grpc/health/v1/health.proto", "grpc/reflection/v1/reflection.proto",
		"grpc/reflection/v1alpha/reflection.proto"};
	struct slice file;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_true(grpc.file_by_path(grpc.ctx, slice_of(paths[i]), &file));
		assert_true(slice_is(file_symbols_name(file), paths[i]));
	}
	assert_false(grpc.file_by_path(grpc.ctx, SLICE("base.proto"), &file));
	assert_false(grpc.file_by_path(grpc.ctx, SLICE(""), &file));
	assert_false(grpc.file_by_path(grpc.ctx, (struct slice){0}, &file));
	assert_false(
		grpc.file_by_path(grpc.ctx, SLICE("envoy/config/core/v3/base.proto\0x"), &file));
}

static void test_extensions(void **state)
{
	struct slice file;
	uint32_t *numbers;
	size_t count, found = 0;

	(void)state;
	assert_true(
		grpc.extensions(grpc.ctx, SLICE("google.protobuf.FieldOptions"), &numbers, &count));
	for (size_t i = 0; i < count; i++) {
		assert_true(grpc.file_by_extension(
			grpc.ctx, SLICE("google.protobuf.FieldOptions"), numbers[i], &file));
		if (numbers[i] == 1071) {
			found++;
			assert_true(slice_is(file_symbols_name(file), "validate/validate.proto"));
		}
	}
	free(numbers);
	assert_int_equal(found, 1);
	assert_true(count > 3);
	assert_false(grpc.file_by_extension(
		grpc.ctx, SLICE("google.protobuf.FieldOptions"), 1072, &file));
	assert_false(grpc.file_by_extension(grpc.ctx, SLICE("no.such"), 1071, &file));
	assert_true(
		grpc.extensions(grpc.ctx, SLICE("envoy.config.core.v3.Node"), &numbers, &count));
	assert_int_equal(count, 0);
	free(numbers);
	assert_true(grpc.extensions(
		grpc.ctx, SLICE("grpc.health.v1.HealthCheckRequest"), &numbers, &count));
	assert_int_equal(count, 0);
	free(numbers);
	assert_false(grpc.extensions(grpc.ctx, SLICE("no.such"), &numbers, &count));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_node),
		cmocka_unit_test(test_node_refused),
		cmocka_unit_test(test_hostile_node),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_extensions),
	};

	return cmocka_run_group_tests_name("grpc_schema", tests, set_up, tear_down);
}
