/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_blame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/buf.h"

static struct resource_set *set_of(const char *const *names)
{
	struct resource_set *empty = resource_set_empty(XDS_CDS);
	struct resource_set_builder *builder = resource_set_edit(empty);

	resource_set_unref(empty);
	for (; *names; names++) {
		struct resource_spec spec = {
			.type = XDS_CDS, .name = slice_of(*names), .ttl_ms = -1};
		struct resource *resource = resource_new(&spec);

		resource_set_put(builder, resource);
		resource_unref(resource);
	}
	return resource_set_finish(builder);
}

static void test_names_in_texts_of_clients(void **state)
{
	static const struct {
		const char *text;
		const char *found; /* in order, each followed by a blank */
	} rows[] = {
		{"Error adding/updating cluster(s) a.b: no hosts, shop: bad, shop: again",
			"a.b shop "},
		{"xDS: Cluster resource \"outbound|80||shop.svc\": lb_policy is unknown",
			"outbound|80||shop.svc "},
		{"it is about shop.", "shop "},
		{"it is about a.b.", "a.b "},
		{"[shop]: (a.b)", "shop a.b "},
		{"workshop is not shop1 nor shop/x", ""},
		{"name: x:1:", "x:1: "},
		{"", ""},
	};
	static const char *const names[] = {
		"shop", "a.b", "outbound|80||shop.svc", "x:1", "x:1:", NULL};
	struct resource_set *set = set_of(names);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct resource *found[4];
		size_t count = xds_blame_find(set, slice_of(rows[i].text), found, 4);
		struct buf text = BUF_INIT;

		for (size_t k = 0; k < count; k++)
			buf_printf(&text, "%.*s ", SLICE_ARG(found[k]->name));
		assert_string_equal(buf_cstr(&text), rows[i].found);
		buf_fini(&text);
	}
	resource_set_unref(set);
}

static void test_no_more_than_asked_for(void **state)
{
	static const char *const names[] = {"a", "b", "c", NULL};
	struct resource_set *set = set_of(names);
	struct resource *found[2];

	(void)state;
	assert_int_equal(xds_blame_find(set, SLICE("c b a"), found, 2), 2);
	assert_true(slice_is(found[0]->name, "c") && slice_is(found[1]->name, "b"));
	assert_int_equal(xds_blame_find(set, SLICE("c b a"), found, 0), 0);
	resource_set_unref(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_in_texts_of_clients),
		cmocka_unit_test(test_no_more_than_asked_for),
	};

	return cmocka_run_group_tests_name("xds_blame", tests, NULL, NULL);
}
