/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a delta client holds after it answered a response (S.95, S.100). Used by the protocol core
 * alone. */
#ifndef XDSPUB_SERVE_XDS_SETTLE_H
#define XDSPUB_SERVE_XDS_SETTLE_H

#include "serve/xds_core.h"

enum xds_answered {
	XDS_ACCEPTED,	    /* the last response, and so all before it have been answered */
	XDS_REFUSED,	    /* the last response */
	XDS_REFUSED_EARLIER /* one before the last */
};
/* The table afterwards; a reference. */
struct xds_table *xds_settle(
	struct xds_hub *hub, struct xds_table *table, enum xds_answered answered);

#endif
