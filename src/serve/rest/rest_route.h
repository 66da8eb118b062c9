/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which path and method mean what, as a function of values. Threads: any. */
#ifndef XDSPUB_SERVE_REST_REST_ROUTE_H
#define XDSPUB_SERVE_REST_REST_ROUTE_H

#include "base/buf.h"
#include "snapshot/types.h"

enum rest_route_kind {
	REST_DISCOVERY, /* POST /v3/discovery:<type> */
	REST_GROUPS,	/* GET /v3/groups */
	REST_GROUP,	/* GET /v3/groups/<group> */
	REST_SET,	/* GET /v3/groups/<group>/<type> */
	REST_NO_METHOD, /* 405, see allow */
	REST_NO_PATH	/* 404, see problem */
};

struct rest_route {
	enum rest_route_kind kind;
	const struct xds_type_row *row; /* DISCOVERY, SET */
	struct slice group;		/* GROUP, SET; points into the path */
	const char *allow;		/* NO_METHOD: the Allow header */
};

/* For NO_METHOD and NO_PATH a sentence for people is appended to `problem`. */
struct rest_route rest_route_find(const char *method, const char *path, struct buf *problem);

#endif
