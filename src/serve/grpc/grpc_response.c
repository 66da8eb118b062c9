/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_response.h"

#include <assert.h>

#include "snapshot/types.h"

#define WRAPPER_URL "type.googleapis.com/envoy.service.discovery.v3.Resource"

/* Field numbers below 16: their tag is one byte, here for length-delimited values. */
#define TAG(number)	   ((uint8_t)((number) << 3 | 2))
#define TAG_VARINT(number) ((uint8_t)((number) << 3))

enum {
	RESPONSE_VERSION = 1,
	RESPONSE_RESOURCES = 2,
	RESPONSE_TYPE_URL = 4,
	RESPONSE_NONCE = 5,
	RESPONSE_REMOVED = 6, /* delta */
	SOTW_CONTROL_PLANE = 6,
	DELTA_CONTROL_PLANE = 7,
	CONTROL_PLANE_IDENTIFIER = 1,
	ANY_TYPE_URL = 1,
	ANY_VALUE = 2,
	RESOURCE_VERSION = 1,
	RESOURCE_BODY = 2,
	RESOURCE_NAME = 3,
	RESOURCE_ALIASES = 4,
	RESOURCE_TTL = 6,
	DURATION_SECONDS = 1,
	DURATION_NANOS = 2,
};

/* Writes, or only counts while `at` is NULL. One function says what a message holds, so that its
 * size and its bytes cannot differ. */
struct out {
	uint8_t *at;
	size_t size;
};

static void put_byte(struct out *out, uint8_t byte)
{
	if (out->at)
		*out->at++ = byte;
	out->size++;
}

static void put_varint(struct out *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(out, (uint8_t)(value | 0x80));
	put_byte(out, (uint8_t)value);
}

static void put_head(struct out *out, unsigned number, size_t length)
{
	put_byte(out, TAG(number));
	put_varint(out, length);
}

static void put_bytes(struct out *out, unsigned number, struct slice bytes)
{
	put_head(out, number, bytes.length);
	if (out->at && bytes.length) {
		memcpy(out->at, bytes.data, bytes.length);
		out->at += bytes.length;
	}
	out->size += bytes.length;
}

static void put_number(struct out *out, unsigned number, int64_t value)
{
	if (!value)
		return;
	put_byte(out, TAG_VARINT(number));
	put_varint(out, (uint64_t)value);
}

static void put_duration(struct out *out, int64_t ms)
{
	put_number(out, DURATION_SECONDS, ms / 1000);
	put_number(out, DURATION_NANOS, ms % 1000 * 1000000);
}

/* The content of an Any; proto3 leaves out what is empty. */
static void put_any(struct out *out, struct slice type_url, struct slice value)
{
	put_bytes(out, ANY_TYPE_URL, type_url);
	if (value.length)
		put_bytes(out, ANY_VALUE, value);
}

/* The content of a Resource. A state-of-the-world one says no version, as in files (S.21). */
static void put_wrapper(struct out *out, const struct xds_item *item, struct slice type_url,
	enum source_transport transport, bool is_delta)
{
	const struct resource *resource = item->resource;
	struct out inner = {0};

	if (is_delta) {
		struct version version;

		if (out->at)
			version = xds_item_version(item);
		put_bytes(out, RESOURCE_VERSION, (struct slice){version.text, VERSION_TEXT_LENGTH});
	}
	if (resource && !item->is_heartbeat) {
		struct slice body = resource_body(resource, transport);

		put_any(&inner, type_url, body);
		put_head(out, RESOURCE_BODY, inner.size);
		put_any(out, type_url, body);
	}
	put_bytes(out, RESOURCE_NAME, item->name);
	for (size_t i = 0; i < item->aliases_count; i++)
		put_bytes(out, RESOURCE_ALIASES, item->aliases[i]);
	if (resource && resource->ttl_ms >= 0) {
		inner = (struct out){0};
		put_duration(&inner, resource->ttl_ms);
		put_head(out, RESOURCE_TTL, inner.size);
		put_duration(out, resource->ttl_ms);
	}
}

static void put_item(struct out *out, const struct xds_item *item, struct slice type_url,
	enum source_transport transport, bool is_delta)
{
	struct out wrapper = {0}, any = {0};
	struct slice body;

	if (is_delta) {
		put_wrapper(&wrapper, item, type_url, transport, true);
		put_head(out, RESPONSE_RESOURCES, wrapper.size);
		put_wrapper(out, item, type_url, transport, true);
	} else if (item->is_wrapped) {
		put_wrapper(&wrapper, item, type_url, transport, false);
		put_bytes(&any, ANY_TYPE_URL, SLICE(WRAPPER_URL));
		put_head(&any, ANY_VALUE, wrapper.size);
		put_head(out, RESPONSE_RESOURCES, any.size + wrapper.size);
		put_bytes(out, ANY_TYPE_URL, SLICE(WRAPPER_URL));
		put_head(out, ANY_VALUE, wrapper.size);
		put_wrapper(out, item, type_url, transport, false);
	} else {
		body = resource_body(item->resource, transport);
		put_any(&any, type_url, body);
		put_head(out, RESPONSE_RESOURCES, any.size);
		put_any(out, type_url, body);
	}
}

static void put_body(
	struct out *out, const struct xds_answer *answer, enum source_transport transport)
{
	struct slice type_url = slice_of(xds_type_row(answer->type)->type_url);

	put_bytes(out, RESPONSE_VERSION, slice_of(answer->version.text));
	for (size_t i = 0; i < answer->items_count; i++)
		put_item(out, &answer->items[i], type_url, transport, answer->is_delta);
	put_bytes(out, RESPONSE_TYPE_URL, type_url);
	for (size_t i = 0; i < answer->removed_count; i++)
		put_bytes(out, RESPONSE_REMOVED, answer->removed[i]);
}

static void free_encoded(void *encoded)
{
	grpc_body_unref(encoded);
}

enum source_transport grpc_response_transport(bool is_aggregated, bool is_delta)
{
	if (is_aggregated)
		return SOURCE_ADS;
	return is_delta ? SOURCE_DELTA_GRPC : SOURCE_GRPC;
}

struct grpc_body *grpc_response_body(struct xds_answer *answer, bool is_aggregated)
{
	enum source_transport transport = grpc_response_transport(is_aggregated, answer->is_delta);
	size_t slot = !is_aggregated && answer->has_open;
	struct grpc_body *body = answer->encoded[slot];
	struct out out = {0};

	if (body)
		return body;
	put_body(&out, answer, transport);
	if (out.size > GRPC_RESPONSE_BODY_MOST)
		return NULL;
	body = grpc_body_new(out.size);
	out.at = body->bytes;
	put_body(&out, answer, transport);
	assert(out.at == body->bytes + body->length);
	answer->encoded[slot] = body;
	answer->encoded_free = free_encoded;
	return body;
}

static void put_tail(struct out *out, const struct xds_response *response)
{
	const struct rcstr *source = response->source;
	struct slice identifier =
		source ? (struct slice){source->text, source->length} : (struct slice){"", 0};
	struct out inner = {0};

	put_bytes(out, RESPONSE_NONCE, slice_of(response->nonce));
	if (!identifier.length)
		return;
	put_bytes(&inner, CONTROL_PLANE_IDENTIFIER, identifier);
	put_head(out, response->answer->is_delta ? DELTA_CONTROL_PLANE : SOTW_CONTROL_PLANE,
		inner.size);
	put_bytes(out, CONTROL_PLANE_IDENTIFIER, identifier);
}

void grpc_response_tail(const struct xds_response *response, struct buf *out)
{
	struct out tail = {0};

	put_tail(&tail, response);
	tail.at = (uint8_t *)buf_reserve(out, tail.size);
	if (!tail.at)
		return;
	put_tail(&tail, response);
	out->length += (size_t)(tail.at - (uint8_t *)(out->data + out->length));
}
