/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A DiscoveryRequest as JSON: both spellings of names, unknown fields ignored, everything else
 * strict (S.34). The node is only located: most polls repeat one that is known by its bytes.
 * Threads: any. Limits: depth 100, names and their length by struct limits.
 */
#ifndef XDSPUB_SERVE_REST_REST_REQUEST_H
#define XDSPUB_SERVE_REST_REST_REQUEST_H

#include <jansson.h>

#include "base/buf.h"
#include "base/limits.h"

struct rest_request {
	struct slice version_info; /* empty: none */
	struct slice type_url;	   /* empty: none */
	struct slice *names;	   /* as given */
	size_t names_count;
	struct slice node; /* JSON text, not yet looked at; data NULL: none */
	json_t *document;  /* owns what the slices point to, but not the node */
	char *node_copy;   /* owns the node when it was not found in the body as it is */
};

/* 0, or -EINVAL and a sentence for people appended to `problem`. The body must stay as long as
 * the request. */
int rest_request_parse(struct slice body, const struct limits *limits,
	struct rest_request *ret_request, struct buf *problem);
void rest_request_fini(struct rest_request *request);

/* The node's JSON; a new reference, or NULL and a sentence appended to `problem`. */
json_t *rest_request_parse_node(struct slice node, struct buf *problem);

#endif
