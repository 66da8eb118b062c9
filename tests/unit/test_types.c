/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>

static void test_rows_are_in_the_order_of_the_enum(void **state)
{
	(void)state;
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		const struct xds_type_row *row = xds_type_row((enum xds_type)type);

		assert_int_equal(row->type, type);
		assert_ptr_equal(xds_type_by_name(slice_of(row->name)), row);
		assert_ptr_equal(xds_type_by_name(slice_of(row->stem)), row);
		assert_ptr_equal(xds_type_by_folder(slice_of(row->folder)), row);
		assert_ptr_equal(xds_type_by_message(slice_of(row->message)), row);
		assert_ptr_equal(xds_type_by_url(slice_of(row->type_url)), row);
		if (row->rest_path)
			assert_ptr_equal(xds_type_by_rest_path(slice_of(row->rest_path)), row);
	}
}

/* Ranks by type name, "" where several types share the question. */
static void order(char *out, bool by_stream)
{
	out[0] = '\0';
	for (uint8_t rank = 0; rank < XDS_TYPE_COUNT; rank++) {
		unsigned found = 0;

		for (int type = 0; type < XDS_TYPE_COUNT; type++) {
			const struct xds_type_row *row = xds_type_row((enum xds_type)type);

			if ((by_stream ? row->stream_rank : row->publish_rank) != rank)
				continue;
			found++;
			strcat(out, row->name);
			strcat(out, " ");
		}
		assert_int_equal(found, 1);
	}
}

static void test_s23_order_of_files(void **state)
{
	char text[64];

	(void)state;
	order(text, false);
	assert_string_equal(text, "SDS EDS RTDS ECDS CDS RDS SRDS LDS VHDS ");
}

static void test_s110_order_on_a_stream(void **state)
{
	char text[64];

	(void)state;
	order(text, true);
	assert_string_equal(text, "CDS EDS SDS RTDS ECDS LDS SRDS RDS VHDS ");
}

static void test_look_up_forgives_only_what_it_should(void **state)
{
	(void)state;
	assert_int_equal(xds_type_by_folder(SLICE("scoped_routes"))->type, XDS_SRDS);
	assert_int_equal(xds_type_by_folder(SLICE("virtual-hosts"))->type, XDS_VHDS);
	assert_int_equal(xds_type_by_folder(SLICE("extension-configs"))->type, XDS_ECDS);
	assert_null(xds_type_by_folder(SLICE("cluster")));
	assert_null(xds_type_by_folder(SLICE("Clusters")));
	assert_null(xds_type_by_name(SLICE("")));
	assert_null(xds_type_by_name(SLICE("ads")));
	assert_null(xds_type_by_url(SLICE("envoy.config.cluster.v3.Cluster")));
	assert_null(xds_type_by_rest_path(SLICE("/v3/discovery:virtual-hosts")));
	assert_null(xds_type_by_rest_path(SLICE("/v3/discovery:scoped_routes")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_in_the_order_of_the_enum),
		cmocka_unit_test(test_s23_order_of_files),
		cmocka_unit_test(test_s110_order_on_a_stream),
		cmocka_unit_test(test_look_up_forgives_only_what_it_should),
	};

	return cmocka_run_group_tests_name("types", tests, NULL, NULL);
}
