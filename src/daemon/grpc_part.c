/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/grpc_part.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/grpc_schema.h"
#include "serve/grpc/grpc_server.h"

struct grpc_part {
	struct grpc_server *server;
	atomic_bool is_ready;
};

/* On the loops' threads: the overview's mutex is not for them, because it waits for them. */
static bool is_ready(void *ctx)
{
	struct grpc_part *part = ctx;

	return atomic_load(&part->is_ready);
}

static int start(const struct grpc_part_setup *setup, struct grpc_part **ret_part)
{
	const struct options *options = setup->options;
	struct grpc_part *part = xcalloc(1, sizeof(*part));
	struct grpc_options server = {
		.store = setup->store,
		.limits = options->limits,
		.settings = XDS_SETTINGS_DEFAULT,
		.schema = grpc_schema_of(setup->schema),
		.threads = (unsigned)options->grpc_threads,
		.keepalive_ms = options->grpc_keepalive_ms,
		.keepalive_timeout_ms = options->grpc_keepalive_timeout_ms,
		.is_ready = is_ready,
		.ready_ctx = part,
		.log = setup->log,
	};
	int error;

	atomic_init(&part->is_ready, false);
	server.settings.pace_ms = options->grpc_pace_ms;
	server.settings.drain_ms = options->grpc_drain_ms;
	server.settings.route_delay_ms = options->route_delay_ms;
	server.settings.names = options->limits.request_names;
	server.settings.name_bytes = options->limits.resource_name_bytes;
	error = grpc_server_start(&server, &part->server);
	if (error) {
		free(part);
		return error;
	}
	*ret_part = part;
	return 0;
}

int grpc_part_listen(const struct grpc_part_setup *setup, const struct texts *addresses,
	struct grpc_part **part, char **ret_problem)
{
	bool is_new = !*part;
	int error = is_new ? start(setup, part) : 0;

	if (!error)
		error = grpc_server_listen((*part)->server, (const char *const *)addresses->items,
			addresses->count, ret_problem);
	if (error && is_new && *part) {
		grpc_part_stop(*part);
		*part = NULL;
	}
	return error;
}

void grpc_part_stop(struct grpc_part *part)
{
	grpc_server_stop(part->server);
	free(part);
}

void grpc_part_set_ready(struct grpc_part *part, bool ready)
{
	if (atomic_exchange(&part->is_ready, ready) != ready)
		grpc_server_wake(part->server);
}

json_t *grpc_part_status(struct grpc_part *part, size_t clients_limit)
{
	return grpc_server_status(part->server, clients_limit);
}
