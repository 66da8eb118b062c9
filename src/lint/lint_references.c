/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint_references.h"

#include "base/text.h"
#include "lint/reference.h"

#define ROUTE_CONFIGURATION "envoy.config.route.v3.RouteConfiguration"
#define ON_DEMAND_SECRET                                                                           \
	"envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config"
#define THRIFT_ROUTES "envoy.extensions.filters.network.thrift_proxy.v3.RouteConfiguration"

/* Whether Envoy looks for the clusters of these routes before it takes them: unless
 * validate_clusters says something else, it does so where the routes are part of a listener, and
 * not where they come by discovery (route.proto). Routes that are a virtual host of their own come
 * by discovery, too. */
static unsigned route_flags(const struct lint_look *look)
{
	const struct message *routes = lint_enclosing(look, ROUTE_CONFIGURATION);
	bool is_inline = look->row->type == XDS_LDS;

	if (!routes)
		routes = lint_enclosing(look, THRIFT_ROUTES);
	return routes && lint_flag(routes, "validate_clusters", is_inline) ? FACT_IS_REFUSED : 0;
}

static void keep(struct lint_look *look, const struct message *message, const char *field,
	enum xds_type type, unsigned flags)
{
	struct slice name = lint_text(message, field);

	if (name.length)
		lint_keep(look, message, field, (enum fact_kind)type, flags, name);
}

/* "/var/lib/xdspub/out/edge/eds/web/eds.yaml" */
static bool is_published(struct slice path, enum xds_type type)
{
	const char *stem = xds_type_row(type)->stem, *slash;
	size_t length = strlen(stem);

	slash = path.length ? memrchr(path.data, '/', path.length) : NULL;
	return slash && (size_t)(path.data + path.length - slash) > length + 2 &&
	       memcmp(slash + 1, stem, length) == 0 && slash[length + 1] == '.';
}

/* Where a config source says that a resource comes from. Envoy refuses what asks for a file that is
 * not there; one that xdspub publishes is not there when the resource is not. */
static unsigned source_flags(const struct message *source, enum xds_type type)
{
	struct slice path;

	if (!source || lint_field(source, "api_config_source"))
		return 0;
	path = lint_text(source, "path");
	if (lint_field(source, "path_config_source"))
		path = lint_text(lint_message(source, "path_config_source"), "path");
	if (path.length)
		return is_published(path, type) ? FACT_IS_REFUSED : FACT_IS_FOREIGN;
	return FACT_IS_OURS;
}

/* The first cluster of an api_config_source, or nothing. */
static struct slice source_cluster(const struct message *source)
{
	const struct message *api = source ? lint_message(source, "api_config_source") : NULL;
	const struct message_field *names = api ? lint_field(api, "cluster_names") : NULL,
				   *services = api ? lint_field(api, "grpc_services") : NULL;
	const struct message *grpc;

	if (names && names->count)
		return names->items[0].bytes;
	if (!services || !services->count)
		return SLICE("");
	grpc = lint_message(services->items[0].message, "envoy_grpc");
	return grpc ? lint_text(grpc, "cluster_name") : SLICE("");
}

/* A reference by way of a config source, and where that asks. */
static void keep_sourced(struct lint_look *look, const struct message *message, const char *field,
	enum xds_type type, struct slice name, const struct message *source)
{
	struct slice cluster = source_cluster(source);

	if (!name.length)
		return;
	lint_keep(look, message, field, (enum fact_kind)type, source_flags(source, type), name);
	if (cluster.length)
		lint_keep(look, message, field, FACT_SOURCE, 0, cluster);
}

static void look_for_clusters(struct lint_look *look, const struct message *message)
{
	if (lint_is(message, "envoy.config.core.v3.GrpcService.EnvoyGrpc")) {
		/* Envoy wants the clusters of its own subscriptions in the bootstrap. */
		if (!lint_enclosing(look, "envoy.config.core.v3.ApiConfigSource"))
			keep(look, message, "cluster_name", XDS_CDS, 0);
	} else if (lint_is(message, "envoy.config.route.v3.WeightedCluster.ClusterWeight")) {
		keep(look, message, "name", XDS_CDS, route_flags(look));
	} else {
		keep(look, message, "cluster", XDS_CDS, route_flags(look));
	}
}

/* `%KEY%` in a name: only a request says which cluster. */
static void look_at_redis(struct lint_look *look, const struct message *message)
{
	struct slice name = lint_text(message, "cluster");

	if (name.length && !memchr(name.data, '%', name.length))
		keep(look, message, "cluster", XDS_CDS, 0);
}

static void look_at_health_check(struct lint_look *look, const struct message *message)
{
	const struct message_field *entry = lint_field(message, "cluster_min_healthy_percentages");

	for (uint32_t i = 0; entry && entry->field->is_map && i < entry->count; i++) {
		struct slice name = message_get_bytes(entry->items[i].message, 1);

		if (name.length)
			lint_keep(look, message, "cluster_min_healthy_percentages",
				(enum fact_kind)XDS_CDS, 0, name);
	}
}

static void look_at_clusters(struct lint_look *look, const struct message *message)
{
	if (lint_is(message, "envoy.extensions.filters.http.health_check.v3.HealthCheck"))
		look_at_health_check(look, message);
	else if (lint_is(message,
			 "envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes."
			 "Route"))
		look_at_redis(look, message);
	else
		look_for_clusters(look, message);
}

static void look_for_endpoints(struct lint_look *look, const struct message *message)
{
	const struct message *eds = lint_message(message, "eds_cluster_config");
	struct slice name;

	/* A cluster of another type may have one that means nothing. */
	if (!eds || !lint_field(eds, "eds_config") || !lint_is_enum(message, "type", "EDS"))
		return;
	name = lint_text(eds, "service_name");
	if (!name.length)
		name = lint_text(message, "name");
	keep_sourced(look, message, "eds_cluster_config", XDS_EDS, name,
		lint_message(eds, "eds_config"));
}

static void look_for_routes(struct lint_look *look, const struct message *message)
{
	keep_sourced(look, message, "route_config_name", XDS_RDS,
		lint_text(message, "route_config_name"), lint_message(message, "config_source"));
}

static void look_for_secrets(struct lint_look *look, const struct message *message)
{
	if (lint_is(message, ON_DEMAND_SECRET)) {
		/* Names come with connections. */
		lint_keep(look, message, "config_source", FACT_TAKES_ANY, 0,
			slice_of(xds_type_row(XDS_SDS)->folder));
	} else if (lint_field(message, "sds_config")) {
		/* Without a source it is one of the bootstrap. */
		keep_sourced(look, message, "name", XDS_SDS, lint_text(message, "name"),
			lint_message(message, "sds_config"));
	}
}

/* What has a config_discovery is asked for by its own name. A filter with a default does without
 * the resource. */
static void look_for_extensions(struct lint_look *look, const struct message *message)
{
	const struct message *source = lint_message(message, "config_discovery");
	struct slice name = lint_text(message, "name");

	if (source && !lint_field(source, "default_config"))
		keep_sourced(look, message, "config_discovery", XDS_ECDS, name,
			lint_message(source, "config_source"));
}

/* A route's plugin must be one of its own route configuration. */
static void look_for_plugin(struct lint_look *look, const struct message *message)
{
	const struct message *routes = lint_enclosing(look, ROUTE_CONFIGURATION);
	const struct message_field *plugins;
	struct slice name = lint_text(message, "cluster_specifier_plugin");
	struct buf shown = BUF_INIT;

	/* A virtual host of its own does not say what it will be put into. */
	if (!name.length || !routes)
		return;
	plugins = lint_field(routes, "cluster_specifier_plugins");
	for (uint32_t i = 0; plugins && i < plugins->count; i++) {
		const struct message *extension =
			lint_message(plugins->items[i].message, "extension");

		if (extension && slice_equal(lint_text(extension, "name"), name))
			return;
	}
	text_quote(&shown, name, 100);
	lint_say(look, message, "cluster_specifier_plugin",
		"this route configuration has no cluster_specifier_plugins entry \"%s\"",
		buf_cstr(&shown));
	buf_fini(&shown);
}

static const char *const cluster_types[] = {
	"envoy.config.route.v3.RouteAction",
	"envoy.config.route.v3.WeightedCluster.ClusterWeight",
	"envoy.config.route.v3.RouteAction.RequestMirrorPolicy",
	"envoy.config.core.v3.GrpcService.EnvoyGrpc",
	"envoy.extensions.filters.http.health_check.v3.HealthCheck",
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction",
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route",
	NULL,
};
static const char *const endpoint_types[] = {"envoy.config.cluster.v3.Cluster", NULL};
static const char *const route_types[] = {
	"envoy.extensions.filters.network.http_connection_manager.v3.Rds", NULL};
static const char *const secret_types[] = {
	"envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig", ON_DEMAND_SECRET, NULL};
static const char *const extension_types[] = {
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter",
	"envoy.config.listener.v3.Filter",
	"envoy.config.listener.v3.ListenerFilter",
	"envoy.config.cluster.v3.Filter",
	"envoy.extensions.filters.http.composite.v3.DynamicConfig",
	"envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.SessionFilter",
	NULL,
};
static const char *const plugin_types[] = {"envoy.config.route.v3.RouteAction", NULL};

#define KIND(type) .kind = (enum fact_kind)XDS_##type

/* Names of the bootstrap are known only where groups.yaml says them (external), so what Envoy
 * refuses is an error only there. What is not referred to here may be from the bootstrap or by a
 * request: a warning where that is rare, else a note. */
const struct lint lint_references[] = {
	{.rule = "missing-cluster",
		.level = DIAG_WARNING,
		.types = cluster_types,
		.look = look_at_clusters,
		.join = LINT_MISSING,
		KIND(CDS)},
	{.rule = "missing-endpoints",
		.level = DIAG_WARNING,
		.types = endpoint_types,
		.look = look_for_endpoints,
		.join = LINT_MISSING,
		KIND(EDS)},
	{.rule = "missing-route-config",
		.level = DIAG_WARNING,
		.types = route_types,
		.look = look_for_routes,
		.join = LINT_MISSING,
		KIND(RDS)},
	{.rule = "missing-secret",
		.level = DIAG_WARNING,
		.types = secret_types,
		.look = look_for_secrets,
		.join = LINT_MISSING,
		KIND(SDS)},
	{.rule = "missing-extension",
		.level = DIAG_WARNING,
		.types = extension_types,
		.look = look_for_extensions,
		.join = LINT_MISSING,
		KIND(ECDS)},
	{.rule = "missing-listener", .level = DIAG_WARNING, .join = LINT_MISSING, KIND(LDS)},
	{.rule = "missing-plugin",
		.level = DIAG_ERROR,
		.types = plugin_types,
		.look = look_for_plugin},
	{.rule = "unused-cluster", .level = DIAG_NOTE, .join = LINT_UNUSED, KIND(CDS)},
	{.rule = "unused-endpoints", .level = DIAG_WARNING, .join = LINT_UNUSED, KIND(EDS)},
	{.rule = "unused-route-config", .level = DIAG_WARNING, .join = LINT_UNUSED, KIND(RDS)},
	{.rule = "unused-secret", .level = DIAG_WARNING, .join = LINT_UNUSED, KIND(SDS)},
	{.rule = "unused-extension", .level = DIAG_WARNING, .join = LINT_UNUSED, KIND(ECDS)},
	{0},
};
