/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_digest(struct digest_context *context, const char *want)
{
	struct digest digest = digest_end(context);
	char hex[2 * DIGEST_LENGTH + 1];

	digest_hex(&digest, hex);
	assert_string_equal(hex, want);
}

/* Worked out with sha256sum(1) from the bytes that the header promises. */
static void promised_bytes(void **state)
{
	struct digest_context context;

	(void)state;
	/* printf 'd\0' */
	digest_begin(&context, "d");
	assert_digest(&context, "4658d6abbbaf7748c172ed5a3e003cdb");
	/* printf 'd\0abc' */
	digest_begin(&context, "d");
	digest_bytes(&context, "abc", 3);
	digest_bytes(&context, NULL, 0);
	assert_digest(&context, "b7a52f8eb9626b397fb93af0a11d3098");
	/* printf 'd\0\0\0\0\0\0\0\0\3abc' */
	digest_begin(&context, "d");
	digest_part(&context, SLICE("abc"));
	assert_digest(&context, "dbd5296fb9c44ec4a2257693fb87fae0");
	/* printf 'd\0\1\2\3\4\5\6\7\10' */
	digest_begin(&context, "d");
	digest_u64(&context, 0x0102030405060708);
	assert_digest(&context, "af55da39414ed86b6a822ff07f4b0064");
}

/* The lengths keep "ab" + "c" and "a" + "bc" apart. */
static void parts_do_not_run_together(void **state)
{
	struct digest_context context;
	struct digest one;
	struct digest other;
	struct digest again;

	(void)state;
	digest_begin(&context, "d");
	digest_part(&context, SLICE("ab"));
	digest_part(&context, SLICE("c"));
	one = digest_end(&context);
	digest_begin(&context, "d");
	digest_part(&context, SLICE("a"));
	digest_part(&context, SLICE("bc"));
	other = digest_end(&context);
	digest_begin(&context, "d");
	digest_part(&context, SLICE("ab"));
	digest_part(&context, SLICE("c"));
	again = digest_end(&context);
	assert_false(digest_equal(&one, &other));
	assert_true(digest_equal(&one, &again));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(promised_bytes),
		cmocka_unit_test(parts_do_not_run_together),
	};

	return cmocka_run_group_tests_name("digest", tests, NULL, NULL);
}
