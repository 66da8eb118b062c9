/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "validate/format.h"

struct example {
	const char *text;
	bool is_fine;
};

static void check(bool (*is)(struct slice), const struct example *examples)
{
	for (; examples->text; examples++)
		if (is(slice_of(examples->text)) != examples->is_fine)
			fail_msg("\"%s\" should be %s", examples->text,
				examples->is_fine ? "fine" : "refused");
}

static void test_names(void **state)
{
	(void)state;
	check(format_is_hostname,
		(const struct example[]){{"a", true}, {"a.b-c.d", true}, {"a.b.", true},
			{"1.2.3", true}, {"", false}, {".", false}, {"a..b", false}, {"-a", false},
			{"a-", false}, {"a_b", false}, {"a b", false},
			{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true},
			{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
			{NULL, false}});
	check(format_is_email,
		(const struct example[]){{"a@b", true}, {"first.last+tag@example.com", true},
			{"\xc3\xa4@b", true}, {"@b", false}, {"a@", false}, {"a", false},
			{".a@b", false}, {"a.@b", false}, {"a..b@c", false}, {"a b@c", false},
			{"a@b@c", false}, {"a@-b", false}, {NULL, false}});
}

static void test_addresses(void **state)
{
	(void)state;
	check(format_is_ipv4,
		(const struct example[]){{"1.2.3.4", true}, {"255.255.255.255", true}, {"", false},
			{"1.2.3", false}, {"256.1.1.1", false}, {"01.2.3.4", false}, {"::1", false},
			{" 1.2.3.4", false}, {NULL, false}});
	check(format_is_ipv6,
		(const struct example[]){{"::", true}, {"::1", true}, {"2001:db8::a:1", true},
			{"::ffff:1.2.3.4", true}, {"1.2.3.4", false}, {"fe80::1%eth0", false},
			{"1:2:3:4:5:6:7:8:9", false}, {"", false},
			{"1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc", false},
			{NULL, false}});
	assert_false(format_is_ipv4((struct slice){"1.2.3.4\0x", 9}));
}

static void test_uris(void **state)
{
	(void)state;
	check(format_is_uri, (const struct example[]){{"http://example.com/a?b=c#d", true},
				     {"a:", true}, {"mailto:me@example.com", true},
				     {"http://[::1]:80/", true}, {"http://user:pw@host:/x", true},
				     {"urn:a:b", true}, {"a:%41", true}, {"", false}, {"/a", false},
				     {"1a:b", false}, {"a:%4", false}, {"http://[::1/", false},
				     {"http://[::1]x", false}, {"http://host:8x/", false},
				     {"a: b", false}, {"a:b#c#d", false}, {NULL, false}});
	check(format_is_uri_reference,
		(const struct example[]){{"", true}, {"/a/b?c", true}, {"//host/path", true},
			{"a/b:c", true}, {"#x", true}, {"http://a", true}, {"1a:b", false},
			{":a", false}, {"a b", false}, {NULL, false}});
	check(format_is_uuid,
		(const struct example[]){{"123e4567-e89b-12d3-a456-426614174000", true},
			{"123E4567-E89B-12D3-A456-426614174000", true},
			{"123e4567e89b12d3a456426614174000", false},
			{"123e4567-e89b-12d3-a456-42661417400g", false},
			{"123e4567-e89b-12d3-a456-4266141740001", false}, {NULL, false}});
}

static bool is_strict_name(struct slice text)
{
	return format_is_header_name(text, false);
}

static bool is_strict_value(struct slice text)
{
	return format_is_header_value(text, false);
}

static void test_headers(void **state)
{
	(void)state;
	check(is_strict_name, (const struct example[]){{"x-Name_1!", true}, {":path", true},
				      {"", false}, {":", false}, {"a b", false}, {"a:b", false},
				      {"a\n", false}, {"\xc3\xa4", false}, {NULL, false}});
	check(is_strict_value,
		(const struct example[]){{"", true}, {"a b\t\xc3\xa4", true}, {"a\n", false},
			{"a\x01", false}, {"\x7f", false}, {NULL, false}});
	assert_true(format_is_header_name(SLICE("a b: \x01"), true));
	assert_true(format_is_header_name(SLICE(""), true));
	assert_false(format_is_header_name(SLICE("a\n"), true));
	assert_false(format_is_header_value(SLICE("a\0b"), true));
	assert_false(format_is_header_value(SLICE("a\rb"), true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
		cmocka_unit_test(test_addresses), cmocka_unit_test(test_uris),
		cmocka_unit_test(test_headers)};

	return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
