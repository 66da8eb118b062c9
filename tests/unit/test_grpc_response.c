/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bodies and tails, read back with protobuf-c. tests/oracle/responses.py reads them with Envoy's
 * own types. */
#include "serve/grpc/grpc_response.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include "xdspub/discovery_response.pb-c.h"

#define NAME_URL "type.googleapis.com/envoy.config.cluster.v3.Cluster"
#define WRAPPER	 "type.googleapis.com/envoy.service.discovery.v3.Resource"

static struct resource *make(const char *name, const char *body, int64_t ttl_ms)
{
	struct resource_spec spec = {
		.type = XDS_CDS, .name = slice_of(name), .body = slice_of(body), .ttl_ms = ttl_ms};

	return resource_new(&spec);
}

static void forget(struct xds_answer *answer)
{
	for (size_t i = 0; i < answer->items_count; i++)
		resource_unref(answer->items[i].resource);
	if (answer->encoded_free)
		answer->encoded_free(answer->encoded[0]);
}

/* Body and tail as they go out. */
static struct buf whole(struct xds_answer *answer, const char *source)
{
	struct xds_response response = {.answer = answer, .nonce = "17"};
	struct grpc_body *body = grpc_response_body(answer, true);
	struct buf out = BUF_INIT;

	assert_non_null(body);
	assert_ptr_equal(grpc_response_body(answer, true), body);
	buf_append(&out, body->bytes, body->length);
	response.source = source ? rcstr_new(source, strlen(source)) : NULL;
	grpc_response_tail(&response, &out);
	rcstr_unref(response.source);
	return out;
}

static void test_sotw(void **state)
{
	struct xds_item items[3] = {0};
	struct xds_answer answer = {.type = XDS_CDS, .items = items, .items_count = 3};
	Xds__DiscoveryResponse *message;
	Xds__Resource *wrapper;
	struct slice alias = SLICE("other");
	struct buf bytes;

	(void)state;
	strcpy(answer.version.text, "a0123456789abcdef0123456789abcdef");
	items[0] = (struct xds_item){.resource = make("c", "\x0a\1c", -1), .name = SLICE("c")};
	items[1] = (struct xds_item){.resource = make("d", "", 1500), .name = SLICE("d")};
	items[2] = (struct xds_item){.resource = make("e", "\x0a\1e", 1500),
		.name = SLICE("e"),
		.aliases = &alias,
		.aliases_count = 1,
		.is_wrapped = true};
	bytes = whole(&answer, "git 1234");
	message = xds__discovery_response__unpack(NULL, bytes.length, (uint8_t *)bytes.data);
	assert_non_null(message);
	assert_string_equal(message->version_info, answer.version.text);
	assert_string_equal(message->type_url, NAME_URL); /* S.78 */
	assert_string_equal(message->nonce, "17");
	assert_string_equal(message->control_plane->identifier, "git 1234");
	assert_int_equal(message->base.n_unknown_fields, 0);
	assert_int_equal(message->n_resources, 3);
	assert_string_equal(message->resources[0]->type_url, NAME_URL);
	assert_memory_equal(message->resources[0]->value.data, "\x0a\1c", 3);
	assert_int_equal(message->resources[0]->value.len, 3);
	assert_string_equal(message->resources[1]->type_url, NAME_URL);
	assert_false(message->resources[1]->has_value);
	/* S.82: only what has to be wrapped is. */
	assert_string_equal(message->resources[2]->type_url, WRAPPER);
	wrapper = xds__resource__unpack(
		NULL, message->resources[2]->value.len, message->resources[2]->value.data);
	assert_non_null(wrapper);
	assert_string_equal(wrapper->name, "e");
	assert_null(wrapper->version);
	assert_int_equal(wrapper->n_aliases, 1);
	assert_string_equal(wrapper->aliases[0], "other");
	assert_int_equal(wrapper->ttl->seconds, 1);
	assert_int_equal(wrapper->ttl->nanos, 500000000);
	assert_string_equal(wrapper->resource->type_url, NAME_URL);
	assert_memory_equal(wrapper->resource->value.data, "\x0a\1e", 3);
	assert_int_equal(wrapper->base.n_unknown_fields, 0);
	xds__resource__free_unpacked(wrapper, NULL);
	xds__discovery_response__free_unpacked(message, NULL);
	buf_fini(&bytes);
	forget(&answer);
}

/* S.98, S.99, S.103, S.105 */
static void test_delta(void **state)
{
	const struct slice aliases[] = {SLICE("rc/a"), SLICE("rc/b")};
	struct slice removed[] = {SLICE("x"), SLICE("y")};
	struct xds_item items[4] = {0};
	struct xds_answer answer = {.type = XDS_CDS,
		.is_delta = true,
		.items = items,
		.items_count = 4,
		.removed = removed,
		.removed_count = 2};
	Xds__DeltaDiscoveryResponse *message;
	struct buf bytes;

	(void)state;
	strcpy(answer.version.text, "a1");
	items[0] = (struct xds_item){.resource = make("c", "\x0a\1c", -1), .name = SLICE("c")};
	items[1] = (struct xds_item){.resource = make("d", "\x0a\1d", 0), .name = SLICE("d")};
	items[2] = (struct xds_item){
		.resource = make("e", "\x0a\1e", 90000), .name = SLICE("e"), .is_heartbeat = true};
	items[3] = (struct xds_item){.name = SLICE("rc/a"), .aliases = aliases, .aliases_count = 2};
	bytes = whole(&answer, NULL);
	message = xds__delta_discovery_response__unpack(NULL, bytes.length, (uint8_t *)bytes.data);
	assert_non_null(message);
	assert_string_equal(message->system_version_info, "a1");
	assert_string_equal(message->type_url, NAME_URL);
	assert_string_equal(message->nonce, "17");
	assert_null(message->control_plane);
	assert_int_equal(message->n_removed_resources, 2);
	assert_string_equal(message->removed_resources[1], "y");
	assert_int_equal(message->base.n_unknown_fields, 0);
	assert_int_equal(message->n_resources, 4);
	for (size_t i = 0; i < 4; i++) {
		Xds__Resource *resource = message->resources[i];
		struct version version = xds_item_version(&items[i]);

		assert_true(slice_is(items[i].name, resource->name));
		assert_string_equal(resource->version, version.text);
		assert_int_equal(resource->base.n_unknown_fields, 0);
		if (i > 1) {
			assert_null(resource->resource);
			continue;
		}
		assert_string_equal(resource->resource->type_url, NAME_URL);
		assert_int_equal(resource->resource->value.len, 3);
		assert_memory_equal(
			resource->resource->value.data, items[i].resource->body.data, 3);
	}
	assert_null(message->resources[0]->ttl);
	assert_non_null(message->resources[1]->ttl);
	assert_false(message->resources[1]->ttl->has_seconds);
	assert_int_equal(message->resources[2]->ttl->seconds, 90);
	assert_false(message->resources[2]->ttl->has_nanos);
	assert_null(message->resources[3]->ttl);
	assert_int_equal(message->resources[3]->n_aliases, 2);
	assert_string_equal(message->resources[3]->aliases[1], "rc/b");
	xds__delta_discovery_response__free_unpacked(message, NULL);
	buf_fini(&bytes);
	forget(&answer);
}

/* S.77, S.87: an empty answer still says version and type. */
static void test_empty(void **state)
{
	struct xds_answer answer = {.type = XDS_LDS};
	struct grpc_body *body;

	(void)state;
	strcpy(answer.version.text, "a");
	body = grpc_response_body(&answer, true);
	assert_int_equal(body->length, 3 + 2 + strlen(xds_type_row(XDS_LDS)->type_url));
	assert_memory_equal(body->bytes, "\x0a\1a\x22", 4);
	forget(&answer);
}

/* Lengths around the steps of a varint, and a body that somebody else keeps. */
static void test_lengths(void **state)
{
	char *text = calloc(1, 300000);

	(void)state;
	memset(text, 'x', 299999);
	for (size_t length = 0; length < 299999; length = length * 5 / 4 + 1) {
		for (int kind = 0; kind < 3; kind++) {
			struct resource_spec spec = {.type = XDS_CDS,
				.name = SLICE("c"),
				.body = {text, length},
				.ttl_ms = 1000};
			struct xds_item item = {.resource = resource_new(&spec),
				.name = SLICE("c"),
				.is_wrapped = kind == 1};
			struct xds_answer answer = {.type = XDS_CDS,
				.is_delta = kind == 2,
				.items = &item,
				.items_count = 1};
			struct grpc_body *body = grpc_body_ref(grpc_response_body(&answer, true));
			ProtobufCMessage *message;

			forget(&answer);
			message = protobuf_c_message_unpack(
				kind == 2 ? &xds__delta_discovery_response__descriptor
					  : &xds__discovery_response__descriptor,
				NULL, body->length, body->bytes);
			assert_non_null(message);
			/* The sizes are the least there are. */
			assert_int_equal(protobuf_c_message_get_packed_size(message), body->length);
			protobuf_c_message_free_unpacked(message, NULL);
			grpc_body_unref(body);
		}
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sotw),
		cmocka_unit_test(test_delta),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests_name("grpc_response", tests, NULL, NULL);
}
