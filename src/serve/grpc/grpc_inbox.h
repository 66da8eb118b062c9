/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of one call that wait until the answer to the former one has left: a client that asks
 * and does not read stays bounded. Threads: one at a time.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_INBOX_H
#define XDSPUB_SERVE_GRPC_GRPC_INBOX_H

#include "base/buf.h"

#define GRPC_INBOX_COUNT 100
#define GRPC_INBOX_BYTES (256u << 10) /* of those that wait behind the first */

struct grpc_inbox {
	struct buf bytes; /* lengths and messages */
	size_t at;	  /* of the first that was not taken */
	size_t count;
};

#define GRPC_INBOX_INIT ((struct grpc_inbox){.bytes = BUF_INIT})

void grpc_inbox_fini(struct grpc_inbox *inbox);
/* Copies. False: too many wait. */
bool grpc_inbox_put(struct grpc_inbox *inbox, struct slice message);
/* Borrowed until the next call. False: none waits. */
bool grpc_inbox_take(struct grpc_inbox *inbox, struct slice *ret_message);

#endif
