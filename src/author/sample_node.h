/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node that a selector puts into a given group: what a bootstrap for that group can say. Made
 * from the group's conditions and tried; other choices are tried when an earlier group takes it.
 * Threads: any.
 */
#ifndef XDSPUB_AUTHOR_SAMPLE_NODE_H
#define XDSPUB_AUTHOR_SAMPLE_NODE_H

#include <jansson.h>

#include "snapshot/selector.h"

#define SAMPLE_NODE_TRIES 20000

/* Envoy's Node with an id and a cluster, as JSON; a new reference. NULL: none was found, which for
 * conditions as people write them means that there is none. */
json_t *sample_node_find(const struct selector *selector, int group);
/* Takes out what Envoy itself sets (its version and so on). True when there was something. */
bool sample_node_strip(json_t *node);

#endif
