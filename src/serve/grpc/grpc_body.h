/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes that many calls send; never changed once made. References belong to one loop. */
#ifndef XDSPUB_SERVE_GRPC_GRPC_BODY_H
#define XDSPUB_SERVE_GRPC_GRPC_BODY_H

#include <stddef.h>
#include <stdint.h>

struct grpc_body {
	unsigned references;
	size_t length;
	uint8_t bytes[];
};

struct grpc_body *grpc_body_new(size_t length); /* bytes to be filled in */
struct grpc_body *grpc_body_ref(struct grpc_body *body);
void grpc_body_unref(struct grpc_body *body); /* NULL is fine */

#endif
