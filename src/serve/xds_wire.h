/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of an encoded message, one after the other, for the few that the protocol itself
 * depends on: which load assignment a Cluster waits for, which domains a VirtualHost has. Their
 * numbers are part of the protocol, so no schema is needed. Bytes are never read past the end; what
 * is no protobuf ends the message. Threads: any. Used by the protocol core alone.
 */
#ifndef XDSPUB_SERVE_XDS_WIRE_H
#define XDSPUB_SERVE_XDS_WIRE_H

#include "base/slice.h"

enum xds_wire {
	XDS_WIRE_VARINT = 0,
	XDS_WIRE_64 = 1,
	XDS_WIRE_BYTES = 2, /* strings and messages, too */
	XDS_WIRE_32 = 5
};

struct xds_field {
	uint64_t number;
	unsigned wire;	    /* enum xds_wire */
	uint64_t value;	    /* of a varint */
	struct slice bytes; /* of the others; borrowed */
};

/* Takes the next field off the front of `rest`; false at the end. */
bool xds_wire_next(struct slice *rest, struct xds_field *ret_field);
bool xds_wire_varint(struct slice *rest, uint64_t *ret_value);

#endif
