/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/rest/json_indent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void shapes(void **state)
{
	static const char *const rows[][2] = {
		{"1", "1\n"},
		{"{}", "{}\n"},
		{"[ ]", "[]\n"},
		{"{\"a\":1,\"b\":[true,null]}",
			"{\n  \"a\": 1,\n  \"b\": [\n    true,\n    null\n  ]\n}\n"},
		{"{\"a\":{\"b\":{}}}", "{\n  \"a\": {\n    \"b\": {}\n  }\n}\n"},
		{"\"{a:\\\"[1,2]\"", "\"{a:\\\"[1,2]\"\n"},
		{"[\"a\\\\\",\"b\"]", "[\n  \"a\\\\\",\n  \"b\"\n]\n"},
		{"\"open", "\"open\n"},
		{"\"open\\", "\"open\\\n"},
		{"", "\n"},
		{"}]", "\n}\n]\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf out = BUF_INIT;

		json_indent(slice_of(rows[i][0]), &out);
		assert_string_equal(buf_cstr(&out), rows[i][1]);
		buf_fini(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(shapes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
