/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/path.h"

#include "author_fixture.h"

#define HCM "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"

/* What a path leads to: "message full.name", "field full.name of value.Type" ... */
static void show(const struct path *path, struct buf *out)
{
	switch (path->kind) {
	case PATH_MESSAGE:
		buf_printf(out, "message %s", path->message->full_name);
		break;
	case PATH_FIELD:
		buf_printf(out, "field %s", path->field->full_name);
		break;
	case PATH_ONEOF:
		buf_printf(out, "oneof %s.%s", path->oneof->parent->full_name, path->oneof->name);
		break;
	case PATH_ENUM:
		buf_printf(out, "enum %s", path->enumeration->full_name);
		break;
	case PATH_VALUE:
		buf_printf(out, "value %s", path->value->name);
		break;
	}
}

static void check(void **state, const char *text, const char *expected)
{
	const struct author_fixture *fixture = *state;
	struct buf problem = BUF_INIT, found = BUF_INIT;
	struct path path;

	if (path_resolve(fixture->names, fixture->schema, slice_of(text), &path, &problem) == 0)
		show(&path, &found);
	else
		buf_printf(&found, "! %s", buf_cstr(&problem));
	/* The label of the schema is not what is tested. */
	char *label = strstr(buf_cstr(&found), " (Envoy API"),
	     *end = label ? strchr(label, ')') : NULL;
	if (end)
		memmove(label, end + 1, strlen(end));
	if (strcmp(buf_cstr(&found), expected) != 0)
		fail_msg("%s:\n  found    %s\n  expected %s", text, buf_cstr(&found), expected);
	buf_fini(&problem);
	buf_fini(&found);
}

static void test_good(void **state)
{
	static const struct {
		const char *text, *expected;
	} rows[] = {
		{"Cluster", "message envoy.config.cluster.v3.Cluster"},
		{"cluster", "message envoy.config.cluster.v3.Cluster"},
		{"clusters", "message envoy.config.cluster.v3.Cluster"},
		{"cds", "message envoy.config.cluster.v3.Cluster"},
		{"EDS", "message envoy.config.endpoint.v3.ClusterLoadAssignment"},
		{"virtual-hosts", "message envoy.config.route.v3.VirtualHost"},
		{"route", "message envoy.config.route.v3.Route"},
		{"http_connection_manager", "message " HCM},
		{"envoy.config.cluster.v3.Cluster", "message envoy.config.cluster.v3.Cluster"},
		{"type.googleapis.com/" HCM ".route_config", "field " HCM ".route_config"},
		{"cluster.lb_policy", "field envoy.config.cluster.v3.Cluster.lb_policy"},
		{"cluster.lbPolicy", "field envoy.config.cluster.v3.Cluster.lb_policy"},
		{"cluster.lb_policy.maglev", "value MAGLEV"},
		{"Cluster.LbPolicy", "enum envoy.config.cluster.v3.Cluster.LbPolicy"},
		{"Cluster.LbPolicy.RANDOM", "value RANDOM"},
		{"Cluster.CustomClusterType.name",
			"field envoy.config.cluster.v3.Cluster.CustomClusterType.name"},
		{"cluster.cluster_discovery_type",
			"oneof envoy.config.cluster.v3.Cluster.cluster_discovery_type"},
		{"listener.filter_chains[0].filters[12].name",
			"field envoy.config.listener.v3.Filter.name"},
		{"listener.filter_chains.filters.typed_config:HttpConnectionManager",
			"message " HCM},
		{"listener.filter_chains.filters.typed_config:httpconnectionmanager.codec_type",
			"field " HCM ".codec_type"},
		{"listener.filter_chains.filters.typed_config:" HCM ".http_filters.typed_config"
		 ":Router.dynamic_stats",
			"field envoy.extensions.filters.http.router.v3.Router.dynamic_stats"},
		{"listener.filter_chains.filters.typed_config:type.googleapis.com/" HCM
		 ".http_filters.typed_config:RateLimit.domain",
			"field envoy.extensions.filters.http.ratelimit.v3.RateLimit.domain"},
		{"listener.filter_chains.filters.typed_config:RateLimit.domain",
			"field envoy.extensions.filters.network.ratelimit.v3.RateLimit.domain"},
		{"listener.filter_chains.filters.typed_config:set_filter_state",
			"message envoy.extensions.filters.network.set_filter_state.v3.Config"},
		{"listener.filter_chains.transport_socket.typed_config:DownstreamTlsContext",
			"message envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"},
		{"cluster.typed_extension_protocol_options[\"a.b:c\"]:HttpProtocolOptions",
			"message envoy.extensions.upstreams.http.v3.HttpProtocolOptions"},
		{"cluster.typed_extension_protocol_options:HttpProtocolOptions",
			"message envoy.extensions.upstreams.http.v3.HttpProtocolOptions"},
		{"cluster_load_assignment.named_endpoints.address",
			"field envoy.config.endpoint.v3.Endpoint.address"},
		{"google.protobuf.Any.type_url", "field google.protobuf.Any.type_url"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(state, rows[i].text, rows[i].expected);
}

static void test_bad(void **state)
{
	static const struct {
		const char *text, *expected;
	} rows[] = {
		{"", "! there is no name"},
		{".", "! unknown type \"\""},
		{"clutser", "! unknown type \"clutser\", did you mean \"Cluster\"?"},
		{"HttpConnectionManger", "! unknown type \"HttpConnectionManger\", did you mean "
					 "\"HttpConnectionManager\"?"},
		{"envoy.config.cluster.v3.Clustr",
			"! unknown type \"envoy.config.cluster.v3.Clustr\", did you mean "
			"\"envoy.config.cluster.v3.Cluster\"?"},
		{"cluster.lb_polcy",
			"! there is no field \"lb_polcy\" in Cluster, did you mean \"lb_policy\"?"},
		{"cluster.lbPolcy",
			"! there is no field \"lbPolcy\" in Cluster, did you mean \"lbPolicy\"?"},
		{"cluster.lb_policy.RANDM", "! there is no value \"RANDM\" in Cluster.LbPolicy, "
					    "did you mean \"RANDOM\"?"},
		{"cluster.name.x", "! there is nothing below \"name\""},
		{"cluster.name.", "! a name is missing behind the dot"},
		{"cluster.lb_policy.MAGLEV.x", "! there is nothing below \"MAGLEV\""},
		{"cluster.cluster_discovery_type.x",
			"! there is nothing below \"cluster_discovery_type\": its fields belong to "
			"the "
			"message"},
		{"cluster:Listener", "! \":\" says what an Any holds, and there is none before it"},
		{"cluster[0]", "! [...] may stand behind lists and maps only"},
		{"cluster.health_checks[0", "! there is a \"[\" without a \"]\""},
		{"cluster.health_checks[0]x", "! a dot is missing before \"x\""},
		{"listener.filter_chains.filters.typed_config:",
			"! a type is missing behind the colon"},
		{"listener.filter_chains.filters.typed_config:TcpProxi",
			"! unknown type \"TcpProxi\", did you mean \"TcpProxy\"?"},
		{"listener.filter_chains.filters.typed_config.stat_prefix",
			"! \"typed_config\" holds any message: say which, for example "
			"\"typed_config:ConnectionLimit\""},
		{"listener.filter_chains.filters.typed_config:Config",
			"! several types are called \"Config\":\n"
			"  envoy.extensions.filters.network.direct_response.v3.Config\n"
			"  envoy.extensions.filters.network.set_filter_state.v3.Config"},
	};
	char *deep = malloc(5001);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(state, rows[i].text, rows[i].expected);
	memset(deep, 'a', 5000);
	deep[5000] = '\0';
	check(state, deep, "! this is too long for a path");
	free(deep);
}

static void add_line(void *ctx, const char *path)
{
	buf_printf(ctx, "%s\n", path);
}

static void complete(void **state, const char *text, const char *expected)
{
	const struct author_fixture *fixture = *state;
	struct buf found = BUF_INIT;

	path_complete(fixture->names, fixture->schema, slice_of(text), add_line, &found);
	if (strcmp(buf_cstr(&found), expected) != 0)
		fail_msg("%s:\n%s, not\n%s", text, buf_cstr(&found), expected);
	buf_fini(&found);
}

static void test_completion(void **state)
{
	complete(state, "cluster.lb_p", "cluster.lb_policy\n");
	complete(state, "cluster.lbP", "cluster.lbPolicy\n");
	complete(state, "cluster.lb_policy.RAN", "cluster.lb_policy.RANDOM\n");
	complete(state, "routec", "RouteConfiguration\n");
	complete(state, "HttpConnectionM", "HttpConnectionManager\n");
	complete(state, "http_connection_manager.http_filters.typed_config:Rou",
		"http_connection_manager.http_filters.typed_config:Router\n");
	complete(state, "http_connection_manager.http_filters.typed_config:set_m",
		"http_connection_manager.http_filters.typed_config:set_metadata\n");
	complete(state, "envoy.config.clu", "envoy.config.cluster\n");
	complete(state, "envoy.config.cluster.v3.Cluster.lb_s",
		"envoy.config.cluster.v3.Cluster.lb_subset_config\n");
	complete(state, "cluster.nothing.", "");
	complete(state, "cluster.name.", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_completion),
	};

	return cmocka_run_group_tests(tests, author_open_envoy, author_close);
}
