/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_metadata.h"

#include <strings.h>

#define TEXT_BYTES     1024
#define TIMEOUT_MAX_MS (INT64_C(366) * 86400000)

void grpc_metadata_init(struct grpc_metadata *metadata)
{
	*metadata = (struct grpc_metadata){.timeout_ms = -1};
}

bool grpc_metadata_timeout(struct slice value, int64_t *ret_ms)
{
	int64_t number = 0;
	int64_t us;

	if (value.length < 2 || value.length > 9)
		return false;
	for (size_t i = 0; i + 1 < value.length; i++) {
		if (value.data[i] < '0' || value.data[i] > '9')
			return false;
		number = number * 10 + (value.data[i] - '0');
	}
	switch (value.data[value.length - 1]) {
	case 'H':
		us = number * 3600 * 1000000;
		break;
	case 'M':
		us = number * 60 * 1000000;
		break;
	case 'S':
		us = number * 1000000;
		break;
	case 'm':
		us = number * 1000;
		break;
	case 'u':
		us = number;
		break;
	case 'n':
		us = (number + 999) / 1000;
		break;
	default:
		return false;
	}
	*ret_ms = (us + 999) / 1000;
	if (*ret_ms > TIMEOUT_MAX_MS)
		*ret_ms = TIMEOUT_MAX_MS;
	return true;
}

/* "application/grpc", "application/grpc+proto", with or without parameters. */
static bool is_grpc_type(struct slice value)
{
	static const char base[] = "application/grpc";
	const size_t length = sizeof(base) - 1;
	struct slice rest;

	if (value.length < length || strncasecmp(value.data, base, length) != 0)
		return false;
	rest = (struct slice){value.data + length, value.length - length};
	if (rest.length >= 6 && strncasecmp(rest.data, "+proto", 6) == 0)
		rest = (struct slice){rest.data + 6, rest.length - 6};
	return rest.length == 0 || rest.data[0] == ';' || rest.data[0] == ' ';
}

void grpc_metadata_add(struct grpc_metadata *metadata, struct slice name, struct slice value)
{
	uint64_t bytes = (uint64_t)metadata->bytes + name.length + value.length + 32;

	metadata->bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
	if (metadata->headers < UINT16_MAX)
		metadata->headers++;
	if (slice_is(name, ":method")) {
		metadata->is_post = slice_is(value, "POST");
	} else if (slice_is(name, ":path")) {
		metadata->path_length = value.length > GRPC_METADATA_PATH ? GRPC_METADATA_PATH + 1
									  : (uint16_t)value.length;
		if (value.length <= GRPC_METADATA_PATH)
			memcpy(metadata->path, value.data, value.length);
	} else if (slice_is(name, "content-type")) {
		metadata->is_grpc = is_grpc_type(value);
	} else if (slice_is(name, "grpc-encoding")) {
		metadata->is_encoded = !slice_is(value, "identity");
	} else if (slice_is(name, "grpc-timeout")) {
		metadata->has_bad_timeout = !grpc_metadata_timeout(value, &metadata->timeout_ms);
	}
}

struct slice grpc_metadata_path(const struct grpc_metadata *metadata)
{
	size_t length = metadata->path_length;

	return (struct slice){metadata->path, length > GRPC_METADATA_PATH ? 0 : length};
}

bool grpc_metadata_check(const struct grpc_metadata *metadata, enum grpc_http *ret_http,
	enum grpc_status *ret_status, const char **ret_text)
{
	*ret_http = GRPC_HTTP_OK;
	if (!metadata->is_post) {
		*ret_http = GRPC_HTTP_BAD_METHOD;
		*ret_status = GRPC_UNIMPLEMENTED;
		*ret_text = "a gRPC request is a POST";
	} else if (!metadata->is_grpc) {
		*ret_http = GRPC_HTTP_BAD_TYPE;
		*ret_status = GRPC_UNKNOWN;
		*ret_text = "the content-type of a gRPC request is application/grpc";
	} else if (metadata->bytes > GRPC_METADATA_BYTES ||
		   metadata->headers > GRPC_METADATA_HEADERS) {
		*ret_status = GRPC_RESOURCE_EXHAUSTED;
		*ret_text = "the request has more than 16 KiB or 128 of headers";
	} else if (metadata->has_bad_timeout) {
		*ret_status = GRPC_INVALID_ARGUMENT;
		*ret_text = "grpc-timeout is up to eight digits and one of H, M, S, m, u, n";
	} else {
		return true;
	}
	return false;
}

void grpc_metadata_encode(struct buf *out, struct slice text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < text.length && i < TEXT_BYTES; i++) {
		unsigned char byte = (unsigned char)text.data[i];

		if (byte >= 0x20 && byte < 0x7f && byte != '%') {
			buf_putc(out, (char)byte);
			continue;
		}
		buf_putc(out, '%');
		buf_putc(out, digits[byte >> 4]);
		buf_putc(out, digits[byte & 15]);
	}
}
