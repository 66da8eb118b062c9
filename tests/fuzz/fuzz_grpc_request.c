/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A byte for the kind of message, then its bytes. What passes the check, protobuf-c takes: it is
 * never the one to refuse, and finds in a request what we find. Every text is UTF-8 without NUL and
 * within its limit.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "grpc/health/v1/health.pb-c.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include "serve/grpc/grpc_request.h"
#include "serve/grpc/grpc_wire.h"
#include "xdspub/client_status.pb-c.h"
#include "xdspub/discovery_request.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct slice text, size_t limit)
{
	assert(text.length <= limit && text_is_utf8(text));
	assert(!text.length || !memchr(text.data, 0, text.length));
}

static void check_texts(const struct slice *texts, size_t count, const struct limits *limits)
{
	assert(count <= limits->request_names);
	for (size_t i = 0; i < count; i++)
		check_text(texts[i], limits->resource_name_bytes);
}

static void check_problem(int error, const char *problem)
{
	assert(error == -EINVAL || error == -E2BIG);
	assert(problem[0] && !strchr(problem, '\n') && !strstr(problem, "cannot be unpacked"));
}

static void check_equal(struct slice text, const char *other)
{
	assert(slice_is(text, other ? other : ""));
}

static void compare_sotw(const struct grpc_request *request, const Xds__DiscoveryRequest *other)
{
	const struct xds_request *xds = &request->xds;

	check_equal(xds->version_info, other->version_info);
	check_equal(xds->type_url, other->type_url);
	check_equal(xds->nonce, other->response_nonce);
	assert(request->has_node == other->has_node && request->node.length == other->node.len);
	assert(xds->names_count == other->n_resource_names);
	for (size_t i = 0; i < xds->names_count; i++)
		check_equal(xds->names[i], other->resource_names[i]);
	assert(xds->has_error == (other->error_detail != NULL));
	if (xds->has_error)
		assert(xds->error_code == other->error_detail->code &&
			xds->error_message.length == other->error_detail->message.len);
}

static void compare_delta(
	const struct grpc_request *request, const Xds__DeltaDiscoveryRequest *other)
{
	const struct xds_request *xds = &request->xds;

	check_equal(xds->type_url, other->type_url);
	check_equal(xds->nonce, other->response_nonce);
	assert(request->has_node == other->has_node && request->node.length == other->node.len);
	assert(xds->names_count == other->n_resource_names_subscribe);
	for (size_t i = 0; i < xds->names_count; i++)
		check_equal(xds->names[i], other->resource_names_subscribe[i]);
	assert(xds->unsubscribe_count == other->n_resource_names_unsubscribe);
	for (size_t i = 0; i < xds->unsubscribe_count; i++)
		check_equal(xds->unsubscribe[i], other->resource_names_unsubscribe[i]);
	assert(xds->versions_count == other->n_initial_resource_versions);
	for (size_t i = 0; i < xds->versions_count; i++) {
		check_equal(xds->versions[i].name, other->initial_resource_versions[i]->key);
		check_equal(xds->versions[i].version, other->initial_resource_versions[i]->value);
	}
	assert(xds->has_error == (other->error_detail != NULL));
	if (xds->has_error)
		assert(xds->error_code == other->error_detail->code &&
			xds->error_message.length == other->error_detail->message.len);
}

static void compare(struct slice bytes, bool is_delta, const struct limits *limits,
	const struct grpc_request *request)
{
	struct arena *arena = arena_new(0);
	ProtobufCMessage *other;
	char problem[200];

	assert(!grpc_wire_unpack(is_delta ? &xds__delta_discovery_request__descriptor
					  : &xds__discovery_request__descriptor,
		bytes, limits, arena, &other, problem, sizeof(problem)));
	if (is_delta)
		compare_delta(request, (const Xds__DeltaDiscoveryRequest *)other);
	else
		compare_sotw(request, (const Xds__DiscoveryRequest *)other);
	arena_free(arena);
}

static void check_request(struct slice bytes, bool is_delta, const struct limits *limits)
{
	struct grpc_request request;
	char problem[200] = "";
	int error = grpc_request_read(bytes, is_delta, limits, &request, problem, sizeof(problem));

	if (error) {
		check_problem(error, problem);
		return;
	}
	check_text(request.xds.type_url, GRPC_WIRE_TEXT_BYTES);
	check_text(request.xds.nonce, GRPC_WIRE_TEXT_BYTES);
	check_text(request.xds.version_info, GRPC_WIRE_TEXT_BYTES);
	check_text(request.xds.error_message, bytes.length);
	check_texts(request.xds.names, request.xds.names_count, limits);
	check_texts(request.xds.unsubscribe, request.xds.unsubscribe_count, limits);
	for (size_t i = 0; i < request.xds.versions_count; i++) {
		check_text(request.xds.versions[i].name, limits->resource_name_bytes);
		check_text(request.xds.versions[i].version, limits->resource_name_bytes);
	}
	assert(request.has_node || !request.node.length);
	compare(bytes, is_delta, limits, &request);
	grpc_request_fini(&request);
}

static void check_fields(struct slice bytes)
{
	struct grpc_wire_field field;
	const char *end = bytes.data + bytes.length;

	while (grpc_wire_next(&bytes, &field) > 0) {
		assert(field.number > 0 && bytes.data + bytes.length == end);
		if (field.type == GRPC_WIRE_BYTES || field.type == GRPC_WIRE_GROUP)
			assert(field.bytes.data > field.start &&
				field.bytes.data + field.bytes.length == bytes.data);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const ProtobufCMessageDescriptor *const types[] = {
		&grpc__health__v1__health_check_request__descriptor,
		&grpc__reflection__v1__server_reflection_request__descriptor,
		&xds__client_status_request__descriptor};
	struct limits limits = LIMITS_DEFAULT;
	struct slice bytes;
	char problem[200] = "";
	ProtobufCMessage *message;
	struct arena *arena;
	unsigned kind;
	int error;

	if (size == 0)
		return 0;
	kind = data[0] % 5;
	bytes = (struct slice){(const char *)data + 1, size - 1};
	limits.request_names = 20;
	limits.resource_name_bytes = 50;
	check_fields(bytes);
	if (kind < 2) {
		check_request(bytes, kind, &limits);
		return 0;
	}
	arena = arena_new(0);
	error = grpc_wire_unpack(
		types[kind - 2], bytes, &limits, arena, &message, problem, sizeof(problem));
	if (error)
		check_problem(error, problem);
	arena_free(arena);
	return 0;
}
