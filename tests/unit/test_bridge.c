/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/bridge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

/* "cds:a eds:a=2": types, names, contents (default 1). */
static struct snapshot *make(const char *text)
{
	struct rcstr *group = rcstr_new("g", 1);
	struct snapshot *empty = snapshot_empty(group), *snapshot;
	struct resource_set_builder *builders[XDS_TYPE_COUNT];
	struct resource_set *sets[XDS_TYPE_COUNT];
	char copy[256], *word, *rest = copy;

	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		builders[type] = resource_set_edit(empty->sets[type]);
	snprintf(copy, sizeof(copy), "%s", text);
	while ((word = strtok_r(rest, " ", &rest))) {
		char *name = strchr(word, ':') + 1, *body = strchr(word, '=');
		struct resource_spec spec = {.ttl_ms = -1};
		struct resource *resource;

		spec.type = xds_type_by_name((struct slice){word, (size_t)(name - 1 - word)})->type;
		spec.name = (struct slice){name, body ? (size_t)(body - name) : strlen(name)};
		spec.body = slice_of(body ? body + 1 : "1");
		resource = resource_new(&spec);
		resource_set_put(builders[spec.type], resource);
		resource_unref(resource);
	}
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		sets[type] = resource_set_finish(builders[type]);
	snapshot = snapshot_new(group, sets, false, NULL, 0);
	snapshot_unref(empty);
	rcstr_unref(group);
	return snapshot;
}

static void print(const struct snapshot *snapshot, char *out)
{
	static const enum xds_type types[] = {XDS_LDS, XDS_CDS, XDS_RDS, XDS_EDS, XDS_SDS, XDS_RTDS,
		XDS_ECDS, XDS_SRDS, XDS_VHDS};

	out[0] = '\0';
	if (!snapshot) {
		strcpy(out, "-");
		return;
	}
	if (snapshot->is_bridge)
		strcat(out, "bridge");
	for (size_t i = 0; i < XDS_TYPE_COUNT; i++) {
		size_t count;
		struct resource **all = resource_set_sorted(snapshot->sets[types[i]], &count);

		for (size_t k = 0; k < count; k++) {
			sprintf(out + strlen(out), "%s%s:%.*s", out[0] ? " " : "",
				xds_type_row(types[i])->stem, SLICE_ARG(all[k]->name));
			if (!slice_is(all[k]->body, "1"))
				sprintf(out + strlen(out), "=%.*s", SLICE_ARG(all[k]->body));
		}
		free(all);
	}
}

struct step {
	int64_t at_ms;
	const char *target; /* NULL: only time passes */
	const char *want;   /* what is published; "-": nothing */
};

static void play(const char *published, const struct step *steps, size_t count)
{
	struct bridge bridge = {.final_at_ms = -1};

	if (published)
		bridge.published = make(published);
	for (size_t i = 0; i < count; i++) {
		struct snapshot *got, *target;
		char text[512];

		if (steps[i].target) {
			target = make(steps[i].target);
			got = bridge_on_target(&bridge, target, steps[i].at_ms, 30);
			snapshot_unref(target);
		} else {
			got = bridge_on_time(&bridge, steps[i].at_ms);
		}
		print(got, text);
		assert_string_equal(text, steps[i].want);
		if (got)
			assert_ptr_equal(got, bridge.published);
		assert_int_equal(bridge.final_at_ms >= 0, bridge.published->is_bridge);
		snapshot_unref(got);
	}
	bridge_fini(&bridge);
	assert_null(bridge.published);
}
#define PLAY(published, ...)                                                                       \
	play(published, (struct step[]){__VA_ARGS__},                                              \
		sizeof((struct step[]){__VA_ARGS__}) / sizeof(struct step))

static void test_first_and_additions_need_no_bridge(void **state)
{
	(void)state;
	PLAY(NULL, {0, "cds:a", "cds:a"}, {1, "cds:a", "-"}, {2, "cds:a cds:b", "cds:a cds:b"},
		{3, "cds:a=2 cds:b", "cds:a=2 cds:b"}, {1000, NULL, "-"});
}

static void test_removal_waits(void **state)
{
	(void)state;
	PLAY(NULL,
		{0, "cds:a eds:a rds:r sds:s rtds:t ecds:e",
			"cds:a rds:r eds:a sds:s rtds:t ecds:e"},
		{10, "cds:b", "bridge cds:a cds:b rds:r eds:a sds:s rtds:t ecds:e"},
		{39, NULL, "-"}, {40, NULL, "cds:b"}, {41, NULL, "-"}, {100, NULL, "-"});
}

/* S.14, S.111: a listener is what refers to others; it goes first, the rest after the grace. */
static void test_unbridged_types_go_at_once(void **state)
{
	(void)state;
	PLAY(NULL, {0, "lds:l srds:s vhds:v cds:a", "lds:l cds:a srds:s vhds:v"},
		{1, "cds:a", "cds:a"}, {2, "lds:l cds:a", "lds:l cds:a"},
		{3, "cds:b", "bridge cds:a cds:b"}, {33, NULL, "cds:b"});
}

static void test_come_back_during_grace(void **state)
{
	(void)state;
	PLAY(NULL, {0, "cds:a cds:b", "cds:a cds:b"}, {1, "cds:a", "bridge cds:a cds:b"},
		{2, "cds:a cds:b", "cds:a cds:b"}, {31, NULL, "-"}, {99, NULL, "-"});
	/* ... with other content */
	PLAY(NULL, {0, "cds:a cds:b", "cds:a cds:b"}, {1, "cds:a", "bridge cds:a cds:b"},
		{2, "cds:a cds:b=2", "cds:a cds:b=2"}, {99, NULL, "-"});
}

static void test_changes_restart_the_grace(void **state)
{
	(void)state;
	PLAY(NULL, {0, "cds:a cds:b cds:c", "cds:a cds:b cds:c"},
		{10, "cds:b cds:c", "bridge cds:a cds:b cds:c"},
		{30, "cds:b=2 cds:c", "bridge cds:a cds:b=2 cds:c"}, {40, NULL, "-"},
		/* removing more leaves the union as it is: nothing to publish, but a new period */
		{50, "cds:b=2", "-"}, {60, NULL, "-"}, {79, NULL, "-"}, {80, NULL, "cds:b=2"});
}

static void test_same_target_again_does_not(void **state)
{
	(void)state;
	PLAY(NULL, {0, "cds:a cds:b", "cds:a cds:b"}, {10, "cds:a", "bridge cds:a cds:b"},
		{30, "cds:a", "-"}, {40, NULL, "cds:a"});
}

static void test_restart(void **state)
{
	(void)state;
	/* What was published last comes from the state folder, itself possibly a bridge. */
	PLAY("cds:a cds:b", {0, "cds:a", "bridge cds:a cds:b"}, {29, NULL, "-"},
		{30, NULL, "cds:a"});
	PLAY("cds:a", {0, "cds:a", "-"}, {1, "cds:a lds:l", "lds:l cds:a"});
}

static void test_no_grace(void **state)
{
	struct bridge bridge = {.final_at_ms = -1};
	struct snapshot *a = make("cds:a cds:b"), *b = make("cds:b");
	struct snapshot *got;

	(void)state;
	snapshot_unref(bridge_on_target(&bridge, a, 0, 0));
	got = bridge_on_target(&bridge, b, 1, 0);
	assert_ptr_equal(got, b);
	snapshot_unref(got);
	bridge_fini(&bridge);
	snapshot_unref(a);
	snapshot_unref(b);
}

/* The union has a version of its own, the same wherever it is computed. */
static void test_version_of_the_union(void **state)
{
	struct snapshot *a = make("cds:a"), *b = make("cds:b"), *both = make("cds:a cds:b");
	struct snapshot *bridge = bridge_make(a, b);

	(void)state;
	assert_true(bridge->is_bridge);
	assert_true(snapshot_same_content(bridge, both));
	assert_false(snapshot_same_content(bridge, a));
	assert_int_equal(snapshot_count(bridge), 2);
	snapshot_unref(a);
	snapshot_unref(b);
	snapshot_unref(both);
	snapshot_unref(bridge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_and_additions_need_no_bridge),
		cmocka_unit_test(test_removal_waits),
		cmocka_unit_test(test_unbridged_types_go_at_once),
		cmocka_unit_test(test_come_back_during_grace),
		cmocka_unit_test(test_changes_restart_the_grace),
		cmocka_unit_test(test_same_target_again_does_not),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_no_grace),
		cmocka_unit_test(test_version_of_the_union),
	};

	return cmocka_run_group_tests_name("bridge", tests, NULL, NULL);
}
