/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The headers of a request as they come in, and what they mean for the call (gRPC: "gRPC over
 * HTTP2"). Unknown headers are counted and forgotten. Pure. Threads: one at a time.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_METADATA_H
#define XDSPUB_SERVE_GRPC_GRPC_METADATA_H

#include "base/buf.h"
#include "serve/grpc/grpc_status.h"

#define GRPC_METADATA_BYTES                                                                        \
	16384u /* announced; names and values and 32 for each, as HTTP/2 counts */
#define GRPC_METADATA_HEADERS 128
#define GRPC_METADATA_PATH    512 /* a longer one names nothing */

enum grpc_http {
	GRPC_HTTP_OK,
	GRPC_HTTP_BAD_METHOD,
	GRPC_HTTP_BAD_TYPE
};

struct grpc_metadata {
	uint32_t bytes;
	uint16_t headers;
	bool is_post;
	bool is_grpc;	 /* content-type */
	bool is_encoded; /* grpc-encoding is another than identity */
	bool has_bad_timeout;
	int64_t timeout_ms;   /* grpc-timeout; -1: none */
	uint16_t path_length; /* beyond the limit: longer than path[] */
	char path[GRPC_METADATA_PATH];
};

void grpc_metadata_init(struct grpc_metadata *metadata);
void grpc_metadata_add(struct grpc_metadata *metadata, struct slice name, struct slice value);
struct slice grpc_metadata_path(const struct grpc_metadata *metadata);
/* True: a call may begin. Otherwise what to answer it with; the text is static. */
bool grpc_metadata_check(const struct grpc_metadata *metadata, enum grpc_http *ret_http,
	enum grpc_status *ret_status, const char **ret_text);
/* "100m": eight digits and one of HMSmun. Rounded up; huge ones are cut. False: malformed. */
bool grpc_metadata_timeout(struct slice value, int64_t *ret_ms);
/* grpc-message: percent-encoded where HTTP or the specification wants it, cut to 1 KiB before. */
void grpc_metadata_encode(struct buf *out, struct slice text);

#endif
