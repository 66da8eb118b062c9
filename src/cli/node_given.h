/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A node on the command line. */
#ifndef XDSPUB_CLI_NODE_GIVEN_H
#define XDSPUB_CLI_NODE_GIVEN_H

#include <jansson.h>

#include "base/buf.h"

/* YAML in the shape of Envoy's Node, as it stands in `match`; a text without ':' is an id. The new
 * reference is JSON as clients send it. -EINVAL with a sentence in `problem`. */
int node_given(const char *text, json_t **ret_node, struct buf *problem);

#endif
