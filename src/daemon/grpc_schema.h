/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What gRPC needs of the schema: nodes as JSON, and descriptors for server reflection. Threads: any
 * once made. Limits: a node of 1 MiB, LIMIT_DEPTH, 32 MiB while it is read.
 */
#ifndef XDSPUB_DAEMON_GRPC_SCHEMA_H
#define XDSPUB_DAEMON_GRPC_SCHEMA_H

#include "schema/schema.h"
#include "serve/grpc/grpc_server.h"

/* Borrows the schema, which must outlive what is returned; there is nothing to free. A schema
 * without envoy.config.core.v3.Node refuses every node. */
struct grpc_schema grpc_schema_of(const struct schema *schema);

#endif
