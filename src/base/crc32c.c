/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/crc32c.h"

#include <string.h>

/* An entry is the sum of what its bits contribute; the eight constants are the powers of two. */
#define BIT(i, n, value) ((((i) >> (n)) & 1) * (value))
#define ENTRY(i)                                                                                   \
	(BIT(i, 0, 0xf26b8303u) ^ BIT(i, 1, 0xe13b70f7u) ^ BIT(i, 2, 0xc79a971fu) ^                \
		BIT(i, 3, 0x8ad958cfu) ^ BIT(i, 4, 0x105ec76fu) ^ BIT(i, 5, 0x20bd8edeu) ^         \
		BIT(i, 6, 0x417b1dbcu) ^ BIT(i, 7, 0x82f63b78u))
#define ENTRY_4(i)  ENTRY(i), ENTRY((i) + 1), ENTRY((i) + 2), ENTRY((i) + 3)
#define ENTRY_16(i) ENTRY_4(i), ENTRY_4((i) + 4), ENTRY_4((i) + 8), ENTRY_4((i) + 12)
#define ENTRY_64(i) ENTRY_16(i), ENTRY_16((i) + 16), ENTRY_16((i) + 32), ENTRY_16((i) + 48)

static const uint32_t table[256] = {ENTRY_64(0u), ENTRY_64(64u), ENTRY_64(128u), ENTRY_64(192u)};

uint32_t crc32c_update_portable(uint32_t crc, const void *data, size_t length)
{
	const uint8_t *bytes = data;

	crc = ~crc;
	for (size_t i = 0; i < length; i++)
		crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
	return ~crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t update_sse42(
	uint32_t crc, const uint8_t *bytes, size_t length)
{
	uint64_t state = ~crc;

	for (; length >= 8; bytes += 8, length -= 8) {
		uint64_t word;

		memcpy(&word, bytes, sizeof(word));
		state = __builtin_ia32_crc32di(state, word);
	}
	for (; length; bytes++, length--)
		state = __builtin_ia32_crc32qi((uint32_t)state, *bytes);
	return ~(uint32_t)state;
}
#endif

uint32_t crc32c_update(uint32_t crc, const void *data, size_t length)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return update_sse42(crc, data, length);
#endif
	return crc32c_update_portable(crc, data, length);
}
