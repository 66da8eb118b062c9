/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of what is served, from the rows of the resource types and a few of our own; what is
 * near to a path that nothing has. Threads: any.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_SERVICES_H
#define XDSPUB_SERVE_GRPC_GRPC_SERVICES_H

#include "serve/xds_method.h"

#define GRPC_HEALTH_SERVICE	   "grpc.health.v1.Health"
#define GRPC_REFLECTION_SERVICE	   "grpc.reflection.v1.ServerReflection"
#define GRPC_REFLECTION_ALPHA	   "grpc.reflection.v1alpha.ServerReflection"
#define GRPC_CLIENT_STATUS_SERVICE "envoy.service.status.v3.ClientStatusDiscoveryService"

size_t grpc_services_count(void);
const char *grpc_services_name(size_t index); /* "package.Service" */
bool grpc_services_has(struct slice name);
/* Why nothing is at this path, and what may have been meant, in one line. */
void grpc_services_explain(struct slice path, char *problem, size_t problem_size);

#endif
