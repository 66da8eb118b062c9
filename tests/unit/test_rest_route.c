/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/rest/rest_route.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct row {
	const char *method, *path;
	enum rest_route_kind kind;
	int type; /* -1: none */
	const char *group, *allow, *problem;
};

static const struct row rows[] = {
	/* S.32 and S.52 */
	{"POST", "/v3/discovery:clusters", REST_DISCOVERY, XDS_CDS, "", "", ""},
	{"POST", "/v3/discovery:endpoints", REST_DISCOVERY, XDS_EDS, "", "", ""},
	{"POST", "/v3/discovery:listeners", REST_DISCOVERY, XDS_LDS, "", "", ""},
	{"POST", "/v3/discovery:routes", REST_DISCOVERY, XDS_RDS, "", "", ""},
	{"POST", "/v3/discovery:scoped-routes", REST_DISCOVERY, XDS_SRDS, "", "", ""},
	{"POST", "/v3/discovery:secrets", REST_DISCOVERY, XDS_SDS, "", "", ""},
	{"POST", "/v3/discovery:runtime", REST_DISCOVERY, XDS_RTDS, "", "", ""},
	{"POST", "/v3/discovery:extension_configs", REST_DISCOVERY, XDS_ECDS, "", "", ""},
	{"POST", "/v3/discovery:scoped_routes", REST_NO_PATH, -1, "", "",
		"did you mean \"/v3/discovery:scoped-routes\"?"},
	{"POST", "/v3/discovery:extension-configs", REST_NO_PATH, -1, "", "",
		"did you mean \"/v3/discovery:extension_configs\"?"},
	{"POST", "/v3/discovery:virtual-hosts", REST_NO_PATH, -1, "", "", ""},
	{"POST", "/v3/discovery:health_check", REST_NO_PATH, -1, "", "", ""},
	{"POST", "/v3/discovery:client_status", REST_NO_PATH, -1, "", "", ""},
	{"POST", "/v3/discovery:Clusters", REST_NO_PATH, -1, "", "",
		"did you mean \"/v3/discovery:clusters\"?"},
	{"POST", "/v3/discovery:clusters/", REST_NO_PATH, -1, "", "",
		"did you mean \"/v3/discovery:clusters\"?"},
	{"POST", "/v2/discovery:clusters", REST_NO_PATH, -1, "", "", "transport_api_version: V3"},
	{"POST", "/v2/", REST_NO_PATH, -1, "", "", "/v3/"},
	{"GET", "/", REST_NO_PATH, -1, "", "", "nothing at"},
	{"GET", "", REST_NO_PATH, -1, "", "", "nothing at"},
	{"POST", "/v3", REST_NO_PATH, -1, "", "", "nothing at"},
	/* S.33 */
	{"GET", "/v3/discovery:clusters", REST_NO_METHOD, -1, "", "POST",
		"/v3/groups/<group>/<type>"},
	{"PUT", "/v3/discovery:secrets", REST_NO_METHOD, -1, "", "POST", ""},
	/* for people */
	{"GET", "/v3/groups", REST_GROUPS, -1, "", "", ""},
	{"GET", "/v3/groups/", REST_GROUPS, -1, "", "", ""},
	{"HEAD", "/v3/groups", REST_GROUPS, -1, "", "", ""},
	{"GET", "/v3/groupsies", REST_NO_PATH, -1, "", "", ""},
	{"GET", "/v3/groups/edge", REST_GROUP, -1, "edge", "", ""},
	{"GET", "/v3/groups/edge/", REST_GROUP, -1, "edge", "", ""},
	{"GET", "/v3/groups/edge/cds", REST_SET, XDS_CDS, "edge", "", ""},
	{"GET", "/v3/groups/edge/CDS", REST_SET, XDS_CDS, "edge", "", ""},
	{"GET", "/v3/groups/edge/clusters", REST_SET, XDS_CDS, "edge", "", ""},
	{"GET", "/v3/groups/edge/virtual-hosts", REST_SET, XDS_VHDS, "edge", "", ""},
	{"GET", "/v3/groups/edge/cds/", REST_SET, XDS_CDS, "edge", "", ""},
	{"GET", "/v3/groups/edge/cds/x", REST_NO_PATH, -1, "", "", ""},
	{"GET", "/v3/groups/edge/nonsense", REST_NO_PATH, -1, "", "", ""},
	{"POST", "/v3/groups/edge/cds", REST_NO_METHOD, -1, "", "GET, HEAD", ""},
};

static void paths(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct buf problem = BUF_INIT;
		struct rest_route route = rest_route_find(row->method, row->path, &problem);

		if (route.kind != row->kind)
			fail_msg("%s %s: %d", row->method, row->path, (int)route.kind);
		assert_int_equal(route.row ? (int)route.row->type : -1, row->type);
		if (*row->group)
			assert_true(slice_is(route.group, row->group));
		if (*row->allow)
			assert_string_equal(route.allow, row->allow);
		if (!strstr(buf_cstr(&problem), row->problem))
			fail_msg("%s %s: %s", row->method, row->path, buf_cstr(&problem));
		assert_int_equal(problem.length != 0,
			row->kind == REST_NO_METHOD || row->kind == REST_NO_PATH);
		buf_fini(&problem);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(paths)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
