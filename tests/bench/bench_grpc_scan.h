/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Discovery responses off a gRPC stream as they come, in pieces of any size: what is needed to
 * answer them is kept, resources are only counted. So a load generator costs little.
 */
#ifndef XDSPUB_TESTS_BENCH_GRPC_SCAN_H
#define XDSPUB_TESTS_BENCH_GRPC_SCAN_H

#include "base/buf.h"

enum bench_type {
	BENCH_CDS,
	BENCH_EDS,
	BENCH_LDS,
	BENCH_TYPE_COUNT
};

extern const char *const bench_type_urls[BENCH_TYPE_COUNT];

struct bench_text {
	uint8_t length;
	char text[126];
};

struct bench_scan {
	uint8_t state;
	uint8_t shift; /* of the varint that is being read */
	uint8_t field;
	uint8_t kept;	/* bytes of the prefix, or of the end of the former piece */
	uint64_t value; /* the varint so far; the bytes of the field that are still to come */
	uint64_t left;	/* of the message */
	char edge[64];
	struct bench_text version, type, nonce;
	bool is_marked;		 /* the marker was among its bytes */
	uint32_t resources;	 /* of this message, and their bytes */
	uint64_t resource_bytes; /* with what delta wraps them in */
};

/* Reads on until a message is complete; returns how many bytes it took. *ret_is_complete: the
 * fields from `version` on are the message's until the next call. marker: text to look for, at
 * most 64 bytes, or empty. bodies: gets the resources, each with its length before it; or NULL.
 * Aborts on what is no discovery response. */
size_t bench_scan_feed(struct bench_scan *scan, const uint8_t *data, size_t length,
	struct slice marker, struct buf *bodies, bool *ret_is_complete);
enum bench_type bench_scan_type(const struct bench_scan *scan);

/* Writing protobuf. */
void bench_put_varint(struct buf *out, uint64_t value);
void bench_put_field(struct buf *out, unsigned number, struct slice value);
/* Reading it: the next field of *rest with a length; skips others. False at the end. */
bool bench_next_field(struct slice *rest, unsigned *ret_number, struct slice *ret_value);

#endif
