/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes on their way to one socket. A loop has one grpc_output: it gathers the frames of one
 * connection, small ones copied and messages by reference, and writes them with one system call.
 * Only what the kernel does not take stays with the connection, as a grpc_parked; an idle or
 * quick connection has no buffer. Threads: the loop's.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_OUTPUT_H
#define XDSPUB_SERVE_GRPC_GRPC_OUTPUT_H

#include "base/slice.h"
#include "serve/grpc/grpc_body.h"

#define GRPC_OUTPUT_PIECES 128
#define GRPC_OUTPUT_COPIES 32768
#define GRPC_OUTPUT_BYTES  (1u << 19) /* what one system call is offered, and a slow peer holds */

struct grpc_piece {
	const uint8_t *data;
	size_t length;
	struct grpc_body *body; /* has a reference; NULL: the bytes are in `copies` */
};

struct grpc_output {
	size_t count;
	size_t copied;
	size_t bytes;
	struct grpc_piece pieces[GRPC_OUTPUT_PIECES];
	uint8_t copies[GRPC_OUTPUT_COPIES];
};

/* What a connection's socket did not take yet; NULL: nothing. */
struct grpc_parked;

/* Must be asked first: is there room for `pieces` pieces with `copied` copied bytes in all? False
 * also when there is enough in it for one system call. */
bool grpc_output_has_room(const struct grpc_output *output, size_t pieces, size_t copied);
void grpc_output_copy(struct grpc_output *output, const void *data, size_t length);
void grpc_output_share(
	struct grpc_output *output, struct grpc_body *body, size_t offset, size_t length);
/* Writes all of it, or parks the rest; the output is empty then. *ret_bytes: how much went.
 * 0, -EAGAIN: some is parked; else the connection is broken. *parked must be NULL before. */
int grpc_output_write(
	struct grpc_output *output, int fd, struct grpc_parked **parked, size_t *ret_bytes);
/* Writes more of it; frees it and sets NULL when all went. Errors as above. */
int grpc_parked_write(struct grpc_parked **parked, int fd, size_t *ret_bytes);
void grpc_parked_free(struct grpc_parked *parked); /* NULL is fine */

#endif
