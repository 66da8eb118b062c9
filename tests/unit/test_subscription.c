/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/subscription.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

#define NAMES_MAX 6

static const struct {
	enum xds_type type;
	const char *asked[NAMES_MAX];
	int rc;
	bool is_wildcard;
	const char *names[NAMES_MAX];
} rows[] = {
	{XDS_CDS, {NULL}, 0, true, {NULL}},
	{XDS_LDS, {NULL}, 0, true, {NULL}},
	{XDS_SRDS, {NULL}, 0, true, {NULL}},
	{XDS_EDS, {NULL}, -ENOENT, false, {NULL}},
	{XDS_RDS, {NULL}, -ENOENT, false, {NULL}},
	{XDS_SDS, {NULL}, -ENOENT, false, {NULL}},
	{XDS_RTDS, {NULL}, -ENOENT, false, {NULL}},
	{XDS_ECDS, {NULL}, -ENOENT, false, {NULL}},
	{XDS_VHDS, {NULL}, -ENOENT, false, {NULL}},
	{XDS_CDS, {"*"}, 0, true, {NULL}},
	{XDS_CDS, {"b", "*", "a"}, 0, true, {NULL}},
	{XDS_CDS, {"b", "a"}, 0, false, {"a", "b"}},
	{XDS_EDS, {"*"}, 0, false, {"*"}}, /* a name like any other */
	{XDS_EDS, {"b", "a", "b", "b", "aa"}, 0, false, {"a", "aa", "b"}},
	{XDS_SDS, {"x"}, 0, false, {"x"}},
};

static size_t fill(const char *const *texts, struct slice *names)
{
	size_t count = 0;

	while (count < NAMES_MAX && texts[count]) {
		names[count] = slice_of(texts[count]);
		count++;
	}
	return count;
}

static void what_a_request_asks_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slice names[NAMES_MAX], want[NAMES_MAX];
		size_t count = fill(rows[i].asked, names);
		size_t want_count = fill(rows[i].names, want);
		struct subscription subscription;

		assert_int_equal(
			subscription_make(rows[i].type, names, count, &subscription), rows[i].rc);
		if (rows[i].rc)
			continue;
		assert_int_equal(subscription.type, rows[i].type);
		assert_int_equal(subscription.is_wildcard, rows[i].is_wildcard);
		assert_int_equal(subscription.count, want_count);
		for (size_t j = 0; j < want_count; j++) {
			assert_true(slice_equal(subscription.names[j], want[j]));
			assert_true(subscription_has(&subscription, want[j]));
		}
		assert_int_equal(
			subscription_has(&subscription, SLICE("nobody")), rows[i].is_wildcard);
	}
}

/* Equal keys exactly for equal subscriptions, also where names run together. */
static void keys(void **state)
{
	static const struct {
		enum xds_type type;
		const char *names[NAMES_MAX];
	} asked[] = {
		{XDS_CDS, {NULL}},
		{XDS_LDS, {NULL}},
		{XDS_CDS, {"a"}},
		{XDS_EDS, {"a"}},
		{XDS_EDS, {"a", "b"}},
		{XDS_EDS, {"ab"}},
		{XDS_EDS, {"b"}},
	};
	enum {
		COUNT = sizeof(asked) / sizeof(asked[0])
	};
	struct buf keys_made[COUNT] = {0};

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		struct slice names[NAMES_MAX];
		struct subscription subscription, again;

		assert_int_equal(subscription_make(asked[i].type, names,
					 fill(asked[i].names, names), &subscription),
			0);
		subscription_key(&subscription, &keys_made[i]);
		again = subscription_from_key(buf_slice(&keys_made[i]));
		assert_int_equal(again.type, subscription.type);
		assert_int_equal(again.is_wildcard, subscription.is_wildcard);
		assert_int_equal(again.count, subscription.count);
		for (size_t j = 0; j < again.count; j++)
			assert_true(slice_equal(again.names[j], subscription.names[j]));
		free((void *)again.names);
		for (size_t j = 0; j < i; j++)
			assert_false(
				slice_equal(buf_slice(&keys_made[i]), buf_slice(&keys_made[j])));
	}
	for (size_t i = 0; i < COUNT; i++)
		buf_fini(&keys_made[i]);
}

static struct resource_set *make_set(enum xds_type type, const char *const *names)
{
	struct resource_set *empty = resource_set_empty(type);
	struct resource_set_builder *builder = resource_set_edit(empty);
	struct resource_set *set;

	for (; *names; names++) {
		struct resource_spec spec = {.type = type,
			.name = slice_of(*names),
			.body = slice_of(*names),
			.ttl_ms = -1};
		struct resource *resource = resource_new(&spec);

		resource_set_put(builder, resource);
		resource_unref(resource);
	}
	set = resource_set_finish(builder);
	resource_set_unref(empty);
	return set;
}

/* S.44, and version_info is the set version of exactly the resources in the response. */
static void selects_exactly_the_names(void **state)
{
	struct resource_set *set = make_set(XDS_EDS, (const char *const[]){"a", "b", "c", NULL});
	struct resource_set *two = make_set(XDS_EDS, (const char *const[]){"a", "c", NULL});
	struct resource_set *none = make_set(XDS_EDS, (const char *const[]){NULL});
	struct slice names[] = {SLICE("c"), SLICE("zz"), SLICE("a")};
	struct slice unknown[] = {SLICE("zz")};
	struct subscription subscription;
	struct resource **found;
	struct version version;
	size_t count;

	(void)state;
	subscription_make(XDS_EDS, names, 3, &subscription);
	found = subscription_select(&subscription, set, &count);
	assert_int_equal(count, 2);
	assert_true(slice_is(found[0]->name, "a"));
	assert_true(slice_is(found[1]->name, "c"));
	free(found);
	version = subscription_version(&subscription, set, &count);
	assert_int_equal(count, 2);
	assert_string_equal(version.text, resource_set_version(two)->text);

	subscription_make(XDS_EDS, unknown, 1, &subscription);
	version = subscription_version(&subscription, set, &count);
	assert_int_equal(count, 0);
	assert_string_equal(version.text, resource_set_version(none)->text);
	resource_set_unref(set);
	resource_set_unref(two);
	resource_set_unref(none);
}

static void a_wildcard_selects_all(void **state)
{
	struct resource_set *set = make_set(XDS_CDS, (const char *const[]){"b", "a", NULL});
	struct subscription subscription;
	struct resource **found;
	struct version version;
	size_t count;

	(void)state;
	subscription_make(XDS_CDS, NULL, 0, &subscription);
	found = subscription_select(&subscription, set, &count);
	assert_int_equal(count, 2);
	assert_true(slice_is(found[0]->name, "a"));
	free(found);
	version = subscription_version(&subscription, set, &count);
	assert_int_equal(count, 2);
	assert_string_equal(version.text, resource_set_version(set)->text);
	resource_set_unref(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_request_asks_for),
		cmocka_unit_test(keys),
		cmocka_unit_test(selects_exactly_the_names),
		cmocka_unit_test(a_wildcard_selects_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
