/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a delta client is sent. Used by the protocol core alone. */
#ifndef XDSPUB_SERVE_XDS_DELTA_ANSWER_H
#define XDSPUB_SERVE_XDS_DELTA_ANSWER_H

#include "serve/xds_core.h"

/* What is new to it, in a form (bits of enum xds_step_form). A reference; *ret_after: one to the
 * table of a client that was sent it. The table was looked at (xds_look.h). */
struct xds_answer *xds_delta_answer(struct xds_feed *feed, struct xds_table *table, unsigned form,
	struct xds_table **ret_after);
/* The same for what keeps the TTLs of held resources from running out (S.105). */
struct xds_answer *xds_delta_refresh(
	struct xds_feed *feed, struct xds_table *table, struct xds_table **ret_after);

#endif
