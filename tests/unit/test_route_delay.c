/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/route_delay.h"

#include "xds_script.h"

static bool is_due(const char *before, const char *after)
{
	struct snapshot *old = before ? script_snapshot(before) : NULL;
	struct snapshot *now = after ? script_snapshot(after) : NULL;
	bool due = route_delay_is_due(old, now);

	snapshot_unref(old);
	snapshot_unref(now);
	return due;
}

static void only_new_clusters_count(void **state)
{
	(void)state;
	assert_true(is_due("CDS:a=1", "CDS:a=1,b=1"));
	assert_true(is_due("CDS:a=1", "CDS:b=1"));
	assert_true(is_due("RDS:r=1", "CDS:a=1 RDS:r=1"));
	assert_false(is_due("CDS:a=1", "CDS:a=2"));
	assert_false(is_due("CDS:a=1,b=1", "CDS:a=1"));
	assert_false(is_due("CDS:a=1 EDS:a=1", "CDS:a=1 EDS:a=1,b=1 RDS:r=1"));
	assert_false(is_due(NULL, "CDS:a=1"));
	assert_false(is_due("CDS:a=1", NULL));
}

static void what_waits(void **state)
{
	struct route_delay delay = {.until_ms = 0};

	(void)state;
	assert_int_equal(route_delay_until(&delay, XDS_RDS), 0);
	route_delay_begin(&delay, 500, 1000);
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		bool uses =
			type == XDS_LDS || type == XDS_RDS || type == XDS_SRDS || type == XDS_VHDS;

		assert_int_equal(route_delay_until(&delay, (enum xds_type)type), uses ? 1500 : 0);
	}
}

static void it_ends_however_often_clusters_come(void **state)
{
	struct route_delay delay = {.until_ms = 0};

	(void)state;
	route_delay_begin(&delay, 0, 1000);
	for (int64_t now_ms = 900; now_ms < 4000; now_ms += 900) {
		route_delay_begin(&delay, now_ms, 1000);
		assert_int_equal(delay.until_ms, now_ms < 3000 ? now_ms + 1000 : 4000);
	}
	/* in a row no more */
	route_delay_begin(&delay, 4000, 1000);
	assert_int_equal(delay.until_ms, 5000);
	/* it can be turned off */
	route_delay_begin(&delay, 9000, 0);
	assert_int_equal(delay.until_ms, 9000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_new_clusters_count),
		cmocka_unit_test(what_waits),
		cmocka_unit_test(it_ends_however_often_clusters_come),
	};

	return cmocka_run_group_tests_name("route_delay", tests, NULL, NULL);
}
