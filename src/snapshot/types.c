/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/types.h"

#include <assert.h>
#include <strings.h>

#define TYPE_URL(message_) .message = (message_), .type_url = "type.googleapis.com/" message_
#define BIT(type_)	   (1u << XDS_##type_)

/* In the order of enum xds_type. All of these messages keep their name in field 1. */
static const struct xds_type_row rows[XDS_TYPE_COUNT] = {
	{
		.type = XDS_CDS,
		.name = "CDS",
		.stem = "cds",
		.folder = "clusters",
		.noun = "cluster",
		TYPE_URL("envoy.config.cluster.v3.Cluster"),
		.name_field = 1,
		.name_label = "name",
		.rest_path = "/v3/discovery:clusters",
		.is_wildcard = true,
		.must_not_be_empty = true,
		.files = XDS_FILE_SET,
		.publish_rank = 4,
		.stream_rank = 0,
		.is_bridged = true,
		.grpc_service = "envoy.service.cluster.v3.ClusterDiscoveryService",
		.grpc_stem = "Clusters",
		.is_delta_wildcard = true,
		.removal = XDS_REMOVAL_TOLD,
		.used_by = BIT(LDS) | BIT(RDS) | BIT(SRDS) | BIT(VHDS),
	},
	{
		.type = XDS_EDS,
		.name = "EDS",
		.stem = "eds",
		.folder = "endpoints",
		.noun = "load assignment",
		TYPE_URL("envoy.config.endpoint.v3.ClusterLoadAssignment"),
		.name_field = 1,
		.name_label = "cluster_name",
		.rest_path = "/v3/discovery:endpoints",
		.files = XDS_FILE_EACH,
		.publish_rank = 1,
		.stream_rank = 1,
		.is_bridged = true,
		.missing_is_empty = true,
		.grpc_service = "envoy.service.endpoint.v3.EndpointDiscoveryService",
		.grpc_stem = "Endpoints",
		.removal = XDS_REMOVAL_TOLD,
		.used_by = BIT(CDS),
	},
	{
		.type = XDS_SDS,
		.name = "SDS",
		.stem = "sds",
		.folder = "secrets",
		.noun = "secret",
		TYPE_URL("envoy.extensions.transport_sockets.tls.v3.Secret"),
		.name_field = 1,
		.name_label = "name",
		.rest_path = "/v3/discovery:secrets",
		.is_secret = true,
		.files = XDS_FILE_EACH,
		.publish_rank = 0,
		.stream_rank = 2,
		.is_bridged = true,
		.grpc_service = "envoy.service.secret.v3.SecretDiscoveryService",
		.grpc_stem = "Secrets",
		.removal = XDS_REMOVAL_TOLD,
		.used_by = BIT(CDS) | BIT(LDS),
	},
	{
		.type = XDS_RTDS,
		.name = "RTDS",
		.stem = "rtds",
		.folder = "runtime",
		.noun = "runtime layer",
		TYPE_URL("envoy.service.runtime.v3.Runtime"),
		.name_field = 1,
		.name_label = "name",
		.rest_path = "/v3/discovery:runtime",
		.files = XDS_FILE_EACH,
		.publish_rank = 2,
		.stream_rank = 3,
		.is_bridged = true,
		.grpc_service = "envoy.service.runtime.v3.RuntimeDiscoveryService",
		.grpc_stem = "Runtime",
		.removal = XDS_REMOVAL_TOLD,
	},
	{
		.type = XDS_ECDS,
		.name = "ECDS",
		.stem = "ecds",
		.folder = "extension_configs",
		.noun = "extension config",
		TYPE_URL("envoy.config.core.v3.TypedExtensionConfig"),
		.name_field = 1,
		.name_label = "name",
		.rest_path = "/v3/discovery:extension_configs",
		.files = XDS_FILE_EACH,
		.publish_rank = 3,
		.stream_rank = 4,
		.is_bridged = true,
		.grpc_service = "envoy.service.extension.v3.ExtensionConfigDiscoveryService",
		.grpc_stem = "ExtensionConfigs",
		.removal = XDS_REMOVAL_NEVER,
		.used_by = BIT(LDS),
	},
	{
		.type = XDS_LDS,
		.name = "LDS",
		.stem = "lds",
		.folder = "listeners",
		.noun = "listener",
		TYPE_URL("envoy.config.listener.v3.Listener"),
		.name_field = 1,
		.name_label = "name",
		.rest_path = "/v3/discovery:listeners",
		.is_wildcard = true,
		.must_not_be_empty = true,
		.files = XDS_FILE_SET,
		.publish_rank = 7,
		.stream_rank = 5,
		.grpc_service = "envoy.service.listener.v3.ListenerDiscoveryService",
		.grpc_stem = "Listeners",
		.is_delta_wildcard = true,
		.removal = XDS_REMOVAL_TOLD,
	},
	{
		.type = XDS_RDS,
		.name = "RDS",
		.stem = "rds",
		.folder = "routes",
		.noun = "route configuration",
		TYPE_URL("envoy.config.route.v3.RouteConfiguration"),
		.name_field = 1,
		.name_label = "name",
		.rest_path = "/v3/discovery:routes",
		.files = XDS_FILE_EACH,
		.publish_rank = 5,
		.stream_rank = 7,
		.is_bridged = true,
		.missing_is_empty = true,
		.grpc_service = "envoy.service.route.v3.RouteDiscoveryService",
		.grpc_stem = "Routes",
		.removal = XDS_REMOVAL_IF_SENT,
		.used_by = BIT(LDS) | BIT(SRDS),
	},
	{
		.type = XDS_SRDS,
		.name = "SRDS",
		.stem = "srds",
		.folder = "scoped-routes",
		.noun = "scoped route",
		TYPE_URL("envoy.config.route.v3.ScopedRouteConfiguration"),
		.name_field = 1,
		.name_label = "name",
		.rest_path = "/v3/discovery:scoped-routes",
		.is_wildcard = true,
		.files = XDS_FILE_SET,
		.publish_rank = 6,
		.stream_rank = 6,
		.grpc_service = "envoy.service.route.v3.ScopedRoutesDiscoveryService",
		.grpc_stem = "ScopedRoutes",
		.is_delta_wildcard = true,
		.removal = XDS_REMOVAL_TOLD,
		.used_by = BIT(LDS),
	},
	{
		.type = XDS_VHDS,
		.name = "VHDS",
		.stem = "vhds",
		.folder = "virtual-hosts",
		.noun = "virtual host",
		TYPE_URL("envoy.config.route.v3.VirtualHost"),
		.name_field = 1,
		.name_label = "name",
		.files = XDS_FILE_NONE,
		.publish_rank = 8,
		.stream_rank = 8,
		.grpc_service = "envoy.service.route.v3.VirtualHostDiscoveryService",
		.grpc_stem = "VirtualHosts",
		.is_delta_only = true,
		.is_delta_wildcard = true,
		.removal = XDS_REMOVAL_UNRESOLVED,
		.used_by = BIT(RDS),
	},
};

const struct xds_type_row *xds_type_row(enum xds_type type)
{
	assert((unsigned)type < XDS_TYPE_COUNT);
	return &rows[type];
}

static bool folder_equal(struct slice folder, const char *name)
{
	if (folder.length != strlen(name))
		return false;
	for (size_t i = 0; i < folder.length; i++) {
		char a = folder.data[i] == '_' ? '-' : folder.data[i];
		char b = name[i] == '_' ? '-' : name[i];

		if (a != b)
			return false;
	}
	return true;
}

const struct xds_type_row *xds_type_by_folder(struct slice folder)
{
	for (size_t i = 0; i < XDS_TYPE_COUNT; i++)
		if (folder_equal(folder, rows[i].folder))
			return &rows[i];
	return NULL;
}

const struct xds_type_row *xds_type_by_name(struct slice name)
{
	for (size_t i = 0; i < XDS_TYPE_COUNT; i++)
		if (name.length == strlen(rows[i].stem) &&
			strncasecmp(name.data, rows[i].stem, name.length) == 0)
			return &rows[i];
	return NULL;
}

const struct xds_type_row *xds_type_by_message(struct slice full_name)
{
	for (size_t i = 0; i < XDS_TYPE_COUNT; i++)
		if (slice_is(full_name, rows[i].message))
			return &rows[i];
	return NULL;
}

const struct xds_type_row *xds_type_by_url(struct slice type_url)
{
	for (size_t i = 0; i < XDS_TYPE_COUNT; i++)
		if (slice_is(type_url, rows[i].type_url))
			return &rows[i];
	return NULL;
}

const struct xds_type_row *xds_type_by_rest_path(struct slice path)
{
	for (size_t i = 0; i < XDS_TYPE_COUNT; i++)
		if (rows[i].rest_path && slice_is(path, rows[i].rest_path))
			return &rows[i];
	return NULL;
}

const struct xds_type_row *xds_type_by_grpc_service(struct slice service)
{
	for (size_t i = 0; i < XDS_TYPE_COUNT; i++)
		if (slice_is(service, rows[i].grpc_service))
			return &rows[i];
	return NULL;
}
