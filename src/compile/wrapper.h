/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A resource wrapped in envoy.service.discovery.v3.Resource, which gives it a TTL and aliases.
 * Threads: any, one arena per call.
 */
#ifndef XDSPUB_COMPILE_WRAPPER_H
#define XDSPUB_COMPILE_WRAPPER_H

#include "message/bind.h"

struct wrapper {
	const struct node *node; /* of the resource inside */
	struct message *message; /* the resource inside */
	struct slice name;	 /* the wrapper's; may be empty */
	struct position name_at;
	int64_t ttl_ms; /* -1: none */
	const struct slice *aliases;
	size_t aliases_count;
};

bool wrapper_is(const struct schema_message *type);
/* False when something is wrong; it is in `diags` then. */
bool wrapper_read(const struct bind_options *bind, const struct schema_message *type,
	const struct node *node, struct arena *arena, struct diag_list *diags,
	struct wrapper *ret_wrapper);

#endif
