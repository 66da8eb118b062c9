/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what a client holds and what its group serves now to what it must be sent. A step depends
 * on nothing but the table and the snapshot, so it is computed once (xds_sotw_answer.h,
 * xds_delta_answer.h) for all streams that share the table. Threads: one at a time. Used by the
 * protocol core alone. The feed has a snapshot, and the table was looked at (xds_look.h).
 */
#ifndef XDSPUB_SERVE_XDS_STEP_H
#define XDSPUB_SERVE_XDS_STEP_H

#include "serve/xds_core.h"

/* The answer that brings the client up to date; form: bits of enum xds_step_form. Both are borrowed
 * from the table's memo. */
struct xds_answer *xds_step_take(struct xds_feed *feed, struct xds_table *table, unsigned form,
	struct xds_table **ret_after);
/* What keeps the TTLs of the held resources from running out, nothing else; borrowed likewise. */
struct xds_answer *xds_step_refresh(
	struct xds_feed *feed, struct xds_table *table, struct xds_table **ret_after);

#endif
