/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Server reflection, v1 and v1alpha (on the wire they are one): what services there are, and the
 * descriptors of everything in the schema. A file comes with the files it needs, each once per
 * stream unless it is asked for again. Threads: the loop's.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_REFLECTION_H
#define XDSPUB_SERVE_GRPC_GRPC_REFLECTION_H

#include "serve/grpc/grpc_service.h"

void *grpc_reflection_open(struct grpc_dispatch *dispatch, struct grpc_call *call);
extern const struct grpc_handler grpc_reflection_handler;

#endif
