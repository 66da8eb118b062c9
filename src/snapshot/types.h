/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The xDS resource types: one table row says everything about a type. Everything that depends on
 * the type (folders, names, REST paths, file layout, order, removal) reads it from here.
 */
#ifndef XDSPUB_SNAPSHOT_TYPES_H
#define XDSPUB_SNAPSHOT_TYPES_H

#include "base/slice.h"

enum xds_type {
	XDS_CDS,
	XDS_EDS,
	XDS_SDS,
	XDS_RTDS,
	XDS_ECDS,
	XDS_LDS,
	XDS_RDS,
	XDS_SRDS,
	XDS_VHDS
};
#define XDS_TYPE_COUNT 9

/* What a delta client is told about a subscribed name that does not exist (S.89, S.107). */
enum xds_removal {
	XDS_REMOVAL_TOLD,      /* removed_resources: ends warming */
	XDS_REMOVAL_IF_SENT,   /* only when it was sent before: else it would wait for ever */
	XDS_REMOVAL_NEVER,     /* it keeps the last one until it stops asking */
	XDS_REMOVAL_UNRESOLVED /* on demand: Resource without a body; removed when it was sent */
};

struct xds_type_row {
	enum xds_type type;
	const char *name;     /* "CDS" */
	const char *stem;     /* "cds": file stem and publish folder, metric label */
	const char *folder;   /* "clusters": the tree's type folder; '-' and '_' interchangeable */
	const char *noun;     /* "cluster": for messages */
	const char *message;  /* "envoy.config.cluster.v3.Cluster" */
	const char *type_url; /* "type.googleapis.com/" + message */
	uint32_t name_field;  /* number of the field that holds the resource's name */
	const char *name_label; /* "name" or "cluster_name" */
	const char *rest_path;	/* "/v3/discovery:clusters", NULL: no REST form */
	bool is_wildcard;	/* an empty list of names asks for the whole set (LDS CDS SRDS) */
	bool is_secret;		/* content and digests only where it may be read */
	bool must_not_be_empty; /* an empty set is an error unless the group has allow_empty */
	enum {
		XDS_FILE_NONE,
		XDS_FILE_SET,
		XDS_FILE_EACH
	} files;	       /* how it is published */
	uint8_t publish_rank;  /* ascending order of new and changed files (S.23), removal reversed
				*/
	uint8_t stream_rank;   /* order on an aggregated stream (S.110) */
	bool is_bridged;       /* removal waits for the grace period (make before break) */
	bool missing_is_empty; /* REST answer to an unknown name: 200 with nothing, else 404 (S.45)
				*/
	const char *grpc_service; /* "envoy.service.cluster.v3.ClusterDiscoveryService" */
	const char *grpc_stem;	  /* "Clusters": its methods are StreamClusters ... */
	bool is_delta_only;	  /* no state of the world: only its Delta method exists */
	bool is_delta_wildcard;	  /* an empty first delta request asks for the whole set (S.86) */
	enum xds_removal removal;
	uint16_t used_by; /* bits 1 << type: types whose resources name resources of this one */
};

const struct xds_type_row *xds_type_row(enum xds_type type) __attribute__((returns_nonnull));
/* NULL when nothing matches. Folder: '-' equals '_'. Name: "cds", "CDS". */
const struct xds_type_row *xds_type_by_folder(struct slice folder);
const struct xds_type_row *xds_type_by_name(struct slice name);
const struct xds_type_row *xds_type_by_message(struct slice full_name);
const struct xds_type_row *xds_type_by_url(struct slice type_url); /* exact type URL */
const struct xds_type_row *xds_type_by_rest_path(struct slice path);
const struct xds_type_row *xds_type_by_grpc_service(struct slice service); /* "a.b.v3.C" */

#endif
