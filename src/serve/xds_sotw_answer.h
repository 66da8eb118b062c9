/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a state-of-the-world client is sent: all that it subscribes to and that exists (S.71, S.72).
 * Used by the protocol core alone. */
#ifndef XDSPUB_SERVE_XDS_SOTW_ANSWER_H
#define XDSPUB_SERVE_XDS_SOTW_ANSWER_H

#include "serve/xds_core.h"

/* A reference; *ret_after: one to the table of a client that was sent it. */
struct xds_answer *xds_sotw_answer(
	struct xds_feed *feed, struct xds_table *table, struct xds_table **ret_after);

#endif
