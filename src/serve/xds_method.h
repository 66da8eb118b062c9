/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which discovery method a gRPC path means, from the rows of the resource types. Threads: any. */
#ifndef XDSPUB_SERVE_XDS_METHOD_H
#define XDSPUB_SERVE_XDS_METHOD_H

#include "base/buf.h"
#include "snapshot/types.h"

#define XDS_ADS_SERVICE "envoy.service.discovery.v3.AggregatedDiscoveryService"

enum xds_form {
	XDS_SOTW,
	XDS_DELTA,
	XDS_FETCH /* unary; request and response are those of SotW */
};

struct xds_method {
	enum xds_form form;
	const struct xds_type_row *row; /* NULL: aggregated */
};

/* "/package.Service/Method". -ENOENT: no such method (grpc-status 12, S.53). */
int xds_method_parse(struct slice path, struct xds_method *ret_method);
/* The method's path; -ENOENT when the service does not have it (VHDS has only delta). */
int xds_method_path(const struct xds_method *method, struct buf *out);

#endif
