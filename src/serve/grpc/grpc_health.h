/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grpc.health.v1.Health: SERVING means what /readyz means, for "" and for every service alike.
 * Threads: the loop's.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_HEALTH_H
#define XDSPUB_SERVE_GRPC_GRPC_HEALTH_H

#include "serve/grpc/grpc_service.h"

void *grpc_health_open_check(struct grpc_dispatch *dispatch, struct grpc_call *call);
void *grpc_health_open_watch(struct grpc_dispatch *dispatch, struct grpc_call *call);
extern const struct grpc_handler grpc_health_handler;

/* Readiness may have changed: tells who watches. */
void grpc_health_changed(struct grpc_dispatch *dispatch);
/* NOT_SERVING to everyone who watches and can be told; their calls end next. */
void grpc_health_stop(struct grpc_dispatch *dispatch);

#endif
