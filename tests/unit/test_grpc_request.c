/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_request.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/text.h"
#include "xdspub/discovery_request.pb-c.h"

static const struct limits limits = LIMITS_DEFAULT;

static uint8_t *bytes; /* of the last request */

static struct grpc_request read_packed(const ProtobufCMessage *message, bool is_delta)
{
	size_t length = protobuf_c_message_get_packed_size(message);
	struct grpc_request request;
	char problem[200];

	free(bytes);
	bytes = malloc(length + 1);
	protobuf_c_message_pack(message, bytes);
	assert_int_equal(grpc_request_read((struct slice){(char *)bytes, length}, is_delta, &limits,
				 &request, problem, sizeof(problem)),
		0);
	return request;
}

/* protobuf-c writes to nothing that it packs. */
#define TEXT(literal)		  ((char *)(uintptr_t)(literal))
#define ASSERT_SLICE(slice, text) assert_true(slice_is((slice), (text)))

static ProtobufCBinaryData binary(const char *text)
{
	return (ProtobufCBinaryData){strlen(text), (uint8_t *)(uintptr_t)text};
}

static void test_sotw(void **state)
{
	char *names[] = {TEXT("one"), TEXT(""), TEXT("*"), TEXT("zw\xc3\xb6lf")};
	Xds__Status error = XDS__STATUS__INIT;
	Xds__DiscoveryRequest message = XDS__DISCOVERY_REQUEST__INIT;
	struct grpc_request request;

	(void)state;
	error.has_code = error.has_message = true;
	error.code = -13;
	error.message = binary("bad\nthing");
	message.version_info = TEXT("a0");
	message.has_node = true;
	message.node = binary("\x0a\4node");
	message.resource_names = names;
	message.n_resource_names = 4;
	message.type_url = TEXT("type");
	message.response_nonce = TEXT("7");
	message.error_detail = &error;
	request = read_packed(&message.base, false);
	assert_true(request.has_node);
	ASSERT_SLICE(request.node, "\x0a\4node");
	ASSERT_SLICE(request.xds.version_info, "a0");
	ASSERT_SLICE(request.xds.type_url, "type");
	ASSERT_SLICE(request.xds.nonce, "7");
	assert_int_equal(request.xds.names_count, 4);
	for (size_t i = 0; i < 4; i++)
		ASSERT_SLICE(request.xds.names[i], names[i]);
	assert_true(request.xds.has_error);
	assert_int_equal(request.xds.error_code, -13);
	ASSERT_SLICE(request.xds.error_message, "bad\nthing");
	assert_int_equal(request.xds.unsubscribe_count, 0);
	assert_int_equal(request.xds.versions_count, 0);
	grpc_request_fini(&request);
}

static void test_delta(void **state)
{
	char *subscribe[] = {TEXT("a"), TEXT("b")}, *unsubscribe[] = {TEXT("c")};
	Xds__DeltaDiscoveryRequest__InitialResourceVersion
		one = XDS__DELTA_DISCOVERY_REQUEST__INITIAL_RESOURCE_VERSION__INIT,
		two = XDS__DELTA_DISCOVERY_REQUEST__INITIAL_RESOURCE_VERSION__INIT,
		*versions[] = {&one, &two};
	Xds__DeltaDiscoveryRequest message = XDS__DELTA_DISCOVERY_REQUEST__INIT;
	struct grpc_request request;

	(void)state;
	one.key = TEXT("k");
	one.value = TEXT("v");
	message.has_node = true;
	message.node = binary("n");
	message.type_url = TEXT("t");
	message.resource_names_subscribe = subscribe;
	message.n_resource_names_subscribe = 2;
	message.resource_names_unsubscribe = unsubscribe;
	message.n_resource_names_unsubscribe = 1;
	message.initial_resource_versions = versions;
	message.n_initial_resource_versions = 2;
	message.response_nonce = TEXT("9");
	request = read_packed(&message.base, true);
	assert_true(request.has_node);
	ASSERT_SLICE(request.node, "n");
	ASSERT_SLICE(request.xds.type_url, "t");
	ASSERT_SLICE(request.xds.nonce, "9");
	assert_int_equal(request.xds.names_count, 2);
	ASSERT_SLICE(request.xds.names[1], "b");
	assert_int_equal(request.xds.unsubscribe_count, 1);
	ASSERT_SLICE(request.xds.unsubscribe[0], "c");
	assert_int_equal(request.xds.versions_count, 2);
	ASSERT_SLICE(request.xds.versions[0].name, "k");
	ASSERT_SLICE(request.xds.versions[0].version, "v");
	ASSERT_SLICE(request.xds.versions[1].name, "");
	ASSERT_SLICE(request.xds.versions[1].version, "");
	assert_false(request.xds.has_error);
	grpc_request_fini(&request);
}

/* Absent and empty differ for the node and the error, for nothing else. */
static void test_absent(void **state)
{
	struct grpc_request request;
	char problem[200];

	(void)state;
	for (int is_delta = 0; is_delta < 2; is_delta++) {
		struct slice empty = is_delta ? SLICE("\x0a\0\x3a\0") : SLICE("\x12\0\x32\0");

		assert_int_equal(grpc_request_read((struct slice){NULL, 0}, is_delta, &limits,
					 &request, problem, sizeof(problem)),
			0);
		assert_false(request.has_node);
		assert_false(request.xds.has_error);
		ASSERT_SLICE(request.xds.type_url, "");
		ASSERT_SLICE(request.xds.nonce, "");
		ASSERT_SLICE(request.xds.version_info, "");
		assert_int_equal(request.xds.names_count, 0);
		grpc_request_fini(&request);
		assert_int_equal(grpc_request_read(empty, is_delta, &limits, &request, problem,
					 sizeof(problem)),
			0);
		assert_true(request.has_node);
		assert_int_equal(request.node.length, 0);
		assert_true(request.xds.has_error);
		assert_int_equal(request.xds.error_code, 0);
		ASSERT_SLICE(request.xds.error_message, "");
		grpc_request_fini(&request);
	}
}

/* What comes again: the last one of a text, all of an error; groups and unknown fields count for
 * nothing. */
static void test_again(void **state)
{
	struct grpc_request request;
	char problem[200];

	(void)state;
	assert_int_equal(
		grpc_request_read(SLICE("\x0a\1v\x32\2\x08\7\x9b\6\x1a\1x\x9c\6\x0a\1w\x32\3\x12\1m"
					"\x3a\3\x0a\1l"),
			false, &limits, &request, problem, sizeof(problem)),
		0);
	ASSERT_SLICE(request.xds.version_info, "w");
	assert_int_equal(request.xds.error_code, 7);
	ASSERT_SLICE(request.xds.error_message, "m");
	assert_int_equal(request.xds.names_count, 0);
	grpc_request_fini(&request);
	assert_int_equal(grpc_request_read(SLICE("\x2a\6\x0a\1k\x12\1v\x2a\3\x12\1w"), true,
				 &limits, &request, problem, sizeof(problem)),
		0);
	assert_int_equal(request.xds.versions_count, 2);
	ASSERT_SLICE(request.xds.versions[1].name, "");
	ASSERT_SLICE(request.xds.versions[1].version, "w");
	grpc_request_fini(&request);
}

static void check_error_text(const char *text, size_t length, const char *want)
{
	Xds__Status error = XDS__STATUS__INIT;
	Xds__DiscoveryRequest message = XDS__DISCOVERY_REQUEST__INIT;
	struct grpc_request request;

	error.has_message = true;
	error.message = (ProtobufCBinaryData){length, (uint8_t *)(uintptr_t)text};
	message.error_detail = &error;
	request = read_packed(&message.base, false);
	ASSERT_SLICE(request.xds.error_message, want);
	assert_true(text_is_utf8(request.xds.error_message));
	grpc_request_fini(&request);
}

/* Envoy cuts the text of a NACK at 4,096 bytes; a stream must not end for it (S.85). */
static void test_cut_error_text(void **state)
{
	(void)state;
	check_error_text("\xe2\x82\xac", 3, "\xe2\x82\xac");
	check_error_text("\xe2\x82...(truncated)", 16, "??...(truncated)");
	check_error_text("\xe2\x82\xac\xe2\x82", 5, "\xe2\x82\xac??");
	check_error_text("a\0b", 3, "a?b");
	check_error_text("\xf0\x9f\x98\x80\x80", 5, "\xf0\x9f\x98\x80?");
	check_error_text("\xed\xa0\x80x", 4, "???x");
}

static void test_refused(void **state)
{
	struct grpc_request request;
	struct limits few = LIMITS_DEFAULT;
	char problem[200];

	(void)state;
	few.request_names = 2;
	assert_int_equal(grpc_request_read(SLICE("\x1a\0\x1a\0"), true, &few, &request, problem,
				 sizeof(problem)),
		0);
	grpc_request_fini(&request);
	assert_int_equal(grpc_request_read(SLICE("\x1a\0\x1a\0\x1a\0"), true, &few, &request,
				 problem, sizeof(problem)),
		-E2BIG);
	assert_string_equal(problem, "DeltaDiscoveryRequest.resource_names_subscribe: more than 2");
	assert_int_equal(
		grpc_request_read(SLICE("x"), false, &few, &request, problem, sizeof(problem)),
		-EINVAL);
	assert_string_equal(problem, "DiscoveryRequest: not a protobuf message");
}

static int tear_down(void **state)
{
	(void)state;
	free(bytes);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sotw),
		cmocka_unit_test(test_delta),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_cut_error_text),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("grpc_request", tests, NULL, tear_down);
}
