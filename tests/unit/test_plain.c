/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/plain.h"

#include "message_fixture.h"

static const struct {
	const char *comment, *plain;
} texts[] = {
	{"", ""},
	{" One line.\n", "One line."},
	{" Two\n lines.\n", "Two lines."},
	{" A.\n\n B.\n", "A.\n\nB."},
	{"no blank behind the slashes\n", "no blank behind the slashes"},
	/* roles, literals, links */
	{" See :ref:`the name <envoy_v3_api_field_config.cluster.v3.Cluster.name>`.\n",
		"See the name."},
	{" See :ref:`name\n <x>`.\n", "See name."},
	{" :ref:`envoy_v3_api_msg_config.cluster.v3.Cluster.LbPolicy`\n", "Cluster.LbPolicy"},
	{" :ref:`extension_envoy.filters.http.lua`\n", "envoy.filters.http.lua"},
	{" :ref:`some_label`, :option:`--x`\n", "some_label, --x"},
	{" Any ``:`` in ``a.b``\n", "Any `:` in `a.b`"},
	{" `RFC <https://x/y>`_ and `z`_ and `q`\n", "RFC (https://x/y) and z and `q`"},
	{" **much** \\*not\\* a:b :c: :d:`open\n", "much *not* a:b :c: :d:`open"},
	{" ``open and `\n", "``open and `"},
	/* marks */
	{" [#not-implemented-hide:] Hidden.\n", "Hidden."},
	{" A.\n [#next-free-field: 4]\n", "A."},
	{" A. [#comment:TODO(x): look [here]\n and there] B.\n", "A. B."},
	{" [#open\n", "[#open"},
	/* blocks */
	{" .. note::\n\n   Mind\n   this.\n\n More.\n", "Note: Mind this.\n\nMore."},
	{" .. WARNING:: Now.\n", "Warning: Now."},
	{" As:\n\n .. code-block:: yaml\n   :type-name: x\n\n   a:\n     b: ``1``\n\n   c: 2\n\n "
	 "End.\n",
		"As:\n\n    a:\n      b: ``1``\n\n    c: 2\n\nEnd."},
	{" As::\n\n   x\n\n End.\n", "As:\n\n    x\n\nEnd."},
	{" * one\n   more\n * two\n", "* one more\n* two"},
	{" 1. one\n 2. two\n\n Text.\n", "1. one\n2. two\n\nText."},
	{" #. one\n #. two\n", "* one\n* two"},
	{" * one\n\n   below\n", "* one\n\nbelow"},
	{" .. _label:\n\n Text.\n", "Text."},
	/* what terminals must not get */
	{" a\x1b[31mb\n", "a\\x1b[31mb"},
};

static void test_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct buf out = BUF_INIT;

		plain_text(&out, slice_of(texts[i].comment));
		assert_string_equal(buf_cstr(&out), texts[i].plain);
		buf_fini(&out);
	}
}

static void check_wrap(const char *plain, unsigned indent, unsigned width, const char *expected)
{
	struct buf out = BUF_INIT;

	plain_wrap(&out, slice_of(plain), indent, width);
	assert_string_equal(buf_cstr(&out), expected);
	buf_fini(&out);
}

static void test_wrap(void **state)
{
	(void)state;
	check_wrap("one two three four five six", 2, 24, "  one two three four\n  five six\n");
	check_wrap("* one two three four five", 0, 22, "* one two three four\n  five\n");
	check_wrap("a\n\n    code that is longer than all that\n\nb", 1, 21,
		" a\n\n     code that is longer than all that\n\n b\n");
	check_wrap("averyveryveryverylongwordthatfitsnowhere x", 0, 20,
		"averyveryveryverylongwordthatfitsnowhere\nx\n");
	check_wrap("äää ööö üüü ßßß äää x", 0, 20, "äää ööö üüü ßßß äää\nx\n");
	check_wrap("", 4, 80, "");
}

static void test_marks(void **state)
{
	const struct slice text =
		slice_of("[#extension-category: a.b] x [#extension: c] [#extension-category:  d.e ]"
			 "[#extension-category: open");
	struct slice value;
	size_t cursor = 0;

	(void)state;
	value = plain_next_mark(text, "extension-category", &cursor);
	assert_true(slice_is(value, "a.b"));
	value = plain_next_mark(text, "extension-category", &cursor);
	assert_true(slice_is(value, "d.e"));
	assert_null(plain_next_mark(text, "extension-category", &cursor).data);
	assert_true(plain_has_mark(text, "extension"));
	assert_false(plain_has_mark(text, "ext"));
	assert_false(plain_has_mark((struct slice){NULL, 0}, "extension"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
