/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "publish/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

static const char *name_of(struct slice name)
{
	static char out[LAYOUT_NAME_BYTES + 1];

	memset(out, 'X', sizeof(out));
	layout_name(name, out);
	assert_true(strlen(out) >= 1 && strlen(out) <= LAYOUT_NAME_BYTES);
	assert_true(out[0] != '.');
	assert_null(strchr(out, '/'));
	return out;
}

static void test_safe_names(void **state)
{
	static const struct {
		const char *name, *want;
	} cases[] = {
		{"cluster-1", "cluster-1"},
		{"Az09_-", "Az09_-"},
		{"a.b.c", "a.b.c"},
		{".", "%2E"},
		{"..", "%2E."},
		{".hidden", "%2Ehidden"},
		{"a/b", "a%2Fb"},
		{"/etc/passwd", "%2Fetc%2Fpasswd"},
		{"a%2Fb", "a%252Fb"},
		{"a b", "a%20b"},
		{"~", "%7E"},
		{"*:8080", "%2A%3A8080"},
		{"\xc3\xa9", "%C3%A9"},
		{"\x01\xff", "%01%FF"},
		{"", "%"},
		{"%", "%25"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(name_of(slice_of(cases[i].name)), cases[i].want);
	assert_string_equal(name_of((struct slice){"a\0b", 3}), "a%00b");
}

static void test_long_names(void **state)
{
	char name[1024], first[LAYOUT_NAME_BYTES + 1];

	(void)state;
	memset(name, 'x', sizeof(name));
	assert_int_equal(strlen(name_of((struct slice){name, 200})), 200);
	assert_null(strchr(name_of((struct slice){name, 200}), '~'));
	strcpy(first, name_of((struct slice){name, 201}));
	assert_non_null(strchr(first, '~'));
	assert_int_equal(strlen(first), 200);
	/* A digest of all of it: names that differ at the end differ. */
	assert_string_not_equal(first, name_of((struct slice){name, 202}));
	name[1023] = 'y';
	strcpy(first, name_of((struct slice){name, 1024}));
	name[1023] = 'z';
	assert_string_not_equal(first, name_of((struct slice){name, 1024}));
	/* 1,024 bytes that all need %XX, cut at every phase: never in the middle of one. */
	for (size_t plain = 0; plain < 3; plain++) {
		const char *got;

		memset(name, '\xe9', sizeof(name));
		memset(name, 'p', plain);
		got = name_of((struct slice){name, 1024});
		assert_int_equal((strchr(got, '~') - got - (ptrdiff_t)plain) % 3, 0);
	}
	/* What looks like a shortened name is not one. */
	assert_string_not_equal(first, name_of(slice_of(first)));
}

static void test_group_names(void **state)
{
	static const char *const good[] = {"a", "0", "edge-prod", "a.b_c-d", "9.."};
	static const char *const bad[] = {
		"", ".", "..", ".xdspub", "-a", "_a", "A", "a/b", "a b", "\xc3\xa9", "a\n"};
	char longest[202];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(layout_group_is_valid(slice_of(good[i])));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(layout_group_is_valid(slice_of(bad[i])));
	memset(longest, 'a', sizeof(longest));
	assert_true(layout_group_is_valid((struct slice){longest, 200}));
	assert_false(layout_group_is_valid((struct slice){longest, 201}));
}

/* One resource named n of each given type. */
static struct snapshot *make(const char *types)
{
	struct rcstr *group = rcstr_new("g", 1);
	struct snapshot *empty = snapshot_empty(group), *snapshot;
	struct resource_set *sets[XDS_TYPE_COUNT];
	char copy[128], *word, *rest = copy;

	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		sets[type] = resource_set_ref(empty->sets[type]);
	snprintf(copy, sizeof(copy), "%s", types);
	while ((word = strtok_r(rest, " ", &rest))) {
		struct resource_spec spec = {.ttl_ms = -1, .name = SLICE("n")};
		char *body = strchr(word, '=');
		struct resource_set_builder *builder;
		struct resource *resource;

		if (body)
			*body++ = '\0';
		spec.type = xds_type_by_name(slice_of(word))->type;
		spec.body = slice_of(body ? body : "");
		resource = resource_new(&spec);
		builder = resource_set_edit(sets[spec.type]);
		resource_set_put(builder, resource);
		resource_unref(resource);
		resource_set_unref(sets[spec.type]);
		sets[spec.type] = resource_set_finish(builder);
	}
	snapshot = snapshot_new(group, sets, false, NULL, 0);
	snapshot_unref(empty);
	rcstr_unref(group);
	return snapshot;
}

static void check_plan(const char *from, const char *to, const char *want)
{
	struct snapshot *published = make(from), *target = make(to);
	struct layout_plan plan = {0};
	char text[512] = "";

	layout_plan_difference(&plan, published, target);
	layout_plan_sort(&plan);
	for (size_t i = 0; i < plan.count; i++) {
		const struct layout_step *step = &plan.steps[i];

		sprintf(text + strlen(text), "%s%s%s", i ? " " : "",
			step->action == LAYOUT_REMOVE ? "-" : "", xds_type_row(step->type)->stem);
		assert_int_equal(step->name.length, step->name.data && step->resource ? 1
						    : step->action == LAYOUT_REMOVE   ? 1
										      : 0);
	}
	assert_string_equal(text, want);
	layout_plan_fini(&plan);
	snapshot_unref(published);
	snapshot_unref(target);
}

static void test_s23_order_of_steps(void **state)
{
	(void)state;
	check_plan("", "lds rds cds eds sds srds rtds ecds vhds",
		"sds eds rtds ecds cds rds srds lds");
	/* Sets are rewritten, single resources removed, in the reverse order, after all writes. */
	check_plan("lds rds cds eds sds srds rtds ecds vhds", "",
		"cds srds lds -rds -ecds -rtds -eds -sds");
	check_plan("lds cds rds sds", "lds cds eds rds=2", "eds rds -sds");
	check_plan("lds cds", "lds cds=2", "cds");
	check_plan("lds cds vhds", "lds cds vhds=2", "");
	check_plan("", "", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_safe_names),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_group_names),
		cmocka_unit_test(test_s23_order_of_steps),
	};

	return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
