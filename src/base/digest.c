/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digest.h"

void digest_begin(struct digest_context *context, const char *domain)
{
	sha256_init(&context->sha256);
	sha256_update(&context->sha256, strlen(domain) + 1, (const uint8_t *)domain);
}

void digest_bytes(struct digest_context *context, const void *data, size_t length)
{
	if (length)
		sha256_update(&context->sha256, length, data);
}

void digest_u64(struct digest_context *context, uint64_t value)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> (56 - 8 * i));
	sha256_update(&context->sha256, sizeof(bytes), bytes);
}

void digest_part(struct digest_context *context, struct slice part)
{
	digest_u64(context, part.length);
	digest_bytes(context, part.data, part.length);
}

struct digest digest_end(struct digest_context *context)
{
	struct digest digest;

	sha256_digest(&context->sha256, sizeof(digest.bytes), digest.bytes);
	return digest;
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

void digest_hex(const struct digest *digest, char out[static 2 * DIGEST_LENGTH + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < DIGEST_LENGTH; i++) {
		out[2 * i] = digits[digest->bytes[i] >> 4];
		out[2 * i + 1] = digits[digest->bytes[i] & 15];
	}
	out[2 * DIGEST_LENGTH] = '\0';
}
