/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way from a resource to a value in it, as people write it:
 * `filter_chains[0].filters[1].typed_config.route_config`. Steps live on the stack of whoever
 * walks a message, so this is as deep as messages may be. Threads: any.
 */
#ifndef XDSPUB_MESSAGE_FIELD_PATH_H
#define XDSPUB_MESSAGE_FIELD_PATH_H

#include "base/buf.h"
#include "message/message.h"

struct field_step {
	const struct field_step *outer;	   /* NULL: a field of the resource itself */
	const struct message *message;	   /* that has the field; NULL: of no use to the walker */
	const struct message_field *entry; /* NULL: `name` is not set, or is a oneof */
	const char *name;
	uint32_t index; /* of an item, or of a map's entry */
	bool has_index;
	bool is_key; /* the key of a map's entry is meant */
};

void field_path_write(const struct field_step *step, struct buf *out);

#endif
