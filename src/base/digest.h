/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256 (nettle) over length-prefixed parts, cut to 16 bytes where a version is made of it. */
#ifndef XDSPUB_BASE_DIGEST_H
#define XDSPUB_BASE_DIGEST_H

#include <nettle/sha2.h>

#include "base/slice.h"

#define DIGEST_LENGTH 16 /* bytes */

struct digest {
	uint8_t bytes[DIGEST_LENGTH];
};

struct digest_context {
	struct sha256_ctx sha256;
};

void digest_begin(
	struct digest_context *context, const char *domain); /* domain text plus its NUL */
void digest_bytes(
	struct digest_context *context, const void *data, size_t length); /* as they are */
void digest_u64(struct digest_context *context, uint64_t value);	  /* 8 bytes, big-endian */
void digest_part(
	struct digest_context *context, struct slice part); /* its length as u64, then it */
struct digest digest_end(struct digest_context *context);   /* the first 16 bytes */

bool digest_equal(const struct digest *a, const struct digest *b);
void digest_hex(const struct digest *digest, char out[static 2 * DIGEST_LENGTH + 1]);

#endif
