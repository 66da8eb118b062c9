/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a delta client is to be told about one name: a function of what it holds and what there is
 * (S.88-S.107). Threads: any. Used by the protocol core alone.
 */
#ifndef XDSPUB_SERVE_XDS_JUDGE_H
#define XDSPUB_SERVE_XDS_JUDGE_H

#include "serve/xds_table.h"
#include "snapshot/resource_set.h"

enum xds_verdict {
	XDS_KEEP,	     /* nothing */
	XDS_SEND,	     /* the resource */
	XDS_FOLLOW,	     /* the resource that the name leads to, with the name as its alias */
	XDS_TELL_GONE,	     /* an answer: there is nothing of that name */
	XDS_TELL_UNRESOLVED, /* the same for names asked for on demand */
	XDS_REMOVE,	     /* it was there and is gone */
	XDS_DROP	     /* nothing: nobody wants it any more */
};

struct xds_case {
	const struct xds_entry *entry; /* NULL: new under a wildcard */
	struct resource *resource;     /* the one of this name, or NULL */
	struct resource *target;       /* otherwise the one that the name leads to, or NULL */
};

/* is_again: what was refused is offered again. */
enum xds_verdict xds_judge(const struct xds_kind *kind, const struct xds_case *one, bool is_again);
/* It was refused, and now it is sent for some reason or has gone. What was refused together is
 * offered again then: no way to know which of it the client minded. */
bool xds_judge_is_outdated(const struct xds_case *one);
/* It was refused, and would be sent again with the others. */
bool xds_judge_is_refused(const struct xds_case *one);
/* The client holds the resource in its present form. */
bool xds_judge_is_same(const struct xds_entry *entry, const struct resource *resource);

#endif
