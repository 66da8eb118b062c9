/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables: equal ones exist once, whatever way led to them; a change costs its pages. */
#include "serve/xds_draft.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>

#define NAMES 3000

static uint64_t seed;

static unsigned pick(unsigned below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % below;
}

static struct slice name_of(unsigned i)
{
	static char text[32];

	snprintf(text, sizeof(text), "outbound|8080||n%u", i);
	return slice_of(text);
}

/* What a table should hold: by number, 0: no entry. */
struct model {
	uint8_t values[NAMES];
};

static struct digest digest_of(uint8_t value)
{
	return (struct digest){.bytes = {value}};
}

static void put(struct xds_draft *draft, struct model *model, unsigned i, uint8_t value)
{
	struct digest digest = digest_of(value);

	model->values[i] = value;
	xds_draft_put_text(draft, name_of(i), value ? &digest : NULL,
		value ? XDS_HELD | (value & 1 ? XDS_SUBSCRIBED : 0) : 0);
}

static void check(const struct xds_table *table, const struct model *model)
{
	const struct xds_entry *entry, *former = NULL;
	size_t count = 0, subscribed = 0, cursor = 0;
	uint64_t sum = 0;

	for (unsigned i = 0; i < NAMES; i++) {
		struct digest digest = digest_of(model->values[i]);

		entry = xds_table_find(table, name_of(i));
		assert_int_equal(entry != NULL, model->values[i] != 0);
		if (!entry)
			continue;
		assert_true(digest_equal(&entry->digest, &digest));
		count++;
		subscribed += model->values[i] & 1;
		sum += model->values[i] & 1 ? xds_name_sum(name_of(i)) : 0;
	}
	assert_int_equal(table->whole.count, count);
	assert_int_equal(table->whole.subscribed, subscribed);
	assert_int_equal(table->whole.names_sum, sum);
	for (; (entry = xds_table_next(table, &cursor)); former = entry, count--)
		assert_true(!former || former->name->bucket < entry->name->bucket ||
			    slice_compare(
				    xds_name_slice(former->name), xds_name_slice(entry->name)) < 0);
	assert_int_equal(count, 0);
}

/* The same content in one go. */
static void check_is_the_one(struct xds_registry *registry, struct xds_table *table,
	struct xds_kind kind, const struct model *model)
{
	struct xds_table *empty = xds_table_empty(registry, kind), *direct;
	struct model copy = *model;
	struct xds_draft draft;

	xds_draft_begin(&draft, registry, empty, kind);
	for (unsigned i = NAMES; i-- > 0;)
		if (copy.values[i])
			put(&draft, &copy, i, copy.values[i]);
	direct = xds_draft_finish(&draft);
	assert_ptr_equal(direct, table);
	xds_table_unref(registry, direct);
	xds_table_unref(registry, empty);
}

static void run(uint64_t first_seed)
{
	struct xds_kind kind = {.feed = 7, .type = XDS_EDS, .is_delta = true};
	struct xds_registry registry;
	struct model model = {.values = {0}};
	struct xds_table *table;

	seed = first_seed;
	xds_registry_init(&registry);
	table = xds_table_empty(&registry, kind);
	for (unsigned round = 0; round < 60; round++) {
		/* mostly a few names, sometimes many; growing first, then shrinking */
		unsigned changes = pick(10) < 7 ? 1 + pick(3) : pick(NAMES / 2);
		struct xds_table *after;
		struct xds_draft draft;

		if (pick(10) == 0)
			kind.is_wildcard = !kind.is_wildcard;
		xds_draft_begin(&draft, &registry, table, kind);
		while (changes-- > 0) {
			bool is_removal = pick(100) < (round < 30 ? 20 : 80);

			put(&draft, &model, pick(NAMES), is_removal ? 0 : (uint8_t)(1 + pick(9)));
		}
		after = xds_draft_finish(&draft);
		xds_table_unref(&registry, table);
		table = after;
		check(table, &model);
		check_is_the_one(&registry, table, kind, &model);
	}
	xds_table_unref(&registry, table);
	xds_registry_fini(&registry);
}

static void test_random_changes(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 5; i++)
		run(i);
}

static void test_a_change_shares_the_other_pages(void **state)
{
	struct xds_kind kind = {.feed = 1, .type = XDS_EDS};
	struct model model = {.values = {0}};
	struct xds_table *empty, *table, *after, *same;
	struct xds_registry registry;
	struct xds_draft draft;
	size_t other = 0;

	(void)state;
	xds_registry_init(&registry);
	empty = xds_table_empty(&registry, kind);
	xds_draft_begin(&draft, &registry, empty, kind);
	for (unsigned i = 0; i < 1000; i++)
		put(&draft, &model, i, 2);
	table = xds_draft_finish(&draft);
	assert_in_range(xds_table_pages(table), 16, 64);
	xds_draft_begin(&draft, &registry, table, kind);
	put(&draft, &model, 500, 5);
	after = xds_draft_finish(&draft);
	for (size_t i = 0; i < xds_table_pages(table); i++)
		other += xds_table_page(table, i) != xds_table_page(after, i);
	assert_int_equal(other, 1);
	/* nothing different: the table itself */
	xds_draft_begin(&draft, &registry, after, kind);
	put(&draft, &model, 500, 2);
	put(&draft, &model, 500, 5);
	same = xds_draft_finish(&draft);
	assert_ptr_equal(same, after);
	xds_table_unref(&registry, same);
	xds_table_unref(&registry, after);
	xds_table_unref(&registry, table);
	xds_table_unref(&registry, empty);
	xds_registry_fini(&registry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_changes),
		cmocka_unit_test(test_a_change_shares_the_other_pages),
	};

	return cmocka_run_group_tests_name("xds_table", tests, NULL, NULL);
}
