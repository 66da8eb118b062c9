/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_method.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>

struct row {
	const char *path;
	enum xds_form form;
	int type; /* -1: aggregated; -2: no such method */
};

/* The table of the methods as the API's files have them. */
static const struct row rows[] = {
	{"/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources",
		XDS_SOTW, -1},
	{"/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
		XDS_DELTA, -1},
	{"/envoy.service.discovery.v3.AggregatedDiscoveryService/FetchAggregatedResources",
		XDS_FETCH, -2},
	{"/envoy.service.listener.v3.ListenerDiscoveryService/StreamListeners", XDS_SOTW, XDS_LDS},
	{"/envoy.service.listener.v3.ListenerDiscoveryService/DeltaListeners", XDS_DELTA, XDS_LDS},
	{"/envoy.service.listener.v3.ListenerDiscoveryService/FetchListeners", XDS_FETCH, XDS_LDS},
	{"/envoy.service.route.v3.RouteDiscoveryService/StreamRoutes", XDS_SOTW, XDS_RDS},
	{"/envoy.service.route.v3.RouteDiscoveryService/DeltaRoutes", XDS_DELTA, XDS_RDS},
	{"/envoy.service.route.v3.RouteDiscoveryService/FetchRoutes", XDS_FETCH, XDS_RDS},
	{"/envoy.service.route.v3.ScopedRoutesDiscoveryService/StreamScopedRoutes", XDS_SOTW,
		XDS_SRDS},
	{"/envoy.service.route.v3.ScopedRoutesDiscoveryService/DeltaScopedRoutes", XDS_DELTA,
		XDS_SRDS},
	{"/envoy.service.route.v3.ScopedRoutesDiscoveryService/FetchScopedRoutes", XDS_FETCH,
		XDS_SRDS},
	{"/envoy.service.route.v3.ScopedRouteDiscoveryService/StreamScopedRoutes", XDS_SOTW, -2},
	{"/envoy.service.route.v3.VirtualHostDiscoveryService/DeltaVirtualHosts", XDS_DELTA,
		XDS_VHDS},
	{"/envoy.service.route.v3.VirtualHostDiscoveryService/StreamVirtualHosts", XDS_SOTW, -2},
	{"/envoy.service.route.v3.VirtualHostDiscoveryService/FetchVirtualHosts", XDS_FETCH, -2},
	{"/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters", XDS_SOTW, XDS_CDS},
	{"/envoy.service.cluster.v3.ClusterDiscoveryService/DeltaClusters", XDS_DELTA, XDS_CDS},
	{"/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters", XDS_FETCH, XDS_CDS},
	{"/envoy.service.endpoint.v3.EndpointDiscoveryService/StreamEndpoints", XDS_SOTW, XDS_EDS},
	{"/envoy.service.endpoint.v3.EndpointDiscoveryService/DeltaEndpoints", XDS_DELTA, XDS_EDS},
	{"/envoy.service.endpoint.v3.EndpointDiscoveryService/FetchEndpoints", XDS_FETCH, XDS_EDS},
	{"/envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets", XDS_SOTW, XDS_SDS},
	{"/envoy.service.secret.v3.SecretDiscoveryService/DeltaSecrets", XDS_DELTA, XDS_SDS},
	{"/envoy.service.secret.v3.SecretDiscoveryService/FetchSecrets", XDS_FETCH, XDS_SDS},
	{"/envoy.service.runtime.v3.RuntimeDiscoveryService/StreamRuntime", XDS_SOTW, XDS_RTDS},
	{"/envoy.service.runtime.v3.RuntimeDiscoveryService/DeltaRuntime", XDS_DELTA, XDS_RTDS},
	{"/envoy.service.runtime.v3.RuntimeDiscoveryService/FetchRuntime", XDS_FETCH, XDS_RTDS},
	{"/envoy.service.extension.v3.ExtensionConfigDiscoveryService/StreamExtensionConfigs",
		XDS_SOTW, XDS_ECDS},
	{"/envoy.service.extension.v3.ExtensionConfigDiscoveryService/DeltaExtensionConfigs",
		XDS_DELTA, XDS_ECDS},
	{"/envoy.service.extension.v3.ExtensionConfigDiscoveryService/FetchExtensionConfigs",
		XDS_FETCH, XDS_ECDS},
	{"/envoy.service.cluster.v3.ClusterDiscoveryService/StreamListeners", XDS_SOTW, -2},
	{"/envoy.service.cluster.v3.ClusterDiscoveryService/Stream", XDS_SOTW, -2},
	{"/envoy.service.cluster.v3.ClusterDiscoveryService/", XDS_SOTW, -2},
	{"/envoy.service.cluster.v3.ClusterDiscoveryService", XDS_SOTW, -2},
	{"/envoy.api.v2.ClusterDiscoveryService/StreamClusters", XDS_SOTW, -2},
	{"envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters", XDS_SOTW, -2},
	{"//StreamClusters", XDS_SOTW, -2},
	{"/", XDS_SOTW, -2},
	{"", XDS_SOTW, -2},
};

static void test_s53_paths(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct xds_method method;
		int error = xds_method_parse(slice_of(rows[i].path), &method);
		struct buf path = BUF_INIT;

		if (rows[i].type == -2) {
			if (error != -ENOENT)
				fail_msg("%s is no method", rows[i].path);
			continue;
		}
		if (error)
			fail_msg("%s was not found", rows[i].path);
		assert_int_equal(method.form, rows[i].form);
		assert_int_equal(method.row ? (int)method.row->type : -1, rows[i].type);
		assert_int_equal(xds_method_path(&method, &path), 0);
		assert_string_equal(buf_cstr(&path), rows[i].path);
		buf_fini(&path);
	}
}

static void test_methods_that_are_not_there_have_no_path(void **state)
{
	struct xds_method fetch_ads = {XDS_FETCH, NULL};
	struct xds_method stream_vhds = {XDS_SOTW, xds_type_row(XDS_VHDS)};
	struct buf path = BUF_INIT;

	(void)state;
	assert_int_equal(xds_method_path(&fetch_ads, &path), -ENOENT);
	assert_int_equal(xds_method_path(&stream_vhds, &path), -ENOENT);
	buf_fini(&path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_s53_paths),
		cmocka_unit_test(test_methods_that_are_not_there_have_no_path),
	};

	return cmocka_run_group_tests_name("xds_method", tests, NULL, NULL);
}
