/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gRPC as a part of the daemon. grpc_part.c is it; grpc_part_none.c takes its place in builds
 * without, where a listener is refused with a sentence. Threads: main, but for what says otherwise.
 */
#ifndef XDSPUB_DAEMON_GRPC_PART_H
#define XDSPUB_DAEMON_GRPC_PART_H

#include <jansson.h>

#include "base/log.h"
#include "daemon/options.h"
#include "schema/schema.h"
#include "snapshot/store.h"

struct grpc_part;

/* All borrowed; store, schema and log must outlive the part. */
struct grpc_part_setup {
	struct store *store;
	struct schema *schema;
	const struct options *options; /* what a restart applies is taken at the first start */
	const struct log *log;
};

/* Makes these the listeners, as grpc_server_listen() does; starts *part when it is NULL. On error
 * nothing changes; *ret_problem is malloc'ed text or NULL when the code says it all. */
int grpc_part_listen(const struct grpc_part_setup *setup, const struct texts *addresses,
	struct grpc_part **part, char **ret_problem);
void grpc_part_stop(struct grpc_part *part);
/* What /readyz says now. */
void grpc_part_set_ready(struct grpc_part *part, bool is_ready);
/* For the status document; see grpc_server_status(). A new reference. Any thread. */
json_t *grpc_part_status(struct grpc_part *part, size_t clients_limit);

#endif
