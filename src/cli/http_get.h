/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One GET over TCP or a UNIX socket, for asking a local daemon. Blocks for at most 10 s per step,
 * 2 min in all.
 */
#ifndef XDSPUB_CLI_HTTP_GET_H
#define XDSPUB_CLI_HTTP_GET_H

#include "base/buf.h"

/* address as for listeners. The body goes to `out`, the status code to *ret_status. Negative errno
 * with a sentence in `problem`. Limit: 256 MiB. */
int http_get(const char *address, const char *path, struct buf *out, int *ret_status,
	struct buf *problem);

#endif
