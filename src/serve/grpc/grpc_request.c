/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_request.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "serve/grpc/grpc_wire.h"
#include "xdspub/discovery_request.pb-c.h"

/* Field numbers of proto/xdspub/discovery_request.proto. */
enum {
	SOTW_VERSION_INFO = 1,
	SOTW_NODE = 2,
	SOTW_NAMES = 3,
	SOTW_TYPE_URL = 4,
	SOTW_NONCE = 5,
	SOTW_ERROR = 6,
	DELTA_NODE = 1,
	DELTA_TYPE_URL = 2,
	DELTA_SUBSCRIBE = 3,
	DELTA_UNSUBSCRIBE = 4,
	DELTA_VERSIONS = 5,
	DELTA_NONCE = 6,
	DELTA_ERROR = 7,
	STATUS_CODE = 1,
	STATUS_MESSAGE = 2,
	ENTRY_KEY = 1,
	ENTRY_VALUE = 2,
};

struct reader {
	struct grpc_request *request;
	size_t names_capacity, unsubscribe_capacity, versions_capacity;
};

/* Envoy cuts the text at 4,096 bytes, within a character if need be; that must not cost it the
 * stream. */
static struct slice clean_text(struct slice text, char **ret_copy)
{
	char *bytes;

	if (text_is_utf8(text) && !(text.length && memchr(text.data, 0, text.length)))
		return text;
	*ret_copy = bytes = xmalloc(text.length);
	memcpy(bytes, text.data, text.length);
	for (size_t at = 0; at < text.length;) {
		size_t length = 1;

		while (length < 4 && at + length < text.length &&
			((uint8_t)bytes[at + length] & 0xc0) == 0x80)
			length++;
		if (bytes[at] && text_is_utf8((struct slice){bytes + at, length})) {
			at += length;
		} else {
			bytes[at] = '?';
			at++;
		}
	}
	return (struct slice){bytes, text.length};
}

/* One that comes again is merged into the first, as messages are. */
static void read_error(struct xds_request *xds, struct slice status)
{
	struct grpc_wire_field field;

	xds->has_error = true;
	while (grpc_wire_next(&status, &field) > 0) {
		if (field.number == STATUS_CODE)
			xds->error_code = (int32_t)field.value;
		else if (field.number == STATUS_MESSAGE)
			xds->error_message = field.bytes;
	}
}

static struct xds_version_pair read_entry(struct slice entry)
{
	struct xds_version_pair pair = {.name = SLICE(""), .version = SLICE("")};
	struct grpc_wire_field field;

	while (grpc_wire_next(&entry, &field) > 0) {
		if (field.number == ENTRY_KEY)
			pair.name = field.bytes;
		else if (field.number == ENTRY_VALUE)
			pair.version = field.bytes;
	}
	return pair;
}

static void read_node(struct grpc_request *request, struct slice node)
{
	request->has_node = true;
	request->node = node;
}

static void add_name(struct reader *reader, struct slice name)
{
	struct grpc_request *request = reader->request;
	size_t *count = &request->xds.names_count;

	array_reserve(request->names, reader->names_capacity, *count + 1);
	request->names[(*count)++] = name;
}

static void read_sotw_field(struct reader *reader, const struct grpc_wire_field *field)
{
	struct xds_request *xds = &reader->request->xds;

	switch (field->number) {
	case SOTW_VERSION_INFO:
		xds->version_info = field->bytes;
		break;
	case SOTW_NODE:
		read_node(reader->request, field->bytes);
		break;
	case SOTW_NAMES:
		add_name(reader, field->bytes);
		break;
	case SOTW_TYPE_URL:
		xds->type_url = field->bytes;
		break;
	case SOTW_NONCE:
		xds->nonce = field->bytes;
		break;
	case SOTW_ERROR:
		read_error(xds, field->bytes);
		break;
	}
}

static void read_delta_field(struct reader *reader, const struct grpc_wire_field *field)
{
	struct grpc_request *request = reader->request;
	struct xds_request *xds = &request->xds;

	switch (field->number) {
	case DELTA_NODE:
		read_node(request, field->bytes);
		break;
	case DELTA_TYPE_URL:
		xds->type_url = field->bytes;
		break;
	case DELTA_SUBSCRIBE:
		add_name(reader, field->bytes);
		break;
	case DELTA_UNSUBSCRIBE:
		array_reserve(request->unsubscribe, reader->unsubscribe_capacity,
			xds->unsubscribe_count + 1);
		request->unsubscribe[xds->unsubscribe_count++] = field->bytes;
		break;
	case DELTA_VERSIONS:
		array_reserve(
			request->versions, reader->versions_capacity, xds->versions_count + 1);
		request->versions[xds->versions_count++] = read_entry(field->bytes);
		break;
	case DELTA_NONCE:
		xds->nonce = field->bytes;
		break;
	case DELTA_ERROR:
		read_error(xds, field->bytes);
		break;
	}
}

int grpc_request_read(struct slice bytes, bool is_delta, const struct limits *limits,
	struct grpc_request *ret_request, char *problem, size_t problem_size)
{
	struct grpc_request request = {.node = SLICE("")};
	struct reader reader = {.request = &request};
	struct xds_request *xds = &request.xds;
	struct grpc_wire_field field;
	int error = grpc_wire_check(is_delta ? &xds__delta_discovery_request__descriptor
					     : &xds__discovery_request__descriptor,
		bytes, limits, problem, problem_size);

	if (error)
		return error;
	xds->type_url = xds->nonce = xds->version_info = xds->error_message = SLICE("");
	while (grpc_wire_next(&bytes, &field) > 0) {
		if (is_delta)
			read_delta_field(&reader, &field);
		else
			read_sotw_field(&reader, &field);
	}
	xds->error_message = clean_text(xds->error_message, &request.error_text);
	xds->names = request.names;
	xds->unsubscribe = request.unsubscribe;
	xds->versions = request.versions;
	*ret_request = request;
	return 0;
}

void grpc_request_fini(struct grpc_request *request)
{
	free(request->names);
	free(request->unsubscribe);
	free(request->versions);
	free(request->error_text);
	*request = (struct grpc_request){0};
}
