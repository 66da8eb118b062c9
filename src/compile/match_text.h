/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conditions of groups.yaml in words, and which of them a node fits. Pure. Threads: any. */
#ifndef XDSPUB_COMPILE_MATCH_TEXT_H
#define XDSPUB_COMPILE_MATCH_TEXT_H

#include "base/buf.h"
#include "snapshot/selector.h"

/* `metadata.env is "prod" and locality.region starts with "eu"`; NULL: "every node". */
void match_describe(const struct match *match, struct buf *out);
/* [{"text": what must hold, "fits": bool, "has": the node's value (absent: it has none)}], one for
 * each condition that must hold; empty for NULL. New reference. */
json_t *match_explain(const struct match *match, const json_t *node);

#endif
