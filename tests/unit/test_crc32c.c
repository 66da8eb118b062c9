/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/crc32c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The vectors of RFC 3720, appendix B.4, and the usual check value. */
static void known_values(void **state)
{
	uint8_t bytes[32];

	(void)state;
	assert_int_equal(crc32c_update(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc32c_update(0, NULL, 0), 0);
	for (int i = 0; i < 32; i++)
		bytes[i] = 0;
	assert_int_equal(crc32c_update(0, bytes, 32), 0x8a9136aa);
	for (int i = 0; i < 32; i++)
		bytes[i] = 0xff;
	assert_int_equal(crc32c_update(0, bytes, 32), 0x62a8ab43);
	for (int i = 0; i < 32; i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(crc32c_update(0, bytes, 32), 0x46dd794e);
	for (int i = 0; i < 32; i++)
		bytes[i] = (uint8_t)(31 - i);
	assert_int_equal(crc32c_update(0, bytes, 32), 0x113fdb5c);
}

static void both_ways_agree_in_any_pieces(void **state)
{
	uint8_t bytes[300];
	uint32_t seed = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (uint8_t)(seed >> 24);
	}
	for (size_t length = 0; length <= sizeof(bytes); length++) {
		uint32_t whole = crc32c_update(0, bytes, length);
		size_t cut = length / 3;
		uint32_t pieces = crc32c_update(0, bytes, cut);

		assert_int_equal(whole, crc32c_update_portable(0, bytes, length));
		assert_int_equal(whole, crc32c_update(pieces, bytes + cut, length - cut));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_values),
		cmocka_unit_test(both_ways_agree_in_any_pieces),
	};

	return cmocka_run_group_tests_name("crc32c", tests, NULL, NULL);
}
