/* SPDX-License-Identifier: GPL-2.0-or-later */
/* S.103: which virtual host a "<route configuration>/<host>" means. */
#include "xds_script.h"

#include "serve/xds_hosts.h"
#include "serve/xds_wire.h"

static const char *find(const struct xds_hosts *hosts, const char *name)
{
	static char text[32];
	const struct resource *resource = xds_hosts_find(hosts, slice_of(name));

	if (!resource)
		return "-";
	snprintf(text, sizeof(text), "%.*s", SLICE_ARG(resource->name));
	return text;
}

static void test_domains_as_envoy_matches_them(void **state)
{
	struct snapshot *snapshot = script_snapshot(
		"VHDS:r/exact=1#a.example.org#A.Upper.org,r/suffix=1#*.example.org#*-bar.org,"
		"r/longer=1#*.sub.example.org,r/prefix=1#www.*#www.a.*,r/any=1#*,"
		"no-any/one=1#a.org,bare=1#bare.org,team/r/x=1#a.org,r/alias=1/r/nick");
	struct xds_hosts *hosts = xds_hosts_new(snapshot->sets[XDS_VHDS]);
	static const char *const cases[][2] = {
		{"r/a.example.org", "r/exact"},
		{"r/A.EXAMPLE.org", "r/exact"},
		{"r/a.upper.org", "r/exact"},
		{"r/b.example.org", "r/suffix"},
		{"r/b.sub.example.org", "r/longer"},
		{"r/sub.example.org", "r/suffix"},
		{"r/foo-bar.org", "r/suffix"},
		/* a star stands for something */
		{"r/-bar.org", "r/any"},
		{"r/.example.org", "r/any"},
		{"r/www.x", "r/prefix"},
		{"r/www.", "r/any"},
		/* suffixes before prefixes */
		{"r/www.example.org", "r/suffix"},
		{"r/elsewhere", "r/any"},
		{"r/nick", "r/alias"},
		{"no-any/a.org", "no-any/one"},
		{"no-any/b.org", "-"},
		{"team/r/a.org", "team/r/x"},
		{"bare.org", "-"},
		{"other/a.org", "-"},
		{"r/", "-"},
		{"", "-"},
		{"/", "-"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(find(hosts, cases[i][0]), cases[i][1]);
	xds_hosts_free(hosts);
	snapshot_unref(snapshot);
}

static void test_the_first_by_name_has_a_domain(void **state)
{
	struct snapshot *snapshot =
		script_snapshot("VHDS:r/c=1#a.org/r/n,r/b=1#a.org#*/r/n,r/d=1#a.org#*");
	struct xds_hosts *hosts = xds_hosts_new(snapshot->sets[XDS_VHDS]);

	(void)state;
	assert_string_equal(find(hosts, "r/a.org"), "r/b");
	assert_string_equal(find(hosts, "r/x"), "r/b");
	assert_string_equal(find(hosts, "r/n"), "r/b");
	xds_hosts_free(hosts);
	snapshot_unref(snapshot);
}

static void test_fields_end_with_the_bytes(void **state)
{
	static const char *const broken[] = {"\x0a", "\x0a\x05xx", "\x80", "\x0b", "\x0d\x01\x02",
		"\x09\x01", "\x12\xff\xff\xff"};
	struct slice rest = SLICE("\x0a\x02hi\x10\x85\x01\x1d\x01\x02\x03\x04\x21"
				  "12345678");
	struct xds_field field;

	(void)state;
	assert_true(xds_wire_next(&rest, &field));
	assert_int_equal(field.number, 1);
	assert_true(slice_is(field.bytes, "hi"));
	assert_true(xds_wire_next(&rest, &field));
	assert_int_equal(field.value, 133);
	assert_true(xds_wire_next(&rest, &field));
	assert_int_equal(field.bytes.length, 4);
	assert_true(xds_wire_next(&rest, &field));
	assert_true(slice_is(field.bytes, "12345678"));
	assert_false(xds_wire_next(&rest, &field));
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		rest = slice_of(broken[i]);
		assert_false(xds_wire_next(&rest, &field));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_domains_as_envoy_matches_them),
		cmocka_unit_test(test_the_first_by_name_has_a_domain),
		cmocka_unit_test(test_fields_end_with_the_bytes),
	};

	return cmocka_run_group_tests_name("xds_hosts", tests, NULL, NULL);
}
