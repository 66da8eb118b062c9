/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/reference.h"

#include <stddef.h>

#define CORE   "envoy.config.core.v3."
#define ROUTE  "envoy.config.route.v3."
#define TRACE  "envoy.config.trace.v3."
#define FILTER "envoy.extensions.filters."
#define REDIS  FILTER "network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route"
#define THRIFT FILTER "network.thrift_proxy.v3.RouteAction"
#define HCM    FILTER "network.http_connection_manager.v3."
#define TLS    "envoy.extensions.transport_sockets.tls.v3."

#define NAMES(message, field, kind, source)                                                        \
	{                                                                                          \
		message, field, REFERENCE_NAME, false, XDS_##kind, source                          \
	}
#define MUST_NAME(message, field, kind, source)                                                    \
	{                                                                                          \
		message, field, REFERENCE_NAME, true, XDS_##kind, source                           \
	}
#define MAY_NAME(message, field, kind, source)                                                     \
	{                                                                                          \
		message, field, REFERENCE_CONDITION, false, XDS_##kind, source                     \
	}
#define BOOTSTRAP(message, field, kind, source)                                                    \
	{                                                                                          \
		message, field, REFERENCE_BOOTSTRAP, false, XDS_##kind, source                     \
	}
#define UNKNOWABLE(message, field, source)                                                         \
	{                                                                                          \
		message, field, REFERENCE_UNKNOWABLE, false, XDS_CDS, source                       \
	}
#define NOT_ONE(message, field, source)                                                            \
	{                                                                                          \
		message, field, REFERENCE_NONE, false, XDS_CDS, source                             \
	}

/* The sources are what the comments in the API's .proto files say, in short; what is refused was
 * tried with Envoy 1.40 and --mode validate. */
const struct reference references[] = {
	/* --- clusters ------------------------------------------------------------------- */
	MAY_NAME(ROUTE "RouteAction", "cluster", CDS,
		"route_components.proto: the upstream cluster to route to; refused when unknown if "
		"RouteConfiguration.validate_clusters says so"),
	MAY_NAME(ROUTE "WeightedCluster.ClusterWeight", "name", CDS,
		"route_components.proto: name of the upstream cluster, must exist in the cluster "
		"manager configuration; validated as RouteAction.cluster"),
	MAY_NAME(ROUTE "RouteAction.RequestMirrorPolicy", "cluster", CDS,
		"route_components.proto: the cluster that requests are mirrored to, must exist; "
		"validated as RouteAction.cluster"),
	MAY_NAME(CORE "GrpcService.EnvoyGrpc", "cluster_name", CDS,
		"grpc_service.proto: name of the upstream gRPC cluster; within an ApiConfigSource "
		"it must be statically defined (config_source.proto)"),
	NAMES(CORE "HttpUri", "cluster", CDS,
		"http_uri.proto: a cluster created in the cluster manager instance to connect to "
		"the URI's host: ext_authz, jwt_authn, oauth2, gcp_authn, remote data ..."),
	MUST_NAME(TRACE "ZipkinConfig", "collector_cluster", CDS,
		"zipkin.proto: the cluster that hosts the collectors"),
	MUST_NAME(TRACE "DatadogConfig", "collector_cluster", CDS,
		"datadog.proto: the cluster for submitting traces to the agent"),
	NAMES(TRACE "LightstepConfig", "collector_cluster", CDS,
		"lightstep.proto: the cluster that hosts the collectors"),
	NAMES("envoy.data.dns.v3.DnsTable.DnsEndpoint", "cluster_name", CDS,
		"dns_table.proto: a cluster whose addresses are the answer"),
	NAMES("envoy.data.dns.v3.DnsTable.DnsServiceTarget", "cluster_name", CDS,
		"dns_table.proto: the name of a cluster that is the service's target"),
	MUST_NAME("envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig", "cluster",
		CDS, "fluentd.proto: the upstream cluster to stream messages to"),
	NAMES("envoy.extensions.tracers.fluentd.v3.FluentdConfig", "cluster", CDS,
		"fluentd.proto: the upstream cluster to stream spans to"),
	NAMES("envoy.extensions.clusters.aggregate.v3.ClusterConfig", "clusters", CDS,
		"aggregate/cluster.proto: load balancing clusters in the aggregate"),
	NAMES("envoy.extensions.clusters.mcp_multicluster.v3.ClusterConfig.McpCluster", "cluster",
		CDS, "mcp_multicluster/cluster.proto: the cluster of one MCP server"),
	NAMES("envoy.extensions.clusters.composite.v3.ClusterConfig.ClusterEntry", "name", CDS,
		"composite/cluster.proto: name of the cluster for an attempt"),
	NAMES(FILTER "http.fault.v3.HTTPFault", "upstream_cluster", CDS,
		"fault.proto: the upstream cluster that the filter should match"),
	NAMES(FILTER "http.gcp_authn.v3.GcpAuthnFilterConfig", "cluster", CDS,
		"gcp_authn.proto: the cluster to fetch tokens from"),
	NAMES(FILTER "http.cache_v2.v3.CacheV2Config", "override_upstream_cluster", CDS,
		"cache_v2/cache.proto: the cluster to ask instead of that of the route"),
	NAMES(FILTER "http.mcp_router.v3.McpRouter.McpCluster", "cluster", CDS,
		"mcp_router.proto: the cluster of one MCP server"),
	NAMES(FILTER "http.squash.v3.Squash", "cluster", CDS,
		"squash.proto: the cluster that hosts the Squash server"),
	MAY_NAME(FILTER "http.health_check.v3.HealthCheck", "cluster_min_healthy_percentages", CDS,
		"health_check.proto: the keys are upstream cluster names"),
	NAMES(FILTER "network.dubbo_proxy.v3.RouteAction", "cluster", CDS,
		"dubbo_proxy/route.proto: the upstream cluster to route to"),
	NAMES(FILTER "network.generic_proxy.action.v3.RouteAction", "cluster", CDS,
		"generic_proxy/action.proto: the upstream cluster to route to"),
	MAY_NAME(REDIS, "cluster", CDS,
		"redis_proxy.proto: upstream cluster to forward the command to; may hold commands "
		"such as %KEY% that only a request fills in"),
	NAMES(REDIS ".ReadCommandPolicy", "cluster", CDS,
		"redis_proxy.proto: upstream cluster to use for read commands"),
	NAMES(REDIS ".RequestMirrorPolicy", "cluster", CDS,
		"redis_proxy.proto: the cluster that requests are mirrored to"),
	NAMES(FILTER "network.rocketmq_proxy.v3.RouteAction", "cluster", CDS,
		"rocketmq_proxy/route.proto: the upstream cluster to route to"),
	NAMES("envoy.extensions.filters.network.sip_proxy.v3alpha.RouteAction", "cluster", CDS,
		"sip_proxy/route.proto: a single upstream cluster to route to"),
	NAMES(FILTER "network.tcp_proxy.v3.TcpProxy", "cluster", CDS,
		"tcp_proxy.proto: the upstream cluster to connect to"),
	NAMES(FILTER "network.tcp_proxy.v3.TcpProxy.WeightedCluster.ClusterWeight", "name", CDS,
		"tcp_proxy.proto: name of the upstream cluster"),
	MAY_NAME(THRIFT, "cluster", CDS,
		"thrift_proxy/route.proto: a single upstream cluster; validated as a "
		"RouteAction's"),
	NAMES(THRIFT ".RequestMirrorPolicy", "cluster", CDS,
		"thrift_proxy/route.proto: the cluster that requests are mirrored to"),
	NAMES(FILTER "udp.udp_proxy.v3.Route", "cluster", CDS,
		"udp_proxy/route.proto: routes to an upstream cluster"),
	NAMES(FILTER "udp.udp_proxy.v3.UdpProxyConfig", "cluster", CDS,
		"udp_proxy.proto: the upstream cluster to connect to"),
	NAMES("envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig", "default_cluster", CDS,
		"lua/lua.proto: the cluster to use when the script finds none"),
	NAMES("envoy.extensions.router.cluster_specifiers.golang.v3alpha.Config", "default_cluster",
		CDS, "golang.proto: the cluster to use when the plugin finds none"),
	NAMES("envoy.extensions.router.cluster_specifiers.matcher.v3.ClusterAction", "cluster", CDS,
		"matcher.proto: the upstream cluster to route to"),
	NAMES("envoy.extensions.router.cluster_specifiers.priority_group.v3.ClusterWeight",
		"cluster_name", CDS, "priority_group.proto: name of the upstream cluster"),
	BOOTSTRAP(CORE "ApiConfigSource", "cluster_names", CDS,
		"config_source.proto: must be statically defined, not of type EDS"),
	BOOTSTRAP("envoy.config.bootstrap.v3.ClusterManager", "local_cluster_name", CDS,
		"bootstrap.proto: must be in static_resources"),
	BOOTSTRAP("envoy.config.metrics.v3.StatsdSink", "tcp_cluster_name", CDS,
		"stats.proto: a sink of the bootstrap, which may only use its clusters"),
	UNKNOWABLE(ROUTE "RouteAction", "cluster_header", "a header of the request names it"),
	UNKNOWABLE(ROUTE "RouteAction.RequestMirrorPolicy", "cluster_header",
		"a header of the request names it"),
	UNKNOWABLE(ROUTE "WeightedCluster.ClusterWeight", "cluster_header",
		"a header of the request names it"),
	UNKNOWABLE(THRIFT, "cluster_header", "a header of the request names it"),
	NOT_ONE(ROUTE "RouteAction", "cluster_specifier_plugin",
		"a plugin of the same route configuration: lint missing-plugin"),
	NOT_ONE("envoy.extensions.clusters.dynamic_modules.v3.ClusterConfig", "cluster_name",
		"what a module calls its kind of cluster"),
	NOT_ONE(FILTER "network.reverse_tunnel.v3.Validation", "cluster_id_format",
		"what the other side must present"),
	NOT_ONE(FILTER "network.reverse_tunnel.v3.ReverseTunnel", "required_cluster_name",
		"what the other side must present"),
	NOT_ONE(CORE "Node", "cluster", "the service cluster that the node belongs to"),
	NOT_ONE("envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name",
		"the resource's own name"),
	NOT_ONE("envoy.config.endpoint.v3.ClusterStats", "cluster_name", "a report"),
	NOT_ONE("envoy.config.endpoint.v3.ClusterStats", "cluster_service_name", "a report"),
	NOT_ONE("envoy.data.accesslog.v3.AccessLogCommon", "upstream_cluster", "a report"),
	NOT_ONE("envoy.data.cluster.v3.OutlierDetectionEvent", "cluster_name", "a report"),
	NOT_ONE("envoy.data.core.v3.HealthCheckEvent", "cluster_name", "a report"),
	NOT_ONE("envoy.service.health.v3.ClusterEndpointsHealth", "cluster_name", "a report"),
	NOT_ONE("envoy.service.health.v3.ClusterHealthCheck", "cluster_name",
		"what a health discovery service asks for"),
	NOT_ONE("envoy.service.load_stats.v3.LoadStatsResponse", "clusters",
		"what a load reporting service asks for"),
	NOT_ONE("envoy.extensions.filters.network.kafka_mesh.v3alpha.KafkaClusterDefinition",
		"cluster_name", "a cluster of Kafka, not of Envoy"),

	/* --- the others ------------------------------------------------------------------ */
	MAY_NAME("envoy.config.cluster.v3.Cluster.EdsClusterConfig", "service_name", EDS,
		"cluster.proto: the name of the cluster to present to EDS instead of its own"),
	MAY_NAME(HCM "Rds", "route_config_name", RDS,
		"http_connection_manager.proto: the name of the route configuration to fetch"),
	NAMES(ROUTE "ScopedRouteConfiguration", "route_configuration_name", RDS,
		"scoped_route.proto: the resource name to use for a RouteDiscoveryRequest"),
	MAY_NAME(TLS "SdsSecretConfig", "name", SDS,
		"secret.proto: with sds_config the secret is fetched from there, else it is one of "
		"the static resources"),
	NAMES("envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config",
		"prefetch_secret_names", SDS,
		"on_demand_secret/config.proto: secrets to fetch before a connection asks"),
	MAY_NAME(CORE "ExtensionConfigSource", "config_source", ECDS,
		"extension.proto: the extension of the name of the filter that has it"),
	NAMES(CORE "EnvoyInternalAddress", "server_listener_name", LDS,
		"address.proto: the name of the internal listener to connect to"),
	BOOTSTRAP("envoy.config.bootstrap.v3.RuntimeLayer.RtdsLayer", "name", RTDS,
		"bootstrap.proto: resource to subscribe to for the layer"),
	{0},
};
