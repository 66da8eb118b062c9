/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_services.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void check(const char *path, const char *want)
{
	char problem[512];

	grpc_services_explain(slice_of(path), problem, sizeof(problem));
	assert_string_equal(problem, want);
}

static void names(void **state)
{
	(void)state;
	assert_int_equal(grpc_services_count(), 14);
	for (size_t i = 0; i < grpc_services_count(); i++) {
		assert_true(grpc_services_has(slice_of(grpc_services_name(i))));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(grpc_services_name(i), grpc_services_name(k));
	}
	assert_false(grpc_services_has(SLICE("")));
	assert_false(grpc_services_has(SLICE("grpc.health.v1.health")));
}

static void explains(void **state)
{
	(void)state;
	/* The name that the protocol's document has, and the API has not (S.53). */
	check("/envoy.service.route.v3.ScopedRouteDiscoveryService/StreamScopedRoutes",
		"there is no method "
		"/envoy.service.route.v3.ScopedRouteDiscoveryService/StreamScopedRoutes, did you "
		"mean \"/envoy.service.route.v3.ScopedRoutesDiscoveryService/"
		"StreamScopedRoutes\"?");
	check("/grpc.health.v1.Health/Chek",
		"there is no method /grpc.health.v1.Health/Chek, did you mean "
		"\"/grpc.health.v1.Health/Check\"?");
	check("/envoy.service.discovery.v2.AggregatedDiscoveryService/StreamAggregatedResources",
		"the v2 API is not served "
		"(/envoy.service.discovery.v2.AggregatedDiscoveryService/"
		"StreamAggregatedResources): set transport_api_version: V3");
	check("/a.B/C", "there is no method /a.B/C");
	check("", "there is no method ");
	check("/\x01\xff", "there is no method /\\x01\\xff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(explains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
