/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files besides its own have a say in one resource: parts that its file includes and files
 * that `!file` puts in. Nothing of this is kept: the file is read again when somebody asks.
 * Threads: build. May block.
 */
#ifndef XDSPUB_COMPILE_ORIGIN_H
#define XDSPUB_COMPILE_ORIGIN_H

#include <jansson.h>

#include "compile/compiler.h"

/*
 * [{"path": "_parts/tls.yaml", "through": the part that includes it (only when that is not the
 * file itself), "fields": [{"field": "filters[0].name", "line": 3}]}], with "field" only for a
 * `!file`. NULL: it cannot be told, because the file has changed meanwhile or cannot be read.
 * New reference. Limit: ORIGIN_FIELDS fields of a part, ORIGIN_PARTS parts.
 */
json_t *origin_find(const struct compiler *compiler, const struct unit_item *item);

#define ORIGIN_FIELDS 12
#define ORIGIN_PARTS  50

#endif
