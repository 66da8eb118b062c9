/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a node is served, and by which group; what its first message says about the client.
 * Later messages may leave the node out or repeat it: it is not looked at (S.62, S.84).
 * Threads: any.
 */
#ifndef XDSPUB_SERVE_XDS_ADMISSION_H
#define XDSPUB_SERVE_XDS_ADMISSION_H

#include "serve/xds_stream.h"
#include "snapshot/selector.h"

struct xds_admission {
	enum xds_status status; /* OK, or what to end the stream with */
	int group;		/* index in the selector; -1 unless OK */
	struct xds_client client;
	char problem[256]; /* for grpc-message */
};
/* selector NULL: nothing was compiled yet. node NULL: the first message had none; otherwise JSON
 * in Envoy's Node shape. */
struct xds_admission xds_admission_of(const struct selector *selector, const json_t *node);

#endif
