/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/resource_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

static struct resource *make(const char *name, const char *body)
{
	struct resource_spec spec = {
		.type = XDS_EDS, .name = slice_of(name), .body = slice_of(body), .ttl_ms = -1};

	return resource_new(&spec);
}

static void put(struct resource_set_builder *builder, const char *name, const char *body)
{
	struct resource *resource = make(name, body);

	resource_set_put(builder, resource);
	resource_unref(resource);
}

static struct resource_set *build(size_t count, const char *body)
{
	struct resource_set *empty = resource_set_empty(XDS_EDS);
	struct resource_set_builder *builder = resource_set_edit(empty);
	char name[32];

	resource_set_unref(empty);
	for (size_t i = 0; i < count; i++) {
		/* Not in name order, and each name twice: the last one counts. */
		snprintf(name, sizeof(name), "c%zu", (i * 7919) % count);
		put(builder, name, "first");
		put(builder, name, body);
	}
	return resource_set_finish(builder);
}

struct seen {
	size_t added, removed, changed;
};

static int count_difference(void *ctx, struct resource *old_resource, struct resource *new_resource)
{
	struct seen *seen = ctx;

	assert_true(old_resource || new_resource);
	if (!old_resource)
		seen->added++;
	else if (!new_resource)
		seen->removed++;
	else {
		assert_true(slice_equal(old_resource->name, new_resource->name));
		seen->changed++;
	}
	return 0;
}

static struct seen diff(const struct resource_set *a, const struct resource_set *b)
{
	struct seen seen = {0};

	assert_int_equal(resource_set_diff(a, b, count_difference, &seen), 0);
	return seen;
}

static void test_find_iterate_and_sort(void **state)
{
	struct resource_set *set = build(3000, "x");
	struct resource **sorted, *resource;
	size_t count, seen = 0;
	uint64_t cursor = 0;
	char name[32];

	(void)state;
	assert_int_equal(resource_set_count(set), 3000);
	assert_int_equal(resource_set_bytes(set), 3000);
	for (size_t i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "c%zu", i);
		resource = resource_set_find(set, slice_of(name));
		assert_non_null(resource);
		assert_true(slice_is(resource->body, "x"));
	}
	assert_null(resource_set_find(set, SLICE("c3000")));
	assert_null(resource_set_find(set, SLICE("")));
	while ((resource = resource_set_next(set, &cursor)))
		seen++;
	assert_int_equal(seen, 3000);
	assert_null(resource_set_next(set, &cursor));
	sorted = resource_set_sorted(set, &count);
	assert_int_equal(count, 3000);
	for (size_t i = 1; i < count; i++)
		assert_true(slice_compare(sorted[i - 1]->name, sorted[i]->name) < 0);
	free(sorted);
	resource_set_unref(set);
}

static void test_one_change(void **state)
{
	struct resource_set *a = build(3000, "x"), *b, *c;
	struct resource_set_builder *builder = resource_set_edit(a);
	struct seen seen;

	(void)state;
	put(builder, "c17", "y");
	b = resource_set_finish(builder);
	assert_int_equal(resource_set_count(b), 3000);
	assert_false(version_equal(resource_set_version(a), resource_set_version(b)));
	seen = diff(a, b);
	assert_true(seen.changed == 1 && !seen.added && !seen.removed);
	/* Untouched resources are the same objects. */
	assert_ptr_equal(resource_set_find(a, SLICE("c18")), resource_set_find(b, SLICE("c18")));

	/* Going back to the old content brings the old version back. */
	builder = resource_set_edit(b);
	put(builder, "c17", "x");
	c = resource_set_finish(builder);
	assert_ptr_not_equal(a, c);
	assert_true(version_equal(resource_set_version(a), resource_set_version(c)));
	seen = diff(a, c);
	assert_true(!seen.changed && !seen.added && !seen.removed);
	resource_set_unref(a);
	resource_set_unref(b);
	resource_set_unref(c);
}

static void test_add_and_remove(void **state)
{
	struct resource_set *a = build(100, "x"), *b;
	struct resource_set_builder *builder = resource_set_edit(a);
	struct seen seen;

	(void)state;
	assert_true(resource_set_remove(builder, SLICE("c5")));
	assert_false(resource_set_remove(builder, SLICE("c5")));
	assert_false(resource_set_remove(builder, SLICE("nothing")));
	put(builder, "new", "x");
	put(builder, "c6", "y");
	b = resource_set_finish(builder);
	assert_int_equal(resource_set_count(b), 100);
	seen = diff(a, b);
	assert_true(seen.added == 1 && seen.removed == 1 && seen.changed == 1);
	seen = diff(b, a);
	assert_true(seen.added == 1 && seen.removed == 1 && seen.changed == 1);

	/* Down to nothing is the empty set, whatever the way there. */
	builder = resource_set_edit(b);
	for (unsigned i = 0; i < 100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "c%u", i);
		resource_set_remove(builder, slice_of(name));
	}
	resource_set_remove(builder, SLICE("new"));
	resource_set_unref(a);
	a = resource_set_finish(builder);
	resource_set_unref(b);
	b = resource_set_empty(XDS_EDS);
	assert_int_equal(resource_set_count(a), 0);
	assert_true(version_equal(resource_set_version(a), resource_set_version(b)));
	resource_set_unref(a);
	resource_set_unref(b);
}

static void test_no_change_is_the_same_set(void **state)
{
	struct resource_set *a = build(100, "x"), *b;
	struct resource_set_builder *builder = resource_set_edit(a);
	struct resource *same = resource_set_find(a, SLICE("c1"));

	(void)state;
	resource_set_put(builder, same);
	resource_set_remove(builder, SLICE("nothing"));
	put(builder, "new", "x");
	resource_set_remove(builder, SLICE("new"));
	b = resource_set_finish(builder);
	assert_ptr_equal(a, b);
	resource_set_unref(b);

	/* Another object with the same content counts: its position may differ. */
	builder = resource_set_edit(a);
	put(builder, "c1", "x");
	b = resource_set_finish(builder);
	assert_ptr_not_equal(a, b);
	assert_ptr_not_equal(resource_set_find(b, SLICE("c1")), same);
	assert_true(version_equal(resource_set_version(a), resource_set_version(b)));
	resource_set_unref(a);
	resource_set_unref(b);
}

static void assert_same_order(const struct resource_set *old_set, const struct resource_set *set)
{
	size_t count, old_count, from_count;
	struct resource **want = resource_set_sorted(set, &count);
	struct resource **old = resource_set_sorted(old_set, &old_count);
	struct resource **from = resource_set_sorted_from(set, old_set, old, &from_count);

	assert_int_equal(from_count, count);
	assert_memory_equal(from, want, count * sizeof(want[0]));
	free(want);
	free(old);
	free(from);
}

static void test_sorted_from_an_older_set(void **state)
{
	struct resource_set *a = build(1000, "x"), *b = build(1500, "x"), *c = build(0, "x"), *d;
	struct resource_set_builder *builder = resource_set_edit(a);

	(void)state;
	put(builder, "c17", "y");
	put(builder, "c18", "x"); /* the same content in another object */
	put(builder, "", "y");
	put(builder, "zzz", "y");
	resource_set_remove(builder, SLICE("c5"));
	d = resource_set_finish(builder);
	assert_same_order(a, d);
	assert_same_order(d, a);
	assert_same_order(a, a);
	assert_same_order(a, b);
	assert_same_order(b, a);
	assert_same_order(a, c);
	assert_same_order(c, a);
	resource_set_unref(a);
	resource_set_unref(b);
	resource_set_unref(c);
	resource_set_unref(d);
}

static int stop_at_once(void *ctx, struct resource *old_resource, struct resource *new_resource)
{
	(void)old_resource;
	(void)new_resource;
	++*(int *)ctx;
	return 7;
}

static void test_share_takes_what_is_the_same(void **state)
{
	struct resource_set *empty = resource_set_empty(XDS_EDS), *a, *b;
	struct resource *same = make("same", "1"), *more = make("more", "2");
	struct resource *again = make("same", "1");
	struct resource_set_builder *builder = resource_set_edit(empty);

	(void)state;
	resource_set_put(builder, same);
	a = resource_set_finish(builder);
	/* The same resources: the same set. */
	builder = resource_set_edit(empty);
	resource_set_put(builder, same);
	b = resource_set_share(resource_set_finish(builder), a);
	assert_ptr_equal(a, b);
	assert_ptr_equal(resource_set_share(b, a), a);
	/* More of them: a set of its own. */
	builder = resource_set_edit(empty);
	resource_set_put(builder, more);
	resource_set_unref(b);
	b = resource_set_finish(builder);
	assert_ptr_equal(resource_set_share(b, a), b);
	assert_ptr_equal(resource_set_find(b, SLICE("more")), more);
	assert_null(resource_set_find(b, SLICE("same")));
	resource_set_unref(b);
	/* Equal content in another object is not the same: it may come from another place. */
	builder = resource_set_edit(empty);
	resource_set_put(builder, again);
	b = resource_set_finish(builder);
	assert_ptr_equal(resource_set_share(b, a), b);
	assert_ptr_equal(resource_set_find(b, SLICE("same")), again);
	resource_set_unref(a);
	resource_set_unref(b);
	resource_set_unref(empty);
	resource_unref(same);
	resource_unref(more);
	resource_unref(again);
}

static void test_diff_stops(void **state)
{
	struct resource_set *a = build(100, "x"), *b = build(100, "y");
	int calls = 0;

	(void)state;
	assert_int_equal(resource_set_diff(a, b, stop_at_once, &calls), 7);
	assert_int_equal(calls, 1);
	resource_set_unref(a);
	resource_set_unref(b);
}

static void test_resource_keeps_its_parts(void **state)
{
	struct slice aliases[] = {SLICE("b"), SLICE("a"), SLICE("b")};
	struct rcstr *path = rcstr_new("eds/a.yaml", 10);
	struct resource_spec spec = {.type = XDS_EDS,
		.name = SLICE("n"),
		.body = SLICE("body"),
		.ttl_ms = 5,
		.aliases = aliases,
		.aliases_count = 3,
		.path = path,
		.at = {3, 4}};
	struct resource *resource = resource_new(&spec);

	(void)state;
	rcstr_unref(path);
	assert_int_equal(resource->aliases_count, 2);
	assert_true(slice_is(resource->aliases[0], "a"));
	assert_true(slice_is(resource->aliases[1], "b"));
	assert_true(slice_is(resource->name, "n"));
	assert_true(slice_is(resource->body, "body"));
	assert_string_equal(resource->path->text, "eds/a.yaml");
	assert_int_equal(resource->at.line, 3);
	resource_unref(resource_ref(resource));
	resource_unref(resource);
	resource_unref(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find_iterate_and_sort),
		cmocka_unit_test(test_one_change),
		cmocka_unit_test(test_add_and_remove),
		cmocka_unit_test(test_no_change_is_the_same_set),
		cmocka_unit_test(test_share_takes_what_is_the_same),
		cmocka_unit_test(test_diff_stops),
		cmocka_unit_test(test_sorted_from_an_older_set),
		cmocka_unit_test(test_resource_keeps_its_parts),
	};

	return cmocka_run_group_tests_name("resource_set", tests, NULL, NULL);
}
